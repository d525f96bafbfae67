//! Where a claim that nobody took goes back to.

use ff_core::state::AttemptType;

use crate::column::{StoredEpoch, StoredIndex};
use crate::model::word::{AttemptWord, OwnershipWord, PublicWord};

/// What a claim took an execution from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// The queue: an attempt that was to start, or one that was interrupted. What is stored says which.
    Queue,
    /// An attempt of that type that was to start.
    ToStart(AttemptType),
    /// An attempt whose worker is gone.
    Interrupted,
    /// A suspension that was over.
    Resumable,
    /// An attempt whose worker is gone; this claim began the next one and counted as a reclaim.
    Reclaimed,
}

/// The attempt that was claimed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed<'a> {
    pub(crate) attempt_index: StoredIndex,
    pub(crate) lease_epoch: StoredEpoch,
    /// The epoch at which an earlier giving back left it, if it had not run until then.
    pub(crate) unstarted_epoch: Option<&'a str>,
}

/// The states of an execution that is given back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Back {
    pub(crate) ownership_state: OwnershipWord,
    pub(crate) public_state: PublicWord,
    pub(crate) attempt_state: AttemptWord,
    /// Whether its attempt never ran, so that it does not count.
    pub(crate) is_unstarted: bool,
}

/// The states to go back to. Whoever may claim an attempt that was to start may claim it again; one that ran stays
/// interrupted, because it may have done half of its work.
pub(crate) fn back(before: Before, claimed: Claimed<'_>) -> Back {
    let interrupted = Back {
        ownership_state: OwnershipWord::Unowned,
        public_state: PublicWord::Waiting,
        attempt_state: AttemptWord::AttemptInterrupted,
        is_unstarted: false,
    };
    let to_start = |of| Some(AttemptWord::before_start(of));
    let unstarted = match before {
        Before::Resumable => {
            let (ownership_state, public_state) = (OwnershipWord::Released, PublicWord::Resumable);
            return Back { ownership_state, public_state, ..interrupted };
        }
        Before::Interrupted | Before::Reclaimed => None,
        Before::ToStart(of) => to_start(of),
        Before::Queue if !never_ran(claimed) => None,
        // Only a retry begins another attempt; a replay opens the last one again.
        Before::Queue if claimed.attempt_index > StoredIndex::FIRST => to_start(AttemptType::Retry),
        Before::Queue => to_start(AttemptType::Initial),
    };
    match unstarted {
        Some(attempt_state) => Back { attempt_state, is_unstarted: true, ..interrupted },
        None => interrupted,
    }
}

/// The first lease of an attempt has epoch 1; each giving back moves it on by one and notes it.
fn never_ran(claimed: Claimed<'_>) -> bool {
    let noted = claimed.unstarted_epoch.and_then(|epoch| epoch.parse::<i64>().ok());
    claimed.lease_epoch == StoredEpoch::FIRST
        || noted.is_some_and(|epoch| epoch.checked_add(1).map(StoredEpoch::from) == Some(claimed.lease_epoch))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Claimed<'static> =
        Claimed { attempt_index: StoredIndex::FIRST, lease_epoch: StoredEpoch::FIRST, unstarted_epoch: None };

    fn state(before: Before, claimed: Claimed<'_>) -> AttemptWord {
        back(before, claimed).attempt_state
    }

    #[test]
    fn an_attempt_that_never_ran_is_to_start_again() {
        assert_eq!(state(Before::Queue, FIRST), AttemptWord::PendingFirstAttempt);
        assert_eq!(
            state(Before::Queue, Claimed { attempt_index: 1.into(), ..FIRST }),
            AttemptWord::PendingRetryAttempt
        );
        let replayed = back(Before::ToStart(AttemptType::Replay), Claimed { lease_epoch: 9.into(), ..FIRST });
        assert_eq!((replayed.attempt_state, replayed.is_unstarted), (AttemptWord::PendingReplayAttempt, true));
    }

    #[test]
    fn an_attempt_that_was_given_back_before_still_never_ran() {
        let again = Claimed { lease_epoch: 3.into(), unstarted_epoch: Some("2"), ..FIRST };
        assert!(back(Before::Queue, again).is_unstarted);
        for ran in [Claimed { lease_epoch: 4.into(), ..again }, Claimed { unstarted_epoch: Some("x"), ..again }] {
            assert_eq!(state(Before::Queue, ran), AttemptWord::AttemptInterrupted);
        }
        assert_eq!(state(Before::Queue, Claimed { lease_epoch: 2.into(), ..FIRST }), AttemptWord::AttemptInterrupted);
    }

    #[test]
    fn what_was_resumable_can_be_resumed() {
        let resumable = back(Before::Resumable, FIRST);
        assert_eq!(
            (resumable.ownership_state, resumable.public_state),
            (OwnershipWord::Released, PublicWord::Resumable)
        );
        assert_eq!(back(Before::Reclaimed, FIRST).public_state, PublicWord::Waiting);
        assert!(!back(Before::Interrupted, FIRST).is_unstarted);
    }
}
