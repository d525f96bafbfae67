//! What a flow's members make of the flow.

use crate::model::word::{FlowWord, PublicWord};

/// How many members are in each public state. A state that no count is for adds to the total alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Members {
    pub(crate) total: i64,
    pub(crate) completed: i32,
    pub(crate) failed: i32,
    pub(crate) cancelled: i32,
    pub(crate) expired: i32,
    pub(crate) skipped: i32,
    pub(crate) active: i32,
    pub(crate) suspended: i32,
    pub(crate) waiting: i32,
    pub(crate) delayed: i32,
    pub(crate) rate_limited: i32,
    pub(crate) waiting_children: i32,
}

impl Members {
    /// Adds that many members in a stored public state; running ones are active, and those that somebody has yet
    /// to take up are waiting.
    pub(crate) fn add(&mut self, public_state: &PublicWord, members: i64) {
        self.total = self.total.saturating_add(members);
        let count = match public_state {
            PublicWord::Completed => &mut self.completed,
            PublicWord::Failed => &mut self.failed,
            PublicWord::Cancelled => &mut self.cancelled,
            PublicWord::Expired => &mut self.expired,
            PublicWord::Skipped => &mut self.skipped,
            PublicWord::Active | PublicWord::Running => &mut self.active,
            PublicWord::Suspended => &mut self.suspended,
            PublicWord::Waiting | PublicWord::Pending | PublicWord::Resumable => &mut self.waiting,
            PublicWord::Delayed => &mut self.delayed,
            PublicWord::RateLimited => &mut self.rate_limited,
            PublicWord::WaitingChildren => &mut self.waiting_children,
            PublicWord::Claimed | PublicWord::Other(_) => return,
        };
        *count = count.saturating_add(clamped(members));
    }

    /// The total as the column of sampled members holds it.
    pub(crate) fn sampled(&self) -> i32 {
        clamped(self.total)
    }

    /// The state that the flow is in by them.
    pub(crate) fn flow_state(&self) -> FlowWord {
        let ended = [self.completed, self.failed, self.cancelled, self.expired, self.skipped];
        let held_up = [self.suspended, self.delayed, self.rate_limited, self.waiting_children];
        if ended.iter().copied().map(i64::from).sum::<i64>() == self.total {
            let lost = self.failed > 0 || self.cancelled > 0 || self.expired > 0;
            return if lost { FlowWord::Failed } else { FlowWord::Completed };
        }
        if self.active > 0 {
            return FlowWord::Running;
        }
        if held_up.iter().any(|members| *members > 0) { FlowWord::Blocked } else { FlowWord::Open }
    }
}

fn clamped(members: i64) -> i32 {
    i32::try_from(members).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    use PublicWord::{
        Active, Cancelled, Completed, Delayed, Expired, Failed, Pending, RateLimited, Resumable, Running, Skipped,
        Suspended, Waiting, WaitingChildren,
    };

    fn flow_state(members: &[PublicWord]) -> FlowWord {
        let mut counted = Members::default();
        for state in members {
            counted.add(state, 1);
        }
        assert_eq!(usize::try_from(counted.total).ok(), Some(members.len()));
        counted.flow_state()
    }

    #[test]
    fn a_flow_has_ended_when_all_members_have() {
        assert_eq!(flow_state(&[Completed, Skipped]), FlowWord::Completed);
        for lost in [Failed, Cancelled, Expired] {
            assert_eq!(flow_state(&[Completed, lost]), FlowWord::Failed);
        }
        assert_eq!(flow_state(&[Completed, Waiting]), FlowWord::Open);
    }

    #[test]
    fn a_flow_runs_while_a_member_does_and_is_blocked_when_something_holds_up_the_rest() {
        for running in [Active, Running] {
            assert_eq!(flow_state(&[running, Suspended, Failed]), FlowWord::Running);
        }
        for held_up in [Suspended, Delayed, RateLimited, WaitingChildren] {
            assert_eq!(flow_state(&[held_up, Waiting]), FlowWord::Blocked);
        }
        assert_eq!(flow_state(&[Waiting, Pending, Resumable]), FlowWord::Open);
    }

    #[test]
    fn an_unknown_state_counts_as_a_member_that_has_not_ended() {
        assert_eq!(flow_state(&[Completed, PublicWord::Other("odd".to_owned())]), FlowWord::Open);
    }

    #[test]
    fn counts_stop_at_the_bound_of_their_column() {
        let mut members = Members::default();
        members.add(&Waiting, i64::from(i32::MAX) + 1);
        members.add(&Pending, 1);
        assert_eq!((members.waiting, members.sampled()), (i32::MAX, i32::MAX));
        assert_eq!(members.total, i64::from(i32::MAX) + 2);
    }
}
