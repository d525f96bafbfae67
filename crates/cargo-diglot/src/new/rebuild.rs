//! A table of SQLite that is built anew, in the order that SQLite's documentation asks for, from the texts that SQLite
//! itself keeps of it: <https://www.sqlite.org/lang_altertable.html#otheralter>

use std::collections::BTreeSet;
use std::ops::Range;

use diglot_migrate::tokens;
use diglot_tools::draft::spelled;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor, Row};

use crate::failure::Failure;

/// What changes in the new table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edit<'e> {
    /// A column gets another type.
    Retype(&'e str, &'e str),
    /// A column is left out.
    Drop(&'e str),
}

/// What SQLite keeps of a table, an index, a trigger or a view.
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

impl Object {
    fn names(&self, name: &str) -> bool {
        words(&self.sql).any(|word| word.eq_ignore_ascii_case(name))
    }
}

fn words(sql: &str) -> impl Iterator<Item = String> + '_ {
    tokens(sql).map(|range| plain(&sql[range]))
}

/// A name without its quotes.
fn plain(word: &str) -> String {
    word.trim_matches('"').to_owned()
}

const READING: &str = "read SQLite's schema";

async fn objects(connection: &mut SqliteConnection) -> Result<Vec<Object>, Failure> {
    let all = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid";
    let rows = connection.fetch_all(all).await.map_err(Failure::engine(READING))?;
    let of = |row: &sqlx::sqlite::SqliteRow| -> Result<Object, sqlx::Error> {
        Ok(Object { kind: row.try_get(0)?, name: row.try_get(1)?, table: row.try_get(2)?, sql: row.try_get(3)? })
    };
    rows.iter().map(of).collect::<Result<_, _>>().map_err(Failure::engine(READING))
}

/// The columns that rows are copied by: SQLite computes the others.
async fn columns(connection: &mut SqliteConnection, table: &str) -> Result<Vec<String>, Failure> {
    let asked = format!("SELECT name FROM pragma_table_xinfo('{}') WHERE hidden = 0", table.replace('\'', "''"));
    let rows = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(asked))).await.map_err(Failure::engine(READING))?;
    rows.iter().map(|row| row.try_get::<String, _>(0)).collect::<Result<_, _>>().map_err(Failure::engine(READING))
}

/// The statements that build a table anew, in a database with the schema.
pub(super) async fn statements(
    connection: &mut SqliteConnection,
    table: &str,
    edit: Edit<'_>,
) -> Result<Vec<String>, Failure> {
    let objects = objects(connection).await?;
    let is_own = |object: &&Object| object.table.eq_ignore_ascii_case(table);
    let made = objects.iter().find(|object| object.kind == "table" && object.name.eq_ignore_ascii_case(table));
    let Some(made) =
        made.filter(|made| !words(&made.sql).nth(1).is_some_and(|word| word.eq_ignore_ascii_case("virtual")))
    else {
        return Err(Failure::Step { what: format!("SQLite has no table `{table}` that could be built anew") });
    };
    let (old, new) = (spelled(table), spelled(&free(&objects, table)));
    let dropped = match edit {
        Edit::Drop(column) => Some(column),
        Edit::Retype(..) => None,
    };
    let is_kept = |name: &String| !dropped.is_some_and(|dropped| name.eq_ignore_ascii_case(dropped));
    let copied = columns(connection, table).await?.into_iter().filter(is_kept);
    let copied = copied.map(|name| spelled(&name)).collect::<Vec<String>>().join(", ");
    let mut all = vec![edited(&made.sql, &new, edit)?];
    all.push(format!("INSERT INTO {new} ({copied})\nSELECT {copied} FROM {old}"));
    if made.names("autoincrement") {
        // The number of a deleted row is not given again.
        let name = |name: &str| name.trim_matches('"').replace('\'', "''");
        all.push(format!("DELETE FROM sqlite_sequence WHERE name = '{}'", name(&new)));
        all.push(format!(
            "INSERT INTO sqlite_sequence (name, seq) SELECT '{}', seq FROM sqlite_sequence WHERE name = '{}'",
            name(&new),
            name(&old)
        ));
    }
    let names_dropped = |object: &&Object| dropped.is_some_and(|column| object.names(column));
    let own_indexes = objects.iter().filter(is_own).filter(|object| object.kind == "index");
    let (gone, indexes): (Vec<&Object>, Vec<&Object>) = own_indexes.partition(names_dropped);
    all.extend(gone.iter().map(|index| format!("DROP INDEX {}", spelled(&index.name))));
    // Whatever reads the table is in the way when the new one gets its name.
    let reads = |object: &&Object| {
        ["view", "trigger"].contains(&object.kind.as_str()) && !is_own(object) && object.names(table)
    };
    let mut readers: Vec<&Object> = objects.iter().filter(reads).collect();
    let mut known: BTreeSet<&str> = readers.iter().map(|reader| reader.name.as_str()).collect();
    while let Some(more) = objects.iter().find(|object| {
        ["view", "trigger"].contains(&object.kind.as_str())
            && !is_own(object)
            && !known.contains(object.name.as_str())
            && readers.iter().any(|reader| reader.kind == "view" && object.names(&reader.name))
    }) {
        known.insert(&more.name);
        readers.push(more);
    }
    all.extend(
        readers.iter().rev().map(|reader| format!("DROP {} {}", reader.kind.to_uppercase(), spelled(&reader.name))),
    );
    all.push(format!("DROP TABLE {old}"));
    all.push(format!("ALTER TABLE {new} RENAME TO {old}"));
    let triggers = objects.iter().filter(is_own).filter(|object| object.kind == "trigger");
    all.extend(indexes.into_iter().chain(triggers).chain(readers).map(|object| object.sql.clone()));
    Ok(all)
}

