//! SQLite files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ff_backend_sql::SqliteBackend;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};
use tempfile::TempDir;

use super::{ANNOTATED, apply_up_to, schema};

/// Five executions on the lane `default`, made by the existing SQLite backend 0.15: claimed and completed,
/// claimed and failed once, claimed and running, runnable, and created only. Three frames.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/peer.sqlite");

struct File {
    _folder: TempDir,
    path: PathBuf,
}

impl File {
    fn fresh() -> Self {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("engine.sqlite");
        Self { _folder: folder, path }
    }

    fn of_peer() -> Self {
        let file = Self::fresh();
        std::fs::copy(PEER, &file.path).expect("the fixture");
        file
    }

    async fn connect(&self) -> SqliteConnection {
        connect(&self.path).await
    }

    async fn open(&self) -> Result<(), String> {
        let opened = SqliteBackend::new(self.path.to_str().expect("a path")).await;
        opened.map(drop).map_err(|error| error.to_string())
    }
}

async fn connect(path: &Path) -> SqliteConnection {
    let url = format!("sqlite://{}?mode=rwc", path.display());
    SqliteConnection::connect(&url).await.expect("a connection")
}

/// The rows of a query as text, column by column.
async fn rows(connection: &mut SqliteConnection, sql: &str) -> Vec<Vec<String>> {
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(connection).await.expect(sql);
    let text = |row: &sqlx::sqlite::SqliteRow| {
        (0..row.len())
            .map(|n| row.try_get_unchecked::<Option<String>, _>(n).expect("text").unwrap_or_default())
            .collect()
    };
    rows.iter().map(text).collect()
}

async fn numbers(connection: &mut SqliteConnection, sql: &str) -> Vec<i64> {
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(connection).await.expect(sql)
}

async fn execute(connection: &mut SqliteConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect(sql);
}

const LEDGER: &str = "SELECT version, description, success, hex(checksum) FROM _sqlx_migrations ORDER BY version";
const ADDITIONS: &str = "SELECT version FROM ff_sql_migrations ORDER BY version";

fn additions() -> Vec<i64> {
    schema("sqlite").into_iter().map(|(version, ..)| version).filter(|version| *version > 1000).collect()
}

/// What PRAGMAs say about every table and every index, by name.
async fn catalog(connection: &mut SqliteConnection) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut catalog = BTreeMap::new();
    for object in rows(connection, "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'index')").await {
        let pragma = if object[0] == "table" { "table_info" } else { "index_xinfo" };
        let facts = rows(connection, &format!("PRAGMA {pragma}({})", object[1])).await;
        catalog.insert(object.join(" "), facts);
    }
    catalog
}

#[tokio::test]
async fn a_fresh_file_has_the_same_ledger_as_one_of_the_existing_backend() {
    let file = File::fresh();
    file.open().await.expect("a fresh file opens");
    let ours = rows(&mut file.connect().await, LEDGER).await;
    let theirs = rows(&mut connect(Path::new(PEER)).await, LEDGER).await;
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 20);
}

#[tokio::test]
async fn a_fresh_file_has_the_annotations_and_the_additions() {
    let file = File::fresh();
    file.open().await.expect("a fresh file opens");
    let mut connection = file.connect().await;
    assert_eq!(
        numbers(&mut connection, "SELECT version FROM ff_migration_annotation ORDER BY version").await,
        ANNOTATED
    );
    assert_eq!(numbers(&mut connection, ADDITIONS).await, additions());
}

/// Indexes of the existing backend in whose place there are others.
const REPLACED: [&str; 3] = [
    "index ff_lease_event_partition_key_idx",
    "index ff_signal_event_partition_key_idx",
    "index ff_operator_event_partition_key_idx",
];

#[tokio::test]
async fn a_fresh_file_has_what_one_of_the_existing_backend_has() {
    let file = File::fresh();
    file.open().await.expect("a fresh file opens");
    let ours = catalog(&mut file.connect().await).await;
    let theirs = catalog(&mut connect(Path::new(PEER)).await).await;
    for (name, facts) in theirs.into_iter().filter(|(name, _)| !REPLACED.contains(&name.as_str())) {
        assert_eq!(ours.get(&name), Some(&facts), "{name}");
    }
}

#[tokio::test]
async fn opening_again_changes_nothing() {
    let file = File::fresh();
    file.open().await.expect("a fresh file opens");
    let everything = [
        "SELECT version, installed_on, execution_time FROM _sqlx_migrations",
        "SELECT version, applied_at_ms FROM ff_migration_annotation",
        "SELECT version, applied_at_ms FROM ff_sql_migrations",
        "PRAGMA schema_version",
    ];
    let mut before = Vec::new();
    for sql in everything {
        before.push(rows(&mut file.connect().await, sql).await);
    }
    file.open().await.expect("the file opens again");
    for (sql, before) in everything.into_iter().zip(before) {
        assert_eq!(rows(&mut file.connect().await, sql).await, before, "{sql}");
    }
}

