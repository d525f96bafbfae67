//! Whether an execution whose worker is gone may be given to another one.

use crate::model::word::{AttemptWord, EligibilityWord, OwnershipWord, PhaseWord, PublicWord};

/// How often an execution can be reclaimed at all.
pub(crate) const MAX_RECLAIMS: u32 = 1000;

/// What the decision looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reclaimable<'a> {
    pub(crate) lifecycle_phase: &'a PhaseWord,
    pub(crate) ownership_state: &'a OwnershipWord,
    pub(crate) eligibility_state: &'a EligibilityWord,
    pub(crate) public_state: &'a PublicWord,
    pub(crate) attempt_state: &'a AttemptWord,
    /// The running attempt; none when there is no attempt at all.
    pub(crate) lease: Option<LeaseSeen>,
    pub(crate) now_ms: i64,
}

/// The lease of the running attempt as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeaseSeen {
    /// When it ends; none when it was taken away.
    pub(crate) expires_at_ms: Option<i64>,
    /// Whether a worker instance is named.
    pub(crate) has_worker: bool,
}

impl Reclaimable<'_> {
    /// Why not, or nothing when it may be reclaimed: the execution is active, and its lease was declared lost,
    /// has run out, or belongs to nobody; or a sweep or an operator has taken the lease away and nobody has gone on.
    pub(crate) fn refusal(&self) -> Option<String> {
        if self.is_interrupted() {
            return None;
        }
        if *self.lifecycle_phase != PhaseWord::Active {
            return Some(format!("lifecycle_phase={} (expected {})", self.lifecycle_phase, PhaseWord::Active));
        }
        let declared = self.ownership_state.is_lost();
        let run_out = self.lease.is_some_and(|lease| match lease.expires_at_ms {
            Some(expires_at_ms) => expires_at_ms <= self.now_ms,
            None => !lease.has_worker,
        });
        if declared || run_out {
            return None;
        }
        let (expired, revoked) = (OwnershipWord::LeaseExpiredReclaimable, OwnershipWord::LeaseRevoked);
        Some(format!("ownership_state={} (expected {expired} | {revoked})", self.ownership_state))
    }

    /// Whether an attempt was left in the middle and waits for anybody. One that was suspended goes on where it
    /// stopped, and one that is granted waits for that worker.
    fn is_interrupted(&self) -> bool {
        *self.lifecycle_phase == PhaseWord::Runnable
            && *self.attempt_state == AttemptWord::AttemptInterrupted
            && *self.eligibility_state == EligibilityWord::EligibleNow
            && *self.public_state != PublicWord::Resumable
            && self.lease.is_some_and(|lease| lease.expires_at_ms.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Reclaimable<'static> = Reclaimable {
        lifecycle_phase: &PhaseWord::Active,
        ownership_state: &OwnershipWord::Leased,
        eligibility_state: &EligibilityWord::NotApplicable,
        public_state: &PublicWord::Running,
        attempt_state: &AttemptWord::RunningAttempt,
        lease: Some(LeaseSeen { expires_at_ms: Some(100), has_worker: true }),
        now_ms: 99,
    };

    #[test]
    fn a_live_lease_is_not_reclaimed() {
        assert!(HELD.refusal().is_some_and(|why| why.starts_with("ownership_state=leased (expected ")));
    }

    #[test]
    fn a_lease_that_ran_out_is_reclaimed() {
        assert_eq!(Reclaimable { now_ms: 100, ..HELD }.refusal(), None);
    }

    #[test]
    fn a_lease_of_nobody_is_reclaimed_but_a_missing_attempt_is_not() {
        let nobody = LeaseSeen { expires_at_ms: None, has_worker: false };
        assert_eq!(Reclaimable { lease: Some(nobody), ..HELD }.refusal(), None);
        assert!(Reclaimable { lease: Some(LeaseSeen { has_worker: true, ..nobody }), ..HELD }.refusal().is_some());
        assert!(Reclaimable { lease: None, ..HELD }.refusal().is_some());
    }

    #[test]
    fn a_declared_loss_is_enough() {
        assert_eq!(Reclaimable { ownership_state: &OwnershipWord::LeaseRevoked, lease: None, ..HELD }.refusal(), None);
    }

    #[test]
    fn an_attempt_that_was_left_in_the_middle_is_reclaimed() {
        let left = Reclaimable {
            lifecycle_phase: &PhaseWord::Runnable,
            ownership_state: &OwnershipWord::Unowned,
            eligibility_state: &EligibilityWord::EligibleNow,
            public_state: &PublicWord::Waiting,
            attempt_state: &AttemptWord::AttemptInterrupted,
            lease: Some(LeaseSeen { expires_at_ms: None, has_worker: true }),
            now_ms: 0,
        };
        assert_eq!(left.refusal(), None);
        for other in [
            Reclaimable { public_state: &PublicWord::Resumable, ..left },
            Reclaimable { eligibility_state: &EligibilityWord::PendingClaim, ..left },
            Reclaimable { attempt_state: &AttemptWord::PendingRetryAttempt, ..left },
            Reclaimable { lease: None, ..left },
        ] {
            assert!(other.refusal().is_some(), "{other:?}");
        }
    }

    #[test]
    fn only_an_active_execution_is_reclaimed() {
        assert_eq!(
            Reclaimable { lifecycle_phase: &PhaseWord::Runnable, now_ms: 200, ..HELD }.refusal().as_deref(),
            Some("lifecycle_phase=runnable (expected active)")
        );
    }
}
