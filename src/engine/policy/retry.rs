//! Whether a failed attempt is tried again, and after how long.

use ff_core::backend::FailureClass;
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::policy::{BackoffStrategy, RetryPolicy};
use serde_json::Value;

use crate::model::id::invalid_input;

/// How often an execution without a retry policy may fail, and any may crash, unless the program says otherwise.
pub(crate) const DEFAULT_LIMIT: u32 = 25;

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// The execution ends.
    Ends,
    /// The next attempt may start at once.
    RetriesNow,
    /// The next attempt may start after that many milliseconds.
    RetriesAfterMs(i64),
}

/// Whether a failure of this class may be tried again. A class this crate does not know may not: a retry
/// may repeat side effects, while an execution that ended can be replayed.
pub(crate) fn may_retry(class: FailureClass) -> bool {
    matches!(class, FailureClass::Transient | FailureClass::InfraCrash)
}

/// Refuses a retry policy that JSON could not give back, or whose delays would jump about.
///
/// # Errors
/// `Validation(InvalidInput)` when a multiplier is not a number, infinite or negative.
pub(crate) fn check(policy: &RetryPolicy) -> Result<(), EngineError> {
    match policy.backoff {
        BackoffStrategy::Exponential { multiplier, .. } if !is_factor(multiplier) => {
            Err(invalid_input(format!("policy.retry_policy.backoff.multiplier: {}", not_a_factor(multiplier))))
        }
        _ => Ok(()),
    }
}

fn is_factor(multiplier: f64) -> bool {
    multiplier.is_finite() && multiplier >= 0.0
}

fn not_a_factor(multiplier: f64) -> String {
    format!("must be a finite number that is not negative, and is {multiplier}")
}

/// Decides for a failure that may be tried again, after `retries` earlier retries.
///
/// `policy` is the stored execution policy. Without a `retry_policy` in it, a retry starts at once, unless
/// `is_enough` says of the number of failures that there were as many as may be; one that cannot be read allows no
/// retry. `random` spreads a delay with jitter over its upper half.
pub(crate) fn after_failure(
    policy: Option<&Value>,
    retries: u32,
    random: u64,
    is_enough: impl Fn(u32) -> bool,
) -> AfterFailure {
    let stored = match policy.and_then(|policy| policy.get("retry_policy")) {
        None | Some(Value::Null) if is_enough(retries.saturating_add(1)) => return AfterFailure::Ends,
        None | Some(Value::Null) => return AfterFailure::RetriesNow,
        Some(stored) => stored,
    };
    let Ok(policy) = serde_json::from_value::<RetryPolicy>(stored.clone()) else {
        return AfterFailure::Ends;
    };
    if retries >= policy.max_retries {
        return AfterFailure::Ends;
    }
    match delay_ms(&policy.backoff, retries, random) {
        0 => AfterFailure::RetriesNow,
        delay => AfterFailure::RetriesAfterMs(delay),
    }
}

/// The retry policy that a typed call brings along.
#[derive(Debug, PartialEq)]
pub(crate) struct TypedPolicy {
    max_retries: u64,
    backoff: BackoffStrategy,
}

impl TypedPolicy {
    /// Reads a call's policy. Empty text, and a policy without `max_retries`, allow no retry. What a backoff leaves
    /// out is 1 s, doubled each time where it grows, and at most 60 s.
    ///
    /// # Errors
    /// `Validation(InvalidPolicyJson)` when the text is no JSON object, or a member is not what its name says: silence
    /// about it would end the execution.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, EngineError> {
        if text.is_empty() {
            return Ok(None);
        }
        let policy: Value = serde_json::from_str(text).map_err(|error| unreadable(&error.to_string()))?;
        let Some(max_retries) = number(&policy, "max_retries")? else {
            return Ok(None);
        };
        let none = Value::Object(serde_json::Map::new());
        let backoff = member(&policy, "backoff")?.unwrap_or(&none); // tidy: a caller's option
        let kind = match member(backoff, "type")? {
            None => None,
            Some(kind) => Some(kind.as_str().ok_or_else(|| unreadable("backoff.type must be text"))?),
        };
        let given = |name: &str, default: u64| -> Result<u64, EngineError> {
            Ok(number(backoff, name)?.map_or(default, |given| given))
        };
        let backoff = match kind {
            Some("exponential") => BackoffStrategy::Exponential {
                initial_delay_ms: given("initial_delay_ms", 1_000)?,
                max_delay_ms: given("max_delay_ms", 60_000)?,
                multiplier: multiplier(backoff)?,
                jitter: false,
            },
            Some("fixed") => BackoffStrategy::Fixed { delay_ms: given("delay_ms", 1_000)? },
            _ => BackoffStrategy::Fixed { delay_ms: 1_000 },
        };
        Ok(Some(Self { max_retries, backoff }))
    }

    /// After how many milliseconds the next attempt may start, or nothing when no more retries are allowed.
    pub(crate) fn delay_ms(&self, retries: u32) -> Option<i64> {
        (u64::from(retries) < self.max_retries).then(|| delay_ms(&self.backoff, retries, 0))
    }
}

