//! One run of a sweep, in one partition where it says so. The backend's own sweeps do all of this.

pub use ff_core::engine_backend::ReconcileCounts as ScanReport;

/// A module with the sweep of one partition.
macro_rules! scan_tick {
    ($(#[doc = $doc:literal])* $name:ident => $sweep:ident) => {
        $(#[doc = $doc])*
        pub mod $name {
            use ff_core::backend::ScannerFilter;
            use ff_core::engine_error::EngineError;
            use sqlx::PgPool;

            use super::ScanReport;
            use crate::compat::over::{filtered, over, reported};
            use crate::engine::expiry;

            /// Handles what is due in a partition, at most a thousand, the oldest first.
            ///
            /// # Errors
            /// Those of the database.
            ///
            /// # Panics
            /// Outside a tokio runtime.
            pub async fn scan_tick(
                pool: &PgPool,
                partition_key: i16,
                filter: &ScannerFilter,
            ) -> Result<ScanReport, EngineError> {
                let backend = over(pool).await?;
                expiry::$sweep(backend.engine(), &filtered(partition_key, filter)).await.map(reported)
            }
        }
    };
}

scan_tick! {
    /// Attempts that took too long.
    attempt_timeout => sweep_attempts
}
scan_tick! {
    /// Leases that ran out.
    lease_expiry => sweep_leases
}
scan_tick! {
    /// Suspensions whose time is over.
    suspension_timeout => sweep_suspensions
}

pub mod budget_reset {
    //! Budgets whose period is over.

    use ff_core::engine_error::EngineError;
    use sqlx::PgPool;

    use super::ScanReport;
    use crate::compat::over::{over, reported};
    use crate::engine::budget;

    /// Resets the budgets of one partition that are due.
    ///
    /// # Errors
    /// Those of the database.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn scan_tick(pool: &PgPool, partition_key: i16) -> Result<ScanReport, EngineError> {
        let backend = over(pool).await?;
        budget::reset_due_in(backend.engine(), partition_key.into(), backend.engine().now_ms()).await.map(reported)
    }
}

pub mod dependency {
    //! Completions that nobody has followed.

    use ff_core::backend::ScannerFilter;
    use ff_core::engine_error::EngineError;
    use sqlx::PgPool;

    use crate::engine::dependency;
    use crate::engine::round::Round;
    use crate::sweep::FullScannerConfig;

    /// How old a completion must be, in milliseconds, unless the caller says otherwise.
    pub const DEFAULT_STALE_THRESHOLD_MS: i64 = 1_000;

    /// What one round did.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct ReconcileReport {
        /// Completions that were looked at.
        pub scanned: u64,
        /// Those that are followed now.
        pub reconciled: u64,
        /// Those that somebody else followed meanwhile. They are not listed any more, so there are none.
        pub noop: u64,
        /// Those that did not pass the filter. They are not listed either.
        pub filtered: u64,
        /// Those that failed.
        pub errors: u64,
    }

    /// Follows completions that are older than the threshold, the oldest first.
    ///
    /// # Errors
    /// Those of the database.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn reconcile_tick(
        pool: &PgPool,
        filter: &ScannerFilter,
        stale_threshold_ms: i64,
    ) -> Result<ReconcileReport, EngineError> {
        let usual = FullScannerConfig::off().round();
        let round = Round { filter: filter.clone(), stale_ms: stale_threshold_ms, ..usual };
        let report = dependency::sweep(crate::compat::over::over(pool).await?.engine(), &round).await?;
        let (reconciled, errors) = (u64::from(report.processed), u64::from(report.errors));
        Ok(ReconcileReport { scanned: reconciled + errors, reconciled, errors, ..ReconcileReport::default() })
    }
}

pub mod edge_cancel_dispatcher {
    //! Handing out cancellations along edges.

    use ff_core::backend::ScannerFilter;
    use ff_core::engine_error::EngineError;
    use sqlx::PgPool;

    use crate::engine::sibling;
    pub use crate::engine::sibling::DispatchReport;

    /// One round over the groups that are pending, the oldest first. The filter has nothing to say here.
    ///
    /// # Errors
    /// Those of the database.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn dispatcher_tick(pool: &PgPool, _filter: &ScannerFilter) -> Result<DispatchReport, EngineError> {
        sibling::dispatch_round(crate::compat::over::over(pool).await?.engine()).await
    }
}

pub mod edge_cancel_reconciler {
    //! Tidying up after dispatchers that did not come to the end.

    use ff_core::backend::ScannerFilter;
    use ff_core::engine_error::EngineError;
    use sqlx::PgPool;

    use crate::engine::sibling;
    pub use crate::engine::sibling::ReconcileReport;

    /// One round over the groups that are pending, the oldest first. The filter has nothing to say here.
    ///
    /// # Errors
    /// Those of the database.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn reconciler_tick(pool: &PgPool, _filter: &ScannerFilter) -> Result<ReconcileReport, EngineError> {
        sibling::reconcile_round(crate::compat::over::over(pool).await?.engine()).await
    }
}
