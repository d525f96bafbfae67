//! Lists that do for each of their rows what another statement does in one call.
//!
//! The databases of such a list are those of the statement for one row: alone, and two or three of them beside each other
//! in one database, told apart by the values of their keys, so that a list has calls of which some are refused.

use std::sync::Arc;

use serde_json::Value as Json;

use super::cases::{Case, Row};
use super::databases::Databases;
use super::subject::Subject;
use super::uses::Key;
use diglot::infer::Param;
use diglot::page::ORDINALITY;
use diglot::types::Base;
use diglot::value::{Rows, Value, hyphenated, list_as_json, microseconds, parse_uuid};

/// How the calls of a list are made.
#[derive(Debug, Clone)]
pub struct Each {
    one: Box<Subject>,
    /// The name of the list's rows.
    rows: String,
    fields: Vec<Param>,
    /// The places of the fields that no two rows have alike.
    key: Vec<usize>,
    columns: Vec<Given>,
    /// Whether it may fail where each of the calls does something.
    may_fail: bool,
}

/// Where a column of a list's answer comes from.
#[derive(Debug, Clone, Copy)]
enum Given {
    Ordinality,
    Field(usize),
    Column(usize),
}

impl Each {
    /// The calls of a list; none where it takes no such rows.
    pub(super) fn new(one: Subject, list: &Subject, may_fail: bool) -> Option<Self> {
        let rows = list.rows.as_ref()?;
        let field = |name: &str| rows.fields.iter().position(|field| field.name == name);
        let column = |name: &str| match one.columns.iter().position(|(own, _)| own == name) {
            Some(at) => Some(Given::Column(at)),
            None if name == ORDINALITY => Some(Given::Ordinality),
            None => field(name).map(Given::Field),
        };
        let columns = list.columns.iter().map(|(name, _)| column(name)).collect::<Option<_>>()?;
        Some(Self {
            rows: rows.name.clone(),
            key: rows.key.iter().filter_map(|name| field(name)).collect(),
            fields: rows.fields.clone(),
            columns,
            may_fail,
            one: Box::new(one),
        })
    }

    /// The statement for one row.
    pub fn one(&self) -> &Subject {
        &self.one
    }

    /// Whether a call has a parameter for which the list has no field.
    pub fn leaves_out(&self) -> bool {
        self.one.params.iter().any(|param| !self.fields.iter().any(|field| field.name == param.name))
    }

    /// The calls for the rows of a list, with those rows.
    pub fn calls(&self, case: &Case) -> Vec<(Case, Vec<Value>)> {
        let rows = match case.args.get(&self.rows) {
            Some(Value::List(rows)) => rows.as_slice(),
            _ => &[],
        };
        let call = |row: &Value| {
            let Value::List(values) = row else { return (Case::default(), Vec::new()) };
            let argument = |param: &Param| {
                let at = self.fields.iter().position(|field| field.name == param.name);
                let value =
                    at.and_then(|at| values.get(at)).map_or(Value::Null, |value| as_held(value, &param.ty.base));
                (param.name.clone(), value)
            };
            let given = self.one.params.iter().filter(|param| !param.optional);
            (Case { args: given.map(argument).collect(), ..Case::default() }, values.clone())
        };
        rows.iter().map(call).collect()
    }

    /// A row of a call's answer as one of the list's, by the number of the call from 1 on.
    pub fn answer(&self, ordinality: usize, row: &[Value], answered: &[Value]) -> Vec<Value> {
        let value = |given: &Given| match given {
            Given::Ordinality => i64::try_from(ordinality).map_or(Value::Null, Value::Int),
            Given::Field(at) => row.get(*at).cloned().unwrap_or(Value::Null),
            Given::Column(at) => answered.get(*at).cloned().unwrap_or(Value::Null),
        };
        self.columns.iter().map(value).collect()
    }

    /// Whether the list has to answer where the calls of a case have these answers: where all of them do something.
    pub(super) fn has_to_answer(&self, case: &Case, answers: &Rows) -> bool {
        let calls = match case.args.get(&self.rows) {
            Some(Value::List(rows)) => rows.len(),
            _ => 0,
        };
        answers.len() >= calls && !self.may_fail
    }

