//! Opens a backend of each kind with a clock that the test moves, and looks into its tables.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ff_backend_sql::testing::{Clock, FaultHook};
use ff_backend_sql::{
    FullScannerConfig, MigrationOptions, PgPool, PostgresBackend, PostgresConnection, PostgresScannerConfig,
    SqliteBackend, SqliteScannerConfig, apply_migrations_with,
};
use ff_core::backend::{
    BackendConfig, BackendConnection, BackendTag, CapabilitySet, ClaimPolicy, Handle, ScannerFilter,
};
use ff_core::contracts::{CreateExecutionArgs, CreateExecutionResult};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::partition::{PartitionConfig, flow_partition};
use ff_core::types::{ExecutionId, FlowId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use tokio::sync::Mutex;

#[path = "cluster.rs"]
mod cluster;

/// Where the clock stands when a test begins.
pub(crate) const T0: i64 = 1_700_000_000_000;
/// How long a lease of [`Harness::claim`] lives.
pub(crate) const LEASE_MS: i64 = 30_000;

/// What a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    SqliteFile,
    SqliteMemory,
    Postgres,
}

/// A backend, its clock, and a way into its tables.
pub(crate) struct Harness {
    pub(crate) backend: Arc<dyn EngineBackend>,
    pub(crate) clock: Clock,
    tables: Tables,
    place: Place,
}

pub(crate) enum Tables {
    /// With the folder of a file, which goes away with it.
    Sqlite(Arc<SqliteBackend>, #[allow(dead_code)] Option<tempfile::TempDir>),
    Postgres(Arc<PostgresBackend>),
}

/// A name for a database that no other has.
fn new_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("ff_conformance_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs a test on one kind of backend and cleans up, also when it fails.
pub(crate) async fn run<F, T>(kind: Kind, test: T)
where
    T: FnOnce(Arc<Harness>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    if kind != Kind::Postgres {
        return test(Arc::new(Harness::sqlite(kind, &new_name()).await)).await;
    }
    if let Ok(url) = std::env::var(cluster::URL) {
        return cluster::run(&url, test).await;
    }
    match std::env::var("FF_TEST_POSTGRES_URL") {
        Ok(url) => run_on_server(&url, test).await,
        Err(_) => {
            assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
            eprintln!("SKIPPED on Postgres: FF_TEST_POSTGRES_URL is not set");
        }
    }
}

/// The same on a database of that Postgres server.
pub(crate) async fn run_on_server<F, T>(url: &str, test: T)
where
    T: FnOnce(Arc<Harness>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let name = new_name();
    let harness = Arc::new(Harness::postgres(url, &name).await);
    let ended = tokio::spawn(test(Arc::clone(&harness))).await;
    drop(harness);
    let server = PgPool::connect(url).await.expect("the server answers");
    let dropping = format!("DROP DATABASE {name} WITH (FORCE)");
    sqlx::raw_sql(sqlx::AssertSqlSafe(dropping)).execute(&server).await.expect("the database goes away");
    server.close().await;
    if let Err(failed) = ended {
        std::panic::resume_unwind(failed.into_panic());
    }
}

impl Harness {
    async fn sqlite(kind: Kind, name: &str) -> Self {
        let clock = Clock::frozen(T0);
        let (path, folder) = if kind == Kind::SqliteMemory {
            (format!("file:{name}?mode=memory&cache=shared"), None)
        } else {
            let folder = tempfile::tempdir().expect("a folder for the database");
            (folder.path().join("flow.db").display().to_string(), Some(folder))
        };
        let backend = SqliteBackend::new_with_clock(&path, clock.clone()).await.expect("the database opens");
        let place = Place::Sqlite { path, in_memory: folder.is_none() };
        Self { backend: backend.clone(), clock, tables: Tables::Sqlite(backend, folder), place }
    }

    async fn postgres(url: &str, name: &str) -> Self {
        let template = template(url).await;
        let server = PgPool::connect(url).await.expect("the server answers");
        let creating = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY");
        sqlx::raw_sql(sqlx::AssertSqlSafe(creating)).execute(&server).await.expect("a database for the test");
        server.close().await;
        Self::open(database_url(url, name)).await
    }

    /// A backend on the Postgres database at that URL.
    pub(crate) async fn open(url: String) -> Self {
        Self::open_at(url, Clock::frozen(T0)).await
    }

    /// The same at a time.
    pub(crate) async fn open_at(url: String, clock: Clock) -> Self {
        let config = BackendConfig::postgres(url.clone());
        let place = Place::Postgres { url };
        let backend = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), clock.clone())
            .await
            .expect("the database opens");
        Self { backend: backend.clone(), clock, tables: Tables::Postgres(backend), place }
    }

