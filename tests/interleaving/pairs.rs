//! Playing all pairs of a state's operations, and judging what comes out.

use std::collections::BTreeSet;
use std::fmt;

use crate::scenes::{Scene, Step};
use crate::stage::{Held, Outcome, Plan, Played, Prepared, Stage, Which, While};
use crate::tables::difference;

/// What was played, and what was found.
#[derive(Default)]
pub(crate) struct Tally {
    scenes: usize,
    pairs: usize,
    /// The places at which a first operation stood.
    halts: usize,
    /// How often a third transaction held rows.
    behind: usize,
    /// How often somebody waited for a lock.
    waits: usize,
    deadlocks: u32,
    /// Sweeps that one held row holds up.
    pub(crate) held_up: Vec<String>,
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
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} pairs in {} states, the same and in the same order in every run: {} places to stop at, {} times a third \
             held what the first takes, {} waits; {} deadlocks, {} results that no order gives, {} sweeps that a held row \
             holds up",
            self.pairs,
            self.scenes,
            self.halts,
            self.behind,
            self.waits,
            self.deadlocks,
            self.found.len(),
            self.held_up.len()
        )
    }
}

/// The results that two operations may have, gathered as they are needed.
struct Allowed<'a> {
    stage: &'a mut Stage,
    prepared: &'a Prepared,
    steps: [Step; 2],
    serial: Vec<Outcome>,
    /// What comes out while a third holds what one of them takes: whoever skips locked rows passes over those.
    behind: Vec<Outcome>,
    /// What was not played yet of that.
    left: Vec<Order>,
}

/// One operation after the other.
struct Order {
    /// Whether what is due is promoted before. To promote is an act of its own, also where a claim does it: somebody may come
    /// by between the two.
    is_promoted: bool,
    first: Which,
    /// What a third holds, and during which of the two.
    behind: Option<(Held, While)>,
}

impl<'a> Allowed<'a> {
    async fn new(stage: &'a mut Stage, prepared: &'a Prepared, steps: [Step; 2], takes: [&Takes; 2]) -> Self {
        let mut left = Vec::new();
        if prepared.has_delayed() {
            left.extend(all_behind(&takes, true));
            left.extend([Which::First, Which::Second].map(|first| Order { is_promoted: true, first, behind: None }));
        }
        left.extend(all_behind(&takes, false));
        let mut allowed = Self { stage, prepared, steps, serial: Vec::new(), behind: Vec::new(), left };
        for first in [Which::First, Which::Second] {
            let played = allowed.play(Plan::Serial(first)).await;
            allowed.serial.extend(played.map(|played| played.outcome));
        }
        allowed
    }

    async fn play(&mut self, plan: Plan<'_>) -> Option<Played> {
        self.stage.play(self.prepared, self.steps, plan).await
    }

    /// Whether a result is one of those that the operations have one after the other, also while somebody holds rows
    /// that one of them takes: so the other may meet them. Whoever waits for rows does not come by held ones in that
    /// order, so this allows nothing but what skipping is for: the item is left for the next run, all else is done.
    async fn has(&mut self, outcome: &Outcome) -> bool {
        if self.serial.iter().chain(&self.behind).any(|serial| serial.allows(outcome)) {
            return true;
        }
        while let Some(Order { is_promoted, first, behind }) = self.left.pop() {
            let plan = match &behind {
                Some((held, during)) => Plan::SerialBehind(held, first, *during),
                None => Plan::Serial(first),
            };
            let played = if is_promoted {
                self.stage.play_promoted(self.prepared, self.steps, plan).await
            } else {
                self.play(plan).await
            };
            let Some(played) = played.filter(|played| !played.waited) else { continue };
            let is_allowed = played.outcome.allows(outcome);
            self.behind.push(played.outcome);
            if is_allowed {
                return true;
            }
        }
        false
    }
}

