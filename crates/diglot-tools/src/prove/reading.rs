//! What a pair's pages ask of the rows and arguments that they are tried on.

use std::collections::{BTreeMap, BTreeSet};

use super::subject::Subject;
use super::tables::{Table, Tables};
use super::uses::{Key, Looks, Uses};
use diglot::dialect::Both;
use diglot::infer::origin::Deep;
use diglot::infer::walk;
use diglot::tree::{Body, Expr, ExprKind, Part, Query, Rows, Source, SourceKind, Statement};
use diglot::types::Base;
use diglot::value::Value;

/// What both pages have in them.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// The pages.
    pub(super) trees: Vec<Statement>,
    /// How each place is looked at on either page.
    pub(super) looks: BTreeMap<Key, Looks>,
    /// The places in documents that these pages read or write.
    pub(super) paths: BTreeSet<Key>,
    /// Literals that decide about a place because something is computed of it.
    pub(super) near: Vec<(Key, Value)>,
    /// Literals that a generated column meets, for the places in documents that it shows.
    pub(super) computed: Vec<(Key, Value)>,
    /// Columns that are free although nobody looks: keys that a new row may break, references that may be there or not.
    pub(super) forced: BTreeSet<Key>,
    /// How often a page reads or writes a table, by its name; those that are not here are filled only as others need it.
    pub(super) seats: BTreeMap<String, usize>,
    /// Columns that are written, each with a parameter that is written there as it is.
    pub(super) stored: BTreeSet<(Key, String)>,
    /// What is computed of one place and held against another one.
    pub(super) computations: Vec<Computation>,
    /// By how many rows tables are filled beyond that, where something counts rows.
    pub(super) crowds: BTreeMap<String, Vec<i64>>,
}

/// An expression of SQLite over one place that is held against another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Computation {
    /// The column or the parameter of which it is computed.
    pub(super) of: Key,
    /// What it is held against.
    pub(super) against: Key,
    /// The text before, between and behind the places where the value stands.
    pub(super) pieces: Vec<String>,
}

/// What numbers rows, or says how many there are.
const COUNTING: [&str; 4] = ["count", "row_number", "rank", "dense_rank"];
/// Through how many queries it is followed which tables rows come from; a recursive one would never end.
const SOURCES: usize = 6;

/// The greatest number of rows that is filled in because something counts them.
const COUNTED: i64 = 120;

impl Subject {
    /// The tables that either page reads or writes.
    pub fn read(&self) -> impl Iterator<Item = &String> {
        let is_of_page = |table: &&Table| {
            let sources = self.reading.trees.iter().flat_map(Statement::sources);
            sources.filter_map(|source| source.table()).any(|name| *name == table.name)
        };
        self.tables.iter().filter(is_of_page).map(|table| &table.name)
    }

    /// The columns of a table that say what the pages do: those that either looks at, those by which rows go or change with
    /// others, and all of a table that is read and of which no column is named. None of a table that others only refer to.
    pub fn telling(&self, table: &Table) -> BTreeSet<String> {
        let mut columns = self.named(&table.name);
        let parts = self.reading.trees.iter().flat_map(|tree| &tree.parts);
        let changed = parts.filter(|part| !matches!(part.body, Body::Insert(_)) || replaces(&part.body));
        let changed: BTreeSet<&str> = changed.filter_map(|part| part.target()?.table()).collect();
        for key in table.foreign.iter().filter(|key| changed.contains(key.table.as_str())) {
            columns.extend(key.columns.iter().cloned());
        }
        if columns.is_empty() && self.read().any(|name| *name == table.name) {
            columns.extend(table.columns.iter().map(|column| column.name.clone()));
        }
        columns
    }

    /// The columns of a table that either page looks at.
    fn named(&self, table: &str) -> BTreeSet<String> {
        let of_table = |key: &Key| match key {
            Key::Column(owner, column) if owner == table => Some(column.clone()),
            Key::Json(document, _) => match &**document {
                Key::Column(owner, column) if owner == table => Some(column.clone()),
                _ => None,
            },
            _ => None,
        };
        self.reading.looks.keys().filter_map(of_table).collect()
    }
}

impl Reading {
    pub(super) fn of(trees: &Both<Statement>, found: &Both<Uses>, filled: &[Table], tables: &Tables<'_>) -> Self {
        let mut reading = Self { trees: trees.iter().cloned().collect(), ..Self::default() };
        for uses in found {
            for (key, looks) in &uses.looks {
                *reading.looks.entry(key.clone()).or_default() |= *looks;
            }
            reading.paths.extend(uses.paths.iter().cloned());
            reading.stored.extend(uses.stored.iter().cloned());
        }
        for tree in trees {
            reading.seats(tree, tables);
            reading.written(tree, filled);
            reading.counted(tree);
        }
        reading.views(trees, tables, filled);
        filled.iter().for_each(|table| reading.computed(table, found));
        reading
    }