    /// The backend with its own type.
    #[allow(dead_code, reason = "for the fault suite, which shares this file")]
    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Makes the database fail where the hook says so.
    #[allow(dead_code, reason = "for the fault suite, which shares this file")]
    pub(crate) fn fail(&self, hook: Box<FaultHook>) {
        match &self.tables {
            Tables::Sqlite(backend, _) => backend.fail_for_test(hook),
            Tables::Postgres(backend) => backend.fail_for_test(hook),
        }
    }

    /// What is meant to differ between databases.
    pub(crate) fn declared(&self) -> Declared {
        self.place.declared()
    }

    /// Whether the tables are spread over the nodes of a cluster.
    #[allow(dead_code, reason = "for the conformance suite; others share this file")]
    pub(crate) fn is_spread(&self) -> bool {
        matches!(self.place, Place::Postgres { .. }) && std::env::var_os(cluster::URL).is_some()
    }

    /// Where the rows are.
    #[allow(dead_code, reason = "for the kill suite, which shares this file")]
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// One more handle on the same rows, with the same clock and a pool of four connections.
    pub(crate) async fn another_handle(&self) -> Arc<dyn EngineBackend> {
        self.place.open(&self.clock, Sweeps::Off).await
    }

    /// One more handle on the same rows whose periodic work runs.
    pub(crate) async fn swept(&self) -> Arc<dyn EngineBackend> {
        self.place.open(&self.clock, Sweeps::On).await
    }

    /// Somewhere that nobody holds open: other rows where a path is shared within the process, else the same.
    pub(crate) fn another_place(&self) -> Place {
        match &self.place {
            Place::Sqlite { path, in_memory: true } => {
                Place::Sqlite { path: path.replacen("file:", "file:other_", 1), in_memory: true }
            }
            Place::Sqlite { path, in_memory: false } => {
                Place::Sqlite { path: format!("{path}.other"), in_memory: false }
            }
            Place::Postgres { url } => Place::Postgres { url: url.clone() },
        }
    }

    /// Runs the sweep of that name once; answers how many rows it handled and how many failed.
    pub(crate) async fn sweep(&self, name: &str) -> (u32, u32) {
        self.sweep_with(name, &FullScannerConfig::default()).await
    }

    /// The same with a configuration.
    pub(crate) async fn sweep_with(&self, name: &str, config: &FullScannerConfig) -> (u32, u32) {
        self.try_sweep(name, config).await.expect("the sweep answers")
    }

    /// The same, which may fail as a whole.
    pub(crate) async fn try_sweep(&self, name: &str, config: &FullScannerConfig) -> Result<(u32, u32), EngineError> {
        match &self.tables {
            Tables::Sqlite(backend, _) => backend.sweep_for_test(name, config).await,
            Tables::Postgres(backend) => backend.sweep_for_test(name, config).await,
        }
    }

    /// Starts the sweeps; they end with `shutdown_prepare`. False when some run already.
    pub(crate) fn start_sweeps(&self, config: FullScannerConfig) -> bool {
        match &self.tables {
            Tables::Sqlite(backend, _) => backend.with_all_scanners(config),
            Tables::Postgres(backend) => backend.with_all_scanners(config),
        }
    }

    /// Moves the clock forward.
    pub(crate) fn pass_ms(&self, ms: i64) {
        self.clock.set(self.clock.now_ms() + ms);
    }

