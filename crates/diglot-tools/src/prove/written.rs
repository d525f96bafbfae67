//! The SQL that fills, empties and reads the tables that a pair touches.

use std::ops::Range;

use sea_query::{
    DeleteStatement, Expr, ExprTrait as _, Func, InsertStatement, PostgresQueryBuilder, Query, QueryStatementWriter,
    SelectStatement, SqliteQueryBuilder,
};

use super::cases::Row;
use super::tables::{List, Table};
use diglot::dialect::Dialect;
use diglot::types::Base;
use diglot::value::{Value, list_as_json, quoted};

fn text(dialect: Dialect, statement: &impl QueryStatementWriter) -> String {
    match dialect {
        Dialect::Sqlite => statement.to_string(SqliteQueryBuilder),
        Dialect::Pg => statement.to_string(PostgresQueryBuilder),
    }
}

/// Rows of a table that one text puts there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filling {
    /// The table.
    pub table: String,
    /// Which of the case's rows of that table.
    pub rows: Range<usize>,
    /// On Postgres one statement; on SQLite the items of lists, which it holds beside the rows, follow.
    pub sql: String,
}

/// What a row has for a dialect.
struct Written {
    names: Vec<String>,
    values: Vec<String>,
    items: Vec<String>,
}

/// The texts that put rows there: as many rows together as have the same columns, or each alone.
pub(super) fn fillings(table: &Table, rows: &[Row], dialect: Dialect, is_apart: bool) -> Vec<Filling> {
    let written: Vec<Written> = rows.iter().map(|row| written(table, row, dialect)).collect();
    let mut fillings = Vec::new();
    let mut from = 0;
    while let Some(first) = written.get(from) {
        // Without a column there is no list of values to go on with.
        let alone = is_apart || first.names.is_empty();
        let same = written[from..].iter().take_while(|row| row.names == first.names).count();
        let to = from + if alone { 1 } else { same };
        let sql = insert(table, &written[from..to], dialect);
        fillings.push(Filling { table: table.name.clone(), rows: from..to, sql });
        from = to;
    }
    fillings
}

fn insert(table: &Table, rows: &[Written], dialect: Dialect) -> String {
    let mut insert = InsertStatement::new();
    insert.into_table(table.name.clone());
    if rows[0].names.is_empty() {
        insert.or_default_values();
    } else {
        insert.columns(rows[0].names.iter().cloned());
        for row in rows {
            // There are as many values as columns.
            insert.values_panic(row.values.iter().cloned().map(Expr::cust));
        }
    }
    let mut sql = text(dialect, &insert);
    if dialect == Dialect::Pg {
        // So that a column takes a value that the server numbers otherwise; the builder has no word for it.
        sql = sql.replacen(") VALUES (", ") OVERRIDING SYSTEM VALUE VALUES (", 1);
    }
    std::iter::once(sql).chain(rows.iter().flat_map(|row| row.items.iter().cloned())).collect::<Vec<_>>().join("; ")
}

fn written(table: &Table, row: &Row, dialect: Dialect) -> Written {
    let mut written = Written { names: Vec::new(), values: Vec::new(), items: Vec::new() };
    for column in table.columns.iter().filter(|column| !column.generated[dialect]) {
        let Some(value) = row.get(&column.name) else { continue };
        match (&column.list, dialect, value) {
            (Some(List::Table { name, item, owner }), Dialect::Sqlite, Value::List(of_row)) => {
                let whose = owner.iter().map(|name| {
                    let base = table.columns.iter().find(|c| c.name == *name).and_then(|c| c.sqlite.clone());
                    row.get(name).unwrap_or(&Value::Null).literal(dialect, &base.unwrap_or(Base::Text))
                });
                written.items.push(list(name, item, owner, whose, of_row));
            }
            (Some(List::Separated(between)), Dialect::Sqlite, Value::List(of_row)) => {
                let texts = of_row.iter().map(|item| match item {
                    Value::Text(text) => text.clone(),
                    item => item.to_string(),
                });
                written.names.push(column.name.clone());
                written.values.push(quoted(&texts.collect::<Vec<_>>().join(between)));
            }
            _ => {
                if let Some(base) = column.on(dialect) {
                    written.names.push(column.name.clone());
                    written.values.push(value.literal(dialect, base));
                }
            }
        }
    }
    written
}

/// The items of a list that SQLite holds in a table of their own.
fn list(name: &str, item: &str, owner: &[String], whose: impl Iterator<Item = String>, items: &[Value]) -> String {
    let each = Func::cust("json_each").arg(Expr::cust(quoted(&list_as_json(items).to_string())));
    let mut of_row = SelectStatement::new();
    of_row.exprs(whose.map(Expr::cust)).expr(Expr::cust("value")).from_function(each, "items");
    let mut insert = InsertStatement::new();
    insert.into_table(name.to_owned()).columns(owner.iter().cloned().chain([item.to_owned()]));
    // There are as many columns as values, so nothing is refused here.
    let _ = insert.select_from(of_row);
    // Items that are no rows are left out, whatever keeps them out; the builder knows no more than ON CONFLICT.
    text(Dialect::Sqlite, &insert).replacen("INSERT INTO", "INSERT OR IGNORE INTO", 1)
}

/// The statement that takes out what no program would have written.
pub(super) fn clearing(table: &str, condition: &str) -> String {
    let mut delete = DeleteStatement::new();
    delete.from_table(table.to_owned()).and_where(Expr::cust(condition.to_owned()));
    // The names are quoted alike for both.
    text(Dialect::Sqlite, &delete)
}

/// The query for all rows, in the order of [`Table::shown`].
pub(super) fn select(table: &Table, dialect: Dialect) -> String {
    let mut query = Query::select();
    query.from_as(table.name.clone(), "t");
    for column in table.shown() {
        match (&column.list, dialect) {
            (Some(List::Table { name, item, owner }), Dialect::Sqlite) => {
                let mut items = Query::select();
                items
                    .expr(Func::cust("json_group_array").arg(Expr::col(("l", item.clone()))))
                    .from_as(name.clone(), "l");
                for name in owner {
                    items.and_where(Expr::col(("l", name.clone())).eq(Expr::col(("t", name.clone()))));
                }
                query.expr(Expr::from(items));
            }
            _ => {
                query.column(("t", column.name.clone()));
            }
        }
    }
    text(dialect, &query)
}
