//! Holds the answers of both engines against each other, as the declared types and the declared order say.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::cases::{Case, Row};
use super::moments;
use super::order::Order;
use super::subject::Subject;
use super::tables::{List, TableColumn};
use diglot::dialect::Both;
use diglot::page::Cardinality;
use diglot::types::{Base, Of};
use diglot::value::{Rows, Value, canonical, parse_uuid};

/// Where both engines start to number new rows of a case. What they number from here on need not be the same: which
/// of two rows is first is nobody's promise.
pub const NEW_IDS: i64 = 1_900_000_000;
/// More new rows than any case makes.
pub(super) const NEW_IDS_END: i64 = NEW_IDS + 100_000;

/// The rows of a table after a case, in the order of the subject's compared tables.
pub type TableRows = Vec<Rows>;

/// What one engine answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The rows and how many were written, or the engine's refusal.
    pub result: Result<(Rows, u64), Fault>,
    /// The compared tables afterwards. After an error they are what is left once the statement alone is taken back.
    pub tables: TableRows,
    /// Tables in which the number that comes next is taken.
    pub taken: BTreeSet<String>,
    /// What was unlike other runs of the same: nothing, or as it stands behind what differs.
    pub manner: &'static str,
}

/// An engine's refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What a program can ask it for: the kind of constraint; empty for all others.
    pub kind: &'static str,
    /// The engine's words.
    pub words: String,
    /// What may be said of the same with as much right: another kind that is in the way of a later statement, or a value
    /// that a type does not hold, where the other engine has a CHECK for that.
    pub beside: Option<&'static str>,
}

/// How two answers differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// In one sentence.
    pub what: String,
    /// What SQLite gave, line by line.
    pub sqlite: Vec<String>,
    /// What Postgres gave.
    pub pg: Vec<String>,
    /// The columns that differ, where single ones do.
    pub columns: BTreeSet<String>,
    /// How many rows both gave beside these.
    pub common: usize,
}

impl Difference {
    /// The difference with what was unlike other runs.
    fn told_of(self, manner: &str) -> Self {
        if manner.is_empty() { self } else { Self { what: format!("{} {manner}", self.what), ..self } }
    }

    /// What differs when one engine does not take the text that the other takes.
    pub fn taken(sqlite: Result<(), Fault>, pg: Result<(), Fault>) -> Option<Self> {
        let told = |taken: &Result<(), Fault>| vec![taken.as_ref().map_or_else(Fault::told, |()| "it is taken".into())];
        let what = match (&sqlite, &pg) {
            (Err(_), Ok(())) => "SQLite does not take the text and Postgres does",
            (Ok(()), Err(_)) => "Postgres does not take the text and SQLite does",
            _ => return None,
        };
        Some(of_lines(what, told(&sqlite), told(&pg)))
    }
}

impl Subject {
    /// What differs and is not declared to. A call that fails on both pages is the same on both, whatever the words,
    /// if the same kind of constraint is in its way and the same is left of it.
    pub fn compare(&self, case: &Case, sqlite: &Answer, pg: &Answer) -> Option<Difference> {
        if self.declared.iter().any(|declared| declared.column.is_none()) {
            return None;
        }
        self.first_difference(case, sqlite, pg, &self.masked()).map(|difference| difference.told_of(pg.manner))
    }

    /// What differs, declared or not: a declaration without a difference is not needed.
    pub fn compare_all(&self, case: &Case, sqlite: &Answer, pg: &Answer) -> Option<Difference> {
        self.first_difference(case, sqlite, pg, &BTreeSet::new()).map(|difference| difference.told_of(pg.manner))
    }

    /// The columns that are declared to differ.
    fn masked(&self) -> BTreeSet<&str> {
        self.declared.iter().filter_map(|declared| declared.column.as_deref()).collect()
    }

