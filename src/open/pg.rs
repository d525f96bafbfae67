//! Opens the server's backend.

use std::sync::Arc;

use ff_core::EngineError;
use ff_core::backend::{BackendConfig, BackendConnection};
use ff_core::contracts::{
    AddExecutionToFlowArgs, AddExecutionToFlowResult, ApplyDependencyToChildArgs, ApplyDependencyToChildResult,
    CreateExecutionArgs, CreateExecutionResult, CreateFlowArgs, CreateFlowResult, StageDependencyEdgeArgs,
    StageDependencyEdgeResult,
};
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::ExecutionId;
use ff_observability::Metrics;
use sqlx::PgPool;

use crate::backend::{Backend, PostgresBackend};
use crate::clock::Clock;
use crate::db::Db;
use crate::db::error::unreachable_server;
use crate::db::fault::Faults;
use crate::db::pg::{PgStore, courier};
use crate::db::session::open_pool;
use crate::db::tx::Surroundings;
use crate::db::wake::{Channels, Courier};
use crate::engine::{Engine, server};
use crate::statements::pg_only;
use crate::sweep::PostgresScannerConfig;

impl PostgresBackend {
    /// Connects to a server, with the usual partition numbers. The schema must be there:
    /// [`apply_migrations`](crate::apply_migrations) is the operator's act.
    ///
    /// Every connection has time limits, so that a client that is cut off holds nobody up for long. The URL changes
    /// one by naming it, as in `postgres://host/flow?options[lock_timeout]=1s`; `0` turns one off.
    ///
    /// | Setting | |
    /// |---|---|
    /// | `lock_timeout` | 5 s; an operation that waits longer for somebody's row is tried three times in all and then answers `Contention(RetryExhausted)` |
    /// | `idle_in_transaction_session_timeout` | 10 s; a client that stops inside a transaction loses it |
    /// | `tcp_keepalives_idle`, `tcp_keepalives_interval`, `tcp_keepalives_count` | 30 s, 10 s, 3 |
    /// | `tcp_user_timeout` | 60 s, where the server's platform has it |
    /// | `client_connection_check_interval` | 2 s, where the server's platform has it: the wait of a client that went away ends |
    ///
    /// The isolation level is `read committed`, which nothing changes.
    ///
    /// Times are judged by the server's clock, which is asked here and every five seconds. Sweeps have one connection of
    /// their own beside the pool.
    ///
    /// Claims, completions, failures for good, renewals, appends and creations that wait at the same moment go to
    /// the server as one statement; each has its own answer. `options[ff_sql.combining]=off` in the URL has each run alone.
    ///
    /// # Errors
    /// * `Unavailable` when `config` is not about Postgres.
    /// * As [`map_sqlx_error`](crate::map_sqlx_error) when the server cannot be reached; with
    ///   [`CertificateRefused`](crate::CertificateRefused) as the source when the driver does not take its certificate, with
    ///   [`SessionsShared`](crate::SessionsShared) when a pooler hands sessions on after each transaction.
    pub async fn connect(config: BackendConfig) -> Result<Arc<dyn EngineBackend>, EngineError> {
        let backend = Self::open(config, PartitionConfig::default(), Clock::of_server()).await?;
        Ok(backend)
    }

