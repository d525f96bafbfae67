//! What functions over somebody's pool have in common: a backend for one call, what a sweep of one partition is asked,
//! and its answer in the words of ff-core.

use std::sync::Arc;

use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use sqlx::PgPool;

use crate::backend::PostgresBackend;
use crate::engine::round::{Report, Round};
use crate::engine::server;
use crate::sweep::FullScannerConfig;

/// A backend over somebody's pool, for one call, by the server's clock.
pub(super) async fn over(pool: &PgPool) -> Result<Arc<PostgresBackend>, EngineError> {
    let backend = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
    server::follow_clock(backend.engine()).await?;
    Ok(backend)
}

/// What a sweep of one partition is asked.
pub(super) fn only_in(partition_key: i16) -> Round {
    Round { only_partition: Some(partition_key.into()), ..FullScannerConfig::off().round() }
}

/// The same for the executions that pass a filter.
pub(super) fn filtered(partition_key: i16, filter: &ScannerFilter) -> Round {
    Round { filter: filter.clone(), ..only_in(partition_key) }
}

/// What a run of a sweep did.
pub(super) fn reported(report: Report) -> ReconcileCounts {
    ReconcileCounts { processed: report.processed, errors: report.errors }
}
