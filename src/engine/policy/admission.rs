//! Whether an execution is admitted under a quota, and what a blocked one waits for.

use ff_core::contracts::{CheckAdmissionArgs, CheckAdmissionResult};

use crate::model::word::{BlockingWord, EligibilityWord};

/// What is known of a quota when an execution asks to be admitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaSeen {
    /// How many executions hold a place.
    pub(crate) active: i64,
    /// How many were admitted in the window.
    pub(crate) admitted: i64,
    /// When the first of those was.
    pub(crate) oldest_at_ms: Option<i64>,
}

/// How long the window is; one that exceeds the column is as long as that.
pub(crate) fn window_ms(args: &CheckAdmissionArgs) -> i64 {
    args.window_seconds.checked_mul(1_000).and_then(|ms| i64::try_from(ms).ok()).unwrap_or(i64::MAX)
}

/// Why the execution must wait; `None` when it is admitted. The rate is judged before the places; a limit of 0 is
/// none.
pub(crate) fn refusal(args: &CheckAdmissionArgs, seen: QuotaSeen) -> Option<CheckAdmissionResult> {
    let reached = |limit: u64, count: i64| limit > 0 && count.max(0).unsigned_abs() >= limit;
    if reached(args.rate_limit, seen.admitted) {
        let free_at_ms = seen.oldest_at_ms.unwrap_or(args.now.0).saturating_add(window_ms(args));
        let wait_ms = free_at_ms.saturating_sub(args.now.0).max(0).unsigned_abs();
        let retry_after_ms = wait_ms.saturating_add(args.jitter_ms.unwrap_or(0));
        return Some(CheckAdmissionResult::RateExceeded { retry_after_ms });
    }
    reached(args.concurrency_cap, seen.active).then_some(CheckAdmissionResult::ConcurrencyExceeded)
}

/// The eligibility of an execution that is blocked for a reason; none when nothing blocks for it.
pub(crate) fn blocked_as(reason: &BlockingWord) -> Option<EligibilityWord> {
    match reason {
        BlockingWord::WaitingForBudget => Some(EligibilityWord::BlockedByBudget),
        BlockingWord::WaitingForQuota => Some(EligibilityWord::BlockedByQuota),
        BlockingWord::WaitingForCapableWorker => Some(EligibilityWord::BlockedByRoute),
        BlockingWord::PausedByOperator => Some(EligibilityWord::BlockedByOperator),
        BlockingWord::PausedByPolicy => Some(EligibilityWord::BlockedByLaneState),
        _ => None,
    }
}

/// Whether a sweep may unblock what is blocked for that reason; what an operator paused stays.
pub(crate) fn unblocks_by_itself(reason: &BlockingWord) -> bool {
    use BlockingWord::{WaitingForBudget, WaitingForCapableWorker, WaitingForQuota};
    matches!(reason, WaitingForBudget | WaitingForQuota | WaitingForCapableWorker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff_core::types::{ExecutionId, TimestampMs};

    fn args(window_seconds: u64, rate_limit: u64, concurrency_cap: u64) -> CheckAdmissionArgs {
        CheckAdmissionArgs {
            execution_id: ExecutionId::parse("{fp:0}:00000000-0000-4000-8000-000000000001").unwrap(),
            now: TimestampMs::from_millis(10_000),
            window_seconds,
            rate_limit,
            concurrency_cap,
            jitter_ms: Some(7),
        }
    }

    const SEEN: QuotaSeen = QuotaSeen { active: 2, admitted: 3, oldest_at_ms: Some(9_000) };

    #[test]
    fn the_rate_is_judged_before_the_places() {
        let rate = CheckAdmissionResult::RateExceeded { retry_after_ms: 4_007 };
        assert_eq!(refusal(&args(5, 3, 2), SEEN), Some(rate));
        assert_eq!(refusal(&args(5, 4, 2), SEEN), Some(CheckAdmissionResult::ConcurrencyExceeded));
        assert_eq!(refusal(&args(5, 4, 3), SEEN), None);
    }

    #[test]
    fn a_limit_of_zero_is_none() {
        let full = QuotaSeen { active: i64::MAX, admitted: i64::MAX, oldest_at_ms: None };
        assert_eq!(refusal(&args(5, 0, 0), full), None);
    }

    #[test]
    fn a_wait_is_never_negative() {
        let past = QuotaSeen { oldest_at_ms: Some(1), ..SEEN };
        assert_eq!(refusal(&args(1, 1, 0), past), Some(CheckAdmissionResult::RateExceeded { retry_after_ms: 7 }));
    }

    #[test]
    fn a_window_beyond_the_column_is_as_long_as_the_column() {
        assert_eq!(window_ms(&args(5, 0, 0)), 5_000);
        assert_eq!(window_ms(&args(u64::MAX, 0, 0)), i64::MAX);
        assert_eq!(window_ms(&args(i64::MAX.unsigned_abs() / 1_000 + 1, 0, 0)), i64::MAX);
    }

    #[test]
    fn what_an_operator_paused_is_not_unblocked_by_a_sweep() {
        assert_eq!(blocked_as(&BlockingWord::PausedByOperator), Some(EligibilityWord::BlockedByOperator));
        assert!(!unblocks_by_itself(&BlockingWord::PausedByOperator));
        assert!(unblocks_by_itself(&BlockingWord::WaitingForQuota));
        assert_eq!(blocked_as(&BlockingWord::Other(String::new())), None);
    }
}
