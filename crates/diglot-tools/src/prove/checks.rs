//! CHECKs: SQLite itself says whether values keep to them, and what does not gives way to what does.

mod joint;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use sea_query::{Expr, Query, SqliteQueryBuilder};
use serde_json::json;

use super::pool::{self, Pool};
use super::reading::Computation;
use super::tables::TableColumn;
use diglot::dialect::{Both, Dialect};
use diglot::schema::Schema;
use diglot::types::Base;
use diglot::value::Value;
use joint::Joint;
pub(super) use joint::Moves;

/// Asks SQLite for the answer to a query of one row and one column; nothing where it takes no such query.
type Ask = dyn Fn(&str) -> Option<Value> + Send + Sync;

/// Knows of conditions whether they hold, and what is computed of values. Without an engine to ask, all of them do.
#[derive(Clone, Default)]
pub struct Judge {
    ask: Option<Arc<Ask>>,
    known: Arc<Mutex<BTreeMap<String, Option<Value>>>>,
}

impl Judge {
    /// A judge that asks an engine.
    pub fn new(ask: impl Fn(&str) -> Option<Value> + Send + Sync + 'static) -> Self {
        Self { ask: Some(Arc::new(ask)), known: Arc::default() }
    }

    fn holds(&self, query: String) -> bool {
        self.answer(query).is_none_or(|answer| answer != Value::Int(0))
    }

    fn answer(&self, query: String) -> Option<Value> {
        let ask = self.ask.as_ref()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(query).or_insert_with_key(|query| ask(query)).clone()
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("asks", &self.ask.is_some()).finish_non_exhaustive()
    }
}

/// The conditions of a project's columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    judge: Judge,
    /// By table and column.
    conditions: BTreeMap<(String, String), Vec<String>>,
    /// Those that name several columns, by table.
    joints: BTreeMap<String, Vec<Joint>>,
}

impl Checks {
    /// Those of SQLite's schema that name one column alone, and those of both that name several.
    pub(super) fn of(schemas: &Both<Schema>, judge: &Judge) -> Self {
        let mut conditions: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for table in schemas.sqlite.tables.values() {
            for check in &table.checks {
                let (names, _) = check.texts(Dialect::Sqlite);
                let mut named = names.into_iter().filter(|name| table.column(name).is_some());
                if let (Some(name), None) = (named.next(), named.next()) {
                    conditions.entry((table.name.clone(), name)).or_default().push(check.written.clone());
                }
            }
        }
        Self { judge: judge.clone(), conditions, joints: joint::all(schemas) }
    }

    /// The same with another engine to ask.
    #[cfg(test)]
    pub(super) fn judged(&self, ask: impl Fn(&str) -> Option<Value> + Send + Sync + 'static) -> Self {
        Self { judge: Judge::new(ask), ..self.clone() }
    }

    /// Whether a column may hold a value.
    pub(super) fn allow(&self, table: &str, column: &TableColumn, value: &Value) -> bool {
        let Some(base) = &column.sqlite else { return true };
        let Some(conditions) = self.conditions.get(&(table.to_owned(), column.name.clone())) else { return true };
        let literal = value.literal(Dialect::Sqlite, base);
        let value = Query::select().expr_as(Expr::cust(literal), column.name.clone()).take();
        let query = |condition: &String| {
            let mut query = Query::select();
            query.expr(Expr::cust(format!("({condition}) IS NOT 0"))).from_subquery(value.clone(), "row");
            query.to_string(SqliteQueryBuilder)
        };
        conditions.iter().all(|condition| self.judge.holds(query(condition)))
    }

    /// What SQLite computes of a value that stands there as a type of its own.
    pub(super) fn computed(&self, base: &Base, value: &Value, of: &Computation) -> Option<Value> {
        let literal = value.literal(Dialect::Sqlite, base);
        let mut query = Query::select();
        query.expr(Expr::cust(of.pieces.join(&literal)));
        self.judge.answer(query.to_string(SqliteQueryBuilder)).filter(|value| *value != Value::Null)
    }

    /// Values of a column that its own conditions refuse.
    pub(super) fn refused(&self, table: &str, column: &TableColumn) -> Vec<Value> {
        if !self.conditions.contains_key(&(table.to_owned(), column.name.clone())) {
            return Vec::new();
        }
        let ends = column.range.map(|(least, most)| [most.saturating_add(1), least.saturating_sub(1)]);
        let ends = ends.into_iter().flatten().filter_map(|end| i64::try_from(end).ok()).map(Value::Int);
        let all = ends.chain([Value::Int(-1)]).filter_map(|value| value.into_base(&column.base));
        all.chain(candidates(&column.base)).filter(|value| !self.allow(table, column, value)).take(2).collect()
    }

    /// A text of another form than a plain word, and the same in capital letters, where a column takes no plain word.
    pub(super) fn forms(&self, table: &str, column: &TableColumn) -> Vec<Value> {
        let is_allowed = |text: &String| self.allow(table, column, &Value::Text(text.clone()));
        if column.base != Base::Text || is_allowed(&"ab".to_owned()) {
            return Vec::new();
        }
        let first = texts().into_iter().find(is_allowed);
        let both = first.into_iter().flat_map(|text| [text.to_uppercase(), text]).filter(is_allowed);
        both.map(Value::Text).collect()
    }

