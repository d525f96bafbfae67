//! What the door promises, on SQLite: one commit for many, all or nothing for each.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use ff_core::EngineError;
use tempfile::TempDir;

use crate::backend::SqliteBackend;
use crate::clock::Clock;
use crate::column::PartitionNumber;
use crate::db::fault::Step;
use crate::db::silent;
use crate::db::tx::{MAX_ATTEMPTS, group};
use crate::retry::IsRetryableBusy as _;
use crate::statements::{Statements as _, worker};

pub(super) type Answer<T> = Result<T, Box<dyn std::error::Error>>;

/// Something that waits for the writer.
type Waiting<T> = std::pin::Pin<Box<dyn Future<Output = T> + Send>>;

/// A database of its own.
struct Place {
    folder: TempDir,
    backend: Arc<SqliteBackend>,
}

impl Place {
    async fn new() -> Answer<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("door.db").display().to_string();
        let backend = SqliteBackend::new_with_clock(&path, Clock::frozen(1_000)).await?;
        Ok(Self { folder, backend })
    }

    /// The names that are stored, in order.
    async fn stored(&self) -> Result<Vec<String>, EngineError> {
        stored(Arc::clone(&self.backend)).await
    }

    /// How many names somebody else sees.
    async fn seen(&self) -> Result<usize, sqlx::Error> {
        let mut other = self.backend.pool_for_test().acquire().await?;
        Ok(other.worker_list(&all()).await?.len())
    }
}

/// What asks for all names.
fn all() -> worker::WorkerListParams {
    worker::WorkerListParams { namespace: "n".into(), after: String::new(), page_size: 100 }
}

pub(super) async fn stored(backend: Arc<SqliteBackend>) -> Result<Vec<String>, EngineError> {
    let rows = backend.db().read(all()).await?;
    Ok(rows.into_iter().map(|row| row.worker_instance_id).collect())
}

/// What stores a name.
pub(super) fn params(name: &str) -> worker::WorkerRegisterParams {
    worker::WorkerRegisterParams {
        namespace: "n".into(),
        worker_instance_id: name.into(),
        worker_id: "w".into(),
        lanes_csv: String::new(),
        capabilities_csv: String::new(),
        now_ms: 1_000,
        liveness_ttl_ms: 1_000,
        partition_key: PartitionNumber::ONLY,
    }
}

pub(super) async fn put(
    backend: Arc<SqliteBackend>,
    operation: &'static str,
    name: &'static str,
) -> Result<u64, EngineError> {
    backend
        .db()
        .unit_named(operation, params(name), |conn, params| Box::pin(conn.worker_register(params)), silent)
        .await
}

/// Stores two names in one transaction and then decides against it.
async fn put_and_refuse(backend: Arc<SqliteBackend>, names: [&'static str; 2]) -> Result<(), EngineError> {
    let both = names.map(params);
    backend
        .db()
        .write(
            "refuse",
            both,
            |conn, both| {
                Box::pin(async move {
                    for params in both {
                        conn.worker_register(params).await?;
                    }
                    Err(EngineError::NotFound { entity: "test" }.into())
                })
            },
            silent,
        )
        .await
}

/// A writer that waits at its first transaction until it is let go, so that a test can fill the queue.
struct Gate {
    go: mpsc::Sender<()>,
}

/// Installs a hook; the first `Begin` waits for the gate.
fn hook(place: &Place, fault: impl Fn(Step, &'static str) -> Option<sqlx::Error> + Send + Sync + 'static) -> Gate {
    let (go, wait) = mpsc::channel();
    let wait = Mutex::new(Some(wait));
    place.backend.fail_for_test(Box::new(move |step, name| {
        if name == "gate" {
            if step == Step::Run
                && let Some(wait) = wait.lock().ok().and_then(|mut wait| wait.take())
            {
                let _ = wait.recv();
            }
            return None;
        }
        fault(step, name)
    }));
    Gate { go }
}

/// Runs futures so that they all wait for the writer at once, behind an operation that the gate holds up.
async fn together<T: Send + 'static>(place: &Place, gate: Gate, waiting: Vec<Waiting<T>>) -> Answer<Vec<T>> {
    let first = tokio::spawn(put(Arc::clone(&place.backend), "gate", "0"));
    tokio::task::yield_now().await;
    let mut tasks = Vec::new();
    for future in waiting {
        tasks.push(tokio::spawn(future));
        tokio::task::yield_now().await;
    }
    gate.go.send(())?;
    first.await??;
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await?);
    }
    Ok(answers)
}

