//! Stored state words and the enums they stand for.
//!
//! Rows may hold words of older writers; reading maps them to the words of ff-core first.

use ff_core::engine_error::EngineError;
use ff_core::state::{
    AttemptState, BlockingReason, EligibilityState, LifecyclePhase, OwnershipState, PublicState, StateVector,
    TerminalOutcome,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::id::corruption;
use super::word::{OwnershipWord, PhaseWord};

/// The state words of an execution's row, with the outcome of its attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredStates<'a> {
    pub(crate) lifecycle_phase: &'a str,
    pub(crate) ownership_state: &'a str,
    pub(crate) eligibility_state: &'a str,
    pub(crate) public_state: &'a str,
    pub(crate) attempt_state: &'a str,
    pub(crate) blocking_reason: Option<&'a str>,
    pub(crate) attempt_outcome: Option<&'a str>,
}

impl StoredStates<'_> {
    /// The state vector.
    ///
    /// # Errors
    /// `Validation(Corruption)` naming the column when a word is unknown.
    pub(crate) fn vector(&self) -> Result<StateVector, EngineError> {
        let phase = lifecycle_phase(self.lifecycle_phase)?;
        Ok(StateVector {
            lifecycle_phase: phase,
            ownership_state: ownership_state(self.ownership_state)?,
            eligibility_state: eligibility_state(self.eligibility_state)?,
            blocking_reason: blocking_reason(self.blocking_reason)?,
            terminal_outcome: self.terminal_outcome(phase),
            attempt_state: attempt_state(self.attempt_state)?,
            public_state: public_state(self.public_state)?,
        })
    }

    /// How a finished execution ended: as its attempt did, else as its public state says, because a cancelled
    /// attempt keeps no outcome.
    fn terminal_outcome(&self, phase: LifecyclePhase) -> TerminalOutcome {
        if phase != LifecyclePhase::Terminal {
            return TerminalOutcome::None;
        }
        if self.lifecycle_phase == "cancelled" {
            return TerminalOutcome::Cancelled;
        }
        match self.attempt_outcome {
            Some("success") => return TerminalOutcome::Success,
            Some("failed" | "failure") => return TerminalOutcome::Failed,
            Some("cancelled") => return TerminalOutcome::Cancelled,
            Some("expired") => return TerminalOutcome::Expired,
            Some("skipped") => return TerminalOutcome::Skipped,
            _ => {}
        }
        match self.public_state {
            "completed" => TerminalOutcome::Success,
            "failed" => TerminalOutcome::Failed,
            "cancelled" => TerminalOutcome::Cancelled,
            "expired" => TerminalOutcome::Expired,
            "skipped" => TerminalOutcome::Skipped,
            _ => TerminalOutcome::None,
        }
    }
}

fn known<T: DeserializeOwned>(column: &str, word: &str) -> Result<T, EngineError> {
    serde_json::from_value(Value::String(word.to_owned()))
        .map_err(|error| corruption(format!("exec_core: {column}: '{word}' is not a known value: {error}")))
}

/// Whether an execution may be made to wait for others: nobody has claimed it yet.
pub(crate) fn may_be_blocked(lifecycle_phase: &str, ownership_state: &str) -> bool {
    PhaseWord::waits(lifecycle_phase) && ownership_state == OwnershipWord::Unowned
}

fn lifecycle_phase(word: &str) -> Result<LifecyclePhase, EngineError> {
    known(
        "lifecycle_phase",
        match word {
            "cancelled" => "terminal",
            "pending" | "eligible" | "blocked" => "runnable",
            other => other,
        },
    )
}

fn ownership_state(word: &str) -> Result<OwnershipState, EngineError> {
    known("ownership_state", if word == "released" { "unowned" } else { word })
}

fn eligibility_state(word: &str) -> Result<EligibilityState, EngineError> {
    known(
        "eligibility_state",
        match word {
            "cancelled" => "not_applicable",
            "pending_claim" => "eligible_now",
            other => other,
        },
    )
}

fn attempt_state(word: &str) -> Result<AttemptState, EngineError> {
    known(
        "attempt_state",
        match word {
            "pending" | "pending_claim" | "initial" => "pending_first_attempt",
            "running" => "running_attempt",
            "cancelled" | "terminal_failed" => "attempt_terminal",
            other => other,
        },
    )
}

/// The public state; a claim through a handle stores `running`, a typed claim `active`.
///
/// # Errors
/// `Validation(Corruption)` when the word is unknown.
pub(crate) fn public_state(word: &str) -> Result<PublicState, EngineError> {
    known("public_state", public_state_word(word))
}

/// The word ff-core uses for a stored public state.
pub(crate) fn public_state_word(word: &str) -> &str {
    match word {
        "running" => "active",
        "pending" => "waiting",
        other => other,
    }
}

fn blocking_reason(word: Option<&str>) -> Result<BlockingReason, EngineError> {
    known(
        "blocking_reason",
        match word {
            None | Some("") => "none",
            Some(other) => other,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: StoredStates<'static> = StoredStates {
        lifecycle_phase: "active",
        ownership_state: "leased",
        eligibility_state: "not_applicable",
        public_state: "running",
        attempt_state: "running_attempt",
        blocking_reason: None,
        attempt_outcome: None,
    };

    #[test]
    fn a_held_row_reads_as_active() {
        let vector = HELD.vector().unwrap();
        assert_eq!(vector.public_state, PublicState::Active);
        assert_eq!(vector.terminal_outcome, TerminalOutcome::None);
        assert!(vector.is_consistent());
    }

    #[test]
    fn words_of_older_writers_are_understood() {
        let vector = StoredStates {
            lifecycle_phase: "cancelled",
            ownership_state: "released",
            eligibility_state: "cancelled",
            public_state: "cancelled",
            attempt_state: "terminal_failed",
            blocking_reason: Some(""),
            attempt_outcome: Some("failure"),
        }
        .vector()
        .unwrap();
        assert_eq!(vector.lifecycle_phase, LifecyclePhase::Terminal);
        assert_eq!(vector.ownership_state, OwnershipState::Unowned);
        assert_eq!(vector.eligibility_state, EligibilityState::NotApplicable);
        assert_eq!(vector.attempt_state, AttemptState::AttemptTerminal);
        assert_eq!(vector.terminal_outcome, TerminalOutcome::Cancelled);
    }

    #[test]
    fn the_outcome_of_a_finished_execution_is_its_attempts() {
        for (word, outcome) in [
            (Some("success"), TerminalOutcome::Success),
            (Some("failure"), TerminalOutcome::Failed),
            (Some("interrupted_reclaimed"), TerminalOutcome::None),
            (None, TerminalOutcome::None),
        ] {
            let vector = StoredStates { lifecycle_phase: "terminal", attempt_outcome: word, ..HELD }.vector().unwrap();
            assert_eq!(vector.terminal_outcome, outcome, "{word:?}");
        }
    }

    #[test]
    fn a_cancelled_attempt_leaves_the_outcome_to_the_public_state() {
        let vector = StoredStates { lifecycle_phase: "terminal", public_state: "cancelled", ..HELD }.vector().unwrap();
        assert_eq!(vector.terminal_outcome, TerminalOutcome::Cancelled);
    }

    #[test]
    fn an_unknown_word_is_named() {
        let error = StoredStates { ownership_state: "lost", ..HELD }.vector().unwrap_err().to_string();
        assert!(error.contains("exec_core: ownership_state: 'lost' is not a known value"), "{error}");
    }
}