    fn first_difference(
        &self,
        case: &Case,
        sqlite: &Answer,
        pg: &Answer,
        masked: &BTreeSet<&str>,
    ) -> Option<Difference> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let labels = self.labels.each_ref().map(|names| names.iter().map(String::as_str).collect::<Vec<&str>>());
        // A list that is refused as a whole is right where one of its calls does nothing: each is made alone then.
        if let (Some(each), Err(_)) = (&self.each, &pg.result)
            && !sqlite.result.as_ref().is_ok_and(|(rows, _)| each.has_to_answer(case, rows))
        {
            return None;
        }
        // What the engine refused has not happened; what its reader refuses has.
        let [ours, theirs] = match [&sqlite.result, &pg.result] {
            [Err(ours), Err(theirs)] if ours.is_other(theirs) => {
                return Some(of_lines(
                    "they fail for different kinds of reasons",
                    vec![ours.told()],
                    vec![theirs.told()],
                ));
            }
            [Err(_), Err(_)] => return self.tables_differ(sqlite, pg, masked),
            [Err(ours), Ok((theirs, _))] => {
                return Some(of_lines(
                    "SQLite fails and Postgres does not",
                    vec![ours.told()],
                    lines(&labels.pg, &self.own(theirs)),
                ));
            }
            [Ok((ours, _)), Err(theirs)] => {
                return Some(of_lines(
                    "Postgres fails and SQLite does not",
                    lines(&labels.sqlite, &self.own(ours)),
                    vec![theirs.told()],
                ));
            }
            [Ok((ours, _)), Ok((theirs, _))] => [ours, theirs],
        };
        let is_masked = |at: usize| names.get(at).is_some_and(|name| masked.contains(name));
        let is_told = self.tells_apart(ours, theirs, &is_masked);
        let [ours, theirs] = match [ours, theirs].map(|rows| self.as_shown(&self.own(rows))) {
            [Err(_), Err(_)] => return None,
            [Ok(ours), Ok(theirs)] => [ours, theirs],
            [Err(words), Ok(rows)] => {
                return Some(of_lines("SQLite fails and Postgres does not", vec![words], lines(&labels.pg, &rows)));
            }
            [Ok(rows), Err(words)] => {
                return Some(of_lines("Postgres fails and SQLite does not", lines(&labels.sqlite, &rows), vec![words]));
            }
        };
        let mask = |rows: &Rows| masked_rows(rows, is_masked);
        let (mut ours, mut theirs) = (mask(&ours), mask(&theirs));
        let base = |at: usize| self.columns.get(at).and_then(|(_, base)| base.as_ref());
        let column = |at: usize| moments::Column::of(base(at), self.clocked.contains(&at));
        if let Some(columns) = self.rows_difference(&names, [&mut ours, &mut theirs], column) {
            return Some(of_rows(
                "the rows differ",
                labels.each_ref().map(Vec::as_slice),
                Both { sqlite: &ours, pg: &theirs },
                columns,
            ));
        }
        let order = if is_told { Order::Total } else { self.order_of(case) };
        if !order.agrees(&ours, &theirs) {
            return Some(of_lines(
                "the order of the rows differs",
                lines(&labels.sqlite, &ours),
                lines(&labels.pg, &theirs),
            ));
        }
        if self.cardinality == Cardinality::Rows && !self.is_piecewise {
            let counts = [sqlite, pg].map(|answer| answer.result.as_ref().map_or(0, |(_, count)| *count));
            if counts[0] != counts[1] {
                let count = |count: u64| vec![if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }];
                return Some(of_lines("the number of rows written differs", count(counts[0]), count(counts[1])));
            }
        }
        self.tables_differ(sqlite, pg, masked).or_else(|| {
            let told = |answer: &Answer| match answer.taken.iter().next() {
                Some(table) => vec![format!("the number that {table} gives next is taken")],
                None => vec!["it is free".to_owned()],
            };
            (sqlite.taken != pg.taken).then(|| of_lines("the next number differs", told(sqlite), told(pg)))
        })
    }

    /// What the order means on this data: rows that differ in what they are sorted by have one order.
    fn order_of(&self, case: &Case) -> Order {
        let Some((table, keys)) = &self.sorted else { return self.order.clone() };
        let mut seen = BTreeSet::new();
        let mut rows = case.rows.get(table).into_iter().flatten();
        let tells_apart = |row: &Row| {
            let key = keys.iter().map(|name| match row.get(name)? {
                // Some collations do not see the case of letters.
                Value::Text(text) => Some(text.to_lowercase()),
                Value::Real(_) | Value::Other(_) => None,
                value => Some(value.to_string()),
            });
            key.collect::<Option<Vec<String>>>().is_some_and(|key| seen.insert(key))
        };
        if rows.all(tells_apart) { Order::Total } else { self.order.clone() }
    }

    /// Whether what either page sorts by tells all rows of its answer apart, so that their order is promised.
    fn tells_apart(&self, ours: &Rows, theirs: &Rows, is_masked: &dyn Fn(usize) -> bool) -> bool {
        let Both { sqlite: Some(our_keys), pg: Some(their_keys) } = &self.keys else { return false };
        let is_told = |rows: &Rows, keys: &Vec<usize>| {
            let mut seen = BTreeSet::new();
            let key = |row: &Vec<Value>| {
                let value = |at: &usize| match row.get(*at)? {
                    Value::Text(text) => Some(text.to_lowercase()),
                    Value::Real(_) | Value::Other(_) => None,
                    value => Some(value.to_string()),
                };
                keys.iter().map(value).collect::<Option<Vec<String>>>()
            };
            let is_open = keys.is_empty() || keys.iter().any(|at| is_masked(*at));
            !is_open && rows.iter().all(|row| key(row).is_some_and(|key| seen.insert(key)))
        };
        is_told(ours, our_keys) || is_told(theirs, their_keys)
    }

    /// The rows of the result alone.
    fn own<'r>(&self, rows: &'r Rows) -> Cow<'r, Rows> {
        if !self.shows_keys {
            return Cow::Borrowed(rows);
        }
        Cow::Owned(rows.iter().map(|row| row.iter().take(self.columns.len()).cloned().collect()).collect())
    }

    fn tables_differ(&self, sqlite: &Answer, pg: &Answer, masked: &BTreeSet<&str>) -> Option<Difference> {
        for (at, table) in self.compared.iter().enumerate() {
            let (Some(ours), Some(theirs)) = (sqlite.tables.get(at), pg.tables.get(at)) else { continue };
            let columns: Vec<_> = table.shown().collect();
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            let settle = |rows: &Rows| -> Rows {
                let row = |row: &Vec<Value>| -> Vec<Value> {
                    let value = |(at, value): (usize, &Value)| {
                        let Some(column) = columns.get(at) else { return value.clone() };
                        let value = match (&column.list, value) {
                            (Some(List::Separated(between)), Value::Text(text)) => split(text, between),
                            _ => read(value, held(column)).unwrap_or_else(|_| value.clone()),
                        };
                        match value {
                            Value::List(mut items) if matches!(column.list, Some(List::Table { .. })) => {
                                items.sort_by(Value::compare);
                                items.dedup();
                                Value::List(items)
                            }
                            value => value,
                        }
                    };
                    row.iter().enumerate().map(value).collect()
                };
                let rows: Rows = rows.iter().map(row).collect();
                masked_rows(&rows, |at| names.get(at).is_some_and(|name| masked.contains(name)))
            };
            let (mut ours, mut theirs) = (settle(ours), settle(theirs));
            let column = |at: usize| moments::Column::of(columns.get(at).map(|column| held(column)), false);
            if let Some(columns) = self.rows_difference(&names, [&mut ours, &mut theirs], column) {
                let what = format!("afterwards the rows of {} differ", table.name);
                return Some(of_rows(
                    &what,
                    Both::of(|_| names.as_slice()),
                    Both { sqlite: &ours, pg: &theirs },
                    columns,
                ));
            }
        }
        None
    }

    /// The columns in which the rows differ, if they do. Times of the run are the same whenever it was, and are made so.
    fn rows_difference(
        &self,
        names: &[&str],
        answers: [&mut Rows; 2],
        column: impl Fn(usize) -> moments::Column,
    ) -> Option<BTreeSet<String>> {
        let [ours, theirs] = answers;
        let columns = multiset_difference(names, ours, theirs)?;
        if !self.reads_clock {
            return Some(columns);
        }
        moments::settle([ours, theirs], column);
        multiset_difference(names, ours, theirs)
    }

    /// The rows as the generated API shows them; what it would refuse is an error.
    fn as_shown(&self, rows: &Rows) -> Result<Rows, String> {
        let row = |row: &Vec<Value>| -> Result<Vec<Value>, String> {
            let value = |(at, value): (usize, &Value)| match self.columns.get(at) {
                Some(_) if self.spelled.contains(&at) => Ok(read(value, &Base::Json).unwrap_or_else(|_| value.clone())),
                Some((name, Some(base))) => read(value, base).map_err(|error| format!("{name}: {error}")),
                _ => Ok(value.clone()),
            };
            row.iter().enumerate().map(value).collect()
        };
        rows.iter().map(row).collect()
    }
}

