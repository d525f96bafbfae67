//! What is measured, by the facade `metrics`: whoever runs the backend installs a recorder, and without one a measurement
//! costs a few nanoseconds.
//!
//! Names are here and nowhere else; `docs/operations.md` has them as a table. What counts on the way of every claim and
//! every completion has no labels, so nothing is put together for it. Lanes are labels of what is counted now and then.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

/// What a worker made of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its execution is completed.
    Completed,
    /// Its execution has failed for good.
    Failed,
    /// It failed, and is tried again.
    Retried,
    /// It was cancelled, or interrupted until something comes.
    Other,
}

const CLAIMS: &str = "ff_claims_total";
const CLAIMS_IN_VAIN: &str = "ff_claims_in_vain_total";
const CLAIM_SECONDS: &str = "ff_claim_duration_seconds";
const COMPLETIONS: &str = "ff_completions_total";
const FAILURES: &str = "ff_failures_total";
const RETRIES: &str = "ff_retries_total";
const LEASE_EXPIRIES: &str = "ff_lease_expiries_total";
const CRASH_LIMITS: &str = "ff_crash_limits_total";
const BATCH_SIZE: &str = "ff_batch_size";
const SWEEP_SECONDS: &str = "ff_sweep_duration_seconds";
const SWEEP_LAG_SECONDS: &str = "ff_sweep_lag_seconds";
const SWEEP_ROWS: &str = "ff_sweep_rows_total";
const SWEEP_ERRORS: &str = "ff_sweep_errors_total";
const QUEUE_DEPTH: &str = "ff_queue_depth";
const QUEUE_AGE_SECONDS: &str = "ff_queue_oldest_age_seconds";
const CONNECTIONS: &str = "ff_connections";
const LOG_BYTES: &str = "ff_log_bytes";
const WAITING_CLAIMS: &str = "ff_waiting_claims";

/// Says what each is, to the recorder that is installed by now.
pub(crate) fn describe() {
    describe_counter!(CLAIMS, "Claims that found work.");
    describe_counter!(CLAIMS_IN_VAIN, "Looks for work that found none.");
    describe_histogram!(CLAIM_SECONDS, Unit::Seconds, "How long a look for work took.");
    describe_counter!(COMPLETIONS, "Executions that their workers completed.");
    describe_counter!(FAILURES, "Executions that failed for good.");
    describe_counter!(RETRIES, "Failures that are tried again.");
    describe_counter!(LEASE_EXPIRIES, "Leases that ran out, whose executions are handed out again.");
    describe_counter!(CRASH_LIMITS, "Executions that ended because their workers had crashed too often.");
    describe_histogram!(BATCH_SIZE, "How many operations went together.");
    describe_histogram!(SWEEP_SECONDS, Unit::Seconds, "How long a run of a sweep took.");
    describe_gauge!(SWEEP_LAG_SECONDS, Unit::Seconds, "How much later than planned a run of a sweep began.");
    describe_counter!(SWEEP_ROWS, "Rows that sweeps handled.");
    describe_counter!(SWEEP_ERRORS, "Rows and runs of sweeps that failed.");
    describe_gauge!(QUEUE_DEPTH, "Executions by lane and state.");
    describe_gauge!(QUEUE_AGE_SECONDS, Unit::Seconds, "Since when the oldest execution is there, by lane and state.");
    describe_gauge!(CONNECTIONS, "Connections to the server, by what they do.");
    describe_gauge!(LOG_BYTES, Unit::Bytes, "How long SQLite's log is.");
    describe_gauge!(WAITING_CLAIMS, "Claims that wait for work.");
}

/// A look for work was answered.
pub(crate) fn looked_for_work(found: bool, took: Duration) {
    if found {
        counter!(CLAIMS).increment(1);
    } else {
        counter!(CLAIMS_IN_VAIN).increment(1);
    }
    histogram!(CLAIM_SECONDS).record(took.as_secs_f64());
}

/// An attempt came to its end.
pub(crate) fn ended(end: End) {
    match end {
        End::Completed => counter!(COMPLETIONS).increment(1),
        End::Failed => counter!(FAILURES).increment(1),
        End::Retried => counter!(RETRIES).increment(1),
        End::Other => {}
    }
}

/// A lease ran out; its execution is handed out again, or has ended because that happened too often.
pub(crate) fn lease_expired(is_over: bool) {
    counter!(LEASE_EXPIRIES).increment(1);
    if is_over {
        counter!(CRASH_LIMITS).increment(1);
    }
}

/// So many operations went together.
pub(crate) fn went_together(dialect: &'static str, members: usize) {
    histogram!(BATCH_SIZE, "database" => dialect).record(members as f64);
}

/// A sweep ran.
pub(crate) fn swept(sweep: &'static str, took: Duration, late: Duration, rows: u32, errors: u32) {
    histogram!(SWEEP_SECONDS, "sweep" => sweep).record(took.as_secs_f64());
    gauge!(SWEEP_LAG_SECONDS, "sweep" => sweep).set(late.as_secs_f64());
    counter!(SWEEP_ROWS, "sweep" => sweep).increment(u64::from(rows));
    counter!(SWEEP_ERRORS, "sweep" => sweep).increment(u64::from(errors));
}

/// So many executions of a lane are in a state, the oldest of them since that time.
pub(crate) fn queued(lane: &str, state: &'static str, depth: i64, oldest: Duration) {
    gauge!(QUEUE_DEPTH, "lane" => lane.to_owned(), "state" => state).set(depth as f64);
    gauge!(QUEUE_AGE_SECONDS, "lane" => lane.to_owned(), "state" => state).set(oldest.as_secs_f64());
}

/// How many connections there are, and how many of them do nothing.
#[cfg(feature = "postgres")]
pub(crate) fn connected(total: u32, idle: usize) {
    gauge!(CONNECTIONS, "state" => "idle").set(idle as f64);
    gauge!(CONNECTIONS, "state" => "total").set(f64::from(total));
}

/// How long SQLite's log is.
#[cfg(feature = "sqlite")]
pub(crate) fn logged(bytes: u64) {
    gauge!(LOG_BYTES).set(bytes as f64);
}

/// How many claims wait for work.
pub(crate) fn waiting(claims: usize) {
    gauge!(WAITING_CLAIMS).set(claims as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names between the bars of the first column of the table.
    fn documented() -> Vec<&'static str> {
        let page = include_str!("../docs/operations.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `ff_")?.split_once("` | "));
        let is_kind = |rest: &str| ["counter", "gauge", "histogram"].iter().any(|kind| rest.starts_with(kind));
        rows.filter(|(_, rest)| is_kind(rest)).map(|(name, _)| name).collect()
    }

    #[test]
    fn every_measurement_is_in_the_table_of_the_documents() {
        let all = [
            CLAIMS,
            CLAIMS_IN_VAIN,
            CLAIM_SECONDS,
            COMPLETIONS,
            FAILURES,
            RETRIES,
            LEASE_EXPIRIES,
            CRASH_LIMITS,
            BATCH_SIZE,
            SWEEP_SECONDS,
            SWEEP_LAG_SECONDS,
            SWEEP_ROWS,
            SWEEP_ERRORS,
            QUEUE_DEPTH,
            QUEUE_AGE_SECONDS,
            CONNECTIONS,
            LOG_BYTES,
            WAITING_CLAIMS,
        ];
        let mut names: Vec<&str> = all.iter().filter_map(|name| name.strip_prefix("ff_")).collect();
        let mut documented = documented();
        names.sort_unstable();
        documented.sort_unstable();
        assert_eq!(names, documented);
    }
}