fn busy() -> sqlx::Error {
    crate::db::error::coded("5")
}

#[tokio::test]
async fn half_of_those_that_wait_share_one_commit() -> Answer<()> {
    let place = Place::new().await?;
    let commits = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&commits);
    let gate = hook(&place, move |step, _| {
        counted.fetch_add(u32::from(step == Step::Commit), Ordering::SeqCst);
        None
    });
    let names = ["a", "b", "c", "d", "e"];
    let waiting = names.map(|name| Box::pin(put(Arc::clone(&place.backend), "put", name)) as _).into();
    let answers = together(&place, gate, waiting).await?;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(place.stored().await?, ["0", "a", "b", "c", "d", "e"]);
    // Two joined the transaction of the one that the gate held up, whose commit is not counted here. The others
    // share one, or two if the first were answered before.
    assert!((1..=2).contains(&commits.load(Ordering::SeqCst)));
    Ok(())
}

/// Holds up whatever writes the log to the disk until the sender is used or dropped, and counts it.
fn hold_the_log(place: &Place) -> (mpsc::Sender<()>, Arc<AtomicU32>) {
    let (go, wait) = mpsc::channel();
    let (wait, count) = (Mutex::new(wait), Arc::new(AtomicU32::new(0)));
    let counted = Arc::clone(&count);
    place.backend.fail_for_test(Box::new(move |step, _| {
        if step == Step::Sync {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = wait.lock().map(|wait| wait.recv());
        }
        None
    }));
    (go, count)
}

#[tokio::test]
async fn nothing_is_answered_before_it_is_durable_and_nothing_read_either() -> Answer<()> {
    let place = Place::new().await?;
    let (go, syncs) = hold_the_log(&place);
    let writing = tokio::spawn(put(Arc::clone(&place.backend), "put", "a"));
    while syncs.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let reading = tokio::spawn(stored(Arc::clone(&place.backend)));
    for _ in 0..100 {
        assert_eq!(place.seen().await?, 1, "it is committed");
        assert!(!writing.is_finished() && !reading.is_finished());
    }
    drop(go);
    assert_eq!(reading.await??, ["a"]);
    writing.await??;
    Ok(())
}

#[tokio::test]
async fn the_others_run_while_some_wait_for_the_disk() -> Answer<()> {
    let place = Place::new().await?;
    let (go, syncs) = hold_the_log(&place);
    let all: Vec<_> =
        ["a", "b", "c", "d"].map(|name| tokio::spawn(put(Arc::clone(&place.backend), "put", name))).into();
    // A second commit while the first one's log is not written: more names than one group takes.
    while place.seen().await? < 4 {
        assert!(syncs.load(Ordering::SeqCst) <= 1);
    }
    drop(go);
    for one in all {
        one.await??;
    }
    assert_eq!(place.stored().await?, ["a", "b", "c", "d"]);
    Ok(())
}

#[tokio::test]
async fn what_writes_nothing_does_not_wait_for_the_disk() -> Answer<()> {
    let place = Place::new().await?;
    let (go, syncs) = hold_the_log(&place);
    drop(go);
    place.backend.db().unit_named("nothing", (), |_, ()| Box::pin(async { Ok::<_, sqlx::Error>(()) }), silent).await?;
    assert!(put_and_refuse(Arc::clone(&place.backend), ["x", "y"]).await.is_err());
    assert_eq!(syncs.load(Ordering::SeqCst), 0);
    put(Arc::clone(&place.backend), "put", "a").await?;
    assert_eq!(syncs.load(Ordering::SeqCst), 1);
    Ok(())
}

