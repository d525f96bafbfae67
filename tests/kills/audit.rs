//! Holds the journals against the tables.
//!
//! * What was acknowledged is there: executions, results, frames, leases, events.
//! * No execution was completed twice, and each has one completion event.
//! * No lease began while an older one of the same execution lived.
//! * Leases of one execution have growing attempts and epochs, each only once.
//! * An event id that was seen names the same event ever after.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ff_backend_sql::{PostgresBackend, SqliteBackend};
use ff_core::engine_backend::EngineBackend;

use crate::harness::Harness;
use crate::journal::{Lease, Line, Moment, read_all};

/// What a journal says of a lease.
#[derive(Debug)]
struct Life {
    at_ms: i64,
    until_ms: i64,
    held: Moment,
    ending: Option<Moment>,
}

impl Life {
    /// Whether it was over when another lease began: it had run out by the other's clock, or was about to be given up.
    fn is_over_before(&self, next: &Self) -> bool {
        next.at_ms >= self.until_ms || self.ending.is_some_and(|ending| ending < next.held)
    }
}

/// Waits until the harness's own handle reaches the server again, and until no node of a cluster holds rows of a
/// transaction that it does not know the end of.
pub(crate) async fn wait_for_the_server(h: &Harness) {
    while h.backend.ping().await.is_err() {}
    while h.is_spread() && h.number("SELECT count(*) FROM ff_writers_elsewhere()").await > 0 {}
}

/// Compares everything.
pub(crate) async fn check(h: &Harness, folder: &Path) {
    let lines = read_all(folder);
    let tables = Tables::read(h).await;
    let count = |wanted: fn(&Line) -> bool| lines.iter().filter(|line| wanted(line)).count();
    let completed = count(|line| matches!(line, Line::Completed { .. }));
    let seen = count(|line| matches!(line, Line::Seen { .. }));
    eprintln!("{} journal lines, {completed} completions, {seen} events seen", lines.len());
    assert!(completed > 0 && seen > 0, "the workers worked");
    check_lives(&lines);
    tables.check(&lines);
}

/// What the journals alone tell: who held what, and when.
fn check_lives(lines: &[Line]) {
    let mut lives: BTreeMap<&Lease, Life> = BTreeMap::new();
    for line in lines {
        if let Line::Held { lease, at_ms, until_ms, written } = line {
            let life = Life { at_ms: *at_ms, until_ms: *until_ms, held: *written, ending: None };
            let twice = lives.insert(lease, life);
            assert!(twice.is_none(), "{lease:?} was granted twice: {twice:?}");
        }
    }
    let mut completed = BTreeSet::new();
    for line in lines {
        match line {
            Line::Renewed { lease, until_ms } => {
                let life = lives.get_mut(lease).expect("a renewed lease was held");
                life.until_ms = life.until_ms.max(*until_ms);
            }
            Line::Ending { lease, written } => {
                lives.get_mut(lease).expect("a lease that ends was held").ending.get_or_insert(*written);
            }
            Line::Completed { lease, .. } => {
                assert!(completed.insert(&lease.execution), "{lease:?} was completed before");
            }
            _ => {}
        }
    }
    let ordered: Vec<(&&Lease, &Life)> = lives.iter().collect();
    for pair in ordered.windows(2) {
        let [(older, life), (newer, next)] = pair else { continue };
        if older.execution == newer.execution {
            assert!(life.is_over_before(next), "{newer:?} began ({next:?}) while {older:?} lived ({life:?})");
        }
    }
}

/// What the tables say, by execution.
struct Tables {
    /// State and result.
    executions: BTreeMap<String, String>,
    /// The outcomes of the completion events.
    completions: BTreeMap<String, Vec<String>>,
    /// The epoch of each attempt.
    epochs: BTreeMap<(String, u32), u64>,
    /// Every frame with its attempt.
    frames: BTreeSet<String>,
    /// Every lease event.
    events: BTreeMap<i64, String>,
}

