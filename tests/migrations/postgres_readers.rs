//! A migration beside somebody who reads for long, as a dump does.

use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::{MigrationError, MigrationOptions, PgPool, PostgresBackend, apply_migrations_with};
use ff_core::backend::{CapabilitySet, ClaimPolicy};
use ff_core::contracts::CreateExecutionArgs;
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::postgres::{execute, lines, migrate, with_database};

/// How long anything may take before it counts as stopped.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How many executions are made and done while the migration waits for its table: several times as long as it waits
/// between two tries.
const EXECUTIONS: usize = 50;

/// Waits until the migration waits for the table that the reader is in.
async fn migration_waits(pool: &PgPool) {
    let waiting = "SELECT mode FROM pg_locks WHERE relation = 'ff_exec_core'::regclass AND NOT granted
                      AND mode = 'AccessExclusiveLock'";
    while lines(pool, waiting).await.is_empty() {
        sleep(Duration::from_millis(1)).await;
    }
}

pub(super) async fn make_one(backend: &PostgresBackend, lane: &LaneId) {
    let execution_id = ExecutionId::solo(lane, &PartitionConfig::default());
    let args = CreateExecutionArgs {
        partition_id: execution_id.partition(),
        execution_id,
        namespace: Namespace::new("space"),
        lane_id: lane.clone(),
        execution_kind: "kind".to_owned(),
        input_payload: Vec::new(),
        payload_encoding: None,
        priority: 0,
        creator_identity: "tester".to_owned(),
        idempotency_key: None,
        tags: [].into(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        now: TimestampMs::now(),
    };
    EngineBackend::create_execution(backend, args).await.expect("it is created");
    let policy = ClaimPolicy::new(WorkerId::new("worker"), WorkerInstanceId::new("worker-1"), 30_000, None);
    let handle =
        backend.claim(lane, &CapabilitySet::default(), policy).await.expect("an answer").expect("it is claimed");
    backend.complete(&handle, None).await.expect("it is completed");
}

#[tokio::test]
async fn a_long_reader_stops_the_migration_and_nobody_else() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        // The version that needs the hot table to itself is to be applied again, which may be done.
        execute(&pool, "DELETE FROM _sqlx_migrations WHERE version = 16").await;
        let backend = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
        let lane = LaneId::new("lane");
        make_one(&backend, &lane).await;

        let mut reader = pool.begin().await.expect("a transaction");
        sqlx::query("LOCK TABLE ff_exec_core IN ACCESS SHARE MODE").execute(&mut *reader).await.expect("a lock");
        let migrating = pool.clone();
        let migration = tokio::spawn(async move {
            let options = MigrationOptions::default().partitions(1).expect("a possible number");
            apply_migrations_with(&migrating, options).await
        });
        timeout(PATIENCE, migration_waits(&pool)).await.expect("the migration waits for the reader");
        for _ in 0..EXECUTIONS {
            timeout(PATIENCE, make_one(&backend, &lane)).await.expect("callers go on while the migration waits");
        }
        timeout(PATIENCE, migration_waits(&pool)).await.expect("the migration tries again");
        assert!(!migration.is_finished());

        reader.rollback().await.expect("the reader leaves");
        timeout(PATIENCE, migration).await.expect("the migration ends").expect("no panic").expect("it succeeds");
        let applied = lines(&pool, "SELECT version::text FROM _sqlx_migrations WHERE version = 16 AND success").await;
        assert_eq!(applied, ["16"]);
        drop(backend);
    })
    .await;
}

/// The indexes of a version that an older database lacks, two of them on hot tables.
const INDEXES: [&str; 5] = [
    "ff_exec_core_deadline_due_idx",
    "ff_exec_core_ended_idx",
    "ff_suspension_current_due_idx",
    "ff_waitpoint_pending_due_idx",
    "ff_exec_core_inconsistent_idx",
];

