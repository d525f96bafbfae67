//! What comes back from a backup, by the recipes of `docs/backup.md`: what was acknowledged is there, what has ended is not
//! served again, and what a worker had is served again when its lease is over, and to nobody else before.

#[allow(dead_code, reason = "the command line's, of which this uses a part")]
#[path = "../cli/place.rs"]
mod place;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ff_backend_sql::{PostgresBackend, SqliteBackend};
use ff_core::backend::{BackendConfig, Handle};
use ff_core::engine_backend::EngineBackend;
use ff_core::state::PublicState;
use ff_core::types::ExecutionId;

use place::{Place, Tables, empty_database, on_both};

const LANE: &str = "mail";

/// What was done before a backup.
struct Before {
    completed: Vec<ExecutionId>,
    running: ExecutionId,
    handle: Handle,
    waiting: Vec<ExecutionId>,
}

async fn work(place: &Place) -> Before {
    let mut completed = Vec::new();
    for _ in 0..3 {
        completed.push(place.create(LANE, "letter").await);
        let handle = place.claim(LANE).await.unwrap();
        place.backend.complete(&handle, None).await.unwrap();
    }
    let running = place.create(LANE, "letter").await;
    let handle = place.claim(LANE).await.unwrap();
    // More than one page, so that marks stand in the middle of something.
    let mut waiting = Vec::new();
    for _ in 0..70 {
        waiting.push(place.create(LANE, "letter").await);
    }
    Before { completed, running, handle, waiting }
}

/// Makes a copy of what is there: of an SQLite file by `VACUUM INTO`, of a database of Postgres by `pg_dump`.
async fn copied(place: &Place) -> Option<Place> {
    match &place.tables {
        Tables::Sqlite(pool, _) => {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("copy.db").display().to_string();
            sqlx::query("VACUUM INTO ?").bind(&target).execute(pool).await.unwrap();
            Some(opened_file(target, folder).await)
        }
        Tables::Postgres(_) => {
            let target = empty_database(&place.target).await;
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("flow.dump");
            let dumped = tool("pg_dump")?.args(["--format=custom", "--file"]).arg(&file).arg(&place.target).status();
            assert!(dumped.unwrap().success());
            let restored = tool("pg_restore")?
                .args(["--exit-on-error", "--no-owner", "--dbname"])
                .arg(&target)
                .arg(&file)
                .status();
            assert!(restored.unwrap().success());
            let pool = ff_backend_sql::PgPool::connect(&target).await.unwrap();
            let backend = PostgresBackend::connect(BackendConfig::postgres(&target)).await.unwrap();
            Some(Place { backend, target, tables: Tables::Postgres(pool) })
        }
    }
}

async fn opened_file(target: String, folder: tempfile::TempDir) -> Place {
    let backend = SqliteBackend::new(&target).await.unwrap();
    let pool = sqlx::SqlitePool::connect(&target).await.unwrap();
    let found: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&pool).await.unwrap();
    assert_eq!(found, "ok");
    Place { backend, target, tables: Tables::Sqlite(pool, folder) }
}

/// A program of the server's, where there is one.
fn tool(name: &str) -> Option<Command> {
    let named = std::env::var_os("DIGLOT_POSTGRES_BIN").map(PathBuf::from);
    let usual = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let usual = usual.filter_map(Result::ok).map(|entry| entry.path().join("bin"));
    let found = named.into_iter().chain(usual).map(|folder| folder.join(name)).find(|path| path.is_file());
    let mut command = match found {
        Some(path) => Command::new(path),
        None => Command::new(name),
    };
    if command.arg("--version").output().is_err() {
        eprintln!("SKIPPED: {name} is not installed");
        return None;
    }
    Some(Command::new(command.get_program()))
}

async fn state(place: &Place, id: &ExecutionId) -> PublicState {
    place.backend.read_execution_state(id).await.unwrap().unwrap_or_else(|| panic!("{id} is not there"))
}

/// All that is served until nothing is left; each is completed.
async fn served(place: &Place) -> Vec<ExecutionId> {
    let mut served = Vec::new();
    while let Some(handle) = place.claim(LANE).await {
        let payload = ff_core::handle_codec::decode(&handle.opaque).unwrap().payload;
        served.push(payload.execution_id);
        place.backend.complete(&handle, None).await.unwrap();
    }
    served
}

