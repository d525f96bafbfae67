//! Postgres databases: versions, ledgers, partitions.

use std::sync::atomic::{AtomicU32, Ordering};

use ff_backend_sql::{MigrationOptions, PgPool, apply_migrations, apply_migrations_with, check_schema_version};
use ff_core::EngineError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions};

use super::{ANNOTATED, apply_up_to, schema};

/// The parents with plain child names.
const PARENTS: [&str; 24] = [
    "ff_attempt",
    "ff_budget_policy",
    "ff_budget_usage",
    "ff_budget_usage_by_exec",
    "ff_budget_usage_dedup",
    "ff_cancel_backlog",
    "ff_cancel_backlog_member",
    "ff_cancel_dispatch_outbox",
    "ff_claim_grant",
    "ff_completion_event",
    "ff_edge",
    "ff_edge_group",
    "ff_exec_core",
    "ff_flow_core",
    "ff_flow_summary",
    "ff_pending_cancel_groups",
    "ff_quota_admitted",
    "ff_quota_policy",
    "ff_quota_window",
    "ff_stream_frame",
    "ff_stream_meta",
    "ff_stream_summary",
    "ff_suspension_current",
    "ff_waitpoint_pending",
];

/// The parents whose children are numbered with three digits.
const REGISTRY: [&str; 2] = ["ff_worker_registry", "ff_worker_registry_event"];

/// Runs a test on an empty database of its own.
pub(super) async fn with_database(test: impl AsyncFnOnce(PgPool)) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, but CI is");
        eprintln!("SKIPPED: no Postgres; set FF_TEST_POSTGRES_URL or run under `cargo diglot with-postgres`");
        return;
    };
    let options: PgConnectOptions = url.parse().expect("a Postgres URL");
    let name = format!("ff_migrations_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut server = options.connect().await.expect("the server");
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut server).await.expect("a database");
    let pool = PgPoolOptions::new().max_connections(5).connect_with(options.database(&name)).await.expect("a pool");
    test(pool.clone()).await;
    pool.close().await;
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut server).await.expect("no database");
}

/// Migrates with few partitions.
pub(super) async fn migrate(pool: &PgPool, partitions: u16) {
    let options = MigrationOptions::default().partitions(partitions).expect("a possible number");
    apply_migrations_with(pool, options).await.expect("the migrations");
}

pub(super) async fn execute(pool: &PgPool, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.expect(sql);
}

/// The rows of a query whose only column is text.
pub(super) async fn lines(pool: &PgPool, sql: &str) -> Vec<String> {
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(pool).await.expect(sql)
}

const LEDGER: &str = "SELECT format('%s %s %s %s', version, description, success, left(encode(checksum, 'hex'), 12))
                      FROM _sqlx_migrations ORDER BY version";
const ADDITIONS: &str = "SELECT version::text FROM ff_sql_migrations ORDER BY version";
pub(super) const CHILDREN: &str =
    "SELECT format('%s %s %s', i.inhparent::regclass, count(*), min(i.inhrelid::regclass::text))
                        FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhparent AND p.relkind = 'p'
                        GROUP BY i.inhparent ORDER BY 1";

pub(super) fn children(count: u16) -> Vec<String> {
    let plain = PARENTS.iter().map(|parent| format!("{parent} {count} {parent}_p0"));
    let registry = REGISTRY.iter().map(|parent| format!("{parent} {count} {parent}_p000"));
    let mut all: Vec<String> = plain.chain(registry).collect();
    all.sort();
    all
}

fn additions() -> Vec<String> {
    let versions = schema("pg").into_iter().map(|(version, ..)| version);
    versions.filter(|version| *version > 1000).map(|version| version.to_string()).collect()
}

#[tokio::test]
async fn a_fresh_database_has_the_ledger_of_the_existing_backend() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        assert_eq!(
            lines(&pool, LEDGER).await,
            [
                "1 initial t 9ff7e96a98ff",
                "2 budget t a81355439c91",
                "3 dispatch outbox t 9efca66d6be8",
                "4 suspend signal t 53be2f02f84d",
                "5 timeout scanners t 964a72a07479",
                "6 lease event outbox t cc165744de11",
                "7 signal event outbox t c2f317da61d8",
                "8 lease event instance tag t 7238cd72a0fb",
                "9 signal event instance tag t 011f4e616d5d",
                "10 operator event outbox t 4f13556be64c",
                "11 waitpoint pending extensions t dcc06ee56879",
                "12 quota policy t bc113a49b73b",
                "13 budget policy extensions t 7c843e7d483d",
                "14 cancel backlog t d6c600cb1d2f",
                "16 started at ms t 2a69a2409741",
                "17 claim grant table t b6d267f53912",
                "18 completion event lookup idx t 8e46ca642085",
                "19 flow summary t c7558a668b75",
                "20 budget usage by exec t 818839cadb8c",
                "21 worker registry t 8ef0d6feb183",
                "22 worker registry event pk t fe57077fab6f",
            ]
        );
        let mut annotated: Vec<String> = ANNOTATED.iter().chain(&[19]).map(i64::to_string).collect();
        annotated.sort();
        let annotations = "SELECT version::text FROM ff_migration_annotation ORDER BY 1";
        assert_eq!(lines(&pool, annotations).await, annotated);
        assert_eq!(lines(&pool, ADDITIONS).await, additions());
    })
    .await;
}

