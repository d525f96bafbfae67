//! The SQL that fills, empties and reads the tables that a pair touches.

use sea_query::{
    DeleteStatement, Expr, ExprTrait as _, Func, InsertStatement, PostgresQueryBuilder, Query, QueryStatementWriter,
    SelectStatement, SqliteQueryBuilder,
};

use super::cases::Row;
use super::tables::{List, Table};
use crate::dialect::Dialect;
use crate::types::Base;
use crate::value::{Value, list_as_json, quoted};

fn text(dialect: Dialect, statement: &impl QueryStatementWriter) -> String {
    match dialect {
        Dialect::Sqlite => statement.to_string(SqliteQueryBuilder),
        Dialect::Pg => statement.to_string(PostgresQueryBuilder),
    }
}

/// The statements that put a row there, with the items that SQLite holds beside it.
pub(super) fn insert(table: &Table, row: &Row, dialect: Dialect) -> String {
    let mut names = Vec::new();
    let mut values = Vec::new();
    let mut items = Vec::new();
    for column in &table.columns {
        let Some(value) = row.get(&column.name) else { continue };
        match (&column.list, dialect, value) {
            (Some(List::Table { name, item, owner }), Dialect::Sqlite, Value::List(of_row)) => {
                let whose = owner.iter().map(|name| {
                    let base = table.columns.iter().find(|c| c.name == *name).and_then(|c| c.sqlite.clone());
                    row.get(name).unwrap_or(&Value::Null).literal(dialect, &base.unwrap_or(Base::Text))
                });
                items.push(list(name, item, owner, whose, of_row));
            }
            (Some(List::Separated(between)), Dialect::Sqlite, Value::List(of_row)) => {
                let texts = of_row.iter().map(|item| match item {
                    Value::Text(text) => text.clone(),
                    item => item.to_string(),
                });
                names.push(column.name.clone());
                values.push(Expr::cust(quoted(&texts.collect::<Vec<_>>().join(between))));
            }
            _ => {
                if let Some(base) = column.on(dialect) {
                    names.push(column.name.clone());
                    values.push(Expr::cust(value.literal(dialect, base)));
                }
            }
        }
    }
    let mut own = InsertStatement::new();
    own.into_table(table.name.clone());
    if names.is_empty() {
        own.or_default_values();
    } else {
        own.columns(names).values_panic(values);
    }
    let mut own = text(dialect, &own);
    if dialect == Dialect::Pg {
        // The builder has no word for values of columns that the server numbers.
        own = own.replacen(") VALUES (", ") OVERRIDING SYSTEM VALUE VALUES (", 1);
    }
    std::iter::once(own).chain(items).collect::<Vec<_>>().join("; ")
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