fn unreadable(what: &str) -> EngineError {
    EngineError::Validation { kind: ValidationKind::InvalidPolicyJson, detail: format!("retry_policy_json: {what}") }
}

/// A member of an object, where null stands for none.
fn member<'a>(object: &'a Value, name: &str) -> Result<Option<&'a Value>, EngineError> {
    let object = object.as_object().ok_or_else(|| unreadable("the policy and its backoff must be objects"))?;
    Ok(object.get(name).filter(|value| !value.is_null()))
}

fn number(object: &Value, name: &str) -> Result<Option<u64>, EngineError> {
    let refused = || unreadable(&format!("{name} must be a whole number that is not negative"));
    member(object, name)?.map(|value| value.as_u64().ok_or_else(refused)).transpose()
}

fn multiplier(backoff: &Value) -> Result<f64, EngineError> {
    let Some(given) = member(backoff, "multiplier")? else {
        return Ok(2.0);
    };
    match given.as_f64() {
        Some(multiplier) if is_factor(multiplier) => Ok(multiplier),
        Some(multiplier) => Err(unreadable(&format!("multiplier {}", not_a_factor(multiplier)))),
        None => Err(unreadable("multiplier must be a number")),
    }
}

fn delay_ms(backoff: &BackoffStrategy, retries: u32, random: u64) -> i64 {
    match *backoff {
        BackoffStrategy::Fixed { delay_ms } => clamp(delay_ms),
        BackoffStrategy::Exponential { initial_delay_ms, max_delay_ms, multiplier, jitter } => {
            let grown = initial_delay_ms as f64 * multiplier.powf(f64::from(retries));
            // A float that is too large or not a number saturates when it becomes an integer.
            let delay = (grown as u64).min(max_delay_ms);
            clamp(if jitter { delay - random % (delay / 2 + 1) } else { delay })
        }
    }
}

