//! The words that columns of states hold, one enum per column: those that this crate writes, and those of older writers.
//!
//! A column is compared with a word directly (`row.lifecycle_phase == PhaseWord::Active`). What nobody writes equals
//! none of them.

/// An enum of stored words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $word:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$of])* $word,)+ }

        impl $name {
            /// The stored word.
            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$word => $text,)+ }
            }

            /// What a stored word is; nothing for one that nobody writes.
            pub(crate) fn of(word: &str) -> Option<Self> {
                match word { $($text => Some(Self::$word),)+ _ => None }
            }
        }

        impl PartialEq<$name> for str {
            fn eq(&self, word: &$name) -> bool {
                self == word.as_str()
            }
        }

        impl PartialEq<$name> for &str {
            fn eq(&self, word: &$name) -> bool {
                *self == word.as_str()
            }
        }

        impl PartialEq<$name> for String {
            fn eq(&self, word: &$name) -> bool {
                self == word.as_str()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }
    };
}

words! {
    /// `lifecycle_phase`
    PhaseWord {
        Submitted = "submitted",
        Runnable = "runnable",
        Active = "active",
        Suspended = "suspended",
        Terminal = "terminal",
        Cancelled = "cancelled",
        /// Of older writers, as are all that follow: it waits.
        Pending = "pending",
        /// It waits.
        Eligible = "eligible",
        /// It waits for something.
        Blocked = "blocked",
        /// It has ended.
        Completed = "completed",
        /// It has ended.
        Failed = "failed",
        /// It has ended.
        Expired = "expired",
    }
}

impl PhaseWord {
    /// Whether an execution in that phase waits to run; a created one does, before anybody made it runnable.
    pub(crate) fn waits(phase: &str) -> bool {
        matches!(Self::of(phase), Some(Self::Submitted | Self::Runnable))
    }

    /// Whether it is one that an execution never leaves.
    pub(crate) fn has_ended(phase: &str) -> bool {
        matches!(Self::of(phase), Some(Self::Terminal | Self::Cancelled))
    }

    /// Whether one waits, also by the words of older writers.
    pub(crate) fn waits_by_any_writer(phase: &str) -> bool {
        Self::waits(phase) || matches!(Self::of(phase), Some(Self::Pending | Self::Eligible | Self::Blocked))
    }

    /// Whether one may go on, also by the words of older writers, who named the outcome as a phase.
    pub(crate) fn is_open_by_any_writer(phase: &str) -> bool {
        let ended = [Self::Terminal, Self::Cancelled, Self::Completed, Self::Failed, Self::Expired];
        Self::of(phase).is_none_or(|phase| !ended.contains(&phase))
    }
}

words! {
    /// `ownership_state`
    OwnershipWord {
        Unowned = "unowned",
        Leased = "leased",
        LeaseExpiredReclaimable = "lease_expired_reclaimable",
        LeaseRevoked = "lease_revoked",
        /// Unowned since a suspension was over.
        Released = "released",
    }
}

impl OwnershipWord {
    /// Whether somebody else than the holder may take the lease over, whatever its time.
    pub(crate) fn is_lost(state: &str) -> bool {
        matches!(Self::of(state), Some(Self::LeaseExpiredReclaimable | Self::LeaseRevoked))
    }

    /// Whether nobody owns it.
    pub(crate) fn is_free(state: &str) -> bool {
        matches!(Self::of(state), Some(Self::Unowned | Self::Released))
    }
}

words! {
    /// `eligibility_state`
    EligibilityWord {
        EligibleNow = "eligible_now",
        NotEligibleUntilTime = "not_eligible_until_time",
        BlockedByDependencies = "blocked_by_dependencies",
        BlockedByBudget = "blocked_by_budget",
        BlockedByQuota = "blocked_by_quota",
        BlockedByRoute = "blocked_by_route",
        BlockedByLaneState = "blocked_by_lane_state",
        BlockedByOperator = "blocked_by_operator",
        /// Granted to a worker that has not claimed yet.
        PendingClaim = "pending_claim",
        /// Of older writers: blocked by dependencies.
        Blocked = "blocked",
    }
}

impl EligibilityWord {
    /// Whether an execution may be claimed by whoever was granted it.
    pub(crate) fn is_claimable(state: &str) -> bool {
        matches!(Self::of(state), Some(Self::EligibleNow | Self::PendingClaim))
    }

    /// Whether its dependencies hold it back.
    pub(crate) fn awaits_dependencies(state: &str) -> bool {
        matches!(Self::of(state), Some(Self::BlockedByDependencies | Self::Blocked))
    }
}

words! {
    /// `public_state`
    PublicWord {
        Waiting = "waiting",
        Delayed = "delayed",
        RateLimited = "rate_limited",
        WaitingChildren = "waiting_children",
        Active = "active",
        /// Active, by a claim through a handle.
        Running = "running",
        Suspended = "suspended",
        /// Its suspension is over and nobody has taken it up.
        Resumable = "resumable",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
        Expired = "expired",
        Skipped = "skipped",
        /// Of older writers: it waits.
        Pending = "pending",
    }
}

