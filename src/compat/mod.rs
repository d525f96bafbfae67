//! The module paths of the crate `ff-backend-postgres`, for programs that change from it to this one.
//!
//! Everything here is a few lines over the backend and does nothing of its own. A function that takes a pool works
//! with the usual partition numbers, as it did there. What the crate `ff-backend-sqlite` offers is at the crate's
//! root and in [`crate::retry`] and [`crate::pubsub`] already.

mod over;
pub mod reconcilers;
pub mod scheduler;
pub mod signal;

pub mod budget {
    //! What tests of budgets set.

    use ff_core::engine_error::EngineError;
    use ff_core::partition::PartitionConfig;
    use ff_core::types::BudgetId;
    use sqlx::PgPool;

    use crate::clock::Clock;
    use crate::db::error::map_sqlx_error;
    use crate::db::{Dialect as _, Postgres};
    use crate::statements::{Statements as _, budget};

    /// Gives a budget a policy of the test's own, whatever it had.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn upsert_policy_for_test(
        pool: &PgPool,
        partition_config: &PartitionConfig,
        budget_id: &BudgetId,
        policy_json: serde_json::Value,
    ) -> Result<(), EngineError> {
        let params = budget::BudgetPolicyPutParams {
            partition_key: Postgres::budget_partition(budget_id, partition_config),
            budget_id: budget_id.to_string(),
            policy_json,
            now_ms: Clock::system().now_ms(),
        };
        let mut connection = pool.acquire().await.map_err(map_sqlx_error)?;
        connection.budget_policy_put(&params).await.map_err(map_sqlx_error)
    }
}

pub mod completion {
    //! Where completions are told.

    pub use crate::db::listen::COMPLETION_CHANNEL;
    pub use crate::events::PostgresCompletionStream;
}

pub mod dispatch {
    //! Following one completion to those that wait for it.

    use ff_core::engine_error::EngineError;
    use sqlx::PgPool;

    use crate::db::Dialect as _;
    use crate::db::dialect::Postgres;
    use crate::engine::dependency::{Followed, follow_member};

    /// What following a completion did.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DispatchOutcome {
        /// There is no such completion, it is outside a flow, or it was followed before.
        NoOp,
        /// It is followed now, along that many edges.
        Advanced(usize),
    }

    /// Follows the completion of that id to its last edge.
    ///
    /// # Errors
    /// Those of the database; what was not followed then is followed by the next call.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn dispatch_completion(pool: &PgPool, event_id: i64) -> Result<DispatchOutcome, EngineError> {
        let backend = super::over::over(pool).await?;
        for partition_key in Postgres::counter_partitions(backend.engine().partitions().num_flow_partitions) {
            if let Followed::Edges(edges) = follow_member(backend.engine(), partition_key, event_id).await? {
                return Ok(DispatchOutcome::Advanced(edges));
            }
        }
        Ok(DispatchOutcome::NoOp)
    }
}

pub mod version {
    //! Which schema a database has.

    pub use crate::db::migrate::check_schema_version;
}

pub mod worker_registry {
    //! The registry of workers.

    use ff_core::contracts::{
        HeartbeatWorkerArgs, HeartbeatWorkerOutcome, ListExpiredLeasesArgs, ListExpiredLeasesResult, ListWorkersArgs,
        ListWorkersResult, MarkWorkerDeadArgs, MarkWorkerDeadOutcome, RegisterWorkerArgs, RegisterWorkerOutcome,
    };
    use ff_core::engine_backend::EngineBackend as _;
    use ff_core::engine_error::EngineError;
    use sqlx::PgPool;

    use super::over::{only_in, over, reported};
    use super::reconcilers::ScanReport;
    use crate::db::{Dialect as _, Postgres};
    use crate::engine::worker;

    /// The partition of a worker instance.
    #[must_use]
    pub fn worker_partition_key(worker_instance_id: &str) -> i16 {
        Postgres::worker_partition(worker_instance_id).into()
    }

    /// As the method of the trait.
    ///
    /// # Errors
    /// As the method of the trait.
    ///
    /// # Panics
    /// Outside a tokio runtime; so do the others.
    pub async fn register_worker(
        pool: &PgPool,
        args: RegisterWorkerArgs,
    ) -> Result<RegisterWorkerOutcome, EngineError> {
        over(pool).await?.register_worker(args).await
    }

    /// As the method of the trait.
    ///
    /// # Errors
    /// As the method of the trait.
    pub async fn heartbeat_worker(
        pool: &PgPool,
        args: HeartbeatWorkerArgs,
    ) -> Result<HeartbeatWorkerOutcome, EngineError> {
        over(pool).await?.heartbeat_worker(args).await
    }

    /// As the method of the trait.
    ///
    /// # Errors
    /// As the method of the trait.
    pub async fn mark_worker_dead(
        pool: &PgPool,
        args: MarkWorkerDeadArgs,
    ) -> Result<MarkWorkerDeadOutcome, EngineError> {
        over(pool).await?.mark_worker_dead(args).await
    }

    /// As the method of the trait.
    ///
    /// # Errors
    /// As the method of the trait.
    pub async fn list_expired_leases(
        pool: &PgPool,
        args: ListExpiredLeasesArgs,
    ) -> Result<ListExpiredLeasesResult, EngineError> {
        over(pool).await?.list_expired_leases(args).await
    }

    /// As the method of the trait.
    ///
    /// # Errors
    /// As the method of the trait.
    pub async fn list_workers(pool: &PgPool, args: ListWorkersArgs) -> Result<ListWorkersResult, EngineError> {
        over(pool).await?.list_workers(args).await
    }

    /// Takes the instances of one partition whose time to live is over out of the registry.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn ttl_sweep_tick(pool: &PgPool, partition_key: i16) -> Result<ScanReport, EngineError> {
        worker::sweep(over(pool).await?.engine(), &only_in(partition_key)).await.map(reported)
    }
}
