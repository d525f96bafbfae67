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
use super::word::{AttemptWord, BlockingWord, EligibilityWord, OutcomeWord, OwnershipWord, PhaseWord, PublicWord};

/// The state words of an execution's row, with the outcome of its attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredStates<'a> {
    pub(crate) lifecycle_phase: &'a PhaseWord,
    pub(crate) ownership_state: &'a OwnershipWord,
    pub(crate) eligibility_state: &'a EligibilityWord,
    pub(crate) public_state: &'a PublicWord,
    pub(crate) attempt_state: &'a AttemptWord,
    pub(crate) blocking_reason: Option<&'a BlockingWord>,
    pub(crate) attempt_outcome: Option<&'a OutcomeWord>,
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
        if *self.lifecycle_phase == PhaseWord::Cancelled {
            return TerminalOutcome::Cancelled;
        }
        match self.attempt_outcome {
            Some(OutcomeWord::Success) => return TerminalOutcome::Success,
            Some(OutcomeWord::Failed | OutcomeWord::Failure) => return TerminalOutcome::Failed,
            Some(OutcomeWord::Cancelled) => return TerminalOutcome::Cancelled,
            Some(OutcomeWord::Expired) => return TerminalOutcome::Expired,
            Some(OutcomeWord::Skipped) => return TerminalOutcome::Skipped,
            _ => {}
        }
        match self.public_state {
            PublicWord::Completed => TerminalOutcome::Success,
            PublicWord::Failed => TerminalOutcome::Failed,
            PublicWord::Cancelled => TerminalOutcome::Cancelled,
            PublicWord::Expired => TerminalOutcome::Expired,
            PublicWord::Skipped => TerminalOutcome::Skipped,
            _ => TerminalOutcome::None,
        }
    }
}

/// ff-core's state of a word that it has as well.
fn known<T: DeserializeOwned>(column: &str, word: &str) -> Result<T, EngineError> {
    serde_json::from_value(Value::String(word.to_owned()))
        .map_err(|error| corruption(format!("exec_core: {column}: '{word}' is not a known value: {error}")))
}

/// Whether an execution may be made to wait for others: nobody has claimed it yet.
pub(crate) fn may_be_blocked(lifecycle_phase: &PhaseWord, ownership_state: &OwnershipWord) -> bool {
    lifecycle_phase.waits() && *ownership_state == OwnershipWord::Unowned
}

fn lifecycle_phase(word: &PhaseWord) -> Result<LifecyclePhase, EngineError> {
    match word {
        PhaseWord::Cancelled => Ok(LifecyclePhase::Terminal),
        PhaseWord::Pending | PhaseWord::Eligible | PhaseWord::Blocked => Ok(LifecyclePhase::Runnable),
        other => known("lifecycle_phase", other.as_str()),
    }
}

fn ownership_state(word: &OwnershipWord) -> Result<OwnershipState, EngineError> {
    match word {
        OwnershipWord::Released => Ok(OwnershipState::Unowned),
        other => known("ownership_state", other.as_str()),
    }
}

fn eligibility_state(word: &EligibilityWord) -> Result<EligibilityState, EngineError> {
    match word {
        EligibilityWord::Cancelled => Ok(EligibilityState::NotApplicable),
        EligibilityWord::PendingClaim => Ok(EligibilityState::EligibleNow),
        other => known("eligibility_state", other.as_str()),
    }
}

fn attempt_state(word: &AttemptWord) -> Result<AttemptState, EngineError> {
    match word {
        AttemptWord::Pending | AttemptWord::PendingClaim | AttemptWord::Initial => {
            Ok(AttemptState::PendingFirstAttempt)
        }
        AttemptWord::Running => Ok(AttemptState::RunningAttempt),
        AttemptWord::Cancelled | AttemptWord::TerminalFailed => Ok(AttemptState::AttemptTerminal),
        other => known("attempt_state", other.as_str()),
    }
}

/// The public state; a claim through a handle stores `running`, a typed claim `active`.
///
/// # Errors
/// `Validation(Corruption)` when the word is unknown.
pub(crate) fn public_state(word: &PublicWord) -> Result<PublicState, EngineError> {
    known("public_state", public_state_word(word))
}

/// The word ff-core uses for a stored public state.
pub(crate) fn public_state_word(word: &PublicWord) -> &str {
    match word {
        PublicWord::Running => PublicState::Active.as_str(),
        PublicWord::Pending => PublicState::Waiting.as_str(),
        other => other.as_str(),
    }
}

fn blocking_reason(word: Option<&BlockingWord>) -> Result<BlockingReason, EngineError> {
    match word.map(BlockingWord::as_str) {
        None | Some("") => Ok(BlockingReason::None),
        Some(other) => known("blocking_reason", other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: StoredStates<'static> = StoredStates {
        lifecycle_phase: &PhaseWord::Active,
        ownership_state: &OwnershipWord::Leased,
        eligibility_state: &EligibilityWord::NotApplicable,
        public_state: &PublicWord::Running,
        attempt_state: &AttemptWord::RunningAttempt,
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
            lifecycle_phase: &PhaseWord::Cancelled,
            ownership_state: &OwnershipWord::Released,
            eligibility_state: &EligibilityWord::Cancelled,
            public_state: &PublicWord::Cancelled,
            attempt_state: &AttemptWord::TerminalFailed,
            blocking_reason: Some(&BlockingWord::Other(String::new())),
            attempt_outcome: Some(&OutcomeWord::Failure),
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
            (Some(&OutcomeWord::Success), TerminalOutcome::Success),
            (Some(&OutcomeWord::Failure), TerminalOutcome::Failed),
            (Some(&OutcomeWord::InterruptedReclaimed), TerminalOutcome::None),
            (None, TerminalOutcome::None),
        ] {
            let ended = StoredStates { lifecycle_phase: &PhaseWord::Terminal, attempt_outcome: word, ..HELD };
            let vector = ended.vector().unwrap();
            assert_eq!(vector.terminal_outcome, outcome, "{word:?}");
        }
    }

    #[test]
    fn a_cancelled_attempt_leaves_the_outcome_to_the_public_state() {
        let (lifecycle_phase, public_state) = (&PhaseWord::Terminal, &PublicWord::Cancelled);
        let vector = StoredStates { lifecycle_phase, public_state, ..HELD }.vector().unwrap();
        assert_eq!(vector.terminal_outcome, TerminalOutcome::Cancelled);
    }

    #[test]
    fn an_unknown_word_is_named() {
        let ownership_state = &OwnershipWord::Other("lost".to_owned());
        let error = StoredStates { ownership_state, ..HELD }.vector().unwrap_err().to_string();
        assert!(error.contains("exec_core: ownership_state: 'lost' is not a known value"), "{error}");
    }
}
