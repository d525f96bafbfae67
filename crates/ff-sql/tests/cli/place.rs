//! A database of each kind, and the program on it.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ff_backend_sql::{MigrationOptions, PgPool, PostgresBackend, SqliteBackend, apply_migrations_with};
use ff_core::backend::{BackendConfig, CapabilitySet, ClaimPolicy, Handle};
use ff_core::contracts::CreateExecutionArgs;
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use serde_json::Value;

/// A database with the backend that a worker has of it.
pub(crate) struct Place {
    pub(crate) backend: Arc<dyn EngineBackend>,
    /// What the program is told.
    pub(crate) target: String,
    pub(crate) tables: Tables,
}

/// A way into the tables.
pub(crate) enum Tables {
    /// With the folder, which goes away with it.
    Sqlite(sqlx::SqlitePool, #[allow(dead_code)] tempfile::TempDir),
    Postgres(PgPool),
}

/// What the program printed, and its exit code.
pub(crate) struct Printed {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// Runs a test on an SQLite file and on Postgres, where there is one.
pub(crate) async fn on_both<F: Future<Output = ()>>(test: impl Fn(Place) -> F) {
    test(sqlite().await).await;
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        eprintln!("SKIPPED on Postgres: FF_TEST_POSTGRES_URL is not set");
        return;
    };
    test(postgres(&url).await).await;
}

async fn sqlite() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("flow.db").display().to_string();
    let backend = SqliteBackend::new(&target).await.unwrap();
    let pool = sqlx::SqlitePool::connect(&target).await.unwrap();
    Place { backend, target, tables: Tables::Sqlite(pool, folder) }
}

/// An empty database of the server, which goes away with the server.
pub(crate) async fn empty_database(url: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("ff_sql_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let server = PgPool::connect(url).await.unwrap();
    let creating = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE template0"));
    sqlx::raw_sql(creating).execute(&server).await.unwrap();
    server.close().await;
    let (server, query) =
        url.split_once('?').map_or((url, String::new()), |(server, query)| (server, format!("?{query}")));
    let (server, _) = server.rsplit_once('/').unwrap();
    format!("{server}/{name}{query}")
}

async fn postgres(url: &str) -> Place {
    let target = empty_database(url).await;
    let pool = PgPool::connect(&target).await.unwrap();
    apply_migrations_with(&pool, MigrationOptions::default().partitions(2).unwrap()).await.unwrap();
    let backend = PostgresBackend::connect(BackendConfig::postgres(&target)).await.unwrap();
    Place { backend, target, tables: Tables::Postgres(pool) }
}

/// Runs the program.
pub(crate) fn run(target: Option<&str>, arguments: &[&str]) -> Printed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ff-sql"));
    command.env_remove("FF_DEV_MODE").env_remove("FF_SQL_DATABASE").env("USER", "ada").args(arguments);
    if let Some(target) = target {
        command.env("FF_SQL_DATABASE", target);
    }
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Printed { out: text(done.stdout), err: text(done.stderr), code: done.status.code().unwrap() }
}

impl Place {
    /// Runs the program on it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        let printed = run(Some(&self.target), arguments);
        assert!(!printed.out.contains('\u{1b}') && !printed.err.contains('\u{1b}'), "plain in a pipe: {}", printed.out);
        printed
    }

    /// Runs it, which has to end well, and answers what it printed.
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        let Printed { out, err, code } = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
        out
    }

    /// The same as a document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--json"]].concat();
        let out = self.text(&arguments);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// Changes rows by hand.
    pub(crate) async fn alter(&self, statement: &str) {
        let statement = sqlx::AssertSqlSafe(statement.to_owned());
        match &self.tables {
            Tables::Sqlite(pool, _) => drop(sqlx::raw_sql(statement).execute(pool).await.unwrap()),
            Tables::Postgres(pool) => drop(sqlx::raw_sql(statement).execute(pool).await.unwrap()),
        }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self.tables, Tables::Sqlite(..))
    }

    /// A new execution of a kind on a lane.
    pub(crate) async fn create(&self, lane: &str, kind: &str) -> ExecutionId {
        let partitions = PartitionConfig::default();
        let id = ExecutionId::solo(&LaneId::new(lane), &partitions);
        self.create_as(id, lane, kind).await
    }

    /// The same with that id.
    pub(crate) async fn create_as(&self, id: ExecutionId, lane: &str, kind: &str) -> ExecutionId {
        let args = CreateExecutionArgs {
            partition_id: id.partition(),
            execution_id: id.clone(),
            namespace: Namespace::new("tests"),
            lane_id: LaneId::new(lane),
            execution_kind: kind.to_owned(),
            input_payload: b"input".to_vec(),
            payload_encoding: None,
            priority: 0,
            creator_identity: "tests".to_owned(),
            idempotency_key: None,
            tags: std::collections::HashMap::new(),
            policy: None,
            delay_until: None,
            execution_deadline_at: None,
            now: TimestampMs::now(),
        };
        self.backend.create_execution(args).await.unwrap();
        id
    }

    /// What a worker gets of a lane, at once.
    pub(crate) async fn claim(&self, lane: &str) -> Option<Handle> {
        let policy = ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new("w-1"), 60_000, None);
        self.backend.claim(&LaneId::new(lane), &CapabilitySet::default(), policy).await.unwrap()
    }
}
