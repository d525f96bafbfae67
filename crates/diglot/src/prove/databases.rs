//! The databases on which a pair is run: every small one that could tell its pages apart, as far as a budget goes.
//!
//! What is free in them is read off both pages: a column that nobody looks at holds values that tell rows apart, one
//! that is compared holds what comparisons can tell. All multisets of up to `k` rows a table are tried while they are
//! few enough. Beyond that come the databases around those in which every condition holds: one place changed at a
//! time, then two, then several; for in these one place decides the answer.

mod around;
mod carried;
mod edges;
mod goals;
mod scene;
mod settle;
mod solve;
mod term;
#[cfg(test)]
mod tests;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use super::cases::{Case, Row};
use super::subject::Subject;
use super::tables::Table;
use super::uses::Looks;
use crate::config::Assumption;
use crate::types::Base;
use crate::value::Value;
pub(super) use edges::edge_spots;
use scene::{Picks, Scene, Spot};

/// How far the databases of a pair go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All of up to so many rows a table are among them.
    Whole,
    /// Every two values of two places met while all other conditions held.
    Pairs,
    /// Each value of each place met what decides with it, as far as the budget went.
    Coverage,
}

/// What the databases of a pair are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// How far they go.
    pub reach: Reach,
    /// Up to how many rows a table all databases are among them.
    pub rows: usize,
    /// The most rows that a table has in one of them.
    pub most_rows: usize,
    /// How many databases there are; each may be run with several sets of arguments.
    pub databases: usize,
    /// How many of them, with their arguments, are run.
    pub cases: usize,
    /// The most values that a column or a parameter has.
    pub values: usize,
    /// What they do not cover.
    pub not_covered: Vec<String>,
    /// What is assumed, where it keeps a value out.
    pub assumed: BTreeSet<Assumption>,
}

/// The databases of a pair, with the arguments that each is run with: ordinary ones before those that hold edges, and
/// cases with the same rows one behind the other.
#[derive(Debug)]
pub struct Databases<'s> {
    scenes: Vec<Scene<'s>>,
    cases: Vec<(usize, Picks)>,
    ordinary: usize,
    scope: Scope,
}

impl Databases<'_> {
    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// The case of a place.
    pub fn case(&self, at: usize) -> Option<Case> {
        self.cases.get(at).map(|(scene, picks)| self.scenes[*scene].case(picks))
    }

    /// All cases in their order, each made when it is asked for.
    pub fn iter(&self) -> impl Iterator<Item = Case> + '_ {
        self.cases.iter().map(|(scene, picks)| self.scenes[*scene].case(picks))
    }

    /// How many cases at the beginning hold ordinary values alone.
    pub fn ordinary(&self) -> usize {
        self.ordinary
    }

    /// Whether the case of a place holds an edge: a value that few programs write.
    pub fn is_edge(&self, at: usize) -> bool {
        at >= self.ordinary
    }

    /// What they are.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

/// Up to how many rows a table all databases are tried.
const ROWS: usize = 4;

