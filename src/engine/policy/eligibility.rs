//! Whether what an execution depends on lets it run.

use serde_json::Value;

use crate::model::word::{OutcomeWord, PhaseWord, PublicWord};

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
    pub(crate) fn from_states(outcome: &str, lifecycle_phase: &str, public_state: Option<&str>) -> Self {
        match OutcomeWord::of(outcome) {
            Some(OutcomeWord::Success) => Self::Succeeded,
            Some(OutcomeWord::Failed) => Self::Failed,
            _ if !PhaseWord::has_ended(lifecycle_phase) => Self::Undecided,
            _ if public_state.is_some_and(|state| state == PublicWord::Completed) => Self::Succeeded,
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
        assert_eq!(Upstream::from_states("success", "active", None), Upstream::Succeeded);
        assert_eq!(Upstream::from_states("failed", "terminal", Some("completed")), Upstream::Failed);
    }

    #[test]
    fn without_an_outcome_the_states_decide() {
        assert_eq!(Upstream::from_states("none", "terminal", Some("completed")), Upstream::Succeeded);
        for public_state in ["failed", "cancelled", "expired", "skipped"] {
            assert_eq!(Upstream::from_states("none", "terminal", Some(public_state)), Upstream::Failed);
        }
        assert_eq!(Upstream::from_states("none", "cancelled", Some("cancelled")), Upstream::Failed);
        assert_eq!(Upstream::from_states("none", "active", Some("running")), Upstream::Undecided);
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
