//! What a budget's policy says, and what a report of usage is answered.
//!
//! The policy is a document that foreign writers may have left: limits that are no unsigned integers are
//! passed over, and a limit of 0 is none.

use std::collections::{BTreeMap, HashMap};

use ff_core::contracts::ReportUsageResult;
use ff_core::engine_error::EngineError;
use serde_json::{Map, Value, json};

use crate::model::id::corruption;

/// A budget's policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BudgetPolicy {
    /// What no dimension may exceed.
    pub(crate) hard: BTreeMap<String, u64>,
    /// What a dimension exceeds with a warning.
    pub(crate) soft: BTreeMap<String, u64>,
    /// How long a period of the budget lasts; 0 when it never ends.
    pub(crate) reset_interval_ms: i64,
}

impl BudgetPolicy {
    /// Reads a stored policy for the operation `op`.
    ///
    /// # Errors
    /// `Validation(Corruption)` when the text is no JSON object.
    pub(crate) fn parse(op: &str, text: &str) -> Result<Self, EngineError> {
        let document: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| corruption(format!("{op}: ff_budget_policy.policy_json parse error: {error}")))?;
        let limits = |name: &str| {
            let members = document.get(name).and_then(Value::as_object).into_iter().flatten();
            members.filter_map(|(dimension, limit)| Some((dimension.clone(), limit.as_u64()?))).collect()
        };
        Ok(Self {
            hard: limits("hard_limits"),
            soft: limits("soft_limits"),
            reset_interval_ms: document.get("reset_interval_ms").and_then(Value::as_i64).unwrap_or_default(),
        })
    }

    /// When the period that begins now ends.
    pub(crate) fn next_reset_ms(&self, now_ms: i64) -> Option<i64> {
        (self.reset_interval_ms > 0).then(|| now_ms.saturating_add(self.reset_interval_ms))
    }

    /// The first dimension by name that exceeds its hard limit.
    pub(crate) fn exceeded(&self, usage: &HashMap<String, u64>) -> Option<&str> {
        let over = |(dimension, limit): &(&String, &u64)| {
            **limit > 0 && usage.get(*dimension).is_some_and(|value| *value > **limit)
        };
        self.hard.iter().find(over).map(|(dimension, _)| dimension.as_str())
    }
}

/// What a report found, as the statement that made it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It was counted, or refused.
    Answer(ReportUsageResult),
    /// A dimension has no counter yet; nothing was written.
    Missing,
    /// The policy cannot be read; nothing was written.
    Unreadable,
}

impl Finding {
    /// From the words and numbers of the statement.
    ///
    /// # Errors
    /// `Validation(Corruption)` when the word is unknown.
    pub(crate) fn new(kind: &str, dimension: String, current_usage: i64, limit: i64) -> Result<Self, EngineError> {
        let (current_usage, limit) = (current_usage.max(0).unsigned_abs(), limit.max(0).unsigned_abs());
        Ok(match kind {
            "Missing" => Self::Missing,
            "Unreadable" => Self::Unreadable,
            "Ok" => Self::Answer(ReportUsageResult::Ok),
            "SoftBreach" => Self::Answer(ReportUsageResult::SoftBreach { dimension, current_usage, soft_limit: limit }),
            "HardBreach" => Self::Answer(ReportUsageResult::HardBreach { dimension, current_usage, hard_limit: limit }),
            other => return Err(corruption(format!("budget report answered an unknown kind: {other}"))),
        })
    }
}

/// The document under which the answer to a report with a key is kept.
pub(crate) fn answer_document(answer: &ReportUsageResult) -> Value {
    match answer {
        ReportUsageResult::SoftBreach { dimension, current_usage, soft_limit } => json!({
            "kind": "SoftBreach", "dimension": dimension, "current_usage": current_usage, "soft_limit": soft_limit,
        }),
        ReportUsageResult::HardBreach { dimension, current_usage, hard_limit } => json!({
            "kind": "HardBreach", "dimension": dimension, "current_usage": current_usage, "hard_limit": hard_limit,
        }),
        ReportUsageResult::AlreadyApplied => json!({"kind": "AlreadyApplied"}),
        _ => json!({"kind": "Ok"}),
    }
}

