//! Judges copies of a database's files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use ff_backend_sql::SqliteBackend;
use ff_backend_sql::testing::{Clock, Step};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use tokio::runtime::{Builder, Runtime};

use crate::harness::T0;
use crate::random::Random;
use crate::work::Facts;

/// More pages than a log here has, so that nothing is moved.
const LONG_LOG: u32 = 1_000_000;

/// What no whole operation leaves behind, with the statement that counts it.
const HALF: [(&str, &str); 6] = [
    (
        "a stream whose counter counts other frames",
        "SELECT count(*) FROM ff_stream_counter AS counter WHERE frame_count <> \
         (SELECT count(*) FROM ff_stream_frame AS frame WHERE frame.partition_key = counter.partition_key \
          AND frame.execution_id = counter.execution_id AND frame.attempt_index = counter.attempt_index)",
    ),
    (
        "a frame without a counter",
        "SELECT count(*) FROM ff_stream_frame AS frame WHERE NOT EXISTS \
         (SELECT 1 FROM ff_stream_counter AS counter WHERE frame.partition_key = counter.partition_key \
          AND frame.execution_id = counter.execution_id AND frame.attempt_index = counter.attempt_index)",
    ),
    (
        "an active execution without a running attempt",
        "SELECT count(*) FROM ff_exec_core AS core WHERE lifecycle_phase = 'active' AND NOT EXISTS \
         (SELECT 1 FROM ff_attempt AS attempt WHERE attempt.partition_key = core.partition_key \
          AND attempt.execution_id = core.execution_id AND attempt.attempt_index = core.attempt_index \
          AND attempt.outcome IS NULL AND attempt.lease_expires_at_ms IS NOT NULL)",
    ),
    (
        "an active execution without an event of its lease",
        "SELECT count(*) FROM ff_exec_core AS core WHERE lifecycle_phase = 'active' AND NOT EXISTS \
         (SELECT 1 FROM ff_lease_event AS event \
           WHERE replace(event.execution_id, '-', '') = lower(hex(core.execution_id)))",
    ),
    (
        "an end without its one event",
        "SELECT count(*) FROM ff_exec_core AS core WHERE (lifecycle_phase = 'terminal') <> \
         (1 = (SELECT count(*) FROM ff_completion_event AS event WHERE event.execution_id = core.execution_id))",
    ),
    (
        "an end whose attempt goes on",
        "SELECT count(*) FROM ff_exec_core AS core JOIN ff_attempt AS attempt USING (partition_key, execution_id) \
         WHERE core.lifecycle_phase = 'terminal' AND attempt.attempt_index = core.attempt_index \
           AND attempt.outcome IS NULL",
    ),
];

/// What a copy is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As it was before a commit, or after.
    Whole,
    /// The end of the log is there in part.
    Torn,
    /// The log's pages are in the file in part.
    HalfMoved,
}

/// What a disk could hold.
pub(crate) struct Copy {
    pub(crate) kind: Kind,
    pub(crate) file: Arc<Vec<u8>>,
    pub(crate) log: Vec<u8>,
    /// The tables are as in one of these.
    pub(crate) expected: Vec<Arc<State>>,
    /// How many answers had been given.
    pub(crate) answered: usize,
}

/// How many copies were judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) copies: u64,
    pub(crate) torn: u64,
    pub(crate) half_moved: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.copies += other.copies;
        self.torn += other.torn;
        self.half_moved += other.half_moved;
    }
}

/// The log of a database file.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push("-wal");
    name.into()
}

/// All rows of all tables.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State(BTreeSet<String>);

impl State {
    /// Reads files with SQLite alone. What no whole operation leaves is not in them.
    pub(crate) fn of(file: &[u8], log: &[u8]) -> Self {
        runtime().block_on(async {
            let (_folder, path) = written(file, log);
            let options = SqliteConnectOptions::new().filename(&path);
            let mut connection = SqliteConnection::connect_with(&options).await.expect("the copy opens");
            let state = Self::read(&mut connection).await;
            for (what, count) in HALF {
                let found: i64 = sqlx::query_scalar(count).fetch_one(&mut connection).await.expect("a count");
                assert_eq!(found, 0, "{what}");
            }
            connection.close().await.expect("it closes");
            state
        })
    }

