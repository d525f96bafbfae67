//! Two backends that are given the same steps, and must give the same answers and hold the same rows.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;

use crate::harness::Harness;
use crate::numbers::Numbers;
use crate::operations;
use crate::sequence::Step;
use crate::side::Side;
use crate::tables::{Rows, difference, readings};

/// Where the clock stands when the first sequence begins: the sequences, and those that one is shrunk to, end long before
/// the databases' own clocks, by which quotas are judged where a caller's is ahead.
const BEGINNING_MS: i64 = 1_000_000_000_000;

/// The time between the beginnings of two sequences: longer than the steps of one pass. The tables are emptied, and no
/// process remembers anything that long.
const BETWEEN_MS: i64 = 24 * 60 * 60 * 1_000;

/// How long the backends may take to follow the ends of a flow's members.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where two backends went apart.
pub(crate) struct Difference {
    /// The operation after which they did.
    pub(crate) at: &'static str,
    /// The steps with their answers, and what differs.
    pub(crate) told: String,
}

pub(crate) struct Twins {
    sqlite: Side,
    postgres: Side,
    now_ms: i64,
    /// How often each operation did something.
    pub(crate) done: BTreeMap<&'static str, u32>,
}

/// How answers begin that say that nothing was done.
const NOT_DONE: [&str; 5] = ["refused: ", "nothing ", "None", "No", "GrantNotFound"];

impl Twins {
    pub(crate) async fn new(sqlite: Arc<Harness>, postgres: Arc<Harness>) -> Self {
        let (here, there) = readings(&sqlite, &postgres).await;
        let (sqlite, postgres) = (Side::new(sqlite, here), Side::new(postgres, there));
        Self { sqlite, postgres, now_ms: BEGINNING_MS, done: BTreeMap::new() }
    }

    /// Plays a sequence on empty tables and tells the first difference, after the steps with their answers.
    pub(crate) async fn play(&mut self, steps: &[Step]) -> Result<(), Difference> {
        self.now_ms += BETWEEN_MS;
        tokio::join!(self.sqlite.begin(self.now_ms), self.postgres.begin(self.now_ms));
        let mut told = String::new();
        for &(at, numbers) in steps {
            let differs = |what: String| Err(Difference { at, told: what });
            let act = operations::named(at).act;
            let (here, there) = tokio::join!(
                AssertUnwindSafe(act(&mut self.sqlite, Numbers::new(numbers))).catch_unwind(),
                AssertUnwindSafe(act(&mut self.postgres, Numbers::new(numbers))).catch_unwind()
            );
            let [here, there] = [here, there].map(|ended| ended.unwrap_or_else(|_| "it panicked".to_owned()));
            told.push_str(&format!("{at} {numbers:?}\n  {here}\n"));
            for (label, failed) in [("SQLite", self.sqlite.failed()), ("Postgres", self.postgres.failed())] {
                if let Some(failed) = failed {
                    return differs(format!("{told}{label} failed: {failed}"));
                }
            }
            if here != there || here == "it panicked" {
                return differs(format!("{told}answers differ:\n  SQLite:   {here}\n  Postgres: {there}"));
            }
            *self.done.entry(at).or_default() += u32::from(!NOT_DONE.iter().any(|start| here.starts_with(start)));
            if let Some(rows) = self.compare().await {
                return differs(format!("{told}rows differ:\n{rows}"));
            }
        }
        Ok(())
    }

    /// What the tables differ in, once the ends of a flow's members have been followed, or hold that they may not.
    async fn compare(&mut self) -> Option<String> {
        let (here, there) = self.settled().await;
        if here.are_unsettled || there.are_unsettled {
            return Some("  the end of a flow's member is not followed".to_owned());
        }
        for (label, side, rows) in [("SQLite", &self.sqlite, &here), ("Postgres", &self.postgres, &there)] {
            if let Some(wrong) = side.wrong_deadline(rows) {
                return Some(format!("  {label}: {wrong}"));
            }
        }
        difference(&here.texts, &there.texts)
    }

    async fn settled(&mut self) -> (Rows, Rows) {
        let began = Instant::now();
        loop {
            let (here, there) = tokio::join!(self.sqlite.rows(), self.postgres.rows());
            if !(here.are_unsettled || there.are_unsettled) || began.elapsed() > PATIENCE {
                return (here, there);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub(crate) async fn close(&self) {
        tokio::join!(self.sqlite.close(), self.postgres.close());
    }
}
