//! Periodic work: the loops here, the steps in [`crate::engine`], which step runs when in [`mod@table`].
//!
//! A sweep first runs one interval after its start and then one interval after each run's end. A step
//! that fails is logged and tried again at its next turn. The loops hold the backend only while a step
//! runs, so they never keep it alive; when it is gone, or its handle is dropped, they end.
//!
//! What a program asks for is a [`FullScannerConfig`]; the configurations of one database are a part of it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ff_core::EngineError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};

use crate::backend::{Backend, WeakBackend};
use crate::db::Dialect;

mod config;
pub(crate) mod follow;
mod table;

pub use config::FullScannerConfig;
#[cfg(feature = "postgres")]
pub use config::PostgresScannerConfig;
#[cfg(feature = "sqlite")]
pub use config::SqliteScannerConfig;
pub(crate) use table::Report;
use table::Sweep;

/// The running sweeps of a backend. Dropping it tells them to stop.
#[derive(Debug)]
pub struct ScannerHandle {
    stop: watch::Sender<bool>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl ScannerHandle {
    /// Starts the sweeps on the current tokio runtime; all are registered when this returns.
    fn start<D: Dialect>(backend: &Backend<D>, config: FullScannerConfig) -> Self {
        let (stop, stopped) = watch::channel(false);
        let config = Arc::new(config);
        let due = table::all::<D>().into_iter().filter(|sweep| !(sweep.interval)(&config).is_zero());
        let spawn = |sweep| tokio::spawn(repeat(backend.downgrade(), sweep, Arc::clone(&config), stopped.clone()));
        let tasks = due.map(spawn).collect();
        Self { stop, tasks: Mutex::new(tasks) }
    }

    /// Tells the sweeps to stop, waits for those that are at work until `grace` is over, and aborts the
    /// rest, whose transactions roll back. Answers how many were aborted. When it answers, no sweep is left;
    /// a second call finds nothing to do.
    pub async fn shutdown(&self, grace: Duration) -> usize {
        let _ = self.stop.send(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = Instant::now() + grace;
        let mut aborted = 0;
        for mut task in tasks {
            if timeout_at(deadline, &mut task).await.is_err() {
                task.abort();
                let _ = task.await;
                aborted += 1;
            }
        }
        aborted
    }
}

/// Where a backend keeps its sweeps, once they are installed.
#[derive(Debug, Default)]
pub(crate) struct Sweeps {
    handle: OnceLock<ScannerHandle>,
}

impl Sweeps {
    /// Starts the sweeps unless some are running; true when these were started.
    pub(crate) fn install<D: Dialect>(&self, backend: &Backend<D>, config: FullScannerConfig) -> bool {
        let mut installed = false;
        self.handle.get_or_init(|| {
            installed = true;
            ScannerHandle::start(backend, config)
        });
        installed
    }

    /// Stops the sweeps, if any run.
    pub(crate) async fn shutdown(&self, grace: Duration) {
        if let Some(handle) = self.handle.get() {
            let aborted = handle.shutdown(grace).await;
            if aborted > 0 {
                tracing::warn!(aborted, "sweeps did not end in time");
            }
        }
    }
}

/// One run of the sweep of that name, now.
///
/// # Errors
/// `NotFound` when no sweep has that name.
pub(crate) async fn run_once<D: Dialect>(
    backend: &Backend<D>,
    name: &str,
    config: &FullScannerConfig,
) -> Result<Report, EngineError> {
    match table::all::<D>().into_iter().find(|sweep| sweep.name == name) {
        Some(sweep) => (sweep.step)(&backend.impatient(), config).await,
        None => Err(EngineError::NotFound { entity: "sweep" }),
    }
}

async fn repeat<D: Dialect>(
    backend: WeakBackend<D>,
    sweep: Sweep<D>,
    config: Arc<FullScannerConfig>,
    mut stopped: watch::Receiver<bool>,
) {
    let interval = (sweep.interval)(&config);
    loop {
        tokio::select! {
            // Also when the handle is gone.
            _ = stopped.wait_for(|stop| *stop) => return,
            () = sleep(interval) => {}
        }
        let Some(backend) = backend.upgrade() else { return };
        match (sweep.step)(&backend.impatient(), &config).await {
            Ok(Report { processed: 0, errors: 0 }) => {}
            Ok(Report { processed, errors }) => tracing::debug!(sweep = sweep.name, processed, errors, "swept"),
            Err(error) => tracing::warn!(sweep = sweep.name, %error, "a sweep failed"),
        }
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::backend::SqliteBackend;

    const OFTEN: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(20);

    type Answer = Result<(), Box<dyn std::error::Error>>;

    fn config(interval: Duration) -> SqliteScannerConfig {
        SqliteScannerConfig { budget_reset_interval: Duration::ZERO, worker_registry_ttl_interval: interval }
    }

    #[tokio::test]
    async fn sweeps_start_once_for_all_handles_on_a_path() -> Answer {
        let path = "file:sweep_once?mode=memory&cache=shared";
        let (first, second) = (SqliteBackend::new(path).await?, SqliteBackend::new(path).await?);
        assert!(first.with_scanners(config(LONG)));
        assert!(!second.with_scanners(config(LONG)));
        Ok(())
    }

    #[tokio::test]
    async fn a_sweep_never_keeps_its_backend_alive() -> Answer {
        let backend = SqliteBackend::new("file:sweep_weak?mode=memory&cache=shared").await?;
        assert!(backend.with_scanners(config(OFTEN)));
        let weak = backend.downgrade();
        drop(backend);
        let gone = async {
            while weak.upgrade().is_some() {
                sleep(OFTEN).await;
            }
        };
        Ok(tokio::time::timeout(LONG, gone).await?)
    }

    #[tokio::test]
    async fn an_interval_of_zero_starts_nothing_and_shutdown_ends_the_rest() -> Answer {
        let backend = SqliteBackend::new("file:sweep_stop?mode=memory&cache=shared").await?;
        let none = ScannerHandle::start(&backend, config(Duration::ZERO).into());
        assert!(none.tasks.lock().is_ok_and(|tasks| tasks.is_empty()));
        let some = ScannerHandle::start(&backend, config(OFTEN).into());
        assert!(some.tasks.lock().is_ok_and(|tasks| tasks.len() == 1));
        assert_eq!(some.shutdown(LONG).await, 0);
        assert_eq!(some.shutdown(LONG).await, 0);
        Ok(())
    }

    #[tokio::test]
    async fn by_default_every_sweep_of_the_table_runs() -> Answer {
        let backend = SqliteBackend::new("file:sweep_all?mode=memory&cache=shared").await?;
        let all = ScannerHandle::start(&backend, FullScannerConfig::default());
        let table = table::all::<crate::db::Sqlite>();
        assert!(all.tasks.lock().is_ok_and(|tasks| tasks.len() == table.len()));
        assert!(table.is_sorted_by_key(|sweep| sweep.name), "the table is in alphabetical order");
        assert_eq!(all.shutdown(LONG).await, 0);
        Ok(())
    }

    #[tokio::test]
    async fn a_sweep_that_does_not_end_in_time_is_aborted_and_counted() -> Answer {
        let backend = SqliteBackend::new("file:sweep_abort?mode=memory&cache=shared").await?;
        let (begun, mut runs) = tokio::sync::mpsc::unbounded_channel();
        let stuck = tokio::spawn(async move {
            let _ = begun.send(());
            std::future::pending::<()>().await;
        });
        let handle = ScannerHandle::start(&backend, FullScannerConfig::off());
        runs.recv().await;
        handle.tasks.lock().map_err(|error| error.to_string())?.push(stuck);
        assert_eq!(handle.shutdown(Duration::ZERO).await, 1);
        Ok(())
    }
}
