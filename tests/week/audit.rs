//! What the tables say while the week passes, and at its end.

use std::collections::{BTreeMap, HashSet};

use crate::bounds::{Fate, SWEEPS, listed, sizes};
use crate::harness::{Harness, Tables};
use crate::kind::Kind;

/// How long an execution is open at most: five crashes, each a lease and two ticks long.
const LONGEST_OPEN_MS: i64 = 20 * 60 * 1_000;

/// Rows with times of their own, which no retention shortens, and how many of a thousand executions leave one.
const OWN_TIMES: [(&str, u64); 1] = [("ff_idempotency_key", 40)];

/// By how much a table may grow once it holds as much as is kept, and the rows of a moment.
const GROWTH: f64 = 1.5;
const MOMENT: i64 = 200;

/// What was seen so far.
#[derive(Default)]
pub(crate) struct Audit {
    ended: HashSet<uuid::Uuid>,
    outcomes: BTreeMap<(String, String), u64>,
    last_event_id: i64,
    /// How many rows each table had when it was full for the first time.
    full: Option<BTreeMap<String, i64>>,
    oldest_ms: i64,
}

impl Audit {
    pub(crate) fn ended(&self) -> u64 {
        u64::try_from(self.ended.len()).expect("a count")
    }

    /// Every execution that ended since the last time did so once, and as it had to. What a signal resumed is told in the same
    /// place.
    pub(crate) async fn ends(&mut self, h: &Harness) {
        let uuid = match h.tables() {
            Tables::Sqlite(..) => "lower(hex(execution_id))",
            Tables::Postgres(_) => "CAST(execution_id AS text)",
        };
        let events = format!(
            "SELECT event_id || ' ' || {uuid} || ' ' || outcome FROM ff_completion_event
              WHERE event_id > {} AND outcome <> 'resumable' ORDER BY event_id",
            self.last_event_id
        );
        for text in h.texts(&events).await {
            let words: Vec<&str> = text.split(' ').collect();
            let [event_id, id, outcome] = words[..] else { panic!("three words, not {text}") };
            let id = uuid::Uuid::parse_str(id).expect("a uuid");
            assert!(self.ended.insert(id), "{id} ended twice");
            let kind = Kind::of_uuid(&id);
            assert!(kind.ends_as(outcome), "{id}: {kind:?} ended as {outcome}");
            *self.outcomes.entry((format!("{kind:?}"), outcome.to_owned())).or_default() += 1;
            self.last_event_id = event_id.parse().expect("an id");
        }
    }

    /// Nothing is open for long.
    pub(crate) async fn ages(&mut self, h: &Harness, now_ms: i64) {
        let open = "FROM ff_exec_core WHERE lifecycle_phase NOT IN ('terminal', 'cancelled')";
        let oldest_ms = h.number(&format!("SELECT coalesce(min(created_at_ms), {now_ms}) {open}")).await;
        let age_ms = now_ms - oldest_ms;
        self.oldest_ms = self.oldest_ms.max(age_ms);
        if age_ms > LONGEST_OPEN_MS {
            let words = "public_state || ' ' || attempt_index || ' ' || coalesce(blocking_reason, '-')";
            let which = h.texts(&format!("SELECT {words} {open} AND created_at_ms = {oldest_ms}")).await;
            panic!("open for {age_ms} ms: {which:?}");
        }
    }

    /// No table grows any more once it holds what is kept.
    pub(crate) async fn growth(&mut self, h: &Harness, is_full: bool, created_in_a_day: u64) {
        let sizes = sizes(h).await;
        let Some(full) = &self.full else {
            self.full = is_full.then_some(sizes);
            return;
        };
        for (table, size) in sizes {
            let own = OWN_TIMES.iter().find(|(name, _)| *name == table);
            let most = match own {
                Some((_, share)) => i64::try_from(created_in_a_day * share / 1_000).expect("a count") + MOMENT,
                None => (full.get(&table).copied().unwrap_or(0) as f64 * GROWTH) as i64 + MOMENT,
            };
            assert!(size <= most, "{table} has {size} rows; {full:?}");
        }
    }

    /// When everything has ended and a month has passed, nothing is left of it.
    pub(crate) async fn rest(&self, h: &Harness, created: u64) {
        assert_eq!(self.ended(), created, "every execution ended");
        let fates = listed();
        h.pass_ms(32 * 24 * 60 * 60 * 1_000);
        for _ in 0..3 {
            for sweep in SWEEPS {
                h.sweep(sweep).await;
            }
        }
        let left: Vec<_> =
            sizes(h).await.into_iter().filter(|(table, size)| *size > 0 && fates[table] != Fate::Stays).collect();
        assert!(left.is_empty(), "left after a month: {left:?}");
        let minutes = self.oldest_ms / 60_000;
        eprintln!("{created} executions, the oldest open for {minutes} minutes; {:?}", self.outcomes);
    }
}