    async fn read(connection: &mut SqliteConnection) -> Self {
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ff!_%' ESCAPE '!'";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut *connection).await.expect("the tables");
        let mut selects = Vec::new();
        for table in tables {
            let columns = format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')");
            let columns = sqlx::query_scalar(AssertSqlSafe(columns));
            let columns: Vec<String> = columns.fetch_all(&mut *connection).await.expect("the columns");
            selects.push(format!("SELECT '{table}|' || {} FROM {table}", columns.join(" || '|' || ")));
        }
        let rows = sqlx::query_scalar(AssertSqlSafe(selects.join(" UNION ALL ")));
        let rows: Vec<String> = rows.fetch_all(connection).await.expect("the rows");
        Self(rows.into_iter().collect())
    }

    /// What this one has and the other one has not.
    fn without(&self, other: &Self) -> Vec<String> {
        self.0.difference(&other.0).map(|row| row.chars().take(300).collect()).collect()
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A folder with files in it.
fn written(file: &[u8], log: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("copy.db");
    fs::write(&path, file).expect("a file");
    fs::write(log_of(&path), log).expect("a log");
    (folder, path)
}

/// Starts threads that judge what comes.
pub(crate) fn judge_all(copies: Receiver<Copy>, threads: usize, facts: &Facts) -> Vec<JoinHandle<Counts>> {
    let copies = Arc::new(Mutex::new(copies));
    let start = |judge: usize| {
        let (copies, facts) = (Arc::clone(&copies), facts.clone());
        let mut random = Random::new(u64::try_from(judge).expect("a number"));
        std::thread::spawn(move || {
            let mut counts = Counts::default();
            let next = || copies.lock().expect("the copies").recv();
            while let Ok(copy) = next() {
                runtime().block_on(copy.judge(&facts, &mut random));
                counts.copies += 1;
                counts.torn += u64::from(copy.kind == Kind::Torn);
                counts.half_moved += u64::from(copy.kind == Kind::HalfMoved);
            }
            counts
        })
    };
    (0..threads).map(start).collect()
}

impl Copy {
    async fn judge(&self, facts: &Facts, random: &mut Random) {
        let (_folder, path) = written(&self.file, &self.log);
        let synced = Arc::new(Mutex::new(None));
        let (kept, place) = (Arc::clone(&synced), path.clone());
        let hook = move |step, name| {
            if (step, name) == (Step::Sync, "open") {
                let files = (fs::read(&place).expect("the file"), fs::read(log_of(&place)).expect("the log"));
                *kept.lock().expect("the files") = Some(files);
            }
            None
        };
        let name = path.display().to_string();
        let backend = SqliteBackend::new_with_faults(&name, Clock::frozen(T0), LONG_LOG, Box::new(hook)).await;
        let backend = backend.unwrap_or_else(|error| panic!("{:?} does not open: {error}", self.kind));
        let synced = synced.lock().expect("the files").take();
        let (file, log) = synced.expect("what is there is synced before the first answer");
        for fact in facts.some(self.answered, random) {
            fact.check(&backend).await;
        }
        let mut connection = backend.pool_for_test().acquire().await.expect("a connection");
        let check: Vec<String> =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *connection).await.expect("an answer");
        assert_eq!(check, ["ok"], "{:?}", self.kind);
        let state = State::read(&mut connection).await;
        drop(connection);
        drop(backend);
        if !self.expected.iter().any(|expected| **expected == state) {
            let differences = self.expected.iter().map(|expected| (state.without(expected), expected.without(&state)));
            panic!("{:?} is like no commit; (too many, missing): {:#?}", self.kind, differences.collect::<Vec<_>>());
        }
        let after = tokio::task::spawn_blocking(move || State::of(&file, &log)).await.expect("a state");
        assert!(after == state, "{:?} answered what was not on the disk: {:#?}", self.kind, state.without(&after));
    }
}