#[tokio::test]
async fn a_log_that_cannot_be_written_ends_the_backend_until_it_is_opened_again() -> Answer<()> {
    let place = Place::new().await?;
    put(Arc::clone(&place.backend), "put", "a").await?;
    place.backend.fail_for_test(Box::new(|step, _| {
        (step == Step::Sync).then(|| sqlx::Error::Io(std::io::Error::other("the disk is gone")))
    }));
    for _ in 0..2 {
        let failed = put(Arc::clone(&place.backend), "put", "b").await.err().ok_or("it was answered")?.to_string();
        assert!(failed.contains("the disk is gone") && failed.contains("open it again"), "{failed}");
        let failed = place.stored().await.err().ok_or("it was read")?.to_string();
        assert!(failed.contains("open it again"), "{failed}");
    }
    let Place { backend, folder } = place;
    drop(backend);
    let path = folder.path().join("door.db").display().to_string();
    let place = Place { folder, backend: SqliteBackend::new_with_clock(&path, Clock::frozen(1_000)).await? };
    put(Arc::clone(&place.backend), "put", "c").await?;
    let stored = place.stored().await?;
    assert!(["a", "c"].iter().all(|name| stored.contains(&(*name).to_owned())), "{stored:?}");
    Ok(())
}

#[tokio::test]
async fn a_member_that_fails_does_not_hurt_its_neighbours() -> Answer<()> {
    let place = Place::new().await?;
    let gate = hook(&place, |step, name| (step == Step::Run && name == "bad").then_some(sqlx::Error::RowNotFound));
    let all = [("put", "a"), ("bad", "b"), ("put", "c")];
    let waiting = all.map(|(op, name)| Box::pin(put(Arc::clone(&place.backend), op, name)) as _).into();
    let answers = together(&place, gate, waiting).await?;
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(place.stored().await?, ["0", "a", "c"]);
    Ok(())
}

#[tokio::test]
async fn a_write_that_refuses_leaves_nothing_and_its_neighbours_stay() -> Answer<()> {
    let place = Place::new().await?;
    let gate = hook(&place, |_, _| None);
    let refused = put_and_refuse(Arc::clone(&place.backend), ["x", "y"]);
    let waiting: Vec<Waiting<Result<(), EngineError>>> = vec![
        Box::pin(refused),
        Box::pin({
            let backend = Arc::clone(&place.backend);
            async move { put(backend, "put", "z").await.map(|_| ()) }
        }),
    ];
    let answers = together(&place, gate, waiting).await?;
    assert!(matches!(answers[0], Err(EngineError::NotFound { entity: "test" })));
    assert!(answers[1].is_ok());
    assert_eq!(place.stored().await?, ["0", "z"]);
    Ok(())
}

#[tokio::test]
async fn a_write_that_refuses_alone_leaves_nothing() -> Answer<()> {
    let place = Place::new().await?;
    assert!(put_and_refuse(Arc::clone(&place.backend), ["x", "y"]).await.is_err());
    assert!(place.stored().await?.is_empty());
    put(Arc::clone(&place.backend), "put", "a").await?;
    assert_eq!(place.stored().await?, ["a"]);
    Ok(())
}

#[tokio::test]
async fn a_commit_that_fails_is_answered_with_an_error_and_nothing_stays() -> Answer<()> {
    let place = Place::new().await?;
    place.backend.fail_for_test(Box::new(|step, name| {
        (step == Step::Commit && name == "put").then_some(sqlx::Error::RowNotFound)
    }));
    let failed = put(Arc::clone(&place.backend), "put", "a").await;
    assert!(matches!(failed, Err(EngineError::Transport { backend: "sqlite", .. })));
    assert!(place.stored().await?.is_empty());
    put(Arc::clone(&place.backend), "other", "b").await?;
    assert_eq!(place.stored().await?, ["b"]);
    Ok(())
}