/// The answer that was kept. An empty document stands for a report whose answer nobody knows.
///
/// # Errors
/// `Validation(Corruption)` when the document is not one that [`answer_document`] makes.
pub(crate) fn kept_answer(text: &str) -> Result<ReportUsageResult, EngineError> {
    let document: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| corruption(format!("dedup outcome_json decode: {error}")))?;
    if document.is_empty() {
        return Ok(ReportUsageResult::AlreadyApplied);
    }
    let missing = |name: &str| corruption(format!("budget dedup outcome_json missing `{name}`"));
    let word = |name: &str| document.get(name).and_then(Value::as_str).ok_or_else(|| missing(name));
    let number = |name: &str| document.get(name).and_then(Value::as_u64).ok_or_else(|| missing(name));
    Ok(match word("kind")? {
        "Ok" => ReportUsageResult::Ok,
        "AlreadyApplied" => ReportUsageResult::AlreadyApplied,
        "SoftBreach" => ReportUsageResult::SoftBreach {
            dimension: word("dimension")?.to_owned(),
            current_usage: number("current_usage")?,
            soft_limit: number("soft_limit")?,
        },
        "HardBreach" => ReportUsageResult::HardBreach {
            dimension: word("dimension")?.to_owned(),
            current_usage: number("current_usage")?,
            hard_limit: number("hard_limit")?,
        },
        other => return Err(corruption(format!("budget dedup outcome_json unknown kind: {other}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(document: &Value) -> BudgetPolicy {
        BudgetPolicy::parse("test", &document.to_string()).unwrap()
    }

    #[test]
    fn limits_that_are_no_unsigned_integers_are_passed_over() {
        let read = policy(&json!({
            "hard_limits": {"a": 1, "b": -1, "c": 1.0, "d": "1", "e": u64::MAX, "f": null},
            "soft_limits": 5,
            "reset_interval_ms": u64::MAX,
        }));
        assert_eq!(read.hard, BTreeMap::from([("a".to_owned(), 1), ("e".to_owned(), u64::MAX)]));
        assert_eq!((read.soft, read.reset_interval_ms), (BTreeMap::new(), 0));
        assert_eq!(policy(&json!({})), BudgetPolicy::default());
    }

    #[test]
    fn a_policy_that_is_no_object_is_named() {
        for text in ["", "{", "[]", "null"] {
            let error = BudgetPolicy::parse("reset_budget", text).unwrap_err().to_string();
            assert!(error.contains("reset_budget: ff_budget_policy.policy_json parse error: "), "{error}");
        }
    }

    #[test]
    fn the_first_dimension_over_its_limit_is_found_by_name() {
        let read = policy(&json!({"hard_limits": {"b": 1, "a": 2, "z": 0}}));
        let usage = |a, b| HashMap::from([("a".to_owned(), a), ("b".to_owned(), b), ("z".to_owned(), 9)]);
        assert_eq!(read.exceeded(&usage(3, 2)), Some("a"));
        assert_eq!(read.exceeded(&usage(2, 2)), Some("b"));
        assert_eq!(read.exceeded(&usage(2, 1)), None);
        assert_eq!(read.exceeded(&HashMap::new()), None);
    }

    #[test]
    fn a_period_of_zero_never_ends() {
        assert_eq!(policy(&json!({"reset_interval_ms": 0})).next_reset_ms(5), None);
        assert_eq!(policy(&json!({"reset_interval_ms": 10})).next_reset_ms(5), Some(15));
        assert_eq!(policy(&json!({"reset_interval_ms": i64::MAX})).next_reset_ms(5), Some(i64::MAX));
    }

    #[test]
    fn an_answer_comes_back_from_its_document() {
        for (kind, limit) in [("Ok", 0), ("SoftBreach", 5), ("HardBreach", 7)] {
            let Finding::Answer(answer) = Finding::new(kind, "tokens".to_owned(), 9, limit).unwrap() else {
                panic!("{kind} is an answer")
            };
            assert_eq!(kept_answer(&answer_document(&answer).to_string()).unwrap(), answer);
        }
        assert_eq!(kept_answer("{}").unwrap(), ReportUsageResult::AlreadyApplied);
    }

    #[test]
    fn a_kept_answer_that_cannot_be_read_is_named() {
        for (text, detail) in [
            ("{", "dedup outcome_json decode: "),
            (r#"{"a":1}"#, "budget dedup outcome_json missing `kind`"),
            (r#"{"kind":"Maybe"}"#, "budget dedup outcome_json unknown kind: Maybe"),
            (r#"{"kind":"SoftBreach"}"#, "budget dedup outcome_json missing `dimension`"),
        ] {
            let error = kept_answer(text).unwrap_err().to_string();
            assert!(error.contains(detail), "{error}");
        }
    }
}
