//! Sweeps of an open backend: once for all of its handles, and no longer than it lives.

use std::time::Duration;

use tokio::time::sleep;

use crate::backend::SqliteBackend;
use crate::sweep::{FullScannerConfig, ScannerHandle, SqliteScannerConfig, table};

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
async fn whoever_opens_what_is_still_at_work_shares_its_sweeps_as_well() -> Answer {
    let path = "file:sweep_again?mode=memory&cache=shared";
    let backend = SqliteBackend::new(path).await?;
    let at_work = backend.engine().clone();
    drop(backend);
    let (first, second) = (SqliteBackend::new(path).await?, SqliteBackend::new(path).await?);
    assert!(first.with_scanners(config(LONG)));
    assert!(!second.with_scanners(config(LONG)));
    drop(at_work);
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
    let none = ScannerHandle::start(backend.engine(), config(Duration::ZERO).into());
    assert!(none.tasks.lock().is_ok_and(|tasks| tasks.is_empty()));
    let some = ScannerHandle::start(backend.engine(), config(OFTEN).into());
    assert!(some.tasks.lock().is_ok_and(|tasks| tasks.len() == 1));
    assert_eq!(some.shutdown(LONG).await, 0);
    assert_eq!(some.shutdown(LONG).await, 0);
    Ok(())
}

#[tokio::test]
async fn by_default_every_sweep_of_the_table_runs_but_the_counts_that_somebody_may_record() -> Answer {
    let backend = SqliteBackend::new("file:sweep_all?mode=memory&cache=shared").await?;
    let all = ScannerHandle::start(backend.engine(), FullScannerConfig::default());
    let table = table::all::<crate::db::Sqlite>();
    let counts = table.iter().filter(|sweep| sweep.name == "measure").count();
    assert!(all.tasks.lock().is_ok_and(|tasks| counts == 1 && tasks.len() == table.len() - 1));
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
    let handle = ScannerHandle::start(backend.engine(), FullScannerConfig::off());
    runs.recv().await;
    handle.tasks.lock().map_err(|error| error.to_string())?.push(stuck);
    assert_eq!(handle.shutdown(Duration::ZERO).await, 1);
    Ok(())
}