    /// One number from the tables.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        match &self.tables {
            Tables::Sqlite(backend, _) => sqlx::query_scalar(sql).fetch_one(backend.pool_for_test()).await,
            Tables::Postgres(backend) => sqlx::query_scalar(sql).fetch_one(backend.pool()).await,
        }
        .expect("the tables answer")
    }

    /// How many sessions wait for a lock, those on a cluster's nodes as well.
    #[allow(dead_code, reason = "for the conformance suite; others share this file")]
    pub(crate) async fn sessions_that_wait(&self) -> i64 {
        let sessions = if self.is_spread() { "citus_stat_activity" } else { "pg_stat_activity" };
        let waiting = "datname = current_database() AND wait_event_type = 'Lock'";
        self.number(&format!("SELECT count(*) FROM {sessions} WHERE {waiting}")).await
    }

    /// One column of text from the tables, a null as "null".
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        let found: Vec<Option<String>> = match &self.tables {
            Tables::Sqlite(backend, _) => sqlx::query_scalar(sql).fetch_all(backend.pool_for_test()).await,
            Tables::Postgres(backend) => sqlx::query_scalar(sql).fetch_all(backend.pool()).await,
        }
        .expect("the tables answer");
        found.into_iter().map(|text| text.unwrap_or_else(|| "null".to_owned())).collect()
    }

    /// Changes the tables behind the backend's back.
    pub(crate) async fn alter(&self, sql: &str) {
        let take = async || match &self.tables {
            Tables::Sqlite(backend, _) => {
                sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(backend.pool_for_test()).await.map(drop)
            }
            Tables::Postgres(backend) => {
                sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(backend.pool()).await.map(drop)
            }
        };
        let mut taken = take().await;
        // A change of a table locks all its partitions, in an order that is not the one of the loops beside it.
        while taken.as_ref().is_err_and(is_deadlock) {
            taken = take().await;
        }
        taken.expect("the tables take it");
    }

    /// The condition that picks an execution's rows by its uuid column.
    pub(crate) fn of(&self, id: &ExecutionId) -> String {
        let uuid = uuid_of(id);
        match &self.tables {
            Tables::Sqlite(..) => format!("execution_id = x'{}'", uuid.replace('-', "")),
            Tables::Postgres(_) => format!("execution_id = '{uuid}'"),
        }
    }

    /// The same with their partition, as a row lock on a cluster wants it.
    #[allow(dead_code, reason = "for the conformance suite; others share this file")]
    pub(crate) fn row_of(&self, id: &ExecutionId) -> String {
        format!("partition_key = {} AND {}", id.partition(), self.of(id))
    }

    /// The partition of a flow's rows, and its uuid as a literal.
    pub(crate) fn flow_key(&self, flow: &FlowId) -> (u16, String) {
        match &self.tables {
            Tables::Sqlite(..) => (0, format!("x'{}'", flow.0.simple())),
            Tables::Postgres(_) => (flow_partition(flow, &PartitionConfig::default()).index, format!("'{}'", flow.0)),
        }
    }

    /// A column of the execution's own row as text.
    pub(crate) async fn core(&self, id: &ExecutionId, column: &str) -> String {
        let sql = format!("SELECT CAST({column} AS text) FROM ff_exec_core WHERE {}", self.of(id));
        self.texts(&sql).await.remove(0)
    }

    /// A column of the attempts of an execution as text, oldest first.
    pub(crate) async fn attempts(&self, id: &ExecutionId, column: &str) -> Vec<String> {
        let (condition, order) = (self.of(id), "ORDER BY attempt_index");
        self.texts(&format!("SELECT CAST({column} AS text) FROM ff_attempt WHERE {condition} {order}")).await
    }

    /// The open document of an execution.
    pub(crate) async fn document(&self, id: &ExecutionId) -> serde_json::Value {
        serde_json::from_str(&self.core(id, "raw_fields").await).expect("the document is JSON")
    }

    /// The lease events of an execution, oldest first.
    pub(crate) async fn lease_events(&self, id: &ExecutionId) -> Vec<String> {
        let uuid = uuid_of(id);
        self.texts(&format!("SELECT event_type FROM ff_lease_event WHERE execution_id = '{uuid}' ORDER BY event_id"))
            .await
    }

    /// The completions of an execution, oldest first, with what subscribers filter by.
    pub(crate) async fn completions(&self, id: &ExecutionId) -> Vec<String> {
        let shown = "outcome || ' ' || coalesce(namespace, '-') || ' ' || coalesce(instance_tag, '-')";
        self.texts(&format!("SELECT {shown} FROM ff_completion_event WHERE {} ORDER BY event_id", self.of(id))).await
    }

    /// Creates an execution on the lane `lane`.
    pub(crate) async fn create(&self) -> ExecutionId {
        self.create_with(|_| {}).await
    }

    /// Creates an execution after a change to its arguments.
    pub(crate) async fn create_with(&self, change: impl FnOnce(&mut CreateExecutionArgs)) -> ExecutionId {
        let mut args = self.args();
        change(&mut args);
        match self.backend.create_execution(args).await.expect("the execution is created") {
            CreateExecutionResult::Created { execution_id, .. } => execution_id,
            CreateExecutionResult::Duplicate { execution_id } => panic!("{execution_id} was there before"),
        }
    }

    /// The arguments of an execution on the lane `lane`, made now.
    pub(crate) fn args(&self) -> CreateExecutionArgs {
        creation(ExecutionId::solo(&LaneId::new("lane"), &PartitionConfig::default()), self.clock.now_ms())
    }

    /// Claims on the lane `lane` as a worker without capabilities.
    pub(crate) async fn claim(&self, worker: &str) -> Option<Handle> {
        self.claim_as(worker, &[]).await
    }

    /// Claims on the lane `lane` as a worker with these capabilities.
    pub(crate) async fn claim_as(&self, worker: &str, capabilities: &[&str]) -> Option<Handle> {
        let capabilities = CapabilitySet::new(capabilities.iter().copied());
        let claimed = self.backend.claim(&LaneId::new("lane"), &capabilities, policy(worker)).await;
        claimed.expect("the claim is answered")
    }

    /// Creates an execution and claims it.
    pub(crate) async fn created_and_claimed(&self) -> (ExecutionId, Handle) {
        let id = self.create().await;
        let handle = self.claim("worker-a").await.expect("the execution is claimed");
        assert_eq!(payload(&handle).execution_id, id);
        (id, handle)
    }
}