    fn seats(&mut self, tree: &Statement, tables: &Tables<'_>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for source in tree.sources() {
            let SourceKind::Table(name) = &source.kind else { continue };
            if tables.is_view(name) {
                for name in tables.behind(name) {
                    counts.entry(name.clone()).or_insert(1);
                }
            } else {
                *counts.entry(name.clone()).or_default() += 1;
            }
        }
        for (name, count) in counts {
            let known = self.seats.entry(name).or_default();
            *known = count.max(*known);
        }
    }

    /// What an INSERT can break, and what it can refer to; what refers to rows that go or change.
    fn written(&mut self, tree: &Statement, filled: &[Table]) {
        let column = |table: &str, name: &str| Key::Column(table.to_owned(), name.to_owned());
        for part in &tree.parts {
            let Some(name) = part.target().and_then(|target| target.table()) else { continue };
            let Some(table) = filled.iter().find(|table| table.name == *name) else { continue };
            let set: Vec<&String> = match &part.body {
                Body::Insert(insert) => insert.columns.iter().map(|(name, _)| name).collect(),
                Body::Update(update) => update.set.iter().map(|assignment| &assignment.column).collect(),
                Body::Query(_) | Body::Delete(_) => Vec::new(),
            };
            let keys = table.unique.iter().chain(&table.unique_in_part);
            for key in keys.filter(|key| key.iter().any(|name| set.contains(&name))) {
                let named = key.iter().filter(|name| table.columns.iter().any(|column| column.name == **name));
                self.forced.extend(named.map(|name| column(&table.name, name)));
            }
            for key in table.foreign.iter().filter(|key| key.columns.iter().any(|name| set.contains(&name))) {
                let Some(parent) = filled.iter().find(|table| table.name == key.table) else { continue };
                self.seats.entry(parent.name.clone()).or_insert(1);
                self.forced.extend(parent.referred(key).iter().map(|name| column(&parent.name, name)));
            }
            if matches!(part.body, Body::Insert(_)) && !replaces(&part.body) {
                continue;
            }
            self.referring(table, filled);
        }
    }

    /// What refers to rows that go or change, and what refers to that.
    fn referring(&mut self, table: &Table, filled: &[Table]) {
        let column = |table: &str, name: &str| Key::Column(table.to_owned(), name.to_owned());
        let (mut next, mut seen) = (vec![table], BTreeSet::from([table.name.as_str()]));
        while let Some(table) = next.pop() {
            for other in filled {
                for key in other.foreign.iter().filter(|key| key.table == table.name) {
                    self.seats.entry(other.name.clone()).or_insert(1);
                    self.forced.extend(key.columns.iter().map(|name| column(&other.name, name)));
                    self.forced.extend(table.referred(key).iter().map(|name| column(&table.name, name)));
                    if seen.insert(&other.name) {
                        next.push(other);
                    }
                }
            }
        }
    }

    /// How many rows a page counts: by a bound, in a group, in a window, or where a count or a rank meets a number.
    fn counted(&mut self, tree: &Statement) {
        let queries: Vec<&Query> = tree.parts.iter().flat_map(Part::queries).collect();
        let ctes = queries.iter().flat_map(|query| &query.ctes).map(|(name, cte)| (name.as_str(), cte));
        let parts = tree.parts.iter().filter_map(|part| match (&part.name, &part.body) {
            (Some(name), Body::Query(query)) => Some((name.as_str(), query)),
            _ => None,
        });
        let named: BTreeMap<&str, &Query> = ctes.chain(parts).collect();
        let met = met_by_counts(tree);
        for query in queries {
            let Rows::Select(select) = &query.rows else { continue };
            let mut numbers: Vec<i64> =
                [&query.limit, &query.offset].into_iter().flatten().filter_map(number).collect();
            let inner = select.having.iter().flat_map(Expr::exprs).collect::<Vec<_>>();
            if inner.iter().any(|expr| counts(expr)) {
                numbers.extend(inner.into_iter().filter_map(number));
            }
            for expr in select.columns.iter().flat_map(|column| column.expr.exprs()) {
                if let ExprKind::Call { over: Some(window), .. } = &expr.kind {
                    numbers.extend(window.bounds.iter().filter_map(number));
                }
            }
            if select.columns.iter().flat_map(|column| column.expr.exprs()).any(counts) {
                numbers.extend(&met);
            }
            numbers.retain(|number| (1..=COUNTED).contains(number));
            if !numbers.is_empty() {
                self.crowd(&select.from, &numbers, &named, SOURCES);
            }
        }
    }

    /// As many rows as these numbers say, of the tables that a query reads and of those behind what it reads.
    fn crowd(&mut self, from: &[Source], numbers: &[i64], named: &BTreeMap<&str, &Query>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for source in from {
            let inner = match &source.kind {
                SourceKind::Derived(query) => Some(&**query),
                SourceKind::Cte(name) => named.get(name.as_str()).copied(),
                _ => None,
            };
            if let Some(Rows::Select(select)) = inner.map(|query| &query.rows) {
                self.crowd(&select.from, numbers, named, depth);
            }
            let Some(name) = source.table() else { continue };
            let crowds = self.crowds.entry(name.to_owned()).or_insert_with(|| vec![0]);
            for count in numbers.iter().flat_map(|number| [number - 1, *number, number + 1, number - 2]) {
                if count > 0 && !crowds.contains(&count) {
                    crowds.push(count);
                }
            }
        }
    }

    /// What is looked at in a generated column is looked at in those that it is computed of.
    fn computed(&mut self, table: &Table, found: &Both<Uses>) {
        for column in &table.columns {
            let Some(computed) = &column.computed else { continue };
            let key = Key::Column(table.name.clone(), column.name.clone());
            let looks = self.looks.get(&key).copied().unwrap_or_default();
            if looks.is_none() {
                continue;
            }
            let met = found.iter().flat_map(|uses| uses.literals.iter().chain(&uses.near)).filter(|(of, _)| *of == key);
            let met: Vec<Value> = met.map(|(_, value)| value.clone()).collect();
            let mut near = met.clone();
            for number in &computed.numbers {
                let turned = |value: &Value| match value {
                    Value::Int(n) => Some([n.checked_div(*number)?, n - number, n + number].map(Value::Int)),
                    _ => None,
                };
                near.extend(met.iter().filter_map(turned).flatten());
            }
            for source in table.columns.iter().filter(|source| computed.words.contains(&source.name)) {
                let key = Key::Column(table.name.clone(), source.name.clone());
                let inner = Looks::SUMMED | Looks::ORDERED | Looks::MEASURED | Looks::CASED;
                if source.base != Base::Json {
                    *self.looks.entry(key.clone()).or_default() |= looks | inner;
                }
                self.near.extend(near.iter().map(|value| (key.clone(), value.clone())));
                for text in computed.texts.iter().filter(|_| source.base == Base::Json || source.base == Base::Text) {
                    let Some(steps) =
                        text.strip_prefix('$').map_or_else(|| Some(text.as_str()), |rest| rest.strip_prefix('.'))
                    else {
                        continue;
                    };
                    let place = Key::Json(Box::new(key.clone()), steps.split('.').map(str::to_owned).collect());
                    self.computed.extend(near.iter().map(|value| (place.clone(), value.clone())));
                    *self.looks.entry(place.clone()).or_default() |= looks;
                    *self.looks.entry(key.clone()).or_default() |= Looks::OPENED;
                    self.paths.insert(place);
                }
            }
        }
    }

    /// What is looked at in a view is looked at in its tables.
    fn views(&mut self, trees: &Both<Statement>, tables: &Tables<'_>, filled: &[Table]) {
        let views = trees.iter().flat_map(Statement::sources).filter_map(|source| source.table());
        let views: BTreeSet<&str> = views.filter(|name| tables.is_view(name)).collect();
        for view in views {
            let of_view: Vec<(String, Looks)> = self
                .looks
                .iter()
                .filter_map(|(key, looks)| match key {
                    Key::Column(table, column) if table == view => Some((column.clone(), *looks)),
                    _ => None,
                })
                .collect();
            for table in filled.iter().filter(|table| tables.behind(view).any(|name| *name == table.name)) {
                for (column, looks) in &of_view {
                    if table.columns.iter().any(|known| known.name == *column) {
                        *self.looks.entry(Key::Column(table.name.clone(), column.clone())).or_default() |= *looks;
                    }
                }
                // What the view's own text compares is not read: keys decide how its rows find each other.
                let keys = table.unique.iter().chain(table.foreign.iter().map(|key| &key.columns)).flatten();
                self.forced.extend(keys.map(|column| Key::Column(table.name.clone(), column.clone())));
            }
        }
    }
}

