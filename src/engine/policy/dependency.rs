//! What the end of an upstream execution means for those that wait for it.

use ff_core::contracts::{EdgeDependencyPolicy, EdgeGroupState, OnSatisfied};

use super::group::Counts;
use crate::model::word::{CompletionWord, EligibilityWord, OutcomeWord, OwnershipWord, PhaseWord, PublicWord};

/// How an execution ended, as those see it that wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It did what it was for.
    Success,
    /// It never ran, because its own dependencies could not be met.
    Skipped,
    /// It failed, was cancelled or ran out of time.
    Failed,
}

impl Ended {
    /// From a completion's word. None for `resumable`, after which the execution goes on.
    pub(crate) fn from_outcome(outcome: &CompletionWord) -> Option<Self> {
        match outcome {
            CompletionWord::Success => Some(Self::Success),
            CompletionWord::Skipped => Some(Self::Skipped),
            CompletionWord::Resumable => None,
            _ => Some(Self::Failed),
        }
    }

    /// From the rows of an execution that has ended. Older writers left the public state behind, so the
    /// outcome of the last attempt counts as well.
    pub(crate) fn from_states(public_state: &PublicWord, attempt_outcome: Option<&OutcomeWord>) -> Self {
        match (public_state, attempt_outcome) {
            (PublicWord::Completed, _) => Self::Success,
            (PublicWord::Skipped, _) => Self::Skipped,
            (PublicWord::Failed | PublicWord::Cancelled | PublicWord::Expired, _) => Self::Failed,
            (_, Some(OutcomeWord::Success)) => Self::Success,
            (_, Some(OutcomeWord::Skipped)) => Self::Skipped,
            _ => Self::Failed,
        }
    }
}

/// The counts after one more edge ended.
pub(crate) fn counted(before: Counts, ended: Ended) -> Counts {
    let mut counts = Counts { running: (before.running - 1).max(0), ..before };
    match ended {
        Ended::Success => counts.success += 1,
        Ended::Skipped => counts.skip += 1,
        Ended::Failed => counts.fail += 1,
    }
    counts
}

/// How many edges ended.
pub(crate) fn ended_edges(counts: Counts) -> i64 {
    counts.total() - counts.running
}

/// The counts when that many edges are known to be there. A replay opens edges again that the counters no
/// longer hold.
pub(crate) fn with_edges(counts: Counts, edges: i64) -> Counts {
    Counts { running: counts.running.max(edges - ended_edges(counts)), ..counts }
}

/// Whether knowing of more edges could take such a decision back.
pub(crate) fn depends_on_total(policy: &EdgeDependencyPolicy, state: EdgeGroupState) -> bool {
    match policy {
        EdgeDependencyPolicy::AnyOf { .. } | EdgeDependencyPolicy::Quorum { .. } => state == EdgeGroupState::Impossible,
        _ => state == EdgeGroupState::Satisfied,
    }
}

/// Whether those upstream executions that are no longer needed are cancelled once the group is satisfied.
pub(crate) fn cancels_remaining(policy: &EdgeDependencyPolicy) -> bool {
    match policy {
        EdgeDependencyPolicy::AnyOf { on_satisfied } | EdgeDependencyPolicy::Quorum { on_satisfied, .. } => {
            *on_satisfied != OnSatisfied::LetRun
        }
        _ => false,
    }
}

/// When an execution may be claimed whose dependencies are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    Now,
    /// It was created to wait until then.
    AtMs(i64),
}

/// Whether an execution is free to be changed by what it waits for: nobody has claimed it.
pub(crate) fn is_unclaimed(lifecycle_phase: &PhaseWord, ownership_state: &OwnershipWord) -> bool {
    let waits = lifecycle_phase.waits_by_any_writer() && *lifecycle_phase != PhaseWord::Eligible;
    waits && *ownership_state == OwnershipWord::Unowned
}

