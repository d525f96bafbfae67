//! The databases on which a pair is run: every small one that could tell its pages apart, as far as a budget goes.
//!
//! What is free in them is read off both pages: a column that nobody looks at holds values that tell rows apart, one
//! that is compared holds what comparisons can tell. All multisets of up to `k` rows a table are tried while they are
//! few enough. Beyond that come the databases around those in which every condition holds: one place changed at a
//! time, then two, then several; for in these one place decides the answer.

mod around;
mod carried;
mod computed;
mod documents;
mod edges;
mod goals;
mod mended;
mod parade;
mod scene;
mod settle;
mod solve;
mod taken;
mod term;
#[cfg(test)]
mod tests;
mod whole;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::time::{SystemTime, UNIX_EPOCH};

use super::cases::{Case, Row};
use super::subject::Subject;
use super::tables::Table;
use super::uses::Looks;
use diglot::config::Assumption;
use diglot::types::Base;
use diglot::value::Value;
pub(super) use edges::edge_spots;
use scene::{Picks, Scene};

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
pub struct Databases {
    cases: Vec<Case>,
    steady: usize,
    ordinary: usize,
    scope: Scope,
}

impl Databases {
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
        self.cases.get(at).cloned()
    }

    /// All cases in their order.
    pub fn iter(&self) -> impl Iterator<Item = Case> + '_ {
        self.cases.iter().cloned()
    }

    /// How many cases at the beginning are all small ones, and those in which one place alone holds something else. What
    /// follows them up to the edges changes several places at a time.
    pub fn steady(&self) -> usize {
        self.steady
    }

    /// How many cases at the beginning hold ordinary values alone.
    pub fn ordinary(&self) -> usize {
        self.ordinary
    }

    /// Whether the case of a place holds an edge: a value that few programs write.
    pub fn is_edge(&self, at: usize) -> bool {
        at >= self.ordinary
    }

    /// The same with others in the place of each case, by its own place.
    pub(super) fn replaced(self, by: impl Fn(usize) -> Vec<Case>) -> Self {
        let mut cases = Vec::new();
        // Behind which of the new ones each of the old ones begins.
        let mut starts = Vec::with_capacity(self.cases.len() + 1);
        for at in 0..self.cases.len() {
            starts.push(cases.len());
            cases.extend(by(at));
        }
        starts.push(cases.len());
        let start = |at: usize| starts.get(at).copied().unwrap_or(cases.len());
        let (steady, ordinary) = (start(self.steady), start(self.ordinary));
        let scope = Scope { cases: cases.len(), ..self.scope };
        Self { steady, ordinary, scope, cases }
    }

    /// What they are.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

/// Up to how many rows a table all databases are tried.
const ROWS: usize = 4;
/// On so many rows nearly everything shows that can be told at all: they are worth so many times what others are.
const TWO: usize = 2;
const DEAR: usize = 4;

/// The day, in days since 1970.
pub fn today() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(now / 86_400).unwrap_or(0)
}

impl Subject {
    /// The databases on which the pair is run, about as many as the budget says. They are the same whenever they are
    /// asked for on one day: times around now are those of the day.
    pub fn databases(&self, budget: usize) -> Databases {
        self.databases_of(budget, today())
    }

    /// The same on a day, in days since 1970.
    pub fn databases_of(&self, budget: usize, today: i64) -> Databases {
        let budget = budget.max(1);
        if let Some(each) = &self.each {
            return each.databases(budget, today);
        }
        let whole = (1..=ROWS).rev().find_map(|rows| {
            let budget = if rows == TWO { budget * DEAR } else { budget };
            Some((rows, whole::all(self, rows, today, budget)?))
        });
        let (rows, whole) = whole.map_or((0, None), |(rows, whole)| (rows, Some(whole)));
        let spent = whole.as_ref().map_or(0, |(_, all)| all.len());
        let is_small = rows > 1;
        // What is worth more than the budget takes nothing from what is tried beside it.
        let left = if spent > budget { budget } else { (budget - spent).max(budget / 4) };
        let around = around::some(self, today, left, is_small && spent <= budget);
        let (singles, several) = around.ordinary.split_at(around.steady);
        let mut list = Listed::default();
        let (mut values, mut assumed) = (around.scene.most_values(), around.scene.assumed.clone());
        if let Some((scene, all)) = &whole {
            list.add(scene, all);
            values = values.max(scene.most_values());
            assumed.extend(&scene.assumed);
        }
        list.add(&around.scene, singles);
        let fillings = list.fillings.len();
        list.add(&around.scene, several);
        let steady = list.open.iter().filter(|(filling, _)| *filling < fillings).count();
        list.settle();
        let ordinary = list.cases.len();
        list.add(&around.scene, &around.edges);
        list.settle();
        let scope = Scope {
            reach: match (is_small, around.pairs) {
                (true, _) => Reach::Whole,
                (false, true) => Reach::Pairs,
                (false, false) => Reach::Coverage,
            },
            rows,
            most_rows: list.most_rows.max(around.rows.min(rows)),
            databases: list.fillings.len(),
            cases: list.cases.len(),
            values,
            not_covered: self.not_covered(&list),
            assumed,
        };
        Databases { cases: list.cases, steady, ordinary, scope }
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
    seen: BTreeSet<(u64, u64)>,
    /// Where the rows of a case were first, by their digest.
    fillings: BTreeMap<u64, usize>,
    /// Cases that are not in their order yet, with the number of their rows.
    open: Vec<(usize, Case)>,
    cases: Vec<Case>,
    most_rows: usize,
}

impl Listed {
    fn add(&mut self, scene: &Scene<'_>, all: &[Picks]) {
        for picks in all {
            let case = scene.case(picks);
            let (rows, args) = digests(&case);
            if !self.seen.insert((rows, args)) {
                continue;
            }
            let next = self.fillings.len();
            let filling = *self.fillings.entry(rows).or_insert(next);
            self.most_rows = case.rows.values().map(Vec::len).max().unwrap_or(0).max(self.most_rows);
            self.open.push((filling, case));
        }
    }

    /// Brings cases with the same rows together.
    fn settle(&mut self) {
        self.open.sort_by_key(|(filling, _)| *filling);
        self.cases.extend(self.open.drain(..).map(|(_, case)| case));
    }
}

/// What tells the rows of a case from others, and what tells its arguments.
fn digests(case: &Case) -> (u64, u64) {
    let (mut rows, mut args) = (DefaultHasher::new(), DefaultHasher::new());
    for (table, of_table) in &case.rows {
        (table, of_table.len()).hash(&mut rows);
        of_table.iter().for_each(|row| feed_row(row, &mut rows));
    }
    feed_row(&case.args, &mut args);
    (rows.finish(), args.finish())
}

fn feed_row(row: &Row, hasher: &mut DefaultHasher) {
    row.len().hash(hasher);
    for (name, value) in row {
        name.hash(hasher);
        feed(value, hasher);
    }
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Bool(truth) => truth.hash(hasher),
        Value::Int(number) => number.hash(hasher),
        Value::Real(number) => number.to_bits().hash(hasher),
        Value::Text(text) | Value::Other(text) => text.hash(hasher),
        Value::Bytes(bytes) => bytes.hash(hasher),
        Value::Uuid(id) => id.hash(hasher),
        Value::Json(json) => json.hash(hasher),
        Value::List(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| feed(item, hasher));
        }
    }
}