#[tokio::test]
async fn nothing_is_served_twice_after_a_restore() {
    on_both(|place| async move {
        let before = work(&place).await;
        let Some(copy) = copied(&place).await else { return };
        // What happens after the backup is not in it.
        let late = place.create(LANE, "letter").await;
        assert!(copy.backend.read_execution_state(&late).await.unwrap().is_none());
        for id in &before.completed {
            assert_eq!(state(&copy, id).await, PublicState::Completed);
        }
        assert_eq!(state(&copy, &before.running).await, PublicState::Active);
        // The place where claims begin was copied as well, and hides nothing.
        let (served, waiting) = (served(&copy).await, before.waiting.iter().cloned());
        assert_eq!(served.len(), before.waiting.len(), "each once, and nothing else");
        assert_eq!(
            served.into_iter().map(|id| id.to_string()).collect::<BTreeSet<_>>(),
            waiting.map(|id| id.to_string()).collect::<BTreeSet<_>>()
        );
        // The worker that had something goes on with it there.
        copy.backend.renew(&before.handle).await.unwrap();
        copy.backend.complete(&before.handle, None).await.unwrap();
        assert_eq!(state(&copy, &before.running).await, PublicState::Completed);
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_is_over_after_a_restore_is_given_to_somebody_else_alone() {
    on_both(|place| async move {
        let before = work(&place).await;
        let Some(copy) = copied(&place).await else { return };
        served(&copy).await;
        // So much time passed until the restore.
        copy.alter("UPDATE ff_attempt SET lease_expires_at_ms = 1 WHERE lease_expires_at_ms IS NOT NULL").await;
        let partition = ff_core::partition::Partition {
            family: ff_core::partition::PartitionFamily::Flow,
            index: before.running.partition(),
        };
        copy.backend.mark_lease_expired_if_due(partition, &before.running).await.unwrap();
        let handle = copy.claim(LANE).await.expect("it is served again");
        let payload = ff_core::handle_codec::decode(&handle.opaque).unwrap().payload;
        assert_eq!(payload.execution_id, before.running);
        let old = copy.backend.complete(&before.handle, None).await;
        assert!(old.is_err(), "the lease that was in the backup is fenced");
        copy.backend.complete(&handle, None).await.unwrap();
    })
    .await;
}

/// Completes executions until it is told to stop; answers those whose completion was acknowledged, in their order.
async fn load(backend: Arc<dyn EngineBackend>, place: Arc<Place>, stop: Arc<AtomicBool>) -> Vec<ExecutionId> {
    let mut done = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        place.create(LANE, "letter").await;
        if let Some(handle) = place.claim(LANE).await {
            let payload = ff_core::handle_codec::decode(&handle.opaque).unwrap().payload;
            backend.complete(&handle, None).await.unwrap();
            done.push(payload.execution_id);
        }
    }
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_made_under_load_is_whole() {
    on_both(|place| async move {
        let before = work(&place).await;
        let (place, stop) = (Arc::new(place), Arc::new(AtomicBool::new(false)));
        let loads: Vec<_> = (0..3)
            .map(|_| tokio::spawn(load(Arc::clone(&place.backend), Arc::clone(&place), Arc::clone(&stop))))
            .collect();
        let copy = copied(&place).await;
        stop.store(true, Ordering::Relaxed);
        for load in loads {
            assert!(!load.await.unwrap().is_empty(), "there was load");
        }
        let Some(copy) = copy else { return };
        for id in &before.completed {
            assert_eq!(state(&copy, id).await, PublicState::Completed, "acknowledged before the copy began");
        }
        assert_eq!(state(&copy, &before.running).await, PublicState::Active);
        let printed = copy.run(&["doctor", "--json"]);
        let said: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
        for check in said["checks"].as_array().unwrap() {
            // A throwaway server is quick, not safe, and says so.
            assert!(check["check"] == "settings" || check["verdict"] == "fine", "{check}");
        }
        let served = served(&copy).await;
        let once: BTreeSet<_> = served.iter().map(ToString::to_string).collect();
        assert_eq!(once.len(), served.len(), "each is served once");
        assert!(before.completed.iter().all(|id| !once.contains(id.as_str())), "and nothing that has ended");
    })
    .await;
}

/// Copies files of an SQLite database by their endings.
fn copy_files(from: &Path, to: &Path, endings: &[&str]) {
    for ending in endings {
        let name = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
        std::fs::copy(name(from), name(to)).unwrap();
    }
}

#[tokio::test]
async fn a_file_is_nothing_without_the_log_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("flow.db");
    let backend = SqliteBackend::new(&target.display().to_string()).await.unwrap();
    let pool = sqlx::SqlitePool::connect(&target.display().to_string()).await.unwrap();
    let place = Place { backend, target: target.display().to_string(), tables: Tables::Sqlite(pool, folder) };
    let before = work(&place).await;
    // While nobody writes: the program is there and idle, as one is that was stopped by a signal.
    let (alone, both) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy_files(&target, &alone.path().join("flow.db"), &[""]);
    copy_files(&target, &both.path().join("flow.db"), &["", "-wal"]);
    let whole = opened_file(both.path().join("flow.db").display().to_string(), both).await;
    for id in &before.completed {
        assert_eq!(state(&whole, id).await, PublicState::Completed);
    }
    assert_eq!(served(&whole).await.len(), before.waiting.len());
    let part = SqliteBackend::new(&alone.path().join("flow.db").display().to_string()).await.unwrap();
    let lost = part.read_execution_state(&before.running).await;
    assert!(!matches!(lost, Ok(Some(_))), "what was acknowledged is in the log: {lost:?}");
}
