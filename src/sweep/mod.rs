//! Periodic work: the loops here, the steps in [`crate::engine`], which step runs when in [`mod@table`].
//!
//! A sweep first runs one interval after its start and then one interval after each run's end. A step
//! that fails is logged and tried again at its next turn. The loops hold the engine only while a step
//! runs, so they never keep it alive; when it is gone, or its handle is dropped, they end.
//!
//! What a program asks for is a [`FullScannerConfig`]; the configurations of one database are a part of it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ff_core::EngineError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};

use crate::db::{Dialect, sweeping};
use crate::engine::round::{Report, Round};
use crate::engine::{Engine, WeakEngine};
use crate::metric;

mod config;
pub(crate) mod follow;
pub(crate) mod table;
pub(crate) mod time;

pub use config::FullScannerConfig;
#[cfg(feature = "postgres")]
pub use config::PostgresScannerConfig;
#[cfg(feature = "sqlite")]
pub use config::SqliteScannerConfig;
use table::Sweep;

/// The running sweeps of a backend. Dropping it tells them to stop.
#[derive(Debug)]
pub struct ScannerHandle {
    stop: watch::Sender<bool>,
    pub(crate) tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl ScannerHandle {
    /// Starts the sweeps on the current tokio runtime; all are registered when this returns.
    pub(crate) fn start<D: Dialect>(engine: &Engine<D>, config: FullScannerConfig) -> Self {
        let (stop, stopped) = watch::channel(false);
        let config = Arc::new(config);
        let due = table::all::<D>().into_iter().filter(|sweep| !(sweep.interval)(&config).is_zero());
        let spawn = |sweep| tokio::spawn(repeat(engine.downgrade(), sweep, Arc::clone(&config), stopped.clone()));
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
    pub(crate) fn install<D: Dialect>(&self, engine: &Engine<D>, config: FullScannerConfig) -> bool {
        let mut installed = false;
        self.handle.get_or_init(|| {
            installed = true;
            ScannerHandle::start(engine, config)
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

/// One run of the sweep of that name, now; on the connection of the sweeps when it runs inside [`sweeping`].
///
/// # Errors
/// `NotFound` when no sweep has that name.
pub(crate) async fn run_once<D: Dialect>(
    engine: &Engine<D>,
    name: &str,
    config: &FullScannerConfig,
) -> Result<Report, EngineError> {
    match table::all::<D>().into_iter().find(|sweep| sweep.name == name) {
        Some(sweep) => (sweep.step)(&engine.impatient(), &config.round()).await,
        None => Err(EngineError::NotFound { entity: "sweep" }),
    }
}

async fn repeat<D: Dialect>(
    engine: WeakEngine<D>,
    sweep: Sweep<D>,
    config: Arc<FullScannerConfig>,
    mut stopped: watch::Receiver<bool>,
) {
    let (interval, round) = ((sweep.interval)(&config), Round { stopped: Some(stopped.clone()), ..config.round() });
    let mut due = Instant::now() + interval;
    loop {
        tokio::select! {
            // Also when the handle is gone.
            _ = stopped.wait_for(|stop| *stop) => return,
            () = sleep(interval) => {}
        }
        let Some(engine) = engine.upgrade() else { return };
        if !engine.clock().is_told() {
            tracing::warn!(sweep = sweep.name, "the server has not told the time yet, so nothing is swept");
            continue;
        }
        let begun = Instant::now();
        let ended = sweeping((sweep.step)(&engine.impatient(), &round)).await;
        let (rows, errors) = ended.as_ref().map_or((0, 1), |report| (report.processed, report.errors));
        metric::swept(sweep.name, begun.elapsed(), begun.duration_since(due), rows, errors);
        due = Instant::now() + interval;
        match ended {
            Ok(Report { processed: 0, errors: 0 }) => {}
            Ok(Report { processed, errors }) => tracing::debug!(sweep = sweep.name, processed, errors, "swept"),
            Err(error) => tracing::warn!(sweep = sweep.name, %error, "a sweep failed"),
        }
    }
}
