//! The documents of dependency edges and of the groups that edges into one execution form.
//!
//! Foreign writers may have left anything there: reading never fails, it takes what it can use.

use ff_core::contracts::{EdgeDependencyPolicy, EdgeSnapshot, OnSatisfied};
use ff_core::engine_error::EngineError;
use ff_core::types::{EdgeId, TimestampMs};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::document;
use super::id::{corruption, execution_id};
use crate::column::{ExecutionUuid, GroupKey};

/// The document of an edge that is staged now.
pub(crate) fn staged(dependency_kind: &str, data_passing_ref: Option<&str>, now_ms: i64) -> Value {
    json!({
        "dependency_kind": dependency_kind,
        "satisfaction_condition": "all_required",
        "data_passing_ref": data_passing_ref.unwrap_or_default(),
        "edge_state": "pending",
        "created_at_ms": now_ms,
        "created_by": "engine",
        "staged_at_ms": now_ms,
        "applied_at_ms": null,
    })
}

/// Whether the edge counts for its downstream execution.
pub(crate) fn is_applied(document: &Value) -> bool {
    document.get("applied_at_ms").is_some_and(Value::is_number)
}

/// The document of the same edge once it is applied, `None` when it is no object and cannot say so.
pub(crate) fn applied(document: &Value, now_ms: i64) -> Option<Value> {
    let mut document = document.clone();
    let members = document.as_object_mut()?;
    members.insert("applied_at_ms".to_owned(), now_ms.into());
    members.insert("edge_state".to_owned(), "applied".into());
    Some(document)
}

/// Whether the downstream execution waits for this edge. Documents of other writers, which say nothing about it,
/// count as applied.
pub(crate) fn is_awaited(document: &Value) -> bool {
    match document.get("applied_at_ms") {
        Some(applied_at_ms) => applied_at_ms.is_number(),
        None => document.get("edge_state").and_then(Value::as_str) != Some("pending"),
    }
}

/// Whether the end of the upstream execution was counted. An edge counts once; a replay opens it again by taking
/// either member away.
pub(crate) fn is_resolved(document: &Value) -> bool {
    let state = document.get("edge_state").and_then(Value::as_str);
    matches!(state, Some("satisfied" | "impossible")) && document.get("resolved_at_ms").is_some_and(Value::is_number)
}

/// Whether the upstream execution's result becomes the downstream one's input.
pub(crate) fn passes_data(document: &Value) -> bool {
    document::member_string(document, "data_passing_ref").is_some_and(|reference| !reference.is_empty())
}

/// The document of the same edge once the end of its upstream execution is counted.
pub(crate) fn resolved(document: Value, is_satisfied: bool, now_ms: i64) -> Value {
    // Anything but an object says nothing that could be lost here.
    let mut members = match document {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let state = if is_satisfied { "satisfied" } else { "impossible" };
    members.insert("edge_state".to_owned(), state.into());
    members.insert("resolved_at_ms".to_owned(), now_ms.into());
    Value::Object(members)
}

/// Where an edge's row is and what it joins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeKey {
    pub(crate) group: GroupKey,
    pub(crate) edge_id: Uuid,
    pub(crate) upstream_eid: ExecutionUuid,
}

impl EdgeKey {
    /// The edge as callers see it.
    ///
    /// # Errors
    /// `Validation(Corruption)` naming the column when the row's partition makes no execution id.
    pub(crate) fn snapshot(&self, document: &Value) -> Result<EdgeSnapshot, EngineError> {
        let id = |column: &str, uuid: ExecutionUuid| {
            execution_id(self.group.partition_key, uuid)
                .map_err(|error| corruption(format!("ff_edge.{column}: {error}")))
        };
        let text =
            |name: &str, default: &str| document::member_string(document, name).unwrap_or_else(|| default.to_owned());
        Ok(EdgeSnapshot::new(
            EdgeId::from_uuid(self.edge_id),
            self.group.flow_id.shown(),
            id("upstream_eid", self.upstream_eid)?,
            id("downstream_eid", self.group.downstream_eid)?,
            text("dependency_kind", "success_only"),
            text("satisfaction_condition", "all_required"),
            document::member_string(document, "data_passing_ref").filter(|reference| !reference.is_empty()),
            text("edge_state", "pending"),
            TimestampMs::from_millis(document::integer(document, "created_at_ms").unwrap_or(0)),
            text("created_by", "engine"),
        ))
    }
}

/// The document of a group's policy, `None` for a policy or an option that this crate does not know.
pub(crate) fn policy_document(policy: &EdgeDependencyPolicy) -> Option<Value> {
    let known = |on_satisfied: &OnSatisfied| match on_satisfied {
        OnSatisfied::CancelRemaining | OnSatisfied::LetRun => Some(on_satisfied.variant_str()),
        _ => None,
    };
    match policy {
        EdgeDependencyPolicy::AllOf => Some(json!({"kind": "all_of"})),
        EdgeDependencyPolicy::AnyOf { on_satisfied } => {
            Some(json!({"kind": "any_of", "on_satisfied": known(on_satisfied)?}))
        }
        EdgeDependencyPolicy::Quorum { k, on_satisfied } => {
            Some(json!({"kind": "quorum", "k": k, "on_satisfied": known(on_satisfied)?}))
        }
        _ => None,
    }
}