impl Tables {
    async fn read(h: &Harness) -> Self {
        let backend = h.another_handle().await;
        let backend = backend.as_ref();
        let (hex, uuid) = if is_sqlite(backend) {
            assert_eq!(texts(backend, "PRAGMA integrity_check").await, ["ok"]);
            ("lower(hex(result))", "lower(hex(execution_id))")
        } else {
            ("encode(result, 'hex')", "replace(CAST(execution_id AS text), '-', '')")
        };
        let split = |text: &str| text.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("two words");
        let executions =
            format!("SELECT {uuid} || ' ' || public_state || ' ' || coalesce({hex}, '-') FROM ff_exec_core");
        let executions = texts(backend, &executions).await.iter().map(|text| split(text)).collect();
        let mut completions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for text in texts(backend, &format!("SELECT {uuid} || ' ' || outcome FROM ff_completion_event")).await {
            let (execution, outcome) = split(&text);
            completions.entry(execution).or_default().push(outcome);
        }
        let mut epochs = BTreeMap::new();
        let attempts = format!("SELECT {uuid} || ' ' || attempt_index || ' ' || lease_epoch FROM ff_attempt");
        for text in texts(backend, &attempts).await {
            let words: Vec<&str> = text.split(' ').collect();
            let [execution, attempt, epoch] = words[..] else { panic!("three words, not {text}") };
            let attempt = attempt.parse().expect("an attempt");
            epochs.insert((execution.to_owned(), attempt), epoch.parse().expect("an epoch"));
        }
        let frames =
            format!("SELECT {uuid} || ' ' || attempt_index || ' ' || ts_ms || '-' || seq FROM ff_stream_frame");
        let frames = texts(backend, &frames).await.into_iter().collect();
        let events =
            "SELECT event_id || ' ' || event_type || ' ' || replace(execution_id, '-', '') FROM ff_lease_event";
        let events = texts(backend, events).await;
        let events = events.iter().map(|text| split(text));
        let events = events.map(|(id, event)| (id.parse().expect("an id"), event)).collect();
        Self { executions, completions, epochs, frames, events }
    }

    fn check(&self, lines: &[Line]) {
        for line in lines {
            match line {
                Line::Created { execution } => {
                    assert!(self.executions.contains_key(execution), "{line:?} is lost");
                }
                Line::Completed { lease, result } => {
                    assert_eq!(self.executions.get(&lease.execution), Some(&format!("completed {result}")), "{line:?}");
                }
                Line::Framed { lease, frame } => {
                    let row = format!("{} {} {frame}", lease.execution, lease.attempt);
                    assert!(self.frames.contains(&row), "{line:?} is lost");
                }
                Line::Held { lease, .. } | Line::Retried { lease } => {
                    let key = (lease.execution.clone(), lease.attempt);
                    assert!(self.epochs.get(&key).is_some_and(|epoch| *epoch >= lease.epoch), "{line:?} is lost");
                }
                Line::Seen { event_id, event } => {
                    assert_eq!(self.events.get(event_id), Some(event), "event {event_id} is another one");
                }
                Line::Renewed { .. } | Line::Ending { .. } => {}
            }
        }
        for (execution, state) in &self.executions {
            assert!(state.starts_with("completed "), "{execution} never ended: {state}");
            assert_eq!(self.completions.get(execution).map(Vec::as_slice), Some(&["success".to_owned()][..]));
        }
        assert_eq!(self.completions.len(), self.executions.len(), "every completion is of an execution");
    }
}

fn is_sqlite(backend: &dyn EngineBackend) -> bool {
    backend.as_any().is::<SqliteBackend>()
}

/// One column of text through a backend's pool, which nobody used before.
async fn texts(backend: &dyn EngineBackend, sql: &str) -> Vec<String> {
    let sql = sqlx::AssertSqlSafe(sql.to_owned());
    match backend.as_any().downcast_ref::<SqliteBackend>() {
        Some(sqlite) => sqlx::query_scalar(sql).fetch_all(sqlite.pool_for_test()).await,
        None => {
            let postgres = backend.as_any().downcast_ref::<PostgresBackend>().expect("one of the two");
            sqlx::query_scalar(sql).fetch_all(postgres.pool()).await
        }
    }
    .expect("the tables answer")
}