#[tokio::test]
async fn migrating_again_changes_nothing_and_keeps_the_number_of_partitions() {
    with_database(async |pool| {
        let times = "SELECT format('%s %s', version, installed_on) FROM _sqlx_migrations
                     UNION ALL SELECT format('%s %s', version, applied_at_ms) FROM ff_sql_migrations ORDER BY 1";
        migrate(&pool, 2).await;
        let before = lines(&pool, times).await;
        migrate(&pool, 5).await;
        assert_eq!(lines(&pool, times).await, before);
        assert_eq!(lines(&pool, CHILDREN).await, children(2));
    })
    .await;
}

#[tokio::test]
async fn every_partitioned_table_gets_the_number_of_partitions_asked_for() {
    with_database(async |pool| {
        migrate(&pool, 3).await;
        assert_eq!(lines(&pool, CHILDREN).await, children(3));
        let helpers = "SELECT proname::text FROM pg_proc WHERE proname = 'ff_create_children'";
        assert!(lines(&pool, helpers).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_database_has_eight_partitions_by_default() {
    with_database(async |pool| {
        apply_migrations(&pool).await.expect("the migrations");
        assert_eq!(lines(&pool, CHILDREN).await, children(8));
    })
    .await;
}

#[tokio::test]
async fn the_tables_that_everybody_reads_are_not_partitioned() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        let plain = "SELECT c.relname::text FROM pg_class AS c
                     WHERE c.relkind = 'r' AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
                     ORDER BY 1";
        assert_eq!(
            lines(&pool, plain).await,
            [
                "_sqlx_migrations",
                "ff_claim_mark",
                "ff_claimable",
                "ff_delayed",
                "ff_flow_pause",
                "ff_granted",
                "ff_idempotency_key",
                "ff_lane_pause",
                "ff_lane_registry",
                "ff_lease_event",
                "ff_migration_annotation",
                "ff_operator_event",
                "ff_partition_config",
                "ff_signal_event",
                "ff_sql_migrations",
                "ff_stream_counter",
                "ff_suspend_dedup",
                "ff_waitpoint_hmac",
            ]
        );
        let seed = "SELECT format('%s %s %s %s', num_flow_partitions, num_budget_partitions, num_quota_partitions,
                                  ff_version) FROM ff_partition_config";
        assert_eq!(lines(&pool, seed).await, ["256 256 256 0.7.0"]);
    })
    .await;
}

#[tokio::test]
async fn one_connection_is_enough() {
    with_database(async |pool| {
        let single = PgPoolOptions::new().max_connections(1).connect_with((*pool.connect_options()).clone());
        let single = single.await.expect("a pool");
        migrate(&single, 2).await;
        assert_eq!(lines(&single, CHILDREN).await, children(2));
        single.close().await;
    })
    .await;
}

