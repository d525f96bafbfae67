//! CHECKs over several columns: a row that does not keep to one gets other values in as few of them as it takes.

use std::collections::BTreeMap;

use sea_query::{Expr, Query, SqliteQueryBuilder};

use super::{Checks, candidates};
use crate::prove::cases::Row;
use crate::prove::tables::{Table, TableColumn};
use diglot::dialect::{Both, Dialect};
use diglot::schema::Schema;
use diglot::types::{Base, Of};
use diglot::value::{Value, microseconds, spelled};

/// How many conditions are mended one after another.
const STEPS: usize = 12;
/// How many values of a column are tried where two columns change at once.
const FEW: usize = 14;

/// A condition that names several columns.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    columns: Vec<String>,
    written: String,
    /// What it speaks of.
    values: Vec<Value>,
}

/// Which values of a row may change, and to what.
pub(in crate::prove) struct Moves<'m> {
    /// The table's columns by their places, those first that may change most freely.
    pub(in crate::prove) order: Vec<usize>,
    /// How many of these nobody looks at: they change before others do, though another condition is broken by it, which is
    /// mended next.
    pub(in crate::prove) loose: usize,
    /// What a column may hold beside what its condition speaks of.
    pub(in crate::prove) values: &'m dyn Fn(usize) -> Vec<Value>,
}

/// The conditions of both schemas. One that both have counts once; one of Postgres alone counts as far as SQLite reads it.
pub(super) fn all(schemas: &Both<Schema>) -> BTreeMap<String, Vec<Joint>> {
    let mut all: BTreeMap<String, Vec<Joint>> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for table in schemas[dialect].tables.values() {
            for part in table.checks.iter().flat_map(|check| check.apart(dialect)) {
                let columns: Vec<String> = part.names.into_iter().filter(|name| table.column(name).is_some()).collect();
                let known = all.entry(table.name.clone()).or_default();
                if columns.len() < 2 || known.iter().any(|joint| joint.written == part.written) {
                    continue;
                }
                let numbers = part.numbers.iter().flat_map(|n| [*n, n.saturating_add(1), n.saturating_sub(1)]);
                let texts = part.texts.into_iter().map(Value::Text);
                known.push(Joint {
                    columns,
                    written: part.written,
                    values: texts.chain(numbers.map(Value::Int)).collect(),
                });
            }
        }
    }
    all.retain(|_, joints| !joints.is_empty());
    all
}

impl Checks {
    /// Whether a table has such conditions.
    pub(in crate::prove) fn has_joints(&self, table: &str) -> bool {
        self.joints.contains_key(table)
    }

    /// What of a row these conditions look at.
    pub(in crate::prove) fn looked_at(&self, table: &str, row: &Row) -> Vec<Value> {
        let columns = self.joints.get(table).into_iter().flatten().flat_map(|joint| &joint.columns);
        columns.map(|name| row.get(name).cloned().unwrap_or(Value::Null)).collect()
    }

    /// How many of these conditions a row does not keep to.
    pub(in crate::prove) fn broken(&self, table: &Table, row: &Row) -> usize {
        let joints = self.joints.get(&table.name).into_iter().flatten();
        joints.filter(|joint| !self.keeps(table, row, joint)).count()
    }

    fn keeps(&self, table: &Table, row: &Row, joint: &Joint) -> bool {
        let mut values = Query::select();
        for name in &joint.columns {
            let column = table.columns.iter().find(|column| column.name == *name);
            // What the database computes is not known here.
            let Some(base) = column.filter(|column| row.contains_key(&column.name)).and_then(|it| it.sqlite.as_ref())
            else {
                return true;
            };
            let literal = row.get(name).unwrap_or(&Value::Null).literal(Dialect::Sqlite, base);
            values.expr_as(Expr::cust(literal), name.clone());
        }
        let mut query = Query::select();
        query.expr(Expr::cust(format!("({}) IS NOT 0", joint.written))).from_subquery(values.take(), "row");
        self.judge.holds(query.to_string(SqliteQueryBuilder))
    }

    /// Changes a row until it keeps to the conditions of its table, as far as values for that are found.
    pub(in crate::prove) fn mend(&self, table: &Table, row: &mut Row, moves: &Moves<'_>) {
        let Some(joints) = self.joints.get(&table.name) else { return };
        for _ in 0..STEPS {
            let Some(joint) = joints.iter().find(|joint| !self.keeps(table, row, joint)) else { return };
            let movable = moves.order.iter().filter(|at| joint.columns.contains(&table.columns[**at].name));
            let movable: Vec<usize> = movable.copied().collect();
            match self.better(table, row, joint, &movable, moves) {
                Some(better) => *row = better,
                None => return,
            }
        }
    }