/// The arguments of an execution on the lane `lane`.
pub(crate) fn creation(execution_id: ExecutionId, now_ms: i64) -> CreateExecutionArgs {
    CreateExecutionArgs {
        partition_id: execution_id.partition(),
        execution_id,
        namespace: Namespace::new("space"),
        lane_id: LaneId::new("lane"),
        execution_kind: "kind".to_owned(),
        input_payload: b"input".to_vec(),
        payload_encoding: None,
        priority: 0,
        creator_identity: "tester".to_owned(),
        idempotency_key: None,
        tags: [("cairn.instance_id".to_owned(), "instance-1".to_owned())].into(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        now: TimestampMs::from_millis(now_ms),
    }
}

/// Where a backend's rows are.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) enum Place {
    Sqlite { path: String, in_memory: bool },
    Postgres { url: String },
}

/// Whether a handle's periodic work runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweeps {
    On,
    Off,
}

/// What is meant to differ between databases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declared {
    /// What the backend calls itself.
    pub(crate) label: &'static str,
    /// The tag of its handles.
    pub(crate) tag: BackendTag,
    /// The stage that it reports.
    pub(crate) stage: &'static str,
    /// Whether rows outlive the last handle.
    pub(crate) keeps_rows: bool,
    /// What a refused reclaim adds to the count that it reports.
    pub(crate) refused_reclaim_counts: u32,
    /// The operation that is refused when workers of all namespaces are asked for.
    pub(crate) listing_across_namespaces: &'static str,
    /// What an open document may be after somebody damaged it; only text may be no JSON at all.
    #[allow(dead_code, reason = "for the fault suite, which shares this file")]
    pub(crate) damaged_documents: &'static [&'static str],
    /// The flags of methods that work and are reported not to.
    pub(crate) understated: &'static [&'static str],
}

impl Place {
    fn declared(&self) -> Declared {
        match self {
            Self::Sqlite { in_memory, .. } => Declared {
                label: "sqlite",
                tag: BackendTag::Sqlite,
                stage: "Phase-4",
                keeps_rows: !in_memory,
                refused_reclaim_counts: 0,
                listing_across_namespaces: "list_workers (cross-namespace on SQLite — pass namespace explicitly)",
                damaged_documents: &["", "{", "[]", "null", "7", r#"{"tags":7}"#],
                understated: &["claim_for_worker"],
            },
            Self::Postgres { .. } => Declared {
                label: "postgres",
                tag: BackendTag::Postgres,
                stage: "E-shipped",
                keeps_rows: true,
                refused_reclaim_counts: 1,
                listing_across_namespaces: "list_workers (cross-namespace on Postgres — pass namespace explicitly)",
                damaged_documents: &["[]", "null", "7", r#"{"tags":7}"#],
                understated: &[],
            },
        }
    }

    /// Opens a handle, on Postgres with a pool of four connections.
    pub(crate) async fn open(&self, clock: &Clock, sweeps: Sweeps) -> Arc<dyn EngineBackend> {
        match self {
            Self::Sqlite { path, .. } => {
                let backend = SqliteBackend::new_with_clock(path, clock.clone()).await.expect("the database opens");
                if sweeps == Sweeps::On {
                    backend.with_scanners(SqliteScannerConfig {
                        budget_reset_interval: Duration::ZERO,
                        worker_registry_ttl_interval: SWEEP_INTERVAL,
                    });
                }
                backend
            }
            Self::Postgres { url } => {
                let mut connection = PostgresConnection::new(url);
                connection.max_connections = 4;
                let config = BackendConfig::new(BackendConnection::Postgres(connection));
                let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), clock.clone());
                let mut backend = opened.await.expect("the database opens");
                if sweeps == Sweeps::On {
                    assert!(backend.with_scanners(postgres_sweeps()), "they run");
                }
                backend
            }
        }
    }
}

