//! What is answered is on the disk: after a process that died, after a disk that failed, after a thread that ended.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;

use super::door::{Answer, put, stored};
use crate::backend::SqliteBackend;
use crate::clock::Clock;
use crate::db::error::coded;
use crate::db::fault::{FaultHook, Step};
use crate::db::opening::LOG_PAGES;

/// Ends a test that would wait for ever; nothing that passes comes near it.
const NEVER: Duration = Duration::from_secs(100);

async fn open(path: &Path, log_pages: u32, hook: Box<FaultHook>) -> Answer<Arc<SqliteBackend>> {
    let path = path.display().to_string();
    Ok(SqliteBackend::new_with_faults(&path, Clock::frozen(1_000), log_pages, hook).await?)
}

fn broken() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::other("the disk is gone"))
}

/// What a process that dies leaves to the next one: what it has written, on the disk or not.
fn copy(database: &Path, folder: &TempDir) -> std::io::Result<PathBuf> {
    let left = folder.path().join("left.db");
    std::fs::copy(database, &left)?;
    let log = |path: &Path| format!("{}-wal", path.display());
    std::fs::copy(log(database), log(&left))?;
    Ok(left)
}

/// The files of a process that died after its commit of `b` and before that was on the disk.
async fn died(folder: &TempDir) -> Answer<PathBuf> {
    let database = folder.path().join("door.db");
    let left = Arc::new(Mutex::new(None));
    let (seen, kept, place) = (Arc::new(AtomicU32::new(0)), Arc::clone(&left), tempfile::tempdir()?);
    let (path, place) = (database.clone(), Arc::new(place));
    let copied = Arc::clone(&place);
    let hook = move |step, name| {
        if (step, name) == (Step::Sync, "put")
            && seen.fetch_add(1, Ordering::SeqCst) == 1
            && let Ok(mut kept) = kept.lock()
        {
            *kept = copy(&path, &copied).ok();
        }
        None
    };
    let backend = open(&database, LOG_PAGES, Box::new(hook)).await?;
    put(Arc::clone(&backend), "put", "a").await?;
    put(Arc::clone(&backend), "put", "b").await?;
    drop(backend);
    let left = left.lock().map_err(|_| "a lock")?.take().ok_or("nothing was copied")?;
    // Where the test wants it, under a name of its own.
    for suffix in ["", "-wal"] {
        std::fs::copy(format!("{}{suffix}", left.display()), folder.path().join(format!("died.db{suffix}")))?;
    }
    Ok(folder.path().join("died.db"))
}

#[tokio::test]
async fn what_a_process_that_died_left_is_on_the_disk_before_the_first_answer() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let left = died(&folder).await?;
    let steps = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&steps);
    let hook = move |step, name| {
        if let Ok(mut told) = told.lock() {
            told.push((step, name));
        }
        None
    };
    let backend = open(&left, LOG_PAGES, Box::new(hook)).await?;
    assert_eq!(stored(backend).await?, ["a", "b"], "SQLite reads back what was written");
    let steps = steps.lock().map_err(|_| "a lock")?.clone();
    assert_eq!(steps.first(), Some(&(Step::Sync, "open")), "{steps:?}");
    assert!(steps.contains(&(Step::Run, "worker_list")), "{steps:?}");
    Ok(())
}

#[tokio::test]
async fn a_file_that_cannot_be_brought_to_the_disk_is_not_opened() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let left = died(&folder).await?;
    for path in [left, folder.path().join("new.db")] {
        let refused = open(&path, LOG_PAGES, Box::new(|step, _| (step == Step::Sync).then(broken))).await;
        let error = refused.err().ok_or("it was opened")?.to_string();
        assert!(error.contains(&path.display().to_string()) && error.contains("the disk is gone"), "{error}");
    }
    assert!(!folder.path().join("new.db").exists(), "nothing is made in vain");
    Ok(())
}

#[tokio::test]
async fn the_log_is_moved_to_the_file_when_it_is_long_and_written_from_its_start_again() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("door.db");
    let moved = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&moved);
    let hook = move |step, _| {
        if step == Step::Checkpoint {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        None
    };
    let backend = open(&database, 30, Box::new(hook)).await?;
    let length = |suffix: &str| std::fs::metadata(format!("{}{suffix}", database.display())).map(|found| found.len());
    // The log has the schema in it when the writer begins, and is moved at its first commit.
    let mut names = 0;
    put_another(&backend, &mut names).await?;
    assert_eq!(moved.load(Ordering::SeqCst), 1);
    let (file, log, limit) = (length("")?, length("-wal")?, 30 * (4_096 + 24));
    assert!(file > log / 2, "{file}, {log}");
    while moved.load(Ordering::SeqCst) < 4 {
        put_another(&backend, &mut names).await?;
    }
    assert!(names > 4, "it is not moved at every commit");
    assert!(length("-wal")? < log.min(2 * limit), "it is written from its start again, and cut to its limit");
    Ok(())
}

/// Stores a name that nobody has stored.
async fn put_another(backend: &Arc<SqliteBackend>, names: &mut u32) -> Answer<()> {
    *names += 1;
    assert!(*names < 10_000, "the log does not grow");
    let name = Box::leak(names.to_string().into_boxed_str());
    put(Arc::clone(backend), "put", name).await?;
    Ok(())
}

#[tokio::test]
async fn a_log_that_cannot_be_moved_to_the_file_ends_the_backend() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let hook = |step, _| (step == Step::Checkpoint).then(broken);
    let backend = open(&folder.path().join("door.db"), 1, Box::new(hook)).await?;
    for _ in 0..2 {
        let failed = put(Arc::clone(&backend), "put", "a").await.err().ok_or("it was answered")?.to_string();
        assert!(failed.contains("the disk is gone") && failed.contains("open it again"), "{failed}");
        let failed = stored(Arc::clone(&backend)).await.err().ok_or("it was read")?.to_string();
        assert!(failed.contains("open it again"), "{failed}");
    }
    Ok(())
}

#[tokio::test]
async fn a_full_disk_keeps_the_log_as_it_is() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let hook = |step, _| (step == Step::Checkpoint).then(|| coded("13"));
    let backend = open(&folder.path().join("door.db"), 1, Box::new(hook)).await?;
    put(Arc::clone(&backend), "put", "a").await?;
    put(Arc::clone(&backend), "put", "b").await?;
    assert_eq!(stored(backend).await?, ["a", "b"]);
    Ok(())
}

#[tokio::test]
async fn a_panic_of_a_thread_refuses_whatever_comes_later() -> Answer<()> {
    for panicking in [Step::Sync, Step::Checkpoint, Step::Begin] {
        let folder = tempfile::tempdir()?;
        let armed = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&armed);
        let hook = move |step, _| {
            assert!(step != panicking || !asked.load(Ordering::SeqCst), "on purpose");
            None
        };
        let backend = open(&folder.path().join("door.db"), 1, Box::new(hook)).await?;
        put(Arc::clone(&backend), "put", "a").await?;
        armed.store(true, Ordering::SeqCst);
        for _ in 0..2 {
            let written = tokio::time::timeout(NEVER, put(Arc::clone(&backend), "put", "b")).await?;
            assert!(written.is_err(), "{panicking:?}");
        }
        // Who wrote hears of it a moment before the log is given up.
        let refused = async {
            loop {
                if let Err(error) = stored(Arc::clone(&backend)).await {
                    break error.to_string();
                }
            }
        };
        let refused = tokio::time::timeout(NEVER, refused).await?;
        assert!(refused.contains("open it again"), "{panicking:?}: {refused}");
    }
    Ok(())
}
