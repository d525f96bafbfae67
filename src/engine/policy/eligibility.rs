//! Whether what an execution depends on lets it run.

use serde_json::Value;

use crate::model::word::{CompletionWord, PhaseWord, PublicWord};

/// How an upstream execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    Succeeded,
    Failed,
    /// It may still go either way, or is not there.
    Undecided,
}

impl Upstream {
    /// What its stored outcome says, else what its states say: an execution that ended without being completed has
    /// failed its dependents.
    pub(crate) fn from_states(
        outcome: Option<&CompletionWord>,
        lifecycle_phase: &PhaseWord,
        public_state: Option<&PublicWord>,
    ) -> Self {
        match outcome {
            Some(CompletionWord::Success) => Self::Succeeded,
            Some(CompletionWord::Failed) => Self::Failed,
            _ if !lifecycle_phase.has_ended() => Self::Undecided,
            _ if public_state == Some(&PublicWord::Completed) => Self::Succeeded,
            _ => Self::Failed,
        }
    }
}

/// Whether an edge with this policy must be satisfied for its downstream to run. One that names no kind must when it
/// waits for success.
pub(crate) fn is_required(policy: &Value) -> bool {
    match policy.get("kind") {
        None | Some(Value::Null) => policy.get("dependency_kind").and_then(Value::as_str) == Some("success_only"),
        Some(kind) => matches!(kind.as_str(), Some("required" | "AllOf" | "all_of")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stored_outcome_decides_before_the_states_do() {
        let (active, terminal) = (&PhaseWord::Active, &PhaseWord::Terminal);
        assert_eq!(Upstream::from_states(Some(&CompletionWord::Success), active, None), Upstream::Succeeded);
        let completed = Some(&PublicWord::Completed);
        assert_eq!(Upstream::from_states(Some(&CompletionWord::Failed), terminal, completed), Upstream::Failed);
    }

    #[test]
    fn without_an_outcome_the_states_decide() {
        use PublicWord::{Cancelled, Completed, Expired, Failed, Running, Skipped};
        let of = |phase: &PhaseWord, public_state: &PublicWord| Upstream::from_states(None, phase, Some(public_state));
        assert_eq!(of(&PhaseWord::Terminal, &Completed), Upstream::Succeeded);
        for public_state in [Failed, Cancelled, Expired, Skipped] {
            assert_eq!(of(&PhaseWord::Terminal, &public_state), Upstream::Failed);
        }
        assert_eq!(of(&PhaseWord::Cancelled, &Cancelled), Upstream::Failed);
        assert_eq!(of(&PhaseWord::Active, &Running), Upstream::Undecided);
    }

    #[test]
    fn required_edges_are_named_so_or_wait_for_success() {
        for policy in
            [json!({"kind": "required"}), json!({"kind": "AllOf"}), json!({"dependency_kind": "success_only"})]
        {
            assert!(is_required(&policy), "{policy}");
        }
        for policy in [json!({"kind": "AnyOf", "dependency_kind": "success_only"}), json!({}), json!([])] {
            assert!(!is_required(&policy), "{policy}");
        }
    }
}