fn postgres_sweeps() -> PostgresScannerConfig {
    PostgresScannerConfig {
        attempt_timeout_interval: Duration::ZERO,
        lease_expiry_interval: Duration::ZERO,
        suspension_timeout_interval: Duration::ZERO,
        dependency_reconciler_interval: Duration::ZERO,
        edge_cancel_dispatcher_interval: Duration::ZERO,
        edge_cancel_reconciler_interval: Duration::ZERO,
        budget_reset_interval: Duration::ZERO,
        worker_registry_ttl_interval: SWEEP_INTERVAL,
        dependency_stale_threshold_ms: PostgresScannerConfig::DEFAULT_DEP_STALE_MS,
        scanner_filter: ScannerFilter::default(),
        partition_config: PartitionConfig::default(),
    }
}

/// How often sweeps run.
const SWEEP_INTERVAL: Duration = Duration::from_millis(2);

/// How long a test waits for what must come; reaching the end is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The text of the error that must have come.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, EngineError>) -> String {
    result.expect_err("it is refused").to_string()
}

/// What every writer hears that does not hold the lease.
pub(crate) const LOST: &str = "contention: LeaseConflict";

/// What a worker of that name claims with.
pub(crate) fn policy(worker: &str) -> ClaimPolicy {
    let ttl_ms = u32::try_from(LEASE_MS).expect("a short lease");
    ClaimPolicy::new(WorkerId::new(worker), WorkerInstanceId::new(format!("{worker}-1")), ttl_ms, None)
}

/// What a handle says.
pub(crate) fn payload(handle: &Handle) -> ff_core::handle_codec::HandlePayload {
    ff_core::handle_codec::decode(&handle.opaque).expect("the handle decodes").payload
}

/// The uuid of an execution id.
pub(crate) fn uuid_of(id: &ExecutionId) -> String {
    id.as_str().split_once("}:").expect("an execution id").1.to_owned()
}

/// An execution id in that partition.
pub(crate) fn id_in(partition: u16) -> ExecutionId {
    ExecutionId::parse(&format!("{{fp:{partition}}}:{}", uuid::Uuid::new_v4())).expect("an execution id")
}

/// Whether the database broke a deadlock, so that the same is to be tried again.
fn is_deadlock(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "40P01")
}

pub(crate) fn database_url(url: &str, database: &str) -> String {
    let (server, query) = match url.split_once('?') {
        Some((server, query)) => (server, format!("?{query}")),
        None => (url, String::new()),
    };
    let authority = server.find("://").map_or(0, |at| at + 3);
    let end = server[authority..].find('/').map_or(server.len(), |at| authority + at);
    format!("{}/{database}{query}", &server[..end])
}

/// A database with the current schema in two partitions, made once per server, that every test's own is copied
/// from. `FF_TEST_POSTGRES_ICU` names a language by whose rules it sorts text; it is C's otherwise.
async fn template(url: &str) -> String {
    static MADE: Mutex<BTreeSet<String>> = Mutex::const_new(BTreeSet::new());
    let name = format!("ff_conformance_{}_template", std::process::id());
    let mut made = MADE.lock().await;
    if made.contains(url) {
        return name;
    }
    let server = PgPool::connect(url).await.expect("the server answers");
    let sorted = match std::env::var("FF_TEST_POSTGRES_ICU") {
        Ok(locale) => format!(" LOCALE_PROVIDER icu ICU_LOCALE '{locale}' TEMPLATE template0"),
        Err(_) => String::new(),
    };
    for statement in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}{sorted}")] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&server).await.expect("a fresh template");
    }
    server.close().await;
    let pool = PgPool::connect(&database_url(url, &name)).await.expect("the template answers");
    let options = MigrationOptions::default().partitions(2).expect("two is allowed");
    apply_migrations_with(&pool, options).await.expect("the schema is made");
    pool.close().await;
    made.insert(url.to_owned());
    name
}

/// Writes each behaviour once and runs it on every kind of backend:
/// `on_every_database! { async fn a_behaviour(h) { .. } }`.
macro_rules! on_every_database {
    ($($(#[doc = $doc:literal])* async fn $name:ident($h:ident) $body:block)*) => {
        $(mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::harness::{Harness, Kind, run};
            use std::sync::Arc;

            async fn behaviour($h: Arc<Harness>) $body

            #[tokio::test]
            async fn on_a_sqlite_file() {
                run(Kind::SqliteFile, behaviour).await;
            }

            #[tokio::test]
            async fn on_sqlite_in_memory() {
                run(Kind::SqliteMemory, behaviour).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                run(Kind::Postgres, behaviour).await;
            }
        })*
    };
}

pub(crate) use on_every_database;
