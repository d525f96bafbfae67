//! What tests set and see: the time, where the database fails or waits, one run of a sweep, the tables.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use std::sync::Arc;

#[cfg(feature = "postgres")]
use ff_core::backend::BackendConfig;
#[cfg(feature = "sqlite")]
use ff_core::engine_error::BackendError;
use ff_core::engine_error::EngineError;
#[cfg(feature = "postgres")]
use ff_core::partition::PartitionConfig;

use crate::backend::Backend;
pub use crate::clock::Clock;
pub use crate::db::fault::{Caller, FaultHook, HoldHook, Step, called_by, caller};
use crate::db::{Dialect, Outbox, sweeping};
#[cfg(feature = "sqlite")]
use crate::engine::budget;
#[cfg(feature = "sqlite")]
use crate::open::Tuning;
use crate::sweep::{self, FullScannerConfig};

impl<D: Dialect> Backend<D> {
    /// Runs the sweep of that name once, now, and answers how many rows it handled and how many failed.
    ///
    /// # Errors
    /// `NotFound` when there is none; otherwise those of the sweep.
    #[doc(hidden)]
    pub async fn sweep_for_test(&self, name: &str, config: &FullScannerConfig) -> Result<(u32, u32), EngineError> {
        sweeping(self.sweep_elsewhere_for_test(name, config)).await
    }

    /// The same on any connection, so that several run at once, as those of several processes do.
    ///
    /// # Errors
    /// As [`sweep_for_test`](Self::sweep_for_test).
    #[doc(hidden)]
    pub async fn sweep_elsewhere_for_test(
        &self,
        name: &str,
        config: &FullScannerConfig,
    ) -> Result<(u32, u32), EngineError> {
        let report = sweep::run_once(self.engine(), name, config).await?;
        Ok((report.processed, report.errors))
    }

    /// Describes the transactions under way that write lease events, as the log does where one holds subscriptions up.
    ///
    /// # Errors
    /// Those of the database.
    #[doc(hidden)]
    pub async fn lease_writers_for_test(&self) -> Result<Vec<String>, EngineError> {
        self.db().holders(Outbox::LeaseHistory).await
    }

    /// How many claims have found nothing and wait for work.
    #[doc(hidden)]
    #[must_use]
    pub fn claims_that_wait_for_test(&self) -> usize {
        self.db().waiters().asleep()
    }

    /// Lets no claim that waits look before it is called.
    #[doc(hidden)]
    pub fn look_only_when_called_for_test(&self) {
        self.db().waiters().look_only_when_called();
    }

    /// Makes the database fail where the hook says so; once per backend.
    #[doc(hidden)]
    pub fn fail_for_test(&self, hook: Box<FaultHook>) {
        self.db().around().faults.set(hook);
    }
}

#[cfg(feature = "sqlite")]
impl crate::backend::SqliteBackend {
    /// Opens a database whose time a test sets. The clock of a backend that is open already stays.
    ///
    /// # Errors
    /// As [`new_with_tuning`](Self::new_with_tuning).
    #[doc(hidden)]
    pub async fn new_with_clock(path: &str, clock: Clock) -> Result<Arc<Self>, BackendError> {
        Self::open(path, Tuning::at(clock)).await
    }

    /// Opens a database whose file may not grow beyond that many pages, as on a full disk.
    ///
    /// # Errors
    /// As [`new_with_tuning`](Self::new_with_tuning).
    #[doc(hidden)]
    pub async fn new_with_page_limit(path: &str, pages: u32) -> Result<Arc<Self>, BackendError> {
        Self::open(path, Tuning { page_limit: Some(pages), ..Tuning::at(Clock::system()) }).await
    }

    /// Opens a database whose log is moved to the file when it has that many pages, and which fails where the hook
    /// says so, from the opening on.
    ///
    /// # Errors
    /// As [`new_with_tuning`](Self::new_with_tuning).
    #[doc(hidden)]
    pub async fn new_with_faults(
        path: &str,
        clock: Clock,
        log_pages: u32,
        hook: Box<FaultHook>,
    ) -> Result<Arc<Self>, BackendError> {
        let tuning = Tuning { log_pages, ..Tuning::at(clock) };
        tuning.faults.set(hook);
        Self::open(path, tuning).await
    }

    /// Resets the budgets that are due at a time; answers how many were reset and how many failed.
    #[doc(hidden)]
    pub async fn budget_reset_scan_tick_for_test(&self, now_ms: i64) -> Result<(u32, u32), EngineError> {
        let report = budget::reset_due_at(self.engine(), &FullScannerConfig::off().round(), now_ms).await?;
        Ok((report.processed, report.errors))
    }

    /// A pool of further connections, for tests that look at the tables.
    #[doc(hidden)]
    #[must_use]
    pub fn pool_for_test(&self) -> &sqlx::SqlitePool {
        self.db().store().pool()
    }

    /// Hears of the completions that are committed from here on.
    #[doc(hidden)]
    #[must_use]
    pub fn subscribe_completion_for_test(&self) -> tokio::sync::broadcast::Receiver<crate::db::OutboxEvent> {
        self.db().around().channels.outbox(Outbox::Completion)
    }
}

#[cfg(feature = "postgres")]
impl crate::backend::PostgresBackend {
    /// The pool of the sweeps' own connection, if they have one.
    #[doc(hidden)]
    #[must_use]
    pub fn sweeping_pool_for_test(&self) -> Option<&sqlx::PgPool> {
        self.db().store().sweeping_pool()
    }

    /// As [`connect`](Self::connect), with a clock that a test sets.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    #[doc(hidden)]
    pub async fn connect_with_clock(
        config: BackendConfig,
        partition_config: PartitionConfig,
        clock: Clock,
    ) -> Result<Arc<Self>, EngineError> {
        Self::open(config, partition_config, clock).await
    }

    /// Makes operations wait where the hook says so; once per backend, instead of the other hook.
    #[doc(hidden)]
    pub fn hold_for_test(&self, hook: Box<HoldHook>) {
        self.db().around().faults.set_holding(hook);
    }
}
