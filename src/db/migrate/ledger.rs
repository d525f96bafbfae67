//! The schema versions of both dialects, in the order in which they are applied.
//!
//! Holds no statement and runs none: the files are in `schema/`.

use sqlx::migrate::MigrateError;

use super::error::MigrationError;
use crate::model::manage::SchemaState;

/// One file of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The file's name without its ending, such as `0001_initial`.
    pub(super) stem: &'static str,
    /// Its statements.
    pub(super) sql: &'static str,
}

/// The first line of a file whose statements are committed one by one.
#[cfg(feature = "postgres")]
const STEPWISE: &str = "-- diglot: no-transaction\n";

/// The first number that is not of the ledger shared with the older backends.
const FIRST_ADDITION: i64 = 1001;

impl Step {
    /// The number in front of the name.
    pub(super) fn version(&self) -> i64 {
        let digits = self.stem.split_once('_').map_or(self.stem, |(digits, _)| digits);
        digits.parse().unwrap_or(0) // tidy: the names are constants, and a test reads them
    }

    /// What the ledger calls it: the rest of the name, with spaces.
    pub(super) fn description(&self) -> String {
        self.stem.split_once('_').map_or(self.stem, |(_, rest)| rest).replace('_', " ")
    }

    /// Whether it is an addition of this backend, which the older ones do not know.
    pub(super) fn is_addition(&self) -> bool {
        self.version() >= FIRST_ADDITION
    }

    /// Whether its statements are committed one by one instead of together.
    #[cfg(feature = "postgres")]
    pub(super) fn is_stepwise(&self) -> bool {
        self.sql.starts_with(STEPWISE)
    }
}

/// The checksum that the older backends expect for a version.
///
/// `checksums` has one line per version: four digits, a space, 96 hexadecimal digits. A version
/// without a line has an empty checksum.
pub(super) fn checksum(checksums: &str, version: i64) -> Vec<u8> {
    let hex = checksums
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(number, _)| number.parse() == Ok(version))
        .map_or("", |(_, hex)| hex);
    (0..hex.len() / 2).filter_map(|at| u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()).collect()
}

/// Embeds the named files of one dialect.
macro_rules! steps {
    ($folder:literal, [$($stem:literal),* $(,)?]) => {
        &[$(Step {
            stem: $stem,
            sql: include_str!(concat!("../../../schema/", $folder, "/", $stem, ".sql")),
        }),*]
    };
}

/// The files of SQLite.
#[cfg(feature = "sqlite")]
pub(super) const SQLITE: &[Step] = steps!(
    "sqlite",
    [
        "0001_initial",
        "0002_budget",
        "0003_dispatch_outbox",
        "0004_suspend_signal",
        "0005_timeout_scanners",
        "0006_lease_event_outbox",
        "0007_signal_event_outbox",
        "0008_lease_event_instance_tag",
        "0009_signal_event_instance_tag",
        "0010_operator_event_outbox",
        "0011_waitpoint_pending_extensions",
        "0012_quota_policy",
        "0013_budget_policy_extensions",
        "0014_cancel_backlog",
        "0016_started_at_ms",
        "0017_claim_grant_table",
        "0018_completion_event_lookup_idx",
        "0020_budget_usage_by_exec",
        "0021_worker_registry",
        "0022_worker_registry_event_pk",
        "1001_flow_summary",
        "1002_idempotency_key",
        "1003_work_queues",
        "1004_stream_counter",
        "1007_retention",
        "1008_granted",
        "1010_unfollowed_completion",
        "1012_sweep_indexes",
        "1013_blocked",
        "1020_trim_indexes",
        "1022_blocked_index",
        "1046_retention_indexes",
        "1080_claim_marks",
        "1161_event_times",
        "1162_delayed_lanes",
        "1180_pauses",
    ]
);