#[tokio::test]
async fn migrators_that_start_at_once_do_the_work_once() {
    with_database(async |pool| {
        let options = MigrationOptions::default().partitions(2).expect("a possible number");
        let (first, second) =
            tokio::join!(apply_migrations_with(&pool, options), apply_migrations_with(&pool, options));
        first.expect("the first");
        second.expect("the second");
        assert_eq!(lines(&pool, CHILDREN).await, children(2));
        assert_eq!(lines(&pool, ADDITIONS).await, additions());
        // Other tests migrate databases of their own on the same server at the same time.
        let held = "SELECT lock.pid::text FROM pg_locks AS lock JOIN pg_database AS base ON base.oid = lock.database
                    WHERE lock.locktype = 'advisory' AND base.datname = current_database()";
        assert!(lines(&pool, held).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_migration_is_continued() {
    with_database(async |pool| {
        migrate(&pool, 3).await;
        execute(
            &pool,
            "DELETE FROM _sqlx_migrations WHERE version IN (13, 17, 22);
             DROP TABLE ff_edge_p1, ff_exec_core_p2;
             DROP TABLE ff_quota_policy_p0, ff_quota_policy_p1, ff_quota_policy_p2;",
        )
        .await;
        migrate(&pool, 9).await;
        assert_eq!(lines(&pool, CHILDREN).await, children(3));
        assert_eq!(lines(&pool, LEDGER).await.len(), 21);
    })
    .await;
}

#[tokio::test]
async fn a_half_applied_version_is_refused_by_its_number() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        execute(&pool, "UPDATE _sqlx_migrations SET success = false WHERE version = 13").await;
        let error = apply_migrations(&pool).await.expect_err("a dirty database is refused").to_string();
        assert!(error.contains("13"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn versions_of_a_newer_backend_do_not_hinder() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        execute(
            &pool,
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (23, 'later', true, '', 1);
             DELETE FROM ff_sql_migrations WHERE version = 1004;
             DROP TABLE ff_stream_counter;",
        )
        .await;
        migrate(&pool, 1).await;
        assert_eq!(lines(&pool, ADDITIONS).await, additions());
    })
    .await;
}

#[tokio::test]
async fn an_older_database_gets_what_it_misses_and_its_rows_are_carried_over() {
    with_database(async |pool| {
        let mut connection = pool.acquire().await.expect("a connection");
        apply_up_to(&mut *connection, "pg", 14).await;
        drop(connection);
        execute(
            &pool,
            r#"CREATE TABLE ff_exec_core_p0 PARTITION OF ff_exec_core FOR VALUES WITH (MODULUS 1, REMAINDER 0);
             CREATE TABLE ff_attempt_p0 PARTITION OF ff_attempt FOR VALUES WITH (MODULUS 1, REMAINDER 0);
             INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                                       eligibility_state, public_state, attempt_state, created_at_ms, raw_fields)
             SELECT 7, id::uuid, 'a', 'runnable', 'unowned', eligibility, 'waiting', 'pending', 1, raw::jsonb
             FROM (VALUES
                 ('00000000-0000-0000-0000-000000000001', 'not_eligible_until_time', '{"delay_until":"5000"}'),
                 ('00000000-0000-0000-0000-000000000002', 'not_eligible_until_time', '{"delay_until":"soon"}'),
                 ('00000000-0000-0000-0000-000000000003', 'eligible_now',
                  '{"claim_grant":{"grant_key":"key","worker_id":"w","worker_instance_id":"i","issued_at_ms":8}}'),
                 ('00000000-0000-0000-0000-000000000004', 'pending_claim',
                  '{"claim_grant":{"grant_key":"key","worker_id":"w"}}')) AS rows (id, eligibility, raw);
             INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, started_at_ms)
             VALUES (7, '00000000-0000-0000-0000-000000000001', 0, NULL),
                    (7, '00000000-0000-0000-0000-000000000001', 1, 70),
                    (7, '00000000-0000-0000-0000-000000000001', 2, 60);"#,
        )
        .await;

        migrate(&pool, 4).await;

        let started = "SELECT format('%s %s', right(execution_id::text, 1), started_at_ms) FROM ff_exec_core
                       WHERE started_at_ms IS NOT NULL";
        assert_eq!(lines(&pool, started).await, ["1 70"]);
        let grants = "SELECT format('%s %s %s %s %s %s %s', right(execution_id::text, 1), kind, worker_id,
                                    worker_instance_id, grant_ttl_ms, issued_at_ms, expires_at_ms)
                      FROM ff_claim_grant WHERE grant_id = sha256('key')";
        assert_eq!(lines(&pool, grants).await, ["3 claim w i 0 8 0"]);
        let queues = "SELECT format('claimable %s', right(execution_id::text, 1)) FROM ff_claimable
                      UNION ALL SELECT format('due %s at %s', right(execution_id::text, 1), due_at_ms) FROM ff_delayed
                      ORDER BY 1";
        assert_eq!(lines(&pool, queues).await, ["claimable 3", "due 1 at 5000"]);
        assert_eq!(lines(&pool, CHILDREN).await, children(1), "as many as the older tables have");
    })
    .await;
}

#[tokio::test]
async fn the_schema_version_is_the_highest_that_succeeded() {
    with_database(async |pool| {
        let too_old = |answer| matches!(answer, Err(EngineError::Unavailable { op: "schema_version" }));
        assert!(check_schema_version(&pool, 0).await.is_ok());
        assert!(too_old(check_schema_version(&pool, 1).await));
        migrate(&pool, 1).await;
        assert!(check_schema_version(&pool, 21).await.is_ok());
        assert!(check_schema_version(&pool, 22).await.is_ok());
        assert!(too_old(check_schema_version(&pool, 23).await));
        execute(&pool, "UPDATE _sqlx_migrations SET success = false WHERE version = 22").await;
        assert!(too_old(check_schema_version(&pool, 22).await));
    })
    .await;
}
