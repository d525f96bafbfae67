//! What follows when an execution's time is over.

use serde_json::Value;

use crate::column::StoredIndex;
use crate::model::document;

/// Whether attempts of this execution have a time or a retry policy of their own. A sweep then ends the
/// attempt whose lease ran out; otherwise the same attempt is handed to the next worker.
pub(crate) fn ends_attempts(policy: Option<&Value>) -> bool {
    let given = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    policy.is_some_and(|policy| {
        given(policy.get("retry_policy"))
            || given(policy.get("timeout_policy").and_then(|timeouts| timeouts.get("attempt_timeout_ms")))
    })
}

/// Whether another attempt may follow the one of this index, which took too long. Without a retry policy none
/// may; one that cannot be read allows none.
pub(crate) fn may_follow(policy: Option<&Value>, attempt_index: StoredIndex) -> bool {
    let max_retries = policy.and_then(|policy| policy.get("retry_policy")?.get("max_retries")?.as_u64()).unwrap_or(0); // tidy: no policy allows no retry
    u64::try_from(i64::from(attempt_index)).is_ok_and(|index| index < max_retries)
}

/// When a delayed execution wakes up: the deadline column, or what older backends left in the open document.
pub(crate) fn wakes_at_ms(deadline_at_ms: Option<i64>, document: &Value) -> Option<i64> {
    deadline_at_ms.or_else(|| document::member_text(document, "delay_until")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_retry_policy_or_an_attempt_timeout_ends_attempts() {
        assert!(ends_attempts(Some(&json!({"retry_policy": {"max_retries": 0}}))));
        assert!(ends_attempts(Some(&json!({"timeout_policy": {"attempt_timeout_ms": 5}}))));
        for policy in
            [json!({}), json!({"retry_policy": null}), json!({"timeout_policy": {"attempt_timeout_ms": null}})]
        {
            assert!(!ends_attempts(Some(&policy)), "{policy}");
        }
        assert!(!ends_attempts(None));
    }

    #[test]
    fn as_many_attempts_follow_as_the_policy_allows() {
        let policy = json!({"retry_policy": {"max_retries": 1}});
        assert!(may_follow(Some(&policy), 0.into()));
        assert!(!may_follow(Some(&policy), 1.into()));
        assert!(!may_follow(Some(&policy), (-1).into()));
        assert!(!may_follow(Some(&json!({"retry_policy": {"max_retries": "many"}})), 0.into()));
        assert!(!may_follow(None, 0.into()));
    }

    #[test]
    fn the_column_says_when_to_wake_up_and_then_the_document() {
        let document = json!({"delay_until": "7"});
        assert_eq!(wakes_at_ms(Some(5), &document), Some(5));
        assert_eq!(wakes_at_ms(None, &document), Some(7));
        assert_eq!(wakes_at_ms(None, &json!({"delay_until": "soon"})), None);
        assert_eq!(wakes_at_ms(None, &json!({})), None);
    }
}