/// The files of Postgres.
#[cfg(feature = "postgres")]
pub(super) const POSTGRES: &[Step] = steps!(
    "pg",
    [
        "0001_initial",
        "0002_budget",
        "0003_dispatch_outbox",
        "0004_suspend_signal",
        "0005_timeout_scanners",
        "0006_lease_event_outbox",
        "0007_signal_event_outbox",
        "0008_lease_event_instance_tag",
        "0009_signal_event_instance_tag",
        "0010_operator_event_outbox",
        "0011_waitpoint_pending_extensions",
        "0012_quota_policy",
        "0013_budget_policy_extensions",
        "0014_cancel_backlog",
        "0016_started_at_ms",
        "0017_claim_grant_table",
        "0018_completion_event_lookup_idx",
        "0019_flow_summary",
        "0020_budget_usage_by_exec",
        "0021_worker_registry",
        "0022_worker_registry_event_pk",
        "1002_idempotency_key",
        "1003_work_queues",
        "1004_stream_counter",
        "1005_conditional_notify",
        "1007_retention",
        "1008_granted",
        "1010_unfollowed_completion",
        "1012_sweep_indexes",
        "1013_blocked",
        "1020_trim_indexes",
        "1021_queue_triggers",
        "1030_lock_order",
        "1045_function_paths",
        "1046_retention_indexes",
        "1050_event_words",
        "1060_many_rows",
        "1070_spread",
        "1080_claim_marks",
        "1090_claim_batches",
        "1100_many_hops",
        "1110_locked_by_key",
        "1120_kept_plans",
        "1130_newest_frames",
        "1140_crowded_marks",
        "1150_order_is_no_key",
        "1160_waitpoints_of_many",
        "1161_event_times",
        "1162_delayed_lanes",
        "1163_delayed_rows",
        "1170_overtaken_claims",
        "1180_pauses",
    ]
);

/// The ledger that the older backends know.
pub(super) const LEDGER_TABLE: &str = "_sqlx_migrations";

/// What the ledger calls the execution time.
pub(super) fn nanoseconds_since(start: std::time::Instant) -> i64 {
    i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX) // tidy: 292 years
}

/// What a database with these versions lacks, and has beyond what is known.
pub(super) fn schema_state(applied: &[i64], known: &[Step]) -> SchemaState {
    let missing = known.iter().filter(|step| !applied.contains(&step.version())).map(|step| step.stem.to_owned());
    SchemaState { missing: missing.collect(), unknown: unknown(applied, known), applied: applied.len() }
}

fn unknown(applied: &[i64], known: &[Step]) -> Vec<i64> {
    let is_known = |version: &i64| known.iter().any(|step| step.version() == *version);
    applied.iter().copied().filter(|version| !is_known(version)).collect()
}

/// What a ledger has; one that is not there has nothing.
pub(super) fn read_if_there<T>(read: Result<Vec<T>, MigrationError>) -> Result<Vec<T>, MigrationError> {
    match read {
        Err(MigrationError::Sqlx(MigrateError::Execute(sqlx::Error::Database(error))))
            if error.code().as_deref() == Some("42P01") || error.message().contains("no such table") =>
        {
            Ok(Vec::new())
        }
        other => other,
    }
}

/// Says in the log that the database has versions which this build does not know.
///
/// They are those of a newer build, which promises that its additions do not get in the way.
pub(super) fn warn_of_unknown(applied: &[i64], known: &[Step]) {
    let unknown = unknown(applied, known);
    if !unknown.is_empty() {
        tracing::warn!(?unknown, "the database has schema versions of a newer backend");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> Vec<String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
        let mut stems: Vec<String> = std::fs::read_dir(path)
            .expect("the schema folder")
            .map(|entry| entry.expect("a folder entry").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "sql"))
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        stems.sort();
        stems
    }

    fn check(name: &str, steps: &[Step], checksums: &str) {
        let stems: Vec<&str> = steps.iter().map(|step| step.stem).collect();
        assert_eq!(stems, folder(name));
        for step in steps {
            assert!(step.version() > 0, "{}", step.stem);
            let expected = if step.is_addition() { 0 } else { 48 };
            assert_eq!(checksum(checksums, step.version()).len(), expected, "{}", step.stem);
        }
    }

    #[test]
    #[cfg(feature = "sqlite")]
    fn every_sqlite_file_is_embedded_and_every_shared_version_has_a_checksum() {
        check("sqlite", SQLITE, include_str!("../../../schema/ledger/sqlite/checksums.txt"));
    }

    #[test]
    #[cfg(feature = "postgres")]
    fn every_postgres_file_is_embedded_and_every_shared_version_has_a_checksum() {
        check("pg", POSTGRES, include_str!("../../../schema/ledger/pg/checksums.txt"));
    }

    #[test]
    fn a_file_name_gives_the_number_and_the_description() {
        let step = Step { stem: "0012_quota_policy", sql: "" };
        assert_eq!(step.version(), 12);
        assert_eq!(step.description(), "quota policy");
        assert!(!step.is_addition());
        assert!(Step { stem: "1001_flow_summary", sql: "" }.is_addition());
    }
}