/// A name that nothing has.
fn free(objects: &[Object], table: &str) -> String {
    let mut name = format!("{table}_new");
    while objects.iter().any(|object| object.name.eq_ignore_ascii_case(&name)) {
        name.push('_');
    }
    name
}

/// Words that end a column's type.
const BEHIND_TYPE: [&str; 12] = [
    "constraint",
    "primary",
    "not",
    "null",
    "unique",
    "check",
    "default",
    "collate",
    "references",
    "generated",
    "as",
    "on",
];

/// What a constraint of the table begins with.
const CONSTRAINTS: [&str; 5] = ["constraint", "primary", "unique", "check", "foreign"];

/// The CREATE TABLE of the new table.
fn edited(sql: &str, new: &str, edit: Edit<'_>) -> Result<String, Failure> {
    let unknown = || Failure::Step { what: format!("the columns of this table are not understood:\n{sql}") };
    let all: Vec<Range<usize>> = tokens(sql).collect();
    let word = |at: usize| all.get(at).map_or("", |range| &sql[range.clone()]);
    let open = (0..all.len()).find(|at| word(*at) == "(").ok_or_else(unknown)?;
    let name = all.get(open.checked_sub(1).ok_or_else(unknown)?).ok_or_else(unknown)?;
    let (mut depth, mut first) = (0_usize, open + 1);
    let mut items: Vec<Range<usize>> = Vec::new();
    let mut close = None;
    for at in open..all.len() {
        match word(at) {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 1 && word(at) == "," || depth == 0 {
            items.push(first..at);
            first = at + 1;
        }
        if depth == 0 {
            close = Some(at);
            break;
        }
    }
    let close = close.ok_or_else(unknown)?;
    let (column, ty) = match edit {
        Edit::Retype(column, ty) => (column, Some(ty)),
        Edit::Drop(column) => (column, None),
    };
    // What a foreign key leads to has names of its own.
    let of_own = |at: &usize| !word(*at).eq_ignore_ascii_case("references");
    let names =
        |item: &Range<usize>| item.clone().take_while(of_own).any(|at| plain(word(at)).eq_ignore_ascii_case(column));
    let is_constraint = |item: &Range<usize>| CONSTRAINTS.iter().any(|key| word(item.start).eq_ignore_ascii_case(key));
    let is_column = |item: &Range<usize>| !is_constraint(item) && plain(word(item.start)).eq_ignore_ascii_case(column);
    let text = |item: &Range<usize>| sql[all[item.start].start..all[item.end - 1].end].to_owned();
    let mut written = Vec::new();
    for item in items.iter().filter(|item| !item.is_empty()) {
        match ty {
            None if is_column(item) || is_constraint(item) && names(item) => {}
            Some(ty) if is_column(item) => {
                let ends = |at: &usize| BEHIND_TYPE.iter().any(|key| word(*at).eq_ignore_ascii_case(key));
                let end = (item.start + 1..item.end).find(ends).unwrap_or(item.end);
                let rest = if end < item.end { format!(" {}", text(&(end..item.end))) } else { String::new() };
                written.push(format!("{} {ty}{rest}", word(item.start)));
            }
            _ => written.push(text(item)),
        }
    }
    let list = written.join(",\n    ");
    Ok(format!("{}{new} (\n    {list}\n){}", &sql[..name.start], &sql[all[close].end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "CREATE TABLE \"job\" (id INTEGER PRIMARY KEY, -- the id\n  code VARCHAR(20) NOT NULL DEFAULT ',' CHECK (code <> ')'), \
                         note, lane INTEGER, UNIQUE (code), FOREIGN KEY (lane) REFERENCES lane (id)) STRICT";

    #[test]
    fn a_type_is_changed_and_all_else_is_kept() {
        let retyped = edited(TABLE, "job_new", Edit::Retype("code", "TEXT")).unwrap();
        assert_eq!(
            retyped,
            "CREATE TABLE job_new (\n    id INTEGER PRIMARY KEY,\n    code TEXT NOT NULL DEFAULT ',' CHECK (code <> ')'),\n    note,\n    \
             lane INTEGER,\n    UNIQUE (code),\n    FOREIGN KEY (lane) REFERENCES lane (id)\n) STRICT"
        );
        assert!(edited(TABLE, "job_new", Edit::Retype("note", "TEXT")).unwrap().contains("\n    note TEXT,\n"));
    }

    #[test]
    fn a_column_goes_with_its_constraints() {
        let dropped = edited(TABLE, "job_new", Edit::Drop("lane")).unwrap();
        assert!(!dropped.contains("lane") && dropped.contains("UNIQUE (code)\n) STRICT"), "{dropped}");
    }
}