/// Lets an execution go whose dependencies are met. None when it is claimed, or when it is not its dependencies
/// that hold it back: what an operator, a budget or a delay blocked stays so.
pub(crate) fn release(
    lifecycle_phase: &PhaseWord,
    ownership_state: &OwnershipWord,
    eligibility_state: &EligibilityWord,
    delay_until_ms: Option<i64>,
    now_ms: i64,
) -> Option<Release> {
    let is_blocked = *lifecycle_phase == PhaseWord::Blocked || eligibility_state.awaits_dependencies();
    if !is_blocked || !is_unclaimed(lifecycle_phase, ownership_state) {
        return None;
    }
    Some(delay_until_ms.filter(|until_ms| *until_ms > now_ms).map_or(Release::Now, Release::AtMs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any_of() -> EdgeDependencyPolicy {
        EdgeDependencyPolicy::any_of(OnSatisfied::let_run())
    }

    #[test]
    fn outcomes_and_states_say_how_it_ended() {
        assert_eq!(Ended::from_outcome(&CompletionWord::Resumable), None);
        for (word, ended) in [
            (CompletionWord::Success, Ended::Success),
            (CompletionWord::Skipped, Ended::Skipped),
            (CompletionWord::Expired, Ended::Failed),
        ] {
            assert_eq!(Ended::from_outcome(&word), Some(ended));
        }
        let (success, skipped) = (Some(&OutcomeWord::Success), Some(&OutcomeWord::Skipped));
        assert_eq!(Ended::from_states(&PublicWord::Completed, None), Ended::Success);
        assert_eq!(Ended::from_states(&PublicWord::Running, success), Ended::Success);
        assert_eq!(Ended::from_states(&PublicWord::Running, skipped), Ended::Skipped);
        assert_eq!(Ended::from_states(&PublicWord::Cancelled, success), Ended::Failed);
        assert_eq!(Ended::from_states(&PublicWord::Suspended, None), Ended::Failed);
    }

    #[test]
    fn an_edge_that_ended_runs_no_longer() {
        let running = Counts::stored(0, 0, 0, 2);
        assert_eq!(counted(running, Ended::Success), Counts::stored(1, 0, 0, 1));
        assert_eq!(counted(counted(running, Ended::Failed), Ended::Skipped), Counts::stored(0, 1, 1, 0));
        assert_eq!(counted(Counts::stored(0, 0, 0, 0), Ended::Failed), Counts::stored(0, 1, 0, 0));
    }

    #[test]
    fn edges_that_the_counters_forgot_are_still_open() {
        let replayed = with_edges(Counts::stored(1, 0, 0, 0), 3);
        assert_eq!(replayed, Counts::stored(1, 0, 0, 2));
        assert_eq!(replayed.state(&EdgeDependencyPolicy::all_of()), EdgeGroupState::Pending);
        assert_eq!(with_edges(Counts::stored(1, 0, 0, 4), 3), Counts::stored(1, 0, 0, 4));
    }

    #[test]
    fn only_decisions_about_the_last_edge_depend_on_the_total() {
        let all_of = EdgeDependencyPolicy::all_of();
        assert!(depends_on_total(&all_of, EdgeGroupState::Satisfied));
        assert!(!depends_on_total(&all_of, EdgeGroupState::Impossible));
        assert!(depends_on_total(&any_of(), EdgeGroupState::Impossible));
        assert!(!depends_on_total(&any_of(), EdgeGroupState::Satisfied));
    }

    #[test]
    fn only_a_policy_that_asks_for_it_cancels_what_remains() {
        assert!(!cancels_remaining(&EdgeDependencyPolicy::all_of()) && !cancels_remaining(&any_of()));
        assert!(cancels_remaining(&EdgeDependencyPolicy::quorum(2, OnSatisfied::cancel_remaining())));
    }

    #[test]
    fn what_waits_for_its_dependencies_alone_is_released() {
        use EligibilityWord::{
            BlockedByDependencies, BlockedByOperator, EligibleNow, NotApplicable, NotEligibleUntilTime,
        };
        use OwnershipWord::{Leased, Unowned};
        use PhaseWord::{Active, Blocked, Runnable, Submitted, Terminal};
        for (phase, ownership, eligibility, released) in [
            (Blocked, Unowned, EligibilityWord::Blocked, true),
            (Runnable, Unowned, BlockedByDependencies, true),
            (Submitted, Unowned, BlockedByDependencies, true),
            (Runnable, Unowned, EligibleNow, false),
            (Runnable, Unowned, BlockedByOperator, false),
            (Runnable, Unowned, NotEligibleUntilTime, false),
            (Active, Leased, NotApplicable, false),
            (Runnable, Leased, BlockedByDependencies, false),
            (Terminal, Unowned, BlockedByDependencies, false),
        ] {
            let expected = released.then_some(Release::Now);
            let answer = release(&phase, &ownership, &eligibility, None, 5);
            assert_eq!(answer, expected, "{phase} {ownership} {eligibility}");
        }
    }

    #[test]
    fn a_delay_outlives_the_dependencies() {
        let (phase, ownership) = (PhaseWord::Submitted, OwnershipWord::Unowned);
        let blocked = EligibilityWord::BlockedByDependencies;
        let release = |until_ms| release(&phase, &ownership, &blocked, Some(until_ms), 5);
        assert_eq!(release(6), Some(Release::AtMs(6)));
        assert_eq!(release(5), Some(Release::Now));
    }
}
