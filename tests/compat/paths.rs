//! The paths and signatures, by the names of the existing crates.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ff_core::backend::{BackendConfig, PrepareOutcome, ScannerFilter};
use ff_core::contracts::*;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::{BackendError, EngineError};
use ff_core::partition::PartitionConfig;
use ff_core::types::{BudgetId, ExecutionId, LaneId, WorkerId, WorkerInstanceId};

/// The futures of these functions are never polled: that they compile is the test.
type Answer<T = ()> = Result<T, Box<dyn std::error::Error>>;

mod postgres {
    use super::*;
    use ff_backend_sql as ff_backend_postgres;

    use ff_backend_postgres::budget::upsert_policy_for_test;
    use ff_backend_postgres::completion::COMPLETION_CHANNEL;
    use ff_backend_postgres::dispatch::{DispatchOutcome, dispatch_completion};
    use ff_backend_postgres::listener::channel_name;
    use ff_backend_postgres::reconcilers::{
        ScanReport, attempt_timeout, budget_reset, dependency, edge_cancel_dispatcher, edge_cancel_reconciler,
        lease_expiry, suspension_timeout,
    };
    use ff_backend_postgres::scheduler::{GrantVerifyError, PostgresScheduler, verify_grant};
    use ff_backend_postgres::signal::{
        HmacVerifyError, SERIALIZABLE_RETRY_BUDGET, current_active_kid, fetch_kid, hmac_sign, hmac_verify,
        is_retryable_serialization, rotate_waitpoint_hmac_secret_all_impl, seed_waitpoint_hmac_secret_impl,
    };
    use ff_backend_postgres::{
        MigrationError, PgPool, PostgresBackend, PostgresCompletionStream, PostgresConnection, PostgresScannerConfig,
        PostgresScannerHandle, PostgresTransportError, StreamNotifier, apply_migrations, check_schema_version,
        map_sqlx_error, version, worker_registry,
    };

    async fn construction(pool: PgPool, config: BackendConfig) -> Answer {
        let migrated: Result<(), MigrationError> = apply_migrations(&pool).await;
        migrated?;
        let checked: Result<(), EngineError> = check_schema_version(&pool, 1).await;
        checked?;
        version::check_schema_version(&pool, 1_u32).await?;
        let _: Arc<dyn EngineBackend> = PostgresBackend::connect(config.clone()).await?;
        let metrics = Arc::new(ff_observability::Metrics::new());
        let mut backend: Arc<PostgresBackend> =
            PostgresBackend::connect_with_metrics(config, PartitionConfig::default(), metrics).await?;
        let scanners = PostgresScannerConfig {
            attempt_timeout_interval: Duration::ZERO,
            lease_expiry_interval: Duration::ZERO,
            suspension_timeout_interval: Duration::ZERO,
            dependency_reconciler_interval: Duration::ZERO,
            edge_cancel_dispatcher_interval: Duration::ZERO,
            edge_cancel_reconciler_interval: Duration::ZERO,
            budget_reset_interval: Duration::ZERO,
            worker_registry_ttl_interval: Duration::ZERO,
            dependency_stale_threshold_ms: PostgresScannerConfig::DEFAULT_DEP_STALE_MS,
            scanner_filter: ScannerFilter::default(),
            partition_config: PartitionConfig::default(),
        };
        let _: bool = backend.with_scanners(scanners);
        let _: &PgPool = backend.pool();
        let _: Arc<PostgresBackend> = PostgresBackend::from_pool(pool, PartitionConfig::default());
        let prepared: PrepareOutcome = backend.prepare().await?;
        drop(prepared);
        let _: Arc<dyn ff_core::completion_backend::CompletionBackend> = backend;
        Ok(())
    }

    async fn inherent_methods(
        backend: &PostgresBackend,
        execution: CreateExecutionArgs,
        flow: &CreateFlowArgs,
        member: &AddExecutionToFlowArgs,
        edge: &StageDependencyEdgeArgs,
        child: &ApplyDependencyToChildArgs,
    ) -> Answer {
        let _: ExecutionId = backend.create_execution(execution).await?;
        let _: CreateFlowResult = backend.create_flow(flow).await?;
        let _: AddExecutionToFlowResult = backend.add_execution_to_flow(member).await?;
        let _: StageDependencyEdgeResult = backend.stage_dependency_edge(edge).await?;
        let _: ApplyDependencyToChildResult = backend.apply_dependency_to_child(child).await?;
        Ok(())
    }