#[tokio::test]
async fn a_file_of_the_existing_backend_opens_and_keeps_its_rows() {
    let file = File::of_peer();
    let contents = [
        "SELECT hex(execution_id), lane_id, lifecycle_phase, attempt_index, raw_fields FROM ff_exec_core ORDER BY 1",
        "SELECT hex(execution_id), attempt_index, outcome, lease_epoch FROM ff_attempt ORDER BY 1, 2",
        "SELECT rowid, fields FROM ff_stream_frame",
        "SELECT event_id, outcome FROM ff_completion_event",
        LEDGER,
    ];
    let mut before = Vec::new();
    for sql in contents {
        before.push(rows(&mut file.connect().await, sql).await);
    }
    assert_eq!(before[0].len(), 5);

    file.open().await.expect("a peer's file opens");

    let mut connection = file.connect().await;
    for (sql, before) in contents.into_iter().zip(before) {
        assert_eq!(rows(&mut connection, sql).await, before, "{sql}");
    }
    assert_eq!(numbers(&mut connection, ADDITIONS).await, additions());
    let claimable = "SELECT priority FROM ff_claimable ORDER BY priority DESC";
    assert_eq!(numbers(&mut connection, claimable).await, [4, 2, 1], "created, runnable and to be tried again");
}

#[tokio::test]
async fn an_older_file_gets_what_it_misses_and_its_rows_are_carried_over() {
    let file = File::fresh();
    let mut connection = file.connect().await;
    apply_up_to(&mut connection, "sqlite", 14).await;
    execute(
        &mut connection,
        "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                                   eligibility_state, public_state, attempt_state, created_at_ms, raw_fields)
         VALUES (0, x'01', 'a', 'runnable', 'unowned', 'not_eligible_until_time', 'delayed', 'pending_retry_attempt',
                 1, '{\"delay_until\":\"5000\"}'),
                (0, x'02', 'a', 'runnable', 'unowned', 'not_eligible_until_time', 'delayed', 'pending_retry_attempt',
                 1, '{}');
         INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, started_at_ms)
         VALUES (0, x'01', 0, NULL), (0, x'01', 1, 70), (0, x'01', 2, 60);",
    )
    .await;
    connection.close().await.expect("closed");

    file.open().await.expect("an older file opens");

    let mut connection = file.connect().await;
    let started = "SELECT hex(execution_id), started_at_ms FROM ff_exec_core ORDER BY 1";
    assert_eq!(rows(&mut connection, started).await, [["01", "70"], ["02", ""]]);
    let delayed = "SELECT hex(execution_id), due_at_ms FROM ff_delayed";
    assert_eq!(rows(&mut connection, delayed).await, [["01", "5000"]]);
    let versions = numbers(&mut connection, "SELECT version FROM _sqlx_migrations ORDER BY version").await;
    assert_eq!(versions.len(), 20, "a foreign checksum counts as applied: {versions:?}");
}

#[tokio::test]
async fn a_half_applied_version_is_refused_by_its_number() {
    let file = File::of_peer();
    execute(&mut file.connect().await, "UPDATE _sqlx_migrations SET success = 0 WHERE version = 13").await;
    let error = file.open().await.expect_err("a dirty file does not open");
    assert!(error.contains("13"), "{error}");
}

#[tokio::test]
async fn versions_of_a_newer_backend_do_not_hinder() {
    let file = File::of_peer();
    execute(
        &mut file.connect().await,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (23, 'later', 1, x'00', 1)",
    )
    .await;
    file.open().await.expect("a newer file opens");
    assert_eq!(numbers(&mut file.connect().await, ADDITIONS).await, additions());
}

#[tokio::test]
async fn a_claim_and_the_next_due_row_are_one_index_seek_each() {
    let file = File::fresh();
    file.open().await.expect("a fresh file opens");
    let mut connection = file.connect().await;
    let claim = "SELECT partition_key, execution_id, attempt_index FROM ff_claimable WHERE lane_id = 'a'
                 ORDER BY priority DESC, created_at_ms, execution_id LIMIT 1";
    let able = "SELECT partition_key, execution_id FROM ff_claimable AS c WHERE lane_id = 'a'
                  AND NOT EXISTS (SELECT 1 FROM ff_execution_capabilities AS k WHERE k.execution_id = c.execution_id
                                    AND k.capability NOT IN (SELECT value FROM json_each('[]')))
                ORDER BY priority DESC, created_at_ms, execution_id LIMIT 1";
    let due = "SELECT partition_key, execution_id FROM ff_delayed WHERE due_at_ms <= 5 ORDER BY due_at_ms LIMIT 9";
    for (sql, index) in [
        (claim, "ff_exec_core_claimable_idx (lane_id=?)"),
        (able, "ff_exec_core_claimable_idx (lane_id=?)"),
        (due, "ff_exec_core_delayed_idx (deadline_at_ms"),
    ] {
        let plan: Vec<String> = rows(&mut connection, &format!("EXPLAIN QUERY PLAN {sql}"))
            .await
            .into_iter()
            .map(|row| row[3].clone())
            .collect();
        assert!(plan[0].contains(index), "{plan:#?}");
        assert!(!plan.iter().any(|line| line.contains("TEMP B-TREE")), "{plan:#?}");
    }
}

#[tokio::test]
async fn an_update_of_an_execution_fills_no_table_to_keep_its_indexes() {
    let file = File::fresh();
    file.open().await.expect("a fresh file");
    let mut connection = file.connect().await;
    let steps = rows(
        &mut connection,
        "EXPLAIN UPDATE ff_exec_core
         SET lifecycle_phase = 'terminal', ownership_state = 'unowned', eligibility_state = 'x', terminal_at_ms = 1
         WHERE partition_key = 0 AND execution_id = x'00'",
    )
    .await;
    let opcodes: Vec<&str> = steps.iter().map(|step| step[1].as_str()).collect();
    assert!(opcodes.contains(&"OpenWrite"), "{opcodes:?}");
    assert!(!opcodes.contains(&"OpenEphemeral"), "{opcodes:?}");
}