impl Fault {
    /// A refusal that a program can ask for nothing but its words.
    pub fn of(words: impl Into<String>) -> Self {
        Self { kind: "", words: words.into(), beside: None }
    }

    /// Whether a program is told of another kind of reason.
    fn is_other(&self, other: &Self) -> bool {
        self.kind != other.kind && self.beside != Some(other.kind) && other.beside != Some(self.kind)
    }

    fn told(&self) -> String {
        match self.kind {
            "" => self.words.clone(),
            kind => format!("{} ({kind})", self.words),
        }
    }
}

impl Order {
    fn agrees(&self, ours: &Rows, theirs: &Rows) -> bool {
        let pairs = || ours.iter().zip(theirs);
        match self {
            Order::Free => true,
            Order::Total => pairs().all(|(a, b)| order(a, b).is_eq()),
            Order::By(columns) => {
                let key = |row: &Vec<Value>| -> Vec<Value> {
                    columns.iter().filter_map(|at| row.get(*at)).cloned().collect()
                };
                pairs().all(|(a, b)| order(&key(a), &key(b)).is_eq())
            }
        }
    }
}

/// The type by which the values of a column are read, on either page.
fn held(column: &TableColumn) -> &Base {
    column.sqlite.as_ref().filter(|base| base.stored().is_some()).unwrap_or(&column.base)
}