    async fn sweeps(pool: &PgPool, filter: &ScannerFilter) -> Answer {
        let _: ScanReport = attempt_timeout::scan_tick(pool, 0_i16, filter).await?;
        let _: ScanReport = lease_expiry::scan_tick(pool, 0_i16, filter).await?;
        let _: ScanReport = suspension_timeout::scan_tick(pool, 0_i16, filter).await?;
        let ScanReport { processed: _, errors: _ } = budget_reset::scan_tick(pool, 0_i16).await?;
        let dependency::ReconcileReport { scanned: _, reconciled: _, noop: _, filtered: _, errors: _ } =
            dependency::reconcile_tick(pool, filter, dependency::DEFAULT_STALE_THRESHOLD_MS).await?;
        let edge_cancel_dispatcher::DispatchReport {
            dispatched: _,
            orphaned: _,
            skipped_for_reconciler: _,
            skipped_locked: _,
            errors: _,
        } = edge_cancel_dispatcher::dispatcher_tick(pool, filter).await?;
        let edge_cancel_reconciler::ReconcileReport { sremmed_stale: _, completed_drain: _, no_op: _, errors: _ } =
            edge_cancel_reconciler::reconciler_tick(pool, filter).await?;
        let _: DispatchOutcome = dispatch_completion(pool, 1_i64).await?;
        Ok(())
    }

    async fn secrets(
        pool: &PgPool,
        seed: SeedWaitpointHmacSecretArgs,
        rotate: RotateWaitpointHmacSecretAllArgs,
    ) -> Answer {
        let _: Option<(String, Vec<u8>)> = current_active_kid(pool).await?;
        let _: Option<Vec<u8>> = fetch_kid(pool, "k1").await?;
        let _: SeedOutcome = seed_waitpoint_hmac_secret_impl(pool, seed, 0_i64).await?;
        let _: RotateWaitpointHmacSecretAllResult = rotate_waitpoint_hmac_secret_all_impl(pool, rotate, 0_i64).await?;
        let signed: String = hmac_sign(b"secret", "k1", b"message");
        let verified: Result<(), HmacVerifyError> = hmac_verify(b"secret", "k1", b"message", &signed);
        Ok(verified?)
    }

    async fn scheduling(
        pool: PgPool,
        lane: &LaneId,
        worker: &WorkerId,
        instance: &WorkerInstanceId,
        capabilities: &BTreeSet<String>,
    ) -> Answer {
        let scheduler = PostgresScheduler::new(pool.clone());
        let granted: Result<Option<ClaimGrant>, EngineError> =
            scheduler.claim_for_worker(lane, worker, instance, capabilities, 1_u64).await;
        let Some(grant) = granted? else { return Ok(()) };
        match verify_grant(&pool, &grant).await {
            Ok(())
            | Err(
                GrantVerifyError::Malformed
                | GrantVerifyError::Expired
                | GrantVerifyError::UnknownKid
                | GrantVerifyError::UnknownGrant
                | GrantVerifyError::SignatureMismatch,
            ) => Ok(()),
            Err(GrantVerifyError::Transport(error)) => Err(error.into()),
        }
    }

    async fn workers(
        pool: &PgPool,
        register: RegisterWorkerArgs,
        heartbeat: HeartbeatWorkerArgs,
        dead: MarkWorkerDeadArgs,
        expired: ListExpiredLeasesArgs,
        list: ListWorkersArgs,
    ) -> Answer {
        let _: RegisterWorkerOutcome = worker_registry::register_worker(pool, register).await?;
        let _: HeartbeatWorkerOutcome = worker_registry::heartbeat_worker(pool, heartbeat).await?;
        let _: MarkWorkerDeadOutcome = worker_registry::mark_worker_dead(pool, dead).await?;
        let _: ListExpiredLeasesResult = worker_registry::list_expired_leases(pool, expired).await?;
        let _: ListWorkersResult = worker_registry::list_workers(pool, list).await?;
        let _: ScanReport = worker_registry::ttl_sweep_tick(pool, 0_i16).await?;
        Ok(())
    }