fn clamp(delay_ms: u64) -> i64 {
    i64::try_from(delay_ms).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy(backoff: Value, max_retries: u32) -> Value {
        json!({"priority": 0, "retry_policy": {"max_retries": max_retries, "backoff": backoff}})
    }

    fn exponential(jitter: bool) -> Value {
        policy(
            json!({"type": "exponential", "initial_delay_ms": 1000, "max_delay_ms": 5000, "multiplier": 2.0, "jitter": jitter}),
            9,
        )
    }

    #[test]
    fn only_transient_failures_may_be_tried_again() {
        assert!(may_retry(FailureClass::Transient) && may_retry(FailureClass::InfraCrash));
        assert!(![FailureClass::Permanent, FailureClass::Timeout, FailureClass::Cancelled].into_iter().any(may_retry));
    }

    #[test]
    fn without_a_policy_a_retry_starts_at_once_until_there_were_enough() {
        for policy in [None, Some(&json!({"retry_policy": null}))] {
            assert_eq!(super::after_failure(policy, 900, 0, |_| false), AfterFailure::RetriesNow);
            assert_eq!(super::after_failure(policy, 23, 0, |failures| failures >= 25), AfterFailure::RetriesNow);
            assert_eq!(super::after_failure(policy, 24, 0, |failures| failures >= 25), AfterFailure::Ends);
        }
    }

    #[test]
    fn a_policy_may_allow_more_than_the_limit() {
        let policy = policy(json!({"type": "fixed", "delay_ms": 0}), 90);
        assert_eq!(super::after_failure(Some(&policy), 80, 0, |_| true), AfterFailure::RetriesNow);
    }

    fn after_failure(policy: Option<&Value>, retries: u32, random: u64) -> AfterFailure {
        super::after_failure(policy, retries, random, |_| false)
    }

    #[test]
    fn the_last_allowed_retry_is_the_last() {
        let policy = policy(json!({"type": "fixed", "delay_ms": 60_000}), 1);
        assert_eq!(after_failure(Some(&policy), 0, 0), AfterFailure::RetriesAfterMs(60_000));
        assert_eq!(after_failure(Some(&policy), 1, 0), AfterFailure::Ends);
    }

    #[test]
    fn a_backoff_of_zero_is_at_once() {
        let policy = policy(json!({"type": "fixed", "delay_ms": 0}), 1);
        assert_eq!(after_failure(Some(&policy), 0, 0), AfterFailure::RetriesNow);
    }

    #[test]
    fn exponential_backoff_grows_to_its_maximum() {
        let delays: Vec<_> = (0..4).map(|retries| after_failure(Some(&exponential(false)), retries, 0)).collect();
        assert_eq!(delays, [1000, 2000, 4000, 5000].map(AfterFailure::RetriesAfterMs));
    }

    #[test]
    fn jitter_stays_in_the_upper_half() {
        for random in [0, 1, 499, 500, 501, u64::MAX] {
            let AfterFailure::RetriesAfterMs(delay) = after_failure(Some(&exponential(true)), 0, random) else {
                panic!("a retry was allowed");
            };
            assert!((500..=1000).contains(&delay), "{delay}");
        }
    }

    fn after_typed_failure(policy: &str, retries: u32) -> Option<i64> {
        TypedPolicy::parse(policy).unwrap().and_then(|policy| policy.delay_ms(retries))
    }

    #[test]
    fn a_typed_call_is_retried_as_often_as_its_policy_says() {
        for policy in ["", "{}", r#"{"max_retries": null}"#, r#"{"max_retries": 0}"#] {
            assert_eq!(after_typed_failure(policy, 0), None, "{policy}");
        }
        assert_eq!(after_typed_failure(r#"{"max_retries": 2}"#, 1), Some(1_000));
        assert_eq!(after_typed_failure(r#"{"max_retries": 2}"#, 2), None);
    }

    #[test]
    fn a_typed_policy_that_cannot_be_read_is_refused() {
        for policy in [
            "{",
            "[]",
            "7",
            r#"{"max_retries": "2"}"#,
            r#"{"max_retries": -1}"#,
            r#"{"max_retries": 1.5}"#,
            r#"{"max_retries": 1, "backoff": []}"#,
            r#"{"max_retries": 1, "backoff": {"type": 1}}"#,
            r#"{"max_retries": 1, "backoff": {"type": "fixed", "delay_ms": -1}}"#,
            r#"{"max_retries": 1, "backoff": {"type": "exponential", "initial_delay_ms": "1"}}"#,
            r#"{"max_retries": 1, "backoff": {"type": "exponential", "max_delay_ms": 99999999999999999999}}"#,
            r#"{"max_retries": 1, "backoff": {"type": "exponential", "multiplier": -2}}"#,
            r#"{"max_retries": 1, "backoff": {"type": "exponential", "multiplier": "2"}}"#,
        ] {
            let error = TypedPolicy::parse(policy).unwrap_err().to_string();
            assert!(error.starts_with("validation: InvalidPolicyJson: retry_policy_json: "), "{policy}: {error}");
        }
    }

    #[test]
    fn a_multiplier_is_a_finite_number_that_is_not_negative() {
        let policy = |multiplier| RetryPolicy {
            backoff: BackoffStrategy::Exponential { initial_delay_ms: 1, max_delay_ms: 1, multiplier, jitter: false },
            ..RetryPolicy::default()
        };
        for multiplier in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5] {
            let error = check(&policy(multiplier)).unwrap_err().to_string();
            assert!(error.contains("policy.retry_policy.backoff.multiplier: must be a finite"), "{error}");
        }
        assert!([0.0, 0.5, f64::MAX].into_iter().all(|multiplier| check(&policy(multiplier)).is_ok()));
    }

    #[test]
    fn a_typed_calls_backoff_has_defaults() {
        for (backoff, retries, delay_ms) in [
            (json!(null), 0, 1_000),
            (json!({"type": "fixed"}), 0, 1_000),
            (json!({"type": "fixed", "delay_ms": 7}), 0, 7),
            (json!({"type": "odd", "delay_ms": 7}), 0, 1_000),
            (json!({"type": "exponential"}), 3, 8_000),
            (json!({"type": "exponential"}), 9, 60_000),
            (json!({"type": "exponential", "initial_delay_ms": 10, "multiplier": 1.5, "max_delay_ms": 20}), 1, 15),
            (json!({"type": "exponential", "initial_delay_ms": 10, "multiplier": 1.5, "max_delay_ms": 20}), 2, 20),
        ] {
            let policy = json!({"max_retries": 10, "backoff": backoff}).to_string();
            assert_eq!(after_typed_failure(&policy, retries), Some(delay_ms), "{policy}");
        }
    }

    #[test]
    fn a_policy_that_cannot_be_read_allows_no_retry() {
        assert_eq!(after_failure(Some(&json!({"retry_policy": {"max_retries": "many"}})), 0, 0), AfterFailure::Ends);
    }
}