    /// As [`connect`](Self::connect), with partition numbers. This backend measures nothing, so `metrics` is
    /// not used.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with_metrics(
        config: BackendConfig,
        partition_config: PartitionConfig,
        metrics: Arc<Metrics>,
    ) -> Result<Arc<Self>, EngineError> {
        drop(metrics);
        Self::open(config, partition_config, Clock::of_server()).await
    }

    /// Uses a pool that the caller made. Its connections are taken as they are, because the caller uses them as well.
    ///
    /// Transactions read what is committed whatever the pool says. Times are judged by the server's clock, and by the host's
    /// until the server has told it for the first time; sweeps wait for that. The rest is the caller's:
    ///
    /// * The schema's triggers tell other processes of new rows, inside the transaction, which is slower under load
    ///   than what [`connect`](Self::connect) sets up.
    /// * Whether a pooler stands before the server that hands sessions on after each transaction is not looked at, and
    ///   nothing works there.
    /// * Unless the pool, its role or its database sets `lock_timeout`, `idle_in_transaction_session_timeout` and
    ///   keepalives, rows that a dead client has locked stay locked until its connection breaks, and operations on
    ///   these rows wait. Sweeps pass them by in any case.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn from_pool(pool: PgPool, partition_config: PartitionConfig) -> Arc<Self> {
        join(pool, None, partition_config, Clock::of_server())
    }

    /// Opens the database at that URL, at a time.
    pub(crate) async fn open(
        config: BackendConfig,
        partitions: PartitionConfig,
        clock: Clock,
    ) -> Result<Arc<Self>, EngineError> {
        let BackendConnection::Postgres(connection) = &config.connection else {
            return Err(EngineError::Unavailable { op: "pg.pool.build (non-Postgres BackendConnection)" });
        };
        let pool = open_pool(connection).await.map_err(unreachable_server)?;
        warn_of_few_locks(&pool).await;
        let notifier = courier(&pool);
        let backend = join(pool, Some(notifier), partitions, clock.clone());
        if clock.is_of_server() {
            server::follow_clock(backend.engine()).await?;
        }
        Ok(backend)
    }

    /// Starts the sweeps. True when they were started; false when they run already or other handles share
    /// this one.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn with_scanners(self: &mut Arc<Self>, cfg: PostgresScannerConfig) -> bool {
        match Arc::get_mut(self) {
            Some(backend) => backend.sweeps().install(backend.engine(), cfg.into()),
            None => false,
        }
    }

    /// The pool. Some of its connections stay with the backend between operations, for half a second at most.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        self.db().store().pool()
    }

    /// Creates an execution and answers its id: the given one, or that of the first creation when this one
    /// repeats it. The trait's method of this name also tells the two apart.
    ///
    /// # Errors
    /// As the trait's method.
    pub async fn create_execution(&self, args: CreateExecutionArgs) -> Result<ExecutionId, EngineError> {
        match EngineBackend::create_execution(self, args).await? {
            CreateExecutionResult::Created { execution_id, .. } | CreateExecutionResult::Duplicate { execution_id } => {
                Ok(execution_id)
            }
        }
    }

    /// Creates a flow.
    ///
    /// # Errors
    /// As the trait's method.
    pub async fn create_flow(&self, args: &CreateFlowArgs) -> Result<CreateFlowResult, EngineError> {
        EngineBackend::create_flow(self, args.clone()).await
    }

    /// Makes an execution a flow's member.
    ///
    /// # Errors
    /// As the trait's method.
    pub async fn add_execution_to_flow(
        &self,
        args: &AddExecutionToFlowArgs,
    ) -> Result<AddExecutionToFlowResult, EngineError> {
        EngineBackend::add_execution_to_flow(self, args.clone()).await
    }

    /// Makes an edge part of a flow's graph.
    ///
    /// # Errors
    /// As the trait's method.
    pub async fn stage_dependency_edge(
        &self,
        args: &StageDependencyEdgeArgs,
    ) -> Result<StageDependencyEdgeResult, EngineError> {
        EngineBackend::stage_dependency_edge(self, args.clone()).await
    }

    /// Makes an execution wait for a staged edge.
    ///
    /// # Errors
    /// As the trait's method.
    pub async fn apply_dependency_to_child(
        &self,
        args: &ApplyDependencyToChildArgs,
    ) -> Result<ApplyDependencyToChildResult, EngineError> {
        EngineBackend::apply_dependency_to_child(self, args.clone()).await
    }
}

/// A backend over somebody's pool whose time stands still.
#[cfg(feature = "compat")]
pub(crate) fn over_pool_at(pool: PgPool, clock: Clock) -> Arc<PostgresBackend> {
    join(pool, None, PartitionConfig::default(), clock)
}

fn join(
    pool: PgPool,
    courier: Option<Arc<dyn Courier>>,
    partitions: PartitionConfig,
    clock: Clock,
) -> Arc<PostgresBackend> {
    let around = Surroundings { channels: Channels::new(), courier, faults: Faults::default() };
    let db = Db::new(PgStore::new(pool, around.clone()), around);
    Arc::new(Backend::of(Engine::new(db, clock, partitions)))
}

/// Says so when the server's lock table is small beside the partitions of a table: a statement over all of them locks each
/// with its indexes. Nothing depends on the answer.
async fn warn_of_few_locks(pool: &PgPool) {
    let asked = async {
        let mut connection = pool.acquire().await?;
        pg_only::server_lock_budget(&mut connection).await
    };
    match asked.await {
        Ok(row) if row.locks < row.partitions => {
            tracing::warn!(
                max_locks_per_transaction = row.locks,
                wanted = row.partitions,
                "statements over all partitions may run out of locks"
            );
        }
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "the server did not say how many locks a transaction has"),
    }
}
