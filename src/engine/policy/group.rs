//! Whether the dependencies of an execution are met, can no longer be met, or are still open.

use ff_core::contracts::{EdgeDependencyPolicy, EdgeGroupState};

/// How the upstream executions of a group stand. Negative stored counts read as 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) success: i64,
    pub(crate) fail: i64,
    pub(crate) skip: i64,
    pub(crate) running: i64,
}

impl Counts {
    /// The counts as a row holds them.
    pub(crate) fn stored(success: i32, fail: i32, skip: i32, running: i32) -> Self {
        let count = |stored: i32| i64::from(stored.max(0));
        Self { success: count(success), fail: count(fail), skip: count(skip), running: count(running) }
    }

    /// All upstream executions.
    pub(crate) fn total(self) -> i64 {
        self.success + self.non_success() + self.running
    }

    fn non_success(self) -> i64 {
        self.fail + self.skip
    }

    /// What the policy makes of them. As long as no upstream execution has ended, everything is open: further
    /// edges may come.
    pub(crate) fn state(self, policy: &EdgeDependencyPolicy) -> EdgeGroupState {
        if self.total() == self.running {
            return EdgeGroupState::Pending;
        }
        let (met, lost) = match policy {
            EdgeDependencyPolicy::AnyOf { .. } => (self.success >= 1, self.non_success() >= self.total()),
            EdgeDependencyPolicy::Quorum { k, .. } => {
                let k = i64::from(*k);
                (self.success >= k, self.total() - self.non_success() < k)
            }
            _ => (self.success == self.total(), self.non_success() > 0),
        };
        match (met, lost) {
            (true, _) => EdgeGroupState::Satisfied,
            (false, true) => EdgeGroupState::Impossible,
            (false, false) => EdgeGroupState::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::OnSatisfied;

    use super::*;

    fn state(policy: &EdgeDependencyPolicy, [success, fail, skip, running]: [i32; 4]) -> EdgeGroupState {
        Counts::stored(success, fail, skip, running).state(policy)
    }

    #[test]
    fn all_of_needs_every_one() {
        let policy = EdgeDependencyPolicy::all_of();
        assert_eq!(state(&policy, [1, 0, 0, 1]), EdgeGroupState::Pending);
        assert_eq!(state(&policy, [2, 0, 0, 0]), EdgeGroupState::Satisfied);
        assert_eq!(state(&policy, [1, 1, 0, 1]), EdgeGroupState::Impossible);
        assert_eq!(state(&policy, [0, 0, 1, 0]), EdgeGroupState::Impossible);
    }

    #[test]
    fn any_of_needs_one() {
        let policy = EdgeDependencyPolicy::any_of(OnSatisfied::LetRun);
        assert_eq!(state(&policy, [1, 5, 0, 1]), EdgeGroupState::Satisfied);
        assert_eq!(state(&policy, [0, 1, 1, 1]), EdgeGroupState::Pending);
        assert_eq!(state(&policy, [0, 1, 1, 0]), EdgeGroupState::Impossible);
    }

    #[test]
    fn a_quorum_needs_its_number() {
        let policy = EdgeDependencyPolicy::quorum(2, OnSatisfied::LetRun);
        assert_eq!(state(&policy, [2, 1, 0, 0]), EdgeGroupState::Satisfied);
        assert_eq!(state(&policy, [1, 1, 0, 1]), EdgeGroupState::Pending);
        assert_eq!(state(&policy, [1, 1, 1, 0]), EdgeGroupState::Impossible);
    }

    #[test]
    fn nothing_is_decided_before_something_ended() {
        for policy in [EdgeDependencyPolicy::all_of(), EdgeDependencyPolicy::quorum(2, OnSatisfied::LetRun)] {
            assert_eq!(state(&policy, [0, 0, 0, 0]), EdgeGroupState::Pending);
            assert_eq!(state(&policy, [0, -3, 0, 1]), EdgeGroupState::Pending);
        }
    }
}