    /// The row with one or two other values, with which it keeps to a condition and to more than before.
    fn better(&self, table: &Table, row: &Row, joint: &Joint, movable: &[usize], moves: &Moves<'_>) -> Option<Row> {
        let before = self.broken(table, row);
        let is_better = |next: &Row| self.keeps(table, next, joint) && self.broken(table, next) < before;
        let with = |row: &Row, at: usize, value: Value| {
            let mut next = row.clone();
            next.insert(table.columns[at].name.clone(), value);
            next
        };
        let is_as_good = |next: &Row| self.keeps(table, next, joint) && self.broken(table, next) <= before;
        let loose = &moves.order[..moves.loose];
        let (loose, rest): (Vec<usize>, Vec<usize>) = movable.iter().partition(|at| loose.contains(at));
        let one_of = |columns: &[usize], is_wanted: &dyn Fn(&Row) -> bool| {
            columns.iter().find_map(|&at| {
                let others = self.others(table, row, joint, at, moves).into_iter();
                others.map(|value| with(row, at, value)).find(is_wanted)
            })
        };
        let one =
            one_of(&loose, &is_better).or_else(|| one_of(&loose, &is_as_good)).or_else(|| one_of(&rest, &is_better));
        if one.is_some() {
            return one;
        }
        for (place, &one) in movable.iter().enumerate() {
            for value in self.others(table, row, joint, one, moves).into_iter().take(FEW) {
                let half = with(row, one, value);
                for &other in &movable[place + 1..] {
                    let partners = self.others(table, &half, joint, other, moves).into_iter().take(FEW);
                    if let Some(next) = partners.map(|value| with(&half, other, value)).find(is_better) {
                        return Some(next);
                    }
                }
            }
        }
        None
    }

    /// What a column may hold instead: neighbours of what stands beside it, what the condition speaks of, what its place has.
    fn others(&self, table: &Table, row: &Row, joint: &Joint, at: usize, moves: &Moves<'_>) -> Vec<Value> {
        let column = &table.columns[at];
        let beside = joint.columns.iter().filter(|name| **name != column.name).filter_map(|name| row.get(name));
        let mut all: Vec<Value> = beside.flat_map(|value| neighbours(value, column)).collect();
        all.extend(joint.values.iter().filter_map(|value| value.clone().into_base(&column.base)));
        all.extend((moves.values)(at));
        if column.nullable {
            all.push(Value::Null);
        }
        all.extend(candidates(&column.base));
        let mut once: Vec<Value> = Vec::new();
        for value in all {
            let is_kept = match (&value, column.range) {
                (Value::Int(n), Some((least, most))) => (least..=most).contains(&i128::from(*n)),
                _ => true,
            };
            if is_kept && row.get(&column.name) != Some(&value) && !once.contains(&value) {
                once.push(value);
            }
        }
        once.retain(|value| self.allow(&table.name, column, value));
        once
    }
}

