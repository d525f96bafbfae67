//! Playing all pairs of a state's operations, and judging what comes out.

use std::collections::BTreeMap;
use std::fmt;

use crate::known;
use crate::scenes::{Scene, Step};
use crate::stage::{Outcome, Plan, Played, Prepared, Stage, Which};
use crate::tables::difference;

/// What was played, and what was found.
#[derive(Default)]
pub(crate) struct Tally {
    scenes: usize,
    pairs: usize,
    /// The places at which a first operation stood.
    halts: usize,
    /// How often a third transaction held a table.
    behind: usize,
    /// How often somebody waited for a lock.
    waits: usize,
    deadlocks: u32,
    /// Sweeps that one held row holds up.
    pub(crate) held_up: Vec<String>,
    /// How often what is known came out.
    known: BTreeMap<&'static str, u32>,
    pub(crate) found: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.scenes += other.scenes;
        self.pairs += other.pairs;
        self.halts += other.halts;
        self.behind += other.behind;
        self.waits += other.waits;
        self.deadlocks += other.deadlocks;
        self.held_up.extend(other.held_up);
        self.found.extend(other.found);
        other.known.into_iter().for_each(|(why, times)| *self.known.entry(why).or_default() += times);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} pairs in {} states, all of them and in the same order in every run: {} places to stop at, {} times a table \
             was held by a third, {} waits; {} deadlocks, {} results that no order gives, {} sweeps that a held row \
             holds up",
            self.pairs,
            self.scenes,
            self.halts,
            self.behind,
            self.waits,
            self.deadlocks,
            self.found.len(),
            self.held_up.len()
        )?;
        self.known.iter().try_for_each(|(why, times)| write!(f, "\n  known, {times} times: {why}"))
    }
}

/// The results that two operations may have, gathered as they are needed.
struct Allowed<'a> {
    stage: &'a mut Stage,
    prepared: &'a Prepared,
    steps: [Step; 2],
    serial: Vec<Outcome>,
    /// What comes out while a third holds a table: its rows may be passed over.
    behind: BTreeMap<String, Vec<Outcome>>,
}

impl<'a> Allowed<'a> {
    async fn new(stage: &'a mut Stage, prepared: &'a Prepared, steps: [Step; 2]) -> Self {
        let mut allowed = Self { stage, prepared, steps, serial: Vec::new(), behind: BTreeMap::new() };
        for first in [Which::First, Which::Second] {
            let played = allowed.play(Plan::Serial(first)).await;
            allowed.serial.extend(played.map(|played| played.outcome));
        }
        allowed
    }

    async fn play(&mut self, plan: Plan<'_>) -> Option<Played> {
        self.stage.play(self.prepared, self.steps, plan).await
    }

    /// Whether a result is one of those that the operations have one after the other, also while somebody holds the
    /// rows of a table, which whoever skips locked rows passes over.
    async fn has(&mut self, outcome: &Outcome, held: &[&str]) -> bool {
        if self.serial.iter().any(|serial| serial.allows(outcome)) {
            return true;
        }
        for table in held {
            if self.has_behind(outcome, table).await {
                return true;
            }
        }
        false
    }

    async fn has_behind(&mut self, outcome: &Outcome, table: &str) -> bool {
        if !self.behind.contains_key(table) {
            let mut outcomes = Vec::new();
            for (first, after) in [(Which::First, 1), (Which::Second, 1), (Which::First, 2), (Which::Second, 2)] {
                let played = self.play(Plan::SerialBehind(table, first, after)).await;
                outcomes.extend(played.filter(|played| !played.waited).map(|played| played.outcome));
            }
            self.behind.insert(table.to_owned(), outcomes);
        }
        self.behind[table].iter().any(|serial| serial.allows(outcome))
    }
}

/// Plays every ordered pair.
pub(crate) async fn play(stage: &mut Stage, scene: &Scene, steps: &[Step]) -> Tally {
    let prepared = stage.prepare(scene).await;
    let mut tally = Tally { scenes: 1, ..Tally::default() };
    for first in steps {
        let waits_for = tables_waited_for(stage, &prepared, *first).await;
        if first.0 == "sweep" {
            let held_up = waits_for.iter().map(|table| format!("{}: {first:?} waits for {table}", scene.name));
            tally.held_up.extend(held_up);
        }
        for second in steps {
            tally.pairs += 1;
            let held: Vec<&str> = waits_for.iter().map(String::as_str).collect();
            let mut allowed = Allowed::new(stage, &prepared, [*first, *second]).await;
            // Stopped before its first statement, the first is the second of two: that order is there already.
            for place in 1.. {
                let Some(played) = allowed.play(Plan::Halted(place)).await else { break };
                tally.halts += 1;
                judge(&mut tally, &mut allowed, scene, &format!("stopped at place {place}"), &held, played).await;
            }
            for table in &waits_for {
                let Some(played) = allowed.play(Plan::Behind(table)).await else { continue };
                tally.behind += 1;
                judge(&mut tally, &mut allowed, scene, &format!("waits for {table}"), &[table], played).await;
            }
        }
    }
    tally
}

/// The tables whose rows an operation waits for when somebody holds them.
async fn tables_waited_for(stage: &mut Stage, prepared: &Prepared, step: Step) -> Vec<String> {
    let mut tables = Vec::new();
    for table in &prepared.tables {
        let played = stage.play(prepared, [step, step], Plan::SerialBehind(table, Which::First, 2)).await;
        if played.is_some_and(|played| played.waited) {
            tables.push(table.clone());
        }
    }
    tables
}

async fn judge(
    tally: &mut Tally,
    allowed: &mut Allowed<'_>,
    scene: &Scene,
    place: &str,
    held: &[&str],
    played: Played,
) {
    tally.waits += usize::from(played.waited);
    tally.deadlocks += played.deadlocks;
    let is_allowed = played.deadlocks == 0 && allowed.has(&played.outcome, held).await;
    if is_allowed {
        return;
    }
    let [first, second] = allowed.steps;
    if let Some(why) = known::why(first.0, second.0) {
        *tally.known.entry(why).or_default() += 1;
        return;
    }
    let mut told = format!("{}: {first:?} {place}, {second:?}", scene.name);
    if played.deadlocks > 0 {
        told.push_str("\n  they wait for each other");
    }
    for (label, outcome) in [
        ("at once", &played.outcome),
        ("the first first", &allowed.serial[0]),
        ("the second first", &allowed.serial[1]),
    ] {
        told.push_str(&format!("\n  {label}:\n    {}", outcome.answers.join("\n    ")));
    }
    for (label, serial) in [("the first first", &allowed.serial[0]), ("the second first", &allowed.serial[1])] {
        if let Some(rows) = difference(&serial.rows, &played.outcome.rows) {
            let rows = rows.replace("SQLite  :", "only serially:").replace("Postgres:", "only at once: ");
            told.push_str(&format!("\n  rows against {label}:\n{rows}"));
        }
    }
    tally.found.push(told);
}