impl Subject {
    /// The databases on which the pair is run, about as many as the budget says. They are the same whenever they are
    /// asked for on one day: times around now are those of the day.
    pub fn databases(&self, budget: usize) -> Databases<'_> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.databases_of(budget, i64::try_from(now / 86_400).unwrap_or(0))
    }

    /// The same on a day, in days since 1970.
    pub fn databases_of(&self, budget: usize, today: i64) -> Databases<'_> {
        let budget = budget.max(1);
        let whole = (1..=ROWS).rev().find_map(|rows| Some((rows, whole::all(self, rows, today, budget)?)));
        let (rows, whole) = whole.map_or((0, None), |(rows, whole)| (rows, Some(whole)));
        let spent = whole.as_ref().map_or(0, |(_, all)| all.len());
        let is_small = rows > 1;
        let around = around::some(self, today, budget.saturating_sub(spent).max(budget / 4), is_small);
        let (pairs, around_rows) = (around.pairs, around.rows);
        let mut list = Listed::default();
        let (mut scenes, mut first) = (Vec::new(), Vec::new());
        if let Some((scene, all)) = whole {
            first.push((scenes.len(), all));
            scenes.push(scene);
        }
        first.push((scenes.len(), around.ordinary));
        let edges = (scenes.len(), around.edges);
        scenes.push(around.scene);
        for (at, all) in first {
            all.into_iter().for_each(|picks| list.add(&scenes, at, picks));
        }
        list.settle();
        let ordinary = list.cases.len();
        let mut values = 0;
        for scene in &scenes {
            let of_column = scene.slots.iter().filter(|slot| !matches!(slot.spot, Spot::Here(_) | Spot::Entry(_)));
            values = of_column.map(|slot| slot.choices.len()).max().unwrap_or(0).max(values);
        }
        edges.1.into_iter().for_each(|picks| list.add(&scenes, edges.0, picks));
        list.settle();
        let scope = Scope {
            reach: match (is_small, pairs) {
                (true, _) => Reach::Whole,
                (false, true) => Reach::Pairs,
                (false, false) => Reach::Coverage,
            },
            rows,
            most_rows: list.most_rows.max(around_rows.min(rows)),
            databases: list.fillings.len(),
            cases: list.cases.len(),
            values,
            not_covered: self.not_covered(&list),
            assumed: scenes.iter().flat_map(|scene| scene.assumed.iter().copied()).collect(),
        };
        Databases { scenes, cases: list.cases, ordinary, scope }
    }

    fn not_covered(&self, list: &Listed) -> Vec<String> {
        let mut not = Vec::new();
        let is_summed = |key: &super::uses::Key| matches!(key, super::uses::Key::Column(..));
        if self.reading.looks.iter().any(|(key, looks)| is_summed(key) && looks.any(Looks::SUMMED)) {
            not.push(format!("sums of more than {} rows", list.most_rows));
        }
        let sorted = |(key, looks): (&super::uses::Key, &Looks)| {
            let super::uses::Key::Column(table, column) = key else { return false };
            let table = self.tables.iter().find(|known| known.name == *table);
            let is_text = |table: &Table| table.columns.iter().any(|it| it.name == *column && it.base == Base::Text);
            looks.any(Looks::ORDERED) && table.is_some_and(is_text)
        };
        if self.reading.looks.iter().any(sorted) {
            not.push("the order of languages".to_owned());
        }
        if self.writes {
            not.push("what other sessions do at the same time".to_owned());
        }
        not
    }

    /// The same rows, put there in the opposite order as far as rows that refer to others of their table allow.
    pub fn reversed(&self, case: &Case) -> Case {
        let turned = |(name, rows): (&String, &Vec<Row>)| {
            let rows = rows.iter().rev().cloned().collect();
            let table = self.tables.iter().find(|table| table.name == *name);
            (name.clone(), table.map_or_else(|| case.rows[name].clone(), |table| parents_first(table, rows)))
        };
        Case { rows: case.rows.iter().map(turned).collect(), args: case.args.clone() }
    }
}

/// Rows of a table, those first that others of it refer to.
fn parents_first(table: &Table, mut rows: Vec<Row>) -> Vec<Row> {
    let own: Vec<_> = table.foreign.iter().filter(|key| key.table == table.name).collect();
    let mut sorted: Vec<Row> = Vec::with_capacity(rows.len());
    while !own.is_empty() && !rows.is_empty() {
        let waits = |row: &Row| {
            own.iter().any(|key| {
                let referred = table.referred(key);
                let wanted: Vec<Option<&Value>> = key.columns.iter().map(|name| row.get(name)).collect();
                let of = |other: &Row| referred.iter().zip(&wanted).all(|(name, value)| other.get(name) == *value);
                !wanted.contains(&Some(&Value::Null)) && !of(row) && !sorted.iter().any(of)
            })
        };
        let at = rows.iter().position(|row| !waits(row)).unwrap_or(0);
        let row = rows.remove(at);
        sorted.push(row);
    }
    sorted.extend(rows);
    sorted
}

/// Cases as they are put together, each once.
#[derive(Default)]
struct Listed {
    seen: BTreeSet<u64>,
    /// Where the rows of a case were first, by their digest.
    fillings: BTreeMap<u64, usize>,
    /// Cases that are not in their order yet, with the number of their rows.
    open: Vec<(usize, usize, Picks)>,
    cases: Vec<(usize, Picks)>,
    most_rows: usize,
}

impl Listed {
    fn add(&mut self, scenes: &[Scene<'_>], scene: usize, picks: Picks) {
        let case = scenes[scene].case(&picks);
        let rows = digest(&case.rows);
        if !self.seen.insert(digest(&(rows, digest(&case.args)))) {
            return;
        }
        let next = self.fillings.len();
        let filling = *self.fillings.entry(rows).or_insert(next);
        self.most_rows = case.rows.values().map(Vec::len).max().unwrap_or(0).max(self.most_rows);
        self.open.push((filling, scene, picks));
    }

    /// Brings cases with the same rows together.
    fn settle(&mut self) {
        self.open.sort_by_key(|(filling, ..)| *filling);
        self.cases.extend(self.open.drain(..).map(|(_, scene, picks)| (scene, picks)));
    }
}

fn digest(what: &impl fmt::Debug) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{what:?}").hash(&mut hasher);
    hasher.finish()
}
