//! Which members of a flow are cancelled with it.

use ff_core::backend::CancelFlowPolicy;

use crate::model::word::PhaseWord;

/// How far the cancellation of a flow reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// No member.
    FlowOnly,
    /// Members that no worker has started.
    Pending,
    /// Members that have not ended.
    All,
}

impl Reach {
    /// The reach of a policy. One that this crate does not know cancels no member.
    pub(crate) fn of(policy: CancelFlowPolicy) -> Self {
        match policy {
            CancelFlowPolicy::CancelAll => Self::All,
            CancelFlowPolicy::CancelPending => Self::Pending,
            _ => Self::FlowOnly,
        }
    }

    /// The reach of a policy's text, which is the caller's own: only the known narrower ones cancel less than
    /// everything.
    pub(crate) fn of_text(policy: &str) -> Self {
        match policy {
            "cancel_pending" => Self::Pending,
            "cancel_flow_only" | "flow_only" => Self::FlowOnly,
            _ => Self::All,
        }
    }

    /// The policy's text in rows and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::FlowOnly => "cancel_flow_only",
            Self::Pending => "cancel_pending",
            Self::All => "cancel_all",
        }
    }

    /// Whether it takes in a member in that phase.
    pub(crate) fn includes(self, lifecycle_phase: &PhaseWord) -> bool {
        match self {
            Self::FlowOnly => false,
            Self::Pending => lifecycle_phase.waits_by_any_writer(),
            Self::All => lifecycle_phase.is_open_by_any_writer(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_reaches_as_far_as_it_says() {
        use PhaseWord::{Active, Blocked, Cancelled, Failed, Runnable, Submitted, Suspended, Terminal};
        let reached = |reach: Reach| {
            let mut phases = vec![Submitted, Runnable, Blocked, Active, Suspended, Terminal, Cancelled, Failed];
            phases.retain(|phase| reach.includes(phase));
            phases
        };
        assert_eq!(reached(Reach::FlowOnly), []);
        assert_eq!(reached(Reach::Pending), [Submitted, Runnable, Blocked]);
        assert_eq!(reached(Reach::All), [Submitted, Runnable, Blocked, Active, Suspended]);
    }

    #[test]
    fn a_policy_has_the_same_reach_as_its_text() {
        for policy in [CancelFlowPolicy::FlowOnly, CancelFlowPolicy::CancelPending, CancelFlowPolicy::CancelAll] {
            assert_eq!(Reach::of_text(Reach::of(policy).as_str()), Reach::of(policy));
        }
        assert_eq!(Reach::of_text("flow_only"), Reach::FlowOnly);
        assert_eq!(Reach::of_text("something else"), Reach::All);
    }
}