words! {
    /// `attempt_state`
    AttemptWord {
        None = "none",
        PendingFirst = "pending_first_attempt",
        PendingRetry = "pending_retry_attempt",
        PendingReplay = "pending_replay_attempt",
        Running = "running_attempt",
        Interrupted = "attempt_interrupted",
        /// Of older writers, as are all that follow: the first attempt is to start.
        Initial = "initial",
        /// The first attempt is to start.
        Pending = "pending",
        /// The first attempt is to start.
        PendingClaim = "pending_claim",
    }
}

impl AttemptWord {
    /// The type of the attempt that is to start; nothing when none is.
    pub(crate) fn to_start(state: &str) -> Option<AttemptTypeWord> {
        match Self::of(state)? {
            Self::PendingRetry => Some(AttemptTypeWord::Retry),
            Self::PendingReplay => Some(AttemptTypeWord::Replay),
            Self::PendingFirst | Self::Initial | Self::Pending | Self::PendingClaim => Some(AttemptTypeWord::Initial),
            Self::None | Self::Running | Self::Interrupted => None,
        }
    }

    /// Whether an attempt has run and has not ended.
    pub(crate) fn is_under_way(state: &str) -> bool {
        matches!(Self::of(state), Some(Self::Running | Self::Interrupted))
    }
}

words! {
    /// `attempt_type` of an attempt
    AttemptTypeWord {
        Initial = "initial",
        Retry = "retry",
        Replay = "replay",
    }
}

impl AttemptTypeWord {
    /// The type of a stored attempt; one that does not say is the first.
    pub(crate) fn stored(word: &str) -> Self {
        Self::of(word).unwrap_or(Self::Initial)
    }

    /// The state of an attempt of that type before it starts.
    pub(crate) fn before_start(self) -> AttemptWord {
        match self {
            Self::Initial => AttemptWord::PendingFirst,
            Self::Retry => AttemptWord::PendingRetry,
            Self::Replay => AttemptWord::PendingReplay,
        }
    }
}

words! {
    /// `outcome` of an attempt or a completion, and `terminal_outcome` of a document
    OutcomeWord {
        /// It has not ended.
        None = "none",
        Success = "success",
        Failed = "failed",
        Retry = "retry",
        Interrupted = "interrupted",
        WaitingChildren = "waiting_children",
        Expired = "expired",
        Cancelled = "cancelled",
        Skipped = "skipped",
        /// Its suspension is over; it goes on.
        Resumable = "resumable",
        /// Of older writers: failed, which is ff-core's word as well.
        Failure = "failure",
    }
}

words! {
    /// `event_type` of a lease event
    LeaseWord {
        Acquired = "acquired",
        Renewed = "renewed",
        Expired = "expired",
        Reclaimed = "reclaimed",
        Revoked = "revoked",
    }
}

words! {
    /// `public_flow_state`
    FlowWord {
        Open = "open",
        Running = "running",
        Blocked = "blocked",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
        /// Of older writers: it has ended.
        Terminal = "terminal",
    }
}

impl FlowWord {
    /// Whether a flow in that state never leaves it.
    pub(crate) fn has_ended(state: &str) -> bool {
        matches!(Self::of(state), Some(Self::Cancelled | Self::Completed | Self::Failed | Self::Terminal))
    }
}

words! {
    /// `blocking_reason`
    BlockingWord {
        WaitingForWorker = "waiting_for_worker",
        WaitingForChildren = "waiting_for_children",
        WaitingForResumeDelay = "waiting_for_resume_delay",
        WaitingForBudget = "waiting_for_budget",
        WaitingForQuota = "waiting_for_quota",
        WaitingForCapableWorker = "waiting_for_capable_worker",
        PausedByOperator = "paused_by_operator",
        PausedByPolicy = "paused_by_policy",
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
    fn a_column_is_compared_with_a_word() {
        assert!("active" == PhaseWord::Active && *"active" == PhaseWord::Active);
        let stored = "runnable".to_owned();
        assert!(stored != PhaseWord::Active && stored == PhaseWord::Runnable);
        assert_eq!(PhaseWord::of(PhaseWord::Blocked.as_str()), Some(PhaseWord::Blocked));
        assert_eq!(PhaseWord::of("lost"), None);
    }

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
            let seen =
                [PhaseWord::waits(word), PhaseWord::waits_by_any_writer(word), PhaseWord::is_open_by_any_writer(word)];
            assert_eq!(seen, [waits, by_any, is_open], "{word}");
        }
    }

    #[test]
    fn an_attempt_that_is_to_start_has_a_type_and_the_type_a_state() {
        for (state, kind) in [
            (AttemptWord::PendingFirst, AttemptTypeWord::Initial),
            (AttemptWord::PendingRetry, AttemptTypeWord::Retry),
            (AttemptWord::PendingReplay, AttemptTypeWord::Replay),
        ] {
            assert_eq!(AttemptWord::to_start(state.as_str()), Some(kind));
            assert_eq!(kind.before_start(), state);
        }
        assert_eq!(AttemptWord::to_start("pending_claim"), Some(AttemptTypeWord::Initial));
        assert_eq!(AttemptWord::to_start("running_attempt"), None);
        assert_eq!(AttemptTypeWord::stored("odd"), AttemptTypeWord::Initial);
    }
}