    /// The value, or another one that the column may hold: other rows get others, as far as there are some.
    pub(super) fn settled(&self, table: &str, column: &TableColumn, pool: &Pool, value: Value, row: usize) -> Value {
        if self.allow(table, column, &value) {
            return value;
        }
        let fitting = |value: &Value| value.clone().into_base(&column.base);
        let known = pool.literals.iter().chain(&pool.words).chain(&pool.checked).filter_map(fitting);
        let all = known.chain(candidates(&column.base)).filter(|other| pool.allows(other));
        let allowed: Vec<Value> = all.filter(|other| self.allow(table, column, other)).collect();
        if allowed.is_empty() { value } else { allowed[row % allowed.len()].clone() }
    }
}

/// Values of many forms, one of which most conditions let through.
fn candidates(base: &Base) -> Vec<Value> {
    match base {
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric => {
            let numbers =
                [1, 2, 0, 3, 5, 7, 10, 12, 24, 60, 100, 365, 1_000, 1_500, 2_000, 2_024, 10_000, 100_000, -1, -10];
            let times = [1_000_000, 1_000_000_000, 1_709_251_200, 1_709_251_200_000];
            numbers.into_iter().chain(times).map(Value::Int).collect()
        }
        Base::Float64 => [1.0, 0.5, 2.0, 0.0, 10.0, 45.0, 100.0, -1.0].map(Value::Real).to_vec(),
        Base::Text => texts().into_iter().map(Value::Text).collect(),
        Base::Bytes => [16, 1, 4, 8, 12, 20, 24, 32, 48, 64].map(|length| Value::Bytes(vec![7; length])).to_vec(),
        Base::Json => {
            let documents =
                [json!({}), json!([]), json!({"a": 1}), json!(["a"]), json!([1]), json!("a"), json!(1), json!(true)];
            documents.map(Value::Json).to_vec()
        }
        base => (0..4).map(|at| pool::plain(base, at)).collect(),
    }
}

fn texts() -> Vec<String> {
    let forms = [
        "a",
        "b",
        "ab",
        "abc",
        "abcd",
        "A",
        "B",
        "AB",
        "ABC",
        "a-b",
        "a_b",
        "a1",
        "en",
        "de",
        "EUR",
        "USD",
        "1",
        "2",
        "12",
        "007",
        "123456",
        "1.50",
        "-1",
        "a@b.c",
        "b@c.de",
        "http://a.b",
        "https://a.b/c",
        "+4912345",
        "#a0b1c2",
        "a/b",
        "a b",
        "2024-03-01",
        "2024-03-02",
        "2024-03-01 05:00:00",
        "2024-03-02 05:00:00",
        "2024-03-01T05:00:00Z",
        "2024-03-01T05:00:00.000Z",
        "2024-03",
        "2024",
        "05:00",
        "05:00:00",
        "{}",
        "[]",
        "[\"a\"]",
        "{\"a\":1}",
        "null",
        "true",
        "11111111-1111-4111-9111-111111111100",
        "11111111111141119111111111111100",
    ];
    let long = [8, 10, 16, 20, 32, 40, 64].map(|length| "a".repeat(length));
    forms.into_iter().map(str::to_owned).chain(long).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diglot::source::{SourceFile, Sources};

    fn checks(ddl: &str, judge: &Judge) -> (Checks, TableColumn) {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("schema/sqlite/1.sql", ddl));
        let (sqlite, found) = diglot::schema::read(&sources, &[file], Dialect::Sqlite);
        assert!(found.is_empty(), "{found:?}");
        let column = TableColumn::plain("day", Base::Text);
        let mut pg = sqlite.clone();
        pg.dialect = Dialect::Pg;
        (Checks::of(&Both { sqlite, pg }, judge), column)
    }

    #[test]
    fn a_value_that_a_check_refuses_gives_way_to_one_that_it_takes() {
        let judge = Judge::new(|query| Some(Value::Int(query.contains("'2024-03-0").into())));
        let (checks, day) = checks("CREATE TABLE t (day TEXT NOT NULL CHECK (date(day) IS day), n INTEGER);", &judge);
        let settled = |row: usize| checks.settled("t", &day, &Pool::NOTHING, Value::Text("x".into()), row);
        assert_eq!(settled(0), Value::Text("2024-03-01".into()));
        assert_eq!(settled(1), Value::Text("2024-03-02".into()));
        let kept = Value::Text("2024-03-09".into());
        assert_eq!(checks.settled("t", &day, &Pool::NOTHING, kept.clone(), 0), kept);
    }

    #[test]
    fn a_check_of_several_columns_and_other_columns_refuse_nothing() {
        let judge = Judge::new(|_| Some(Value::Int(0)));
        let (checks, day) = checks("CREATE TABLE t (day TEXT NOT NULL, n TEXT, CHECK (n < day));", &judge);
        assert!(checks.allow("t", &day, &Value::Text("x".into())));
    }
}