/// A database of an older version of the program, with rows.
async fn older(pool: &PgPool, lane: &LaneId) -> Arc<PostgresBackend> {
    migrate(pool, 2).await;
    for index in INDEXES {
        execute(pool, &format!("DROP INDEX {index}")).await;
    }
    execute(pool, "DELETE FROM ff_sql_migrations WHERE version = 1012").await;
    let backend = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
    for _ in 0..EXECUTIONS {
        make_one(&backend, lane).await;
    }
    backend
}

/// Somebody who wrote, and is not done.
async fn writer(pool: &PgPool) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut writer = pool.begin().await.expect("a transaction");
    sqlx::query("LOCK TABLE ff_exec_core IN ROW EXCLUSIVE MODE").execute(&mut *writer).await.expect("a lock");
    writer
}

fn migrating(pool: &PgPool) -> JoinHandle<Result<(), MigrationError>> {
    let pool = pool.clone();
    tokio::spawn(async move {
        let options = MigrationOptions::default().partitions(2).expect("a possible number");
        apply_migrations_with(&pool, options).await
    })
}

/// Waits until an index waits for those who write; the session that makes it.
async fn index_waits(pool: &PgPool) -> String {
    // Such a lock belongs to no database; the session that waits for it does.
    let waiting = "SELECT CAST(locks.pid AS text) FROM pg_locks AS locks
                     JOIN pg_stat_activity AS session ON session.pid = locks.pid
                    WHERE locks.locktype = 'virtualxid' AND NOT locks.granted
                      AND session.datname = current_database()";
    loop {
        if let Some(session) = lines(pool, waiting).await.pop() {
            return session;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

/// Every index of the version is whole, on each of the two partitions, and the version is noted.
async fn all_is_made(pool: &PgPool) {
    assert_eq!(lines(pool, "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid").await, [""; 0]);
    for index in INDEXES {
        let children = format!("SELECT count(*)::text FROM pg_inherits WHERE inhparent = '{index}'::regclass");
        assert_eq!(lines(pool, &children).await, ["2"], "{index}");
    }
    let noted = "SELECT version::text FROM ff_sql_migrations WHERE version = 1012";
    assert_eq!(lines(pool, noted).await, ["1012"]);
}

#[tokio::test]
async fn an_index_is_made_while_others_write_whatever_their_version() {
    with_database(async |pool| {
        let lane = LaneId::new("lane");
        let old = older(&pool, &lane).await;
        let writer = writer(&pool).await;
        let migration = migrating(&pool);
        timeout(PATIENCE, index_waits(&pool)).await.expect("the index waits for the writer");
        let new = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
        for _ in 0..EXECUTIONS {
            timeout(PATIENCE, make_one(&old, &lane)).await.expect("who is there goes on");
            timeout(PATIENCE, make_one(&new, &lane)).await.expect("who comes begins");
        }
        assert!(!migration.is_finished());
        writer.rollback().await.expect("the writer leaves");
        timeout(PATIENCE, migration).await.expect("the migration ends").expect("no panic").expect("it succeeds");
        all_is_made(&pool).await;
    })
    .await;
}

#[tokio::test]
async fn what_an_interrupted_index_left_behind_is_made_anew() {
    with_database(async |pool| {
        older(&pool, &LaneId::new("lane")).await;
        let writer = writer(&pool).await;
        let migration = migrating(&pool);
        let session = timeout(PATIENCE, index_waits(&pool)).await.expect("the index waits for the writer");
        execute(&pool, &format!("SELECT pg_terminate_backend({session})")).await;
        let ended = timeout(PATIENCE, migration).await.expect("the migration ends").expect("no panic");
        assert!(ended.is_err(), "its session was ended");
        let left = "SELECT count(*)::text FROM pg_index WHERE NOT indisvalid";
        assert_eq!(lines(&pool, left).await, ["1"]);
        writer.rollback().await.expect("the writer leaves");
        migrate(&pool, 2).await;
        all_is_made(&pool).await;
    })
    .await;
}