/// Every way in which a third may hold what one of two operations takes, beside the two one after the other: all of
/// that in a table, or one row of several. The last one is to be played first.
fn all_behind(takes: &[&Takes; 2], is_promoted: bool) -> Vec<Order> {
    let taken: BTreeSet<&Held> = takes.iter().flat_map(|takes| &takes.rows).collect();
    let alone = |held: &&Held| {
        let rows = if held.rows.len() > 1 { held.rows.clone() } else { Vec::new() };
        rows.into_iter().map(|row| Held { table: held.table.clone(), rows: vec![row] }).collect::<Vec<_>>()
    };
    let single = taken.iter().flat_map(alone).collect::<Vec<_>>();
    let held = single.into_iter().chain(taken.into_iter().cloned());
    held.flat_map(|held| {
        let orders = [Which::First, Which::Second];
        let behind = move |first| While::EVER.map(|during| (first, Some((held.clone(), during))));
        orders.into_iter().flat_map(behind).map(move |(first, behind)| Order { is_promoted, first, behind })
    })
    .collect()
}

/// What an operation does about rows that somebody holds.
#[derive(Default)]
struct Takes {
    /// The rows that it takes, by table: it waits for them, or passes over them and does something else.
    rows: Vec<Held>,
    /// The tables of which it waits for a row.
    waits_for: Vec<String>,
}

impl Takes {
    async fn of(stage: &mut Stage, prepared: &Prepared, step: Step) -> Self {
        let mut takes = Self::default();
        let alone = stage.play(prepared, [step, step], Plan::Serial(Which::First)).await;
        let alone = alone.expect("two in turn come to their end").outcome;
        for (table, rows) in &prepared.tables {
            let mut taken = Held { table: table.clone(), rows: Vec::new() };
            let mut is_waited_for = false;
            for row in 0..*rows {
                let held = Held { table: table.clone(), rows: vec![row] };
                let plan = Plan::SerialBehind(&held, Which::First, While::Both);
                let behind = stage.play(prepared, [step, step], plan).await.expect("two in turn come to their end");
                is_waited_for |= behind.waited;
                if behind.waited || !alone.allows(&behind.outcome) {
                    taken.rows.push(row);
                }
            }
            if !taken.rows.is_empty() {
                takes.rows.push(taken);
            }
            if is_waited_for {
                takes.waits_for.push(table.clone());
            }
        }
        takes
    }
}

/// Plays every ordered pair.
pub(crate) async fn play(stage: &mut Stage, scene: &Scene, steps: &[Step]) -> Tally {
    let prepared = stage.prepare(scene).await;
    let mut tally = Tally { scenes: 1, ..Tally::default() };
    let mut takes = Vec::new();
    for step in steps {
        takes.push(Takes::of(stage, &prepared, *step).await);
    }
    for (first, by_first) in steps.iter().zip(&takes) {
        if first.0 == "sweep" {
            let held_up = by_first.waits_for.iter().map(|table| format!("{}: {first:?} waits for {table}", scene.name));
            tally.held_up.extend(held_up);
        }
        for (second, by_second) in steps.iter().zip(&takes) {
            tally.pairs += 1;
            let mut allowed = Allowed::new(stage, &prepared, [*first, *second], [by_first, by_second]).await;
            // Stopped before its first statement, the first is the second of two: that order is there already.
            for place in 1.. {
                let Some(played) = allowed.play(Plan::Halted(place)).await else { break };
                tally.halts += 1;
                judge(&mut tally, &mut allowed, scene, &format!("stopped at place {place}"), played).await;
            }
            for held in &by_first.rows {
                let Some(played) = allowed.play(Plan::Behind(held)).await else { continue };
                tally.behind += 1;
                judge(&mut tally, &mut allowed, scene, &format!("met held rows of {}", held.table), played).await;
            }
        }
    }
    tally
}

async fn judge(tally: &mut Tally, allowed: &mut Allowed<'_>, scene: &Scene, place: &str, played: Played) {
    tally.waits += usize::from(played.waited);
    tally.deadlocks += played.deadlocks;
    let is_allowed = played.deadlocks == 0 && allowed.has(&played.outcome).await;
    if is_allowed {
        return;
    }
    let [first, second] = allowed.steps;
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