    /// The list of some calls, each in a world of its own or in one with others, with the rows of all of them. Rows that are
    /// there already are left out, and calls whose key is: no program puts two rows with one key into a list.
    fn list(&self, calls: &[(&Case, usize)]) -> Case {
        let mut case = Case::default();
        let mut given: Vec<Value> = Vec::new();
        let mut keys: Vec<Vec<Value>> = Vec::new();
        for (call, world) in calls {
            let call = self.one.apart(call, *world);
            for (name, rows) in &call.rows {
                let known = case.rows.entry(name.clone()).or_default();
                for row in rows {
                    if !self.one.is_taken(name, known, row) {
                        known.push(row.clone());
                    }
                }
            }
            let values: Vec<Value> = self.fields.iter().map(|field| of_field(&call, field)).collect();
            let key: Vec<Value> = self.key.iter().filter_map(|at| values.get(*at).cloned()).collect();
            if self.key.is_empty() || !keys.contains(&key) {
                keys.push(key);
                given.push(Value::List(values));
            }
        }
        case.args.insert(self.rows.clone(), Value::List(given));
        case
    }

    /// The case of a number.
    pub(super) fn case(&self, seed: u64, number: u64, rows: usize) -> Case {
        let calls = [number, number + 1, number + 2].map(|number| self.one.case(seed, number, rows));
        let count = usize::try_from(number % 3).unwrap_or(0) + 1;
        self.list(&calls.iter().zip(0..).take(count).collect::<Vec<_>>())
    }

    /// The databases of a list: those of the statement for one row, and two or three of them beside each other.
    pub(super) fn databases(&self, budget: usize, today: i64) -> Databases {
        // Rows that no other case shares are put there for each.
        let singles = self.one.databases_of(budget / 4, today);
        let all: Vec<Case> = singles.iter().collect();
        singles.replaced(|at| {
            // Far from each other, so that one of them may be refused where the other is not.
            let (first, second) = (&all[at], &all[(at * 7 + all.len() / 2) % all.len()]);
            let beside = match at % 4 {
                0 => vec![(first, 0), (second, 1), (&all[(at * 11 + 3) % all.len()], 2)],
                1 => vec![(second, 1), (first, 0)],
                // What has the same rows may ask for the same ones.
                2 => vec![(first, 0), (all.get(at + 1).filter(|next| next.rows == first.rows).unwrap_or(second), 0)],
                _ => vec![(first, 0), (second, 1)],
            };
            vec![self.list(&[(first, 0)]), self.list(&beside)]
        })
    }
}

impl Subject {
    /// How the calls of a list are made, if it is one that faces a statement for one row.
    pub fn each(&self) -> Option<&Each> {
        self.each.as_ref()
    }

    /// The name of the statement whose page of SQLite is run.
    pub fn on_sqlite(&self) -> &str {
        self.each.as_ref().map_or(&self.name, |each| &each.one.name)
    }

    /// Takes in how another subject's pages look at columns, and what they hold them against.
    pub(super) fn learn(&mut self, other: &Self) {
        let mut reading = (*self.reading).clone();
        let columns = other.reading.looks.iter().filter(|(key, _)| matches!(key, Key::Column(..)));
        for (key, looks) in columns {
            *reading.looks.entry(key.clone()).or_default() |= *looks;
            let Some(pool) = self.pool_of.get(key).and_then(|at| self.pools.get_mut(*at)) else { continue };
            for literal in &other.pool(key).literals {
                if !pool.literals.contains(literal) {
                    pool.literals.push(literal.clone());
                }
            }
        }
        self.reading = Arc::new(reading);
    }