#[tokio::test]
async fn a_busy_database_is_tried_again_and_then_reported_as_busy() -> Answer<()> {
    for (failures, succeeds) in [(2, true), (100, false)] {
        let place = Place::new().await?;
        let tries = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&tries);
        place.backend.fail_for_test(Box::new(move |step, _| {
            (step == Step::Begin && counted.fetch_add(1, Ordering::SeqCst) < failures).then(busy)
        }));
        let answer = put(Arc::clone(&place.backend), "put", "a").await;
        assert_eq!(tries.load(Ordering::SeqCst), MAX_ATTEMPTS);
        match answer {
            Ok(_) => assert!(succeeds),
            Err(error) => assert!(!succeeds && error.is_retryable_busy(), "{error}"),
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_operation_whose_caller_is_gone_before_its_turn_does_not_run() -> Answer<()> {
    let place = Place::new().await?;
    let gate = hook(&place, |_, _| None);
    let first = tokio::spawn(put_and_wait(Arc::clone(&place.backend)));
    tokio::task::yield_now().await;
    let dropped = tokio::spawn(put(Arc::clone(&place.backend), "put", "a"));
    tokio::task::yield_now().await;
    dropped.abort();
    assert!(dropped.await.is_err());
    gate.go.send(())?;
    first.await??;
    put(Arc::clone(&place.backend), "put", "b").await?;
    assert_eq!(place.stored().await?, ["0", "b"]);
    Ok(())
}

/// Holds the writer up as a transaction of its own, which nobody joins.
async fn put_and_wait(backend: Arc<SqliteBackend>) -> Result<u64, EngineError> {
    backend
        .db()
        .write(
            "gate",
            params("0"),
            |conn, params| Box::pin(async move { Ok(conn.worker_register(params).await?) }),
            silent,
        )
        .await
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_the_connection_clean() -> Answer<()> {
    let place = Place::new().await?;
    for _ in 0..50 {
        let given_up = tokio::time::timeout(Duration::ZERO, put(Arc::clone(&place.backend), "put", "a")).await;
        drop(given_up);
        put(Arc::clone(&place.backend), "put", "b").await?;
    }
    put_and_wait(Arc::clone(&place.backend)).await?;
    assert!(place.stored().await?.contains(&"b".to_owned()));
    Ok(())
}

#[tokio::test]
async fn a_panic_inside_an_operation_ends_that_operation_only() -> Answer<()> {
    let place = Place::new().await?;
    let panicking = place
        .backend
        .db()
        .write(
            "panic",
            params("a"),
            |conn, params| {
                Box::pin(async move {
                    conn.worker_register(params).await?;
                    if params.namespace == "n" {
                        panic!("on purpose");
                    }
                    Ok(())
                })
            },
            silent,
        )
        .await;
    assert!(panicking.is_err_and(|error| error.to_string().contains("on purpose")));
    put(Arc::clone(&place.backend), "put", "b").await?;
    assert_eq!(place.stored().await?, ["b"]);
    Ok(())
}

#[tokio::test]
async fn a_writer_whose_transaction_the_database_ended_by_itself_goes_on() -> Answer<()> {
    let place = Place::new().await?;
    // What SQLite does by itself when the disk is full: the transaction is over, and the driver does not know.
    let ended =
        place.backend.db().unit_named("ended", (), |conn, ()| Box::pin(group::end_transaction(conn)), silent).await;
    assert!(ended.is_err());
    put(Arc::clone(&place.backend), "put", "b").await?;
    assert_eq!(place.stored().await?, ["b"]);
    Ok(())
}

#[tokio::test]
async fn handles_on_one_path_share_a_backend_and_the_last_one_closes_it() -> Answer<()> {
    let place = Place::new().await?;
    let path = place.folder.path().join("door.db").display().to_string();
    let second = SqliteBackend::new(&path).await?;
    let mut heard = second.db().around().channels.outbox(crate::db::Outbox::LeaseHistory);
    place
        .backend
        .db()
        .unit_named(
            "put",
            params("a"),
            |conn, params| Box::pin(conn.worker_register(params)),
            |_, _, wakes| wakes.lease(7, 3.into()),
        )
        .await?;
    assert_eq!(heard.try_recv().map(|event| (event.event_id, event.partition_key)), Ok((7, 3)));
    let Place { backend, folder } = place;
    drop((backend, second));
    let wal = folder.path().join("door.db-wal");
    assert!(!wal.exists(), "the last handle closed the file");
    Ok(())
}

#[tokio::test]
async fn a_database_in_memory_is_shared_and_vanishes_with_its_last_handle() -> Answer<()> {
    let uri = "file:door_test?mode=memory&cache=shared";
    let first = SqliteBackend::new(uri).await?;
    let second = SqliteBackend::new(uri).await?;
    put(Arc::clone(&first), "put", "a").await?;
    drop(first);
    put(Arc::clone(&second), "put", "b").await?;
    drop(second);
    let place = Place { folder: tempfile::tempdir()?, backend: SqliteBackend::new(uri).await? };
    assert!(place.stored().await?.is_empty());
    Ok(())
}