/// The policy that a document stands for: all of them unless it says otherwise, cancelling the rest unless it
/// says otherwise, a quorum of one unless it says how many.
pub(crate) fn policy(document: &Value) -> EdgeDependencyPolicy {
    let on_satisfied = match document.get("on_satisfied").and_then(Value::as_str) {
        Some("let_run") => OnSatisfied::LetRun,
        _ => OnSatisfied::CancelRemaining,
    };
    match document.get("kind").and_then(Value::as_str) {
        Some("any_of") => EdgeDependencyPolicy::AnyOf { on_satisfied },
        Some("quorum") => {
            let k = document.get("k").and_then(Value::as_u64).and_then(|k| u32::try_from(k).ok());
            EdgeDependencyPolicy::Quorum { k: k.unwrap_or(1), on_satisfied }
        }
        _ => EdgeDependencyPolicy::AllOf,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::FlowUuid;

    #[test]
    fn every_policy_comes_back_from_its_document() {
        for expected in [
            EdgeDependencyPolicy::all_of(),
            EdgeDependencyPolicy::any_of(OnSatisfied::let_run()),
            EdgeDependencyPolicy::quorum(3, OnSatisfied::cancel_remaining()),
        ] {
            assert_eq!(policy(&policy_document(&expected).unwrap()), expected);
        }
    }

    #[test]
    fn a_policy_that_says_little_reads_as_the_default() {
        assert_eq!(policy(&json!({})), EdgeDependencyPolicy::AllOf);
        assert_eq!(policy(&json!("any_of")), EdgeDependencyPolicy::AllOf);
        assert_eq!(
            policy(&json!({"kind": "quorum", "k": -1, "on_satisfied": 4})),
            EdgeDependencyPolicy::quorum(1, OnSatisfied::CancelRemaining)
        );
    }

    #[test]
    fn an_edge_is_applied_once() {
        let document = staged("success_only", None, 5);
        assert!(!is_applied(&document));
        let document = applied(&document, 6).unwrap();
        assert!(is_applied(&document));
        assert_eq!((&document["edge_state"], &document["staged_at_ms"]), (&json!("applied"), &json!(5)));
        assert_eq!(applied(&json!([]), 6), None);
    }

    #[test]
    fn an_edge_is_counted_once() {
        let staged = staged("success_only", Some("result"), 5);
        assert!(!is_awaited(&staged) && !is_resolved(&staged) && passes_data(&staged));
        let applied = applied(&staged, 6).unwrap();
        assert!(is_awaited(&applied) && !is_resolved(&applied));
        let counted = resolved(applied, true, 9);
        assert!(is_awaited(&counted) && is_resolved(&counted) && passes_data(&counted));
        assert_eq!((&counted["edge_state"], &counted["resolved_at_ms"]), (&json!("satisfied"), &json!(9)));
    }

    #[test]
    fn documents_of_other_writers_are_awaited_and_counted() {
        for document in [json!({}), json!({"kind": "required"}), json!(null)] {
            assert!(is_awaited(&document) && !is_resolved(&document) && !passes_data(&document), "{document}");
            assert!(is_resolved(&resolved(document, false, 1)));
        }
    }

    #[test]
    fn taking_either_member_away_opens_an_edge_again() {
        assert!(!is_resolved(&json!({"edge_state": "applied", "resolved_at_ms": 1})));
        assert!(!is_resolved(&json!({"edge_state": "satisfied", "resolved_at_ms": null})));
    }

    #[test]
    fn an_empty_document_reads_as_a_fresh_edge() {
        let group = GroupKey { partition_key: 3.into(), flow_id: FlowUuid::LEAST, downstream_eid: Uuid::max().into() };
        let key = EdgeKey { group, edge_id: Uuid::nil(), upstream_eid: ExecutionUuid::LEAST };
        let edge = key.snapshot(&json!({"created_at_ms": "12"})).unwrap();
        assert_eq!((edge.dependency_kind.as_str(), edge.edge_state.as_str()), ("success_only", "pending"));
        assert_eq!((edge.data_passing_ref, edge.created_at.0, edge.created_by.as_str()), (None, 12, "engine"));
        assert!(edge.upstream_execution_id.as_str().starts_with("{fp:3}:"));
        let group = GroupKey { partition_key: (-1).into(), ..group };
        let error = EdgeKey { group, ..key }.snapshot(&json!({})).unwrap_err().to_string();
        assert!(error.contains("ff_edge.upstream_eid: "), "{error}");
    }
}
