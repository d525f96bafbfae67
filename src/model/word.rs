//! What the words of state columns mean. `diglot.toml` lists them, the enums are generated from it, and here is what
//! this crate asks of them.
//!
//! A word that is in no list is a variant `Other`: it equals none of ours, and is written back as it is.

use ff_core::state::AttemptType;

pub(crate) use crate::statements::{
    AttemptWord, BlockingWord, CompletionWord, EligibilityWord, FlowWord, LeaseWord, OperatorWord, OutcomeWord,
    OwnershipWord, PhaseWord, PublicWord,
};

impl PhaseWord {
    /// Whether an execution in that phase waits to run; a created one does, before anybody made it runnable.
    pub(crate) fn waits(&self) -> bool {
        matches!(self, Self::Submitted | Self::Runnable)
    }

    /// Whether it is one that an execution never leaves.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Self::Terminal | Self::Cancelled)
    }

    /// Whether one waits, also by the words of older writers.
    pub(crate) fn waits_by_any_writer(&self) -> bool {
        self.waits() || matches!(self, Self::Pending | Self::Eligible | Self::Blocked)
    }

    /// Whether one may go on, also by the words of older writers, who named the outcome as a phase.
    pub(crate) fn is_open_by_any_writer(&self) -> bool {
        !self.has_ended() && !matches!(self, Self::Completed | Self::Failed | Self::Expired)
    }
}

impl OwnershipWord {
    /// Whether somebody else than the holder may take the lease over, whatever its time.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::LeaseExpiredReclaimable | Self::LeaseRevoked)
    }

    /// Whether nobody owns it.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self, Self::Unowned | Self::Released)
    }
}

impl EligibilityWord {
    /// Whether an execution may be claimed by whoever was granted it.
    pub(crate) fn is_claimable(&self) -> bool {
        matches!(self, Self::EligibleNow | Self::PendingClaim)
    }

    /// Whether its dependencies hold it back.
    pub(crate) fn awaits_dependencies(&self) -> bool {
        matches!(self, Self::BlockedByDependencies | Self::Blocked)
    }
}

impl AttemptWord {
    /// The type of the attempt that is to start; nothing when none is.
    pub(crate) fn to_start(&self) -> Option<AttemptType> {
        match self {
            Self::PendingRetryAttempt => Some(AttemptType::Retry),
            Self::PendingReplayAttempt => Some(AttemptType::Replay),
            Self::PendingFirstAttempt | Self::Initial | Self::Pending | Self::PendingClaim => {
                Some(AttemptType::Initial)
            }
            _ => None,
        }
    }

    /// The state of an attempt of that type before it starts.
    pub(crate) fn before_start(of: AttemptType) -> Self {
        match of {
            AttemptType::Retry => Self::PendingRetryAttempt,
            AttemptType::Replay => Self::PendingReplayAttempt,
            AttemptType::Initial | AttemptType::Reclaim | AttemptType::Fallback => Self::PendingFirstAttempt,
        }
    }

    /// Whether an attempt has run and has not ended.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self, Self::RunningAttempt | Self::AttemptInterrupted)
    }
}

impl FlowWord {
    /// Whether a flow in that state never leaves it.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed | Self::Failed | Self::Terminal)
    }
}

/// What `evaluate_flow_eligibility` answers. Nothing stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusWord {
    NotFound,
    NotRunnable,
    Owned,
    Terminal,
    Eligible,
    Impossible,
    BlockedByDependencies,
}

impl From<StatusWord> for String {
    fn from(status: StatusWord) -> Self {
        let word = match status {
            StatusWord::NotFound => "not_found",
            StatusWord::NotRunnable => "not_runnable",
            StatusWord::Owned => "owned",
            StatusWord::Terminal => "terminal",
            StatusWord::Eligible => "eligible",
            StatusWord::Impossible => "impossible",
            StatusWord::BlockedByDependencies => "blocked_by_dependencies",
        };
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_writers_words_wait_and_end_as_they_did() {
        for (word, waits, by_any, is_open) in [
            ("submitted", true, true, true),
            ("runnable", true, true, true),
            ("pending", false, true, true),
            ("eligible", false, true, true),
            ("blocked", false, true, true),
            ("active", false, false, true),
            ("terminal", false, false, false),
            ("failed", false, false, false),
            ("lost", false, false, true),
        ] {
            let phase = PhaseWord::from(word.to_owned());
            let seen = [phase.waits(), phase.waits_by_any_writer(), phase.is_open_by_any_writer()];
            assert_eq!(seen, [waits, by_any, is_open], "{word}");
            assert_eq!(phase.as_str(), word);
        }
    }

    #[test]
    fn an_attempt_that_is_to_start_has_a_type_and_the_type_a_state() {
        for (state, of) in [
            (AttemptWord::PendingFirstAttempt, AttemptType::Initial),
            (AttemptWord::PendingRetryAttempt, AttemptType::Retry),
            (AttemptWord::PendingReplayAttempt, AttemptType::Replay),
        ] {
            assert_eq!(state.to_start(), Some(of));
            assert_eq!(AttemptWord::before_start(of), state);
        }
        assert_eq!(AttemptWord::PendingClaim.to_start(), Some(AttemptType::Initial));
        assert_eq!(AttemptWord::RunningAttempt.to_start(), None);
        assert_eq!(AttemptWord::from("odd".to_owned()).to_start(), None);
    }
}