/// The same as what stands beside a column, and what comes before and after it.
fn neighbours(value: &Value, column: &TableColumn) -> Vec<Value> {
    let base = match &column.base {
        Base::Stored(stored) => stored.of.base(),
        base => base.clone(),
    };
    let is_decimal = matches!(&column.base, Base::Stored(stored) if stored.of == Of::Decimal);
    match (value, &base) {
        (Value::Text(text), base) if base.is_time() => {
            let Some(moment) = microseconds(text) else { return Vec::new() };
            let step = if *base == Base::Date { 86_400_000_000 } else { 1_000_000 };
            let of_base = |moment: i64| {
                let text = spelled(moment);
                Value::Text(match base {
                    Base::Date => text[..10].to_owned(),
                    Base::TimeOfDay => text[11..].to_owned(),
                    _ => text,
                })
            };
            [moment + step, moment - step, moment].map(of_base).to_vec()
        }
        (Value::Int(n), base)
            if is_decimal || matches!(base, Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric) =>
        {
            let all = [n.saturating_add(1), n.saturating_sub(1), *n];
            all.into_iter().filter_map(|n| Value::Int(n).into_base(base)).collect()
        }
        (Value::Int(n), Base::Float64) => [1.0, -1.0, 0.0].map(|step| Value::Real(*n as f64 + step)).to_vec(),
        (Value::Real(r), Base::Float64) => [1.0, -1.0, 0.0].map(|step| Value::Real(r + step)).to_vec(),
        (Value::Text(text), Base::Text) => [format!("{text}x"), text.clone()].map(Value::Text).to_vec(),
        (value, base) => value.clone().into_base(base).into_iter().filter(|value| *value != Value::Null).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::checks::Judge;
    use diglot::source::{SourceFile, Sources};

    /// Reads the numbers of a query's row and tells whether the condition in front of it holds: each less than the next.
    fn judged(query: &str) -> Option<bool> {
        let number = |name: &str| -> Option<i64> {
            let (before, _) = query.split_once(&format!(" AS \"{name}\""))?;
            before.rsplit([' ', '(']).next()?.parse().ok()
        };
        match query {
            query if query.contains("low < mid") => Some(number("low")? < number("mid")?),
            query if query.contains("mid < high") => Some(number("mid")? < number("high")?),
            query => Some(query.contains("NULL AS \"reason\"") != query.contains("'off' AS \"state\"")),
        }
    }

    fn table() -> (Checks, Table) {
        let ddl = "CREATE TABLE trip (low INTEGER NOT NULL, mid INTEGER NOT NULL, high INTEGER NOT NULL, state TEXT NOT NULL,\n\
                   reason TEXT, CHECK (low < mid AND mid < high), CHECK ((state = 'off') = (reason IS NOT NULL)));";
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("schema/sqlite/1.sql", ddl));
        let (sqlite, found) = diglot::schema::read(&sources, &[file], Dialect::Sqlite);
        assert!(found.is_empty(), "{found:?}");
        let column =
            |(name, base): (&str, Base)| TableColumn { nullable: name == "reason", ..TableColumn::plain(name, base) };
        let columns = [
            ("low", Base::Int64),
            ("mid", Base::Int64),
            ("high", Base::Int64),
            ("state", Base::Text),
            ("reason", Base::Text),
        ];
        let table = Table {
            name: "trip".into(),
            columns: columns.map(column).to_vec(),
            unique: Vec::new(),
            unique_in_part: Vec::new(),
            foreign: Vec::new(),
        };
        let mut pg = sqlite.clone();
        pg.dialect = Dialect::Pg;
        (
            Checks::of(&Both { sqlite, pg }, &Judge::new(|query| judged(query).map(|holds| Value::Int(holds.into())))),
            table,
        )
    }

    fn mended(values: [i64; 3], state: &str, reason: Value) -> Row {
        let (checks, table) = table();
        let numbers = ["low", "mid", "high"].into_iter().zip(values.map(Value::Int));
        let words = [("state", Value::Text(state.into())), ("reason", reason)];
        let mut row: Row = numbers.chain(words).map(|(name, value)| (name.to_owned(), value)).collect();
        checks.mend(&table, &mut row, &Moves { order: vec![4, 3, 2, 1, 0], loose: 0, values: &|_| Vec::new() });
        assert_eq!(checks.broken(&table, &row), 0, "{row:?}");
        row
    }

    #[test]
    fn what_nobody_looks_at_changes_before_what_somebody_does() {
        let (checks, table) = table();
        let numbers = ["low", "mid", "high"].into_iter().zip([38, 41, 10].map(Value::Int));
        let words = [("state", Value::Text("on".into())), ("reason", Value::Null)];
        let mut row: Row = numbers.chain(words).map(|(name, value)| (name.to_owned(), value)).collect();
        checks.mend(&table, &mut row, &Moves { order: vec![0, 1, 3, 4, 2], loose: 4, values: &|_| Vec::new() });
        assert_eq!((checks.broken(&table, &row), &row["high"]), (0, &Value::Int(10)), "{row:?}");
    }

    #[test]
    fn a_row_gets_as_few_other_values_as_its_checks_ask_for() {
        let whole = mended([1, 2, 3], "on", Value::Null);
        assert_eq!((&whole["low"], &whole["mid"], &whole["high"]), (&Value::Int(1), &Value::Int(2), &Value::Int(3)));
        let alike = mended([10, 10, 10], "on", Value::Null);
        assert!(
            alike["low"].compare(&alike["mid"]).is_lt() && alike["mid"].compare(&alike["high"]).is_lt(),
            "{alike:?}"
        );
        assert_eq!(mended([1, 2, 3], "on", Value::Text("late".into()))["reason"], Value::Null);
        let off = mended([1, 2, 3], "off", Value::Null);
        assert!(off["state"] == Value::Text("off".into()) && off["reason"] != Value::Null, "{off:?}");
    }
}
