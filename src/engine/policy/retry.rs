//! Whether a failed attempt is tried again, and after how long.

use ff_core::backend::FailureClass;
use ff_core::policy::{BackoffStrategy, RetryPolicy};
use serde_json::Value;

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

/// Decides for a failure that may be tried again, after `retries` earlier retries.
///
/// `policy` is the stored execution policy. Without a `retry_policy` in it, a retry starts at once, however
/// often; one that cannot be read allows no retry. `random` spreads a delay with jitter over its upper half.
pub(crate) fn after_failure(policy: Option<&Value>, retries: u32, random: u64) -> AfterFailure {
    let stored = match policy.and_then(|policy| policy.get("retry_policy")) {
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

/// Decides for a typed call, which brings its retry policy along: after how many milliseconds the next attempt may
/// start, or nothing when the execution ends.
///
/// Text that is empty or cannot be read allows no retry. What a backoff leaves out is 1 s, doubled each time
/// where it grows, and at most 60 s.
pub(crate) fn after_typed_failure(policy: &str, retries: u32) -> Option<i64> {
    let policy: Value = serde_json::from_str(policy).ok()?;
    let max_retries = policy.get("max_retries").and_then(Value::as_u64)?;
    if u64::from(retries) >= max_retries {
        return None;
    }
    let backoff = policy.get("backoff");
    let number = |name: &str| backoff.and_then(|backoff| backoff.get(name)).and_then(Value::as_u64);
    let given = |name: &str, default: u64| number(name).map_or(default, |given| given);
    let strategy = match backoff.and_then(|backoff| backoff.get("type")).and_then(Value::as_str) {
        Some("exponential") => BackoffStrategy::Exponential {
            initial_delay_ms: given("initial_delay_ms", 1_000),
            max_delay_ms: given("max_delay_ms", 60_000),
            multiplier: backoff.and_then(|backoff| backoff.get("multiplier")).and_then(Value::as_f64).unwrap_or(2.0), // tidy: a caller's option
            jitter: false,
        },
        Some("fixed") => BackoffStrategy::Fixed { delay_ms: given("delay_ms", 1_000) },
        _ => BackoffStrategy::Fixed { delay_ms: 1_000 },
    };
    Some(delay_ms(&strategy, retries, 0))
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
    fn without_a_policy_a_retry_starts_at_once() {
        assert_eq!(after_failure(None, 900, 0), AfterFailure::RetriesNow);
        assert_eq!(after_failure(Some(&json!({"retry_policy": null})), 900, 0), AfterFailure::RetriesNow);
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

    #[test]
    fn a_typed_call_without_a_readable_policy_is_not_retried() {
        for policy in ["", "{", "{}", "[]", r#"{"max_retries": "2"}"#, r#"{"max_retries": 0}"#] {
            assert_eq!(after_typed_failure(policy, 0), None, "{policy}");
        }
        assert_eq!(after_typed_failure(r#"{"max_retries": 2}"#, 2), None);
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