/// A number that is written out.
fn number(expr: &Expr) -> Option<i64> {
    match &expr.bare().kind {
        ExprKind::Number(text) => text.parse().ok(),
        _ => None,
    }
}

/// Whether an expression is a number of rows, or the place of one among others.
fn counts(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { name, .. } if COUNTING.contains(&name.as_str()))
}

/// The numbers that a page holds against counts and ranks, whatever query makes these.
fn met_by_counts(tree: &Statement) -> Vec<i64> {
    let names = walk::sources(tree);
    let is_counted = |expr: &Expr| {
        expr.exprs().into_iter().any(|inner| {
            let behind = if let Deep::Expr(behind) = names.deep(inner) { behind.exprs() } else { Vec::new() };
            counts(inner) || behind.into_iter().any(counts)
        })
    };
    let mut met = Vec::new();
    for expr in tree.exprs() {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        if !matches!(op.as_str(), "=" | "<>" | "<" | "<=" | ">" | ">=") {
            continue;
        }
        for (side, other) in [(left, right), (right, left)] {
            met.extend(number(other).filter(|_| is_counted(side)));
        }
    }
    met
}

/// Whether an INSERT takes rows out.
pub(super) fn replaces(body: &Body) -> bool {
    matches!(body, Body::Insert(insert) if insert.or.as_ref().is_some_and(|(word, _)| word.ends_with("replace")))
}