/// A value as a column of a type shows it.
fn read(value: &Value, base: &Base) -> Result<Value, String> {
    let refused = || Err(format!("{value} is not of type {}", base.word()));
    Ok(match (value, base) {
        (Value::Null, _) => Value::Null,
        (Value::Text(text), Base::Stored(stored)) if stored.of == Of::Uuid => match parse_uuid(text) {
            Some(id) => Value::Uuid(id),
            None => return refused(),
        },
        (value, Base::Stored(stored)) => canonical(value, *stored).unwrap_or_else(|| value.clone()),
        (Value::Int(n), _) if (NEW_IDS..NEW_IDS_END).contains(n) => Value::Other("a new number".into()),
        (Value::Int(n), Base::Bool) => match n {
            0 => Value::Bool(false),
            1 => Value::Bool(true),
            _ => return refused(),
        },
        (Value::Int(n), Base::Int16) if i16::try_from(*n).is_err() => return refused(),
        (Value::Int(n), Base::Int32) if i32::try_from(*n).is_err() => return refused(),
        (Value::Bytes(bytes), Base::Uuid) => match <[u8; 16]>::try_from(bytes.as_slice()) {
            Ok(id) => Value::Uuid(id),
            Err(_) => return refused(),
        },
        (Value::Text(text), Base::Uuid) => match parse_uuid(text) {
            Some(id) => Value::Uuid(id),
            None => return refused(),
        },
        (Value::Text(text), Base::Json) => match serde_json::from_str(text) {
            Ok(json) => Value::Json(settled(json)),
            Err(error) => return Err(format!("{value} is no JSON: {error}")),
        },
        (Value::Json(json), Base::Json) => Value::Json(settled(json.clone())),
        (Value::Text(text), Base::TextArray | Base::Int64Array | Base::UuidArray) => {
            let Ok(Json::Array(items)) = serde_json::from_str(text) else { return refused() };
            of_json(&items, base)
        }
        (Value::Json(Json::Array(items)), Base::TextArray | Base::Int64Array | Base::UuidArray) => of_json(items, base),
        (Value::Int(n), Base::Float64) => Value::Real(*n as f64),
        // What is declared `jsonb` on SQLite holds the number that a document is as a number.
        (Value::Int(n), Base::Json) => Value::Json((*n).into()),
        (Value::Real(r), Base::Json) => Value::Json(settled((*r).into())),
        (value, _) => value.clone(),
    })
}

