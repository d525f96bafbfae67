//! Which budgets and quota an execution names, and whether its budgets let it be granted.

use std::collections::HashMap;

use ff_core::types::QuotaPolicyId;
use serde_json::Value;

use crate::model::document;

/// How much of one dimension may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BudgetLimit {
    dimension: String,
    limit: u64,
}

impl BudgetLimit {
    /// Whether nothing is left; what was never used is used 0.
    fn is_reached(&self, used: Option<i64>) -> bool {
        used.is_some_and(|used| used.max(0).unsigned_abs() >= self.limit)
    }
}

/// The hard limits of a stored budget policy: every entry of `hard_limits`, and the single limit that older policies
/// keep as `hard_limit`, or as the first value of `hard`, for `dimension`. A limit of 0 is none.
pub(crate) fn limits(policy: &Value) -> Vec<BudgetLimit> {
    let mut found = Vec::new();
    if let Some(Value::Object(hard)) = policy.get("hard_limits") {
        found.extend(hard.iter().filter_map(|(dimension, limit)| limit_of(dimension, Some(limit))));
    }
    let dimension = policy.get("dimension").and_then(Value::as_str);
    let first = policy.get("hard").and_then(Value::as_object).and_then(|hard| hard.values().next());
    found.extend(limit_of(dimension.map_or("default", |given| given), policy.get("hard_limit").or(first)));
    found
}

fn limit_of(dimension: &str, limit: Option<&Value>) -> Option<BudgetLimit> {
    let limit = limit.and_then(Value::as_u64).filter(|limit| *limit > 0)?;
    Some(BudgetLimit { dimension: dimension.to_owned(), limit })
}

/// Whether something is left of every limit, after what was used of each dimension.
pub(crate) fn has_room(limits: &[BudgetLimit], used: &HashMap<String, i64>) -> bool {
    !limits.iter().any(|limit| limit.is_reached(used.get(&limit.dimension).copied()))
}

/// The budgets that an execution's document names.
pub(crate) fn budget_ids(raw_fields: &Value) -> Vec<String> {
    let listed = document::member_string(raw_fields, "budget_ids").unwrap_or_default(); // tidy: an absent member names none
    listed.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// The quota policy that an execution's document names, if it is one.
pub(crate) fn quota_policy_id(raw_fields: &Value) -> Option<QuotaPolicyId> {
    document::member_string(raw_fields, "quota_policy_id").and_then(|named| QuotaPolicyId::parse(&named).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn limit(dimension: &str, limit: u64) -> BudgetLimit {
        BudgetLimit { dimension: dimension.to_owned(), limit }
    }

    #[test]
    fn both_shapes_of_a_policy_are_read() {
        assert_eq!(limits(&json!({"hard_limits": {"a": 1, "b": 0}})), [limit("a", 1)]);
        assert_eq!(limits(&json!({"hard_limit": 10, "dimension": "d"})), [limit("d", 10)]);
        assert_eq!(limits(&json!({"hard": {"x": 3}})), [limit("default", 3)]);
        assert_eq!(limits(&json!({"hard_limit": 0})), []);
        assert_eq!(limits(&json!([])), []);
    }

    #[test]
    fn a_limit_is_reached_when_nothing_is_left() {
        assert!(limit("a", 10).is_reached(Some(10)));
        assert!(!limit("a", 10).is_reached(Some(9)));
        assert!(!limit("a", 10).is_reached(Some(-1)));
        assert!(!limit("a", 10).is_reached(None));
    }

    #[test]
    fn budgets_are_listed_with_commas() {
        assert_eq!(budget_ids(&json!({"budget_ids": " a, ,b "})), ["a", "b"]);
        assert!(budget_ids(&json!({"budget_ids": 5})).is_empty());
    }
}
