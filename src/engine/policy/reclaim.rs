//! Whether an execution whose worker is gone may be given to another one.

use crate::model::word::{AttemptWord, EligibilityWord, OwnershipWord, PhaseWord, PublicWord};

/// How often an execution can be reclaimed at all.
pub(crate) const MAX_RECLAIMS: u32 = 1000;

/// What the decision looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reclaimable<'a> {
    pub(crate) lifecycle_phase: &'a str,
    pub(crate) ownership_state: &'a str,
    pub(crate) eligibility_state: &'a str,
    pub(crate) public_state: &'a str,
    pub(crate) attempt_state: &'a str,
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
        if self.lifecycle_phase != PhaseWord::Active {
            return Some(format!("lifecycle_phase={} (expected active)", self.lifecycle_phase));
        }
        let declared = OwnershipWord::is_lost(self.ownership_state);
        let run_out = self.lease.is_some_and(|lease| match lease.expires_at_ms {
            Some(expires_at_ms) => expires_at_ms <= self.now_ms,
            None => !lease.has_worker,
        });
        if declared || run_out {
            return None;
        }
        let owner = self.ownership_state;
        Some(format!("ownership_state={owner} (expected lease_expired_reclaimable | lease_revoked)"))
    }

    /// Whether an attempt was left in the middle and waits for anybody. One that was suspended goes on where it
    /// stopped, and one that is granted waits for that worker.
    fn is_interrupted(&self) -> bool {
        self.lifecycle_phase == PhaseWord::Runnable
            && self.attempt_state == AttemptWord::Interrupted
            && self.eligibility_state == EligibilityWord::EligibleNow
            && self.public_state != PublicWord::Resumable
            && self.lease.is_some_and(|lease| lease.expires_at_ms.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: Reclaimable<'static> = Reclaimable {
        lifecycle_phase: "active",
        ownership_state: "leased",
        eligibility_state: "not_applicable",
        public_state: "running",
        attempt_state: "running_attempt",
        lease: Some(LeaseSeen { expires_at_ms: Some(100), has_worker: true }),
        now_ms: 99,
    };

    #[test]
    fn a_live_lease_is_not_reclaimed() {
        assert_eq!(
            HELD.refusal().as_deref(),
            Some("ownership_state=leased (expected lease_expired_reclaimable | lease_revoked)")
        );
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
        assert_eq!(Reclaimable { ownership_state: "lease_revoked", lease: None, ..HELD }.refusal(), None);
    }

    #[test]
    fn an_attempt_that_was_left_in_the_middle_is_reclaimed() {
        let left = Reclaimable {
            lifecycle_phase: "runnable",
            ownership_state: "unowned",
            eligibility_state: "eligible_now",
            public_state: "waiting",
            attempt_state: "attempt_interrupted",
            lease: Some(LeaseSeen { expires_at_ms: None, has_worker: true }),
            now_ms: 0,
        };
        assert_eq!(left.refusal(), None);
        for other in [
            Reclaimable { public_state: "resumable", ..left },
            Reclaimable { eligibility_state: "pending_claim", ..left },
            Reclaimable { attempt_state: "pending_retry_attempt", ..left },
            Reclaimable { lease: None, ..left },
        ] {
            assert!(other.refusal().is_some(), "{other:?}");
        }
    }

    #[test]
    fn only_an_active_execution_is_reclaimed() {
        assert_eq!(
            Reclaimable { lifecycle_phase: "runnable", now_ms: 200, ..HELD }.refusal().as_deref(),
            Some("lifecycle_phase=runnable (expected active)")
        );
    }
}