fn of_json(items: &[Json], base: &Base) -> Value {
    let item = |item: &Json| match (item, base) {
        (Json::String(text), Base::UuidArray) => parse_uuid(text).map_or(Value::Text(text.clone()), Value::Uuid),
        (Json::String(text), _) => Value::Text(text.clone()),
        (Json::Null, _) => Value::Null,
        (item, _) => item.as_i64().map_or_else(|| Value::Json(item.clone()), Value::Int),
    };
    Value::List(items.iter().map(item).collect())
}

/// The items of a list that SQLite holds as text.
fn split(text: &str, between: &str) -> Value {
    let items = text.split(between).filter(|item| !item.is_empty());
    Value::List(items.map(|item| Value::Text(item.to_owned())).collect())
}

/// A document in one spelling: fields in order, whole numbers without a fraction.
fn settled(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(settled).collect(),
        Json::Object(fields) => {
            let sorted: std::collections::BTreeMap<String, Json> =
                fields.into_iter().map(|(name, value)| (name, settled(value))).collect();
            Json::Object(sorted.into_iter().collect())
        }
        Json::Number(number) => match number.as_f64() {
            Some(float) if !number.is_i64() && float.fract() == 0.0 && float.abs() < 9e15 => Json::from(float as i64),
            _ => Json::Number(number),
        },
        json => json,
    }
}

fn masked_rows(rows: &Rows, is_masked: impl Fn(usize) -> bool) -> Rows {
    let value = |(at, value): (usize, &Value)| {
        if is_masked(at) { Value::Other("declared to differ".into()) } else { value.clone() }
    };
    rows.iter().map(|row| row.iter().enumerate().map(value).collect()).collect()
}

fn order(a: &[Value], b: &[Value]) -> Ordering {
    let values = a.iter().zip(b).map(|(a, b)| near(a, b)).find(|order| order.is_ne());
    values.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Floating-point numbers that differ in the last digits are the same: sums depend on the order of their terms.
fn near(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Real(x), Value::Real(y)) if *x == 0.0 && *y == 0.0 => x.total_cmp(y),
        (Value::Real(x), Value::Real(y)) if (x - y).abs() <= 1e-9 * x.abs().max(y.abs()) => Ordering::Equal,
        // Only what has no type of its own gets here as two kinds of number.
        (Value::Int(n), Value::Bool(truth)) | (Value::Bool(truth), Value::Int(n)) if *n == i64::from(*truth) => {
            Ordering::Equal
        }
        (Value::Bytes(bytes), Value::Uuid(id)) | (Value::Uuid(id), Value::Bytes(bytes)) if bytes == id => {
            Ordering::Equal
        }
        (Value::Json(json), Value::Text(text)) | (Value::Text(text), Value::Json(json))
            if serde_json::from_str(text).is_ok_and(|other: Json| settled(other) == settled(json.clone())) =>
        {
            Ordering::Equal
        }
        _ => a.compare(b),
    }
}

