//! Numbers that databases give to rows by themselves while migrations run. Which ones they are is nobody's promise.

use std::collections::BTreeSet;

use super::cases::Case;
use super::compare::{NEW_IDS, NEW_IDS_END, TableRows};
use super::subject::Subject;
use diglot::value::Value;

impl Subject {
    /// Takes the numbers that SQLite gave to rows for new ones, where Postgres drew numbers for rows of the same table: a
    /// sequence is told where to begin, and SQLite goes on behind the rows that are there.
    pub fn draw_alike(&self, case: &Case, sqlite: &mut TableRows, pg: &TableRows) {
        for (at, table) in self.compared.iter().enumerate() {
            let Some(place) = table.shown().position(|column| column.numbered) else { continue };
            let Some(name) = table.numbered() else { continue };
            let numbers = |rows: &TableRows| -> BTreeSet<i64> {
                let rows = rows.get(at).into_iter().flatten();
                rows.filter_map(|row| number(row.get(place)?)).collect()
            };
            if !numbers(pg).iter().any(|number| (NEW_IDS..NEW_IDS_END).contains(number)) {
                continue;
            }
            let rows = case.rows.get(&table.name).into_iter().flatten();
            let known: BTreeSet<i64> = rows.filter_map(|row| number(row.get(name)?)).collect();
            let drawn: BTreeSet<i64> = numbers(sqlite).difference(&known).copied().collect();
            for (other, rows) in self.compared.iter().zip(sqlite.iter_mut()) {
                for (place, column) in other.shown().enumerate() {
                    let is_own = other.name == table.name && column.name == name;
                    let refers =
                        other.foreign.iter().any(|key| key.table == table.name && key.columns.contains(&column.name));
                    if !is_own && !refers {
                        continue;
                    }
                    let values = rows.iter_mut().filter_map(|row| row.get_mut(place));
                    values.filter(|value| number(value).is_some_and(|it| drawn.contains(&it))).for_each(|value| {
                        *value = Value::Int(NEW_IDS);
                    });
                }
            }
        }
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}