    async fn policy(pool: &PgPool, budget: &BudgetId) -> Answer {
        let written: Result<(), EngineError> =
            upsert_policy_for_test(pool, &PartitionConfig::default(), budget, serde_json::json!({})).await;
        Ok(written?)
    }

    #[test]
    fn paths_signatures_and_constants_are_those_of_the_existing_crate() {
        let _ = (construction, inherent_methods, sweeps, secrets, scheduling, workers, policy);
        let _: fn(sqlx::Error) -> EngineError = map_sqlx_error;
        let _: fn(&sqlx::Error) -> bool = is_retryable_serialization;
        let _: fn(sqlx::Error) -> PostgresTransportError = PostgresTransportError;
        let _: fn(PgPool) -> Arc<StreamNotifier> = StreamNotifier::spawn;
        let _: fn(&uuid::Uuid, u32) -> String = channel_name;
        let _: PostgresConnection = PostgresConnection::new("postgres://localhost/flow");
        let _ = std::mem::size_of::<(PostgresCompletionStream, PostgresScannerHandle)>();
        assert_eq!(COMPLETION_CHANNEL, "ff_completion");
        assert_eq!(ff_backend_postgres::COMPLETION_CHANNEL, COMPLETION_CHANNEL);
        assert_eq!(SERIALIZABLE_RETRY_BUDGET, 3_usize);
        assert_eq!(dependency::DEFAULT_STALE_THRESHOLD_MS, 1_000_i64);
        assert_eq!(PostgresScannerConfig::DEFAULT_DEP_STALE_MS, 15_000_i64);
        assert_eq!(worker_registry::worker_partition_key("a"), 0x8c_i16);
        assert_eq!(DispatchOutcome::Advanced(2), DispatchOutcome::Advanced(2));
        assert!(!is_retryable_serialization(&sqlx::Error::PoolTimedOut));
        assert_eq!(GrantVerifyError::Expired.to_string(), "grant expired");
        assert_eq!(GrantVerifyError::Malformed.to_string(), "grant_key malformed");
    }
}

mod sqlite {
    use super::*;
    use ff_backend_sql as ff_backend_sqlite;

    use ff_backend_sqlite::pubsub::OutboxEvent;
    use ff_backend_sqlite::retry;
    use ff_backend_sqlite::{
        IsRetryableBusy, MAX_ATTEMPTS, SqliteBackend, SqliteScannerConfig, SqliteScannerHandle,
        is_retryable_sqlite_busy, retry_serializable,
    };

    async fn construction() -> Answer {
        let opened: Result<Arc<SqliteBackend>, BackendError> = SqliteBackend::new(":memory:").await;
        let backend = opened?;
        let _: Arc<SqliteBackend> = SqliteBackend::new_with_tuning("flow.db", 4_u32, true).await?;
        let _: bool = backend.with_scanners(SqliteScannerConfig {
            budget_reset_interval: Duration::ZERO,
            worker_registry_ttl_interval: Duration::ZERO,
        });
        let _: &sqlx::SqlitePool = backend.pool_for_test();
        let mut told: tokio::sync::broadcast::Receiver<OutboxEvent> = backend.subscribe_completion_for_test();
        let OutboxEvent { event_id, partition_key, .. } = told.recv().await?;
        let _: (i64, i64) = (event_id, partition_key);
        let _: (u32, u32) = backend.budget_reset_scan_tick_for_test(0_i64).await?;
        let shared: Arc<dyn EngineBackend> = backend;
        shared.ping().await?;
        Ok(())
    }

    async fn shutdown(handle: SqliteScannerHandle) -> usize {
        handle.shutdown(Duration::ZERO).await
    }

    async fn retried() -> Result<u32, EngineError> {
        retry_serializable(|| async { Ok(1) }).await
    }

    #[tokio::test]
    async fn paths_signatures_and_constants_are_those_of_the_existing_crate() {
        let _ = (construction, shutdown);
        assert_eq!(retried().await.expect("it succeeds"), 1);
        assert_eq!(MAX_ATTEMPTS, 3_u32);
        assert_eq!(retry::MAX_ATTEMPTS, MAX_ATTEMPTS);
        assert!(!is_retryable_sqlite_busy(&sqlx::Error::PoolTimedOut));
        assert!(!sqlx::Error::PoolTimedOut.is_retryable_busy());
        assert!(!EngineError::Unavailable { op: "x" }.is_retryable_busy());
    }
}