/// Nothing when both hold the same rows in any order; otherwise the columns in which they differ, if they are as many
/// rows.
fn multiset_difference(names: &[&str], ours: &Rows, theirs: &Rows) -> Option<BTreeSet<String>> {
    let sorted = |rows: &Rows| {
        let mut rows = rows.clone();
        rows.sort_by(|a, b| order(a, b));
        rows
    };
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    let mut columns = BTreeSet::new();
    let mut differs = ours.len() != theirs.len();
    for (a, b) in ours.iter().zip(&theirs) {
        differs |= a.len() != b.len();
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            if near(a, b).is_ne() {
                differs = true;
                columns.insert(names.get(at).map_or_else(|| format!("column {}", at + 1), |name| (*name).to_owned()));
            }
        }
    }
    // Where rows are missing, those that are left face whatever comes next.
    if ours.len() != theirs.len() {
        columns.clear();
    }
    differs.then_some(columns)
}

/// A list with the items of some places first.
fn turned<T: Clone>(list: &[T], is_first: impl Fn(&usize) -> bool) -> Vec<T> {
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..list.len()).partition(is_first);
    first.into_iter().chain(rest).map(|at| list[at].clone()).collect()
}

/// The rows that the other side does not have.
fn only_differing(ours: &Rows, theirs: &Rows) -> (Rows, Rows) {
    let mut rest = theirs.clone();
    let mut left = Vec::new();
    for row in ours {
        match rest.iter().position(|other| order(row, other).is_eq()) {
            Some(at) => drop(rest.remove(at)),
            None => left.push(row.clone()),
        }
    }
    (left, rest)
}

fn of_lines(what: &str, sqlite: Vec<String>, pg: Vec<String>) -> Difference {
    Difference { what: what.to_owned(), sqlite, pg, columns: BTreeSet::new(), common: 0 }
}

/// Rows that differ, without those that both have.
fn of_rows(what: &str, names: Both<&[&str]>, rows: Both<&Rows>, columns: BTreeSet<String>) -> Difference {
    let (left, right) = only_differing(rows.sqlite, rows.pg);
    let common = rows.sqlite.len() - left.len();
    // What differs stands first: a long row is cut behind it.
    let differs = |at: &usize| {
        [names.sqlite, names.pg].iter().any(|names| names.get(*at).is_some_and(|name| columns.contains(*name)))
    };
    let [left, right] = [left, right].map(|rows| rows.iter().map(|row| turned(row, differs)).collect::<Rows>());
    let turned_names = names.map(|names| turned(names, differs));
    let names = turned_names.each_ref().map(Vec::as_slice);
    let mut told = of_lines(what, lines(names.sqlite, &left), lines(names.pg, &right));
    if told.sqlite == told.pg {
        // Values of two kinds may be written alike.
        told = of_lines(what, kinds(names.sqlite, &left), kinds(names.pg, &right));
    }
    Difference { columns, common, ..told }
}

/// The rows with what each value is.
fn kinds(names: &[&str], rows: &Rows) -> Vec<String> {
    let told = |value: &Value| match value {
        Value::Null => value.clone(),
        value => Value::Other(format!("{value} ({})", value.kind())),
    };
    let rows: Rows = rows.iter().map(|row| row.iter().map(told).collect()).collect();
    lines(names, &rows)
}

fn lines(names: &[&str], rows: &Rows) -> Vec<String> {
    if rows.is_empty() {
        return vec!["no row".into()];
    }
    let value = |(at, value): (usize, &Value)| match names.get(at) {
        Some(name) => format!("{name} = {value}"),
        None => value.to_string(),
    };
    rows.iter().map(|row| row.iter().enumerate().map(value).collect::<Vec<_>>().join(", ")).collect()
}