    /// The same case in a world of its own, where ids, names and numbers of rows are others. The first world is as it is.
    fn apart(&self, case: &Case, world: usize) -> Case {
        if world == 0 {
            return case.clone();
        }
        let moved = |key: Key, value: &Value| self.moved(&key, value, world);
        let row = |table: &str, row: &Row| -> Row {
            let of = |(column, value): (&String, &Value)| {
                (column.clone(), moved(Key::Column(table.to_owned(), column.clone()), value))
            };
            row.iter().map(of).collect()
        };
        let of_table =
            |(name, rows): (&String, &Vec<Row>)| (name.clone(), rows.iter().map(|it| row(name, it)).collect());
        let argument = |(name, value): (&String, &Value)| (name.clone(), moved(Key::Param(name.clone()), value));
        Case { rows: case.rows.iter().map(of_table).collect(), args: case.args.iter().map(argument).collect() }
    }

    /// A value of another world. Words that pages and CHECKs speak of stay, and numbers that no database gives.
    fn moved(&self, key: &Key, value: &Value, world: usize) -> Value {
        let pool = self.pool(key);
        let is_said =
            |value: &Value| [&pool.literals, &pool.words, &pool.checked].iter().any(|said| said.contains(value));
        match value {
            Value::Uuid(id) => Value::Uuid(moved_id(*id, world)),
            Value::Text(text) => match parse_uuid(text) {
                Some(id) => Value::Text(hyphenated(&moved_id(id, world))),
                None if pool.closed || pool.constant || is_said(value) || is_counted(text) => value.clone(),
                None => Value::Text(format!("{text}~{world}")),
            },
            Value::Int(n) if self.is_numbered(key) => {
                Value::Int(n.saturating_add(i64::try_from(world).unwrap_or(1).saturating_mul(WORLD)))
            }
            value => value.clone(),
        }
    }

    /// Whether the place meets numbers that a database gives its rows.
    fn is_numbered(&self, key: &Key) -> bool {
        let own = self.pool_of.get(key);
        self.tables.iter().any(|table| {
            table.columns.iter().filter(|column| column.numbered).any(|column| {
                let column = Key::Column(table.name.clone(), column.name.clone());
                column == *key || own.is_some() && self.pool_of.get(&column) == own
            })
        })
    }

    /// Whether some rows of a table keep another one out.
    fn is_taken(&self, table: &str, rows: &[Row], row: &Row) -> bool {
        let Some(table) = self.tables.iter().find(|known| known.name == table) else { return false };
        table.unique.iter().any(|key| {
            let values = |row: &Row| -> Vec<Option<Value>> { key.iter().map(|name| row.get(name).cloned()).collect() };
            let own = values(row);
            !own.iter().any(|value| matches!(value, Some(Value::Null))) && rows.iter().any(|known| values(known) == own)
        })
    }
}

/// How far numbers of one world are from those of the next.
const WORLD: i64 = 100;

/// Whether a text is a time or a number.
fn is_counted(text: &str) -> bool {
    microseconds(text).is_some() || text.parse::<f64>().is_ok()
}

fn moved_id(mut id: [u8; 16], world: usize) -> [u8; 16] {
    // The first byte, so that what sorts ids finds worlds beside each other.
    id[0] = id[0].wrapping_add(u8::try_from(world).unwrap_or(u8::MAX));
    id
}

/// The value of a field from the arguments of a call.
fn of_field(call: &Case, field: &Param) -> Value {
    let value = call.args.get(&field.name).cloned().unwrap_or(Value::Null);
    match (&value, &field.ty.base) {
        (Value::List(items), Base::Json) => Value::Json(list_as_json(items)),
        _ => value,
    }
}

/// A value of a field as a parameter of this type holds it.
fn as_held(value: &Value, base: &Base) -> Value {
    match (value, base) {
        (Value::Json(Json::Array(items)), base) if *base != Base::Json => {
            let item = |item: &Json| match item {
                Json::String(text) => Value::Text(text.clone()),
                Json::Number(number) => number.as_i64().map_or(Value::Null, Value::Int),
                Json::Bool(truth) => Value::Bool(*truth),
                _ => Value::Null,
            };
            Value::List(items.iter().map(item).collect())
        }
        (value, _) => value.clone(),
    }
}
