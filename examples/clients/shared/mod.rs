//! What both clients share: where the executions are kept, what is submitted, and a pen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend_sql::{
    FullScannerConfig, MigrationOptions, PgPool, PostgresBackend, SqliteBackend, apply_migrations_with,
};
use ff_core::backend::BackendConfig;
use ff_core::contracts::CreateExecutionArgs;
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use ff_observability::Metrics;
use ff_sdk::{FlowFabricAdminClient, FlowFabricWorker, RotateWaitpointSecretRequest, WorkerConfig};

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Store = Arc<dyn EngineBackend>;

/// How long a lease lives: short, so that the examples see the end of one.
pub(crate) const LEASE_MS: u64 = 3_000;

/// How long an example waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long it waits before it looks again.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// A backend whose sweeps run, and the folder of its file, which goes away with it.
pub(crate) struct Place {
    pub(crate) backend: Store,
    /// How the partition of a flow's members is found: on SQLite a flow and its members are in the first one.
    #[allow(dead_code, reason = "only one of the two clients makes flows")]
    pub(crate) flow_partitions: PartitionConfig,
    _folder: Option<tempfile::TempDir>,
}

/// Opens what the command line asks for: an embedded file, or with `--postgres URL` a database of a server. Its
/// schema is made when it is missing, with four partitions per table.
pub(crate) async fn open(program: &str) -> Result<Place, Failure> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None | Some("--serve"), _) => {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("flow.db");
            let backend = SqliteBackend::new(path.to_str().ok_or("the path is not UTF-8")?).await?;
            backend.with_all_scanners(sweeps());
            title("On a SQLite file");
            let flow_partitions = PartitionConfig { num_flow_partitions: 1, ..PartitionConfig::default() };
            Ok(Place { backend, flow_partitions, _folder: Some(folder) })
        }
        (Some("--postgres"), Some(url)) => {
            let pool = PgPool::connect(&url).await?;
            apply_migrations_with(&pool, MigrationOptions::default().partitions(4)?).await?;
            pool.close().await;
            let (config, metrics) = (BackendConfig::postgres(&url), Arc::new(Metrics::new()));
            let backend = PostgresBackend::connect_with_metrics(config, PartitionConfig::default(), metrics).await?;
            backend.with_all_scanners(sweeps());
            title("On Postgres");
            Ok(Place { backend, flow_partitions: PartitionConfig::default(), _folder: None })
        }
        _ => Err(format!("usage: {program} [--postgres URL]").into()),
    }
}

/// All sweeps, and the counts for whoever records what is measured.
fn sweeps() -> FullScannerConfig {
    let mut config = FullScannerConfig::default();
    config.measure_interval = Duration::from_secs(1);
    config
}

/// For how many seconds a server goes on when its work is done.
#[allow(dead_code, reason = "only one of the two clients serves")]
pub(crate) fn serves() -> Result<Option<u64>, Failure> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--serve");
    match (arguments.next(), arguments.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(seconds)) => Ok(Some(seconds.parse()?)),
        (Some(_), None) => Err("--serve needs a number of seconds".into()),
    }
}

/// Gives the database a secret that signs the tokens of waitpoints; a fresh one has none.
pub(crate) async fn rotate_secret(admin: &FlowFabricAdminClient) -> Result<(), Failure> {
    let new_secret_hex = uuid::Uuid::new_v4().simple().to_string().repeat(2);
    let new_kid = format!("example-{}", uuid::Uuid::new_v4().simple());
    let rotated = admin.rotate_waitpoint_secret(RotateWaitpointSecretRequest { new_kid, new_secret_hex }).await?;
    if !rotated.failed.is_empty() {
        return Err(format!("the secret was not changed everywhere: {rotated:?}").into());
    }
    Ok(())
}

/// The lane of this run, so that runs on one database do not meet.
pub(crate) fn lane() -> LaneId {
    static NAME: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| format!("lane-{}", uuid::Uuid::new_v4()));
    LaneId::new(NAME.as_str())
}

/// An execution to create in that lane, now.
pub(crate) fn execution(kind: &str) -> CreateExecutionArgs {
    let execution_id = ExecutionId::solo(&lane(), &PartitionConfig::default());
    CreateExecutionArgs {
        partition_id: execution_id.partition(),
        execution_id,
        namespace: Namespace::new("clients"),
        lane_id: lane(),
        execution_kind: kind.to_owned(),
        input_payload: b"report.txt".to_vec(),
        payload_encoding: None,
        priority: 0,
        creator_identity: "example".to_owned(),
        idempotency_key: None,
        tags: [("document".to_owned(), "report".to_owned())].into(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        now: TimestampMs::now(),
    }
}

/// One of FlowFabric's own workers on this backend.
pub(crate) async fn worker(name: &str, backend: &Store) -> Result<FlowFabricWorker, Failure> {
    let config = WorkerConfig {
        backend: None,
        worker_id: WorkerId::new(name),
        worker_instance_id: WorkerInstanceId::new(format!("{name}-{}", std::process::id())),
        namespace: Namespace::new("clients"),
        lanes: vec![lane()],
        capabilities: vec![],
        lease_ttl_ms: LEASE_MS,
        claim_poll_interval_ms: 20,
        max_concurrent_tasks: 1,
        partition_config: None,
    };
    Ok(FlowFabricWorker::connect_with(config, backend.clone(), None).await?)
}

/// The patience to look again, for a minute.
pub(crate) struct Patience {
    begun: Instant,
}

impl Patience {
    pub(crate) fn begin() -> Self {
        Self { begun: Instant::now() }
    }

    /// Waits a moment, or fails when it has been long enough.
    pub(crate) async fn more(&self, complaint: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.begun.elapsed() > PATIENCE {
            return Err(complaint().into());
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}

/// Prints a heading.
pub(crate) fn title(text: &str) {
    println!("\n{text}");
}

/// Prints one thing that `who` did.
pub(crate) fn tell(who: &str, what: &str) {
    println!("  {who:<6}  {what}");
}
