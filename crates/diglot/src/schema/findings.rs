//! The full text of every finding about a migration.

use super::read;
use crate::dialect::Dialect;
use crate::render;
use crate::source::{SourceFile, Sources};

fn said(dialect: Dialect, migrations: &[&str]) -> String {
    let mut sources = Sources::default();
    let paths = (1..).map(|number| format!("schema/000{number}_change.sql"));
    let files: Vec<_> = paths.zip(migrations).map(|(path, text)| sources.add(SourceFile::new(path, *text))).collect();
    let (_, found) = read(&sources, &files, dialect);
    render::all(&sources, &found, render::Look::Plain)
}

#[test]
fn an_error_of_the_parser_is_told_at_its_place_and_the_rest_is_read() {
    let said = said(
        Dialect::Pg,
        &[
            "CREATE TABLE a (id int);\n\nCREATE TABLE b (\n  id int NOT NOTHING,\n  x int\n);\nCREATE TABLE c (id int);\n",
            "CREATE TABLE d (id int",
        ],
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[schema-unreadable]: 0001_change (Postgres): expected ',' or ')' after column definition, found: NOT
 --> schema/0001_change.sql:4:10
  |
4 |   id int NOT NOTHING,
  |          ^^^ not understood from here
  |
  = help: the tables of this statement are unknown to the statements; write it in a plainer form

error[schema-unreadable]: 0002_change (Postgres): expected ',' or ')' after column definition, found: the end
 --> schema/0002_change.sql:1:22
  |
1 | CREATE TABLE d (id int
  |                      ^ not understood from here
  |
  = help: the tables of this statement are unknown to the statements; write it in a plainer form
"#
    );
}

#[test]
fn a_statement_of_an_unknown_kind_is_told() {
    let said = said(Dialect::Sqlite, &["CRATE TABLE a (id INTEGER);\nCREATE GADGET b (c);"]);
    assert_eq!(
        format!("\n{said}"),
        r#"
error[schema-unreadable]: 0001_change (SQLite): a statement of an unknown kind
 --> schema/0001_change.sql:1:1
  |
1 | CRATE TABLE a (id INTEGER);
  | ^^^^^ not known
  |
  = help: statements that shape tables are CREATE TABLE, VIEW and UNIQUE INDEX, ALTER TABLE and DROP

error[schema-unreadable]: 0001_change (SQLite): a statement of an unknown kind
 --> schema/0001_change.sql:2:1
  |
2 | CREATE GADGET b (c);
  | ^^^^^^ not known
  |
  = help: statements that shape tables are CREATE TABLE, VIEW and UNIQUE INDEX, ALTER TABLE and DROP
"#
    );
}

#[test]
fn altering_what_is_not_there_is_told() {
    let said = said(
        Dialect::Pg,
        &[
            "ALTER TABLE a ADD COLUMN x int;\nCREATE TABLE b (id int, k text);\nALTER TABLE b DROP COLUMN ix, RENAME COLUMN y TO z;\nALTER TABLE b ALTER COLUMN q SET NOT NULL;\n",
        ],
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[schema-unreadable]: 0001_change (Postgres): there is no table `a`
 --> schema/0001_change.sql:1:13
  |
1 | ALTER TABLE a ADD COLUMN x int;
  |             ^ not created before
  |
  = help: create it in an earlier migration

error[schema-unreadable]: 0001_change (Postgres): b has no column `ix`
 --> schema/0001_change.sql:3:27
  |
3 | ALTER TABLE b DROP COLUMN ix, RENAME COLUMN y TO z;
  |                           ^^ no such column
  |
  = help: its columns are: id, k

error[schema-unreadable]: 0001_change (Postgres): b has no column `y`
 --> schema/0001_change.sql:3:45
  |
3 | ALTER TABLE b DROP COLUMN ix, RENAME COLUMN y TO z;
  |                                             ^ no such column
  |
  = help: its columns are: id, k

error[schema-unreadable]: 0001_change (Postgres): b has no column `q`
 --> schema/0001_change.sql:4:28
  |
4 | ALTER TABLE b ALTER COLUMN q SET NOT NULL;
  |                            ^ no such column
  |
  = help: its columns are: id, k
"#
    );
}

#[test]
fn a_type_without_a_counterpart_is_a_warning() {
    let said =
        said(Dialect::Pg, &["CREATE TABLE a (id int, place point);\nALTER TABLE a ALTER COLUMN id TYPE inet;\n"]);
    assert_eq!(
        format!("\n{said}"),
        r#"
warning[schema-unreadable]: 0001_change (Postgres): the type `point` of a.place has no counterpart in a generated API
 --> schema/0001_change.sql:1:25
  |
1 | CREATE TABLE a (id int, place point);
  |                         ^^^^^ taken as text
  |
  = help: cast the column in the statements that read it

warning[schema-unreadable]: 0001_change (Postgres): the type `inet` of a.id has no counterpart in a generated API
 --> schema/0001_change.sql:2:28
  |
2 | ALTER TABLE a ALTER COLUMN id TYPE inet;
  |                            ^^ taken as text
  |
  = help: cast the column in the statements that read it
"#
    );
}

#[test]
fn a_view_column_of_unknown_type_asks_for_a_cast() {
    let said = said(
        Dialect::Sqlite,
        &["CREATE TABLE a (id INTEGER NOT NULL);\nCREATE VIEW b AS SELECT id, upper(id) AS big FROM a;\n"],
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
warning[schema-unreadable]: 0001_change (SQLite): the type of the view's column `big` is not known
 --> schema/0001_change.sql:2:42
  |
2 | CREATE VIEW b AS SELECT id, upper(id) AS big FROM a;
  |                                          ^^^ taken as text
  |
  = help: write `CAST(… AS TYPE) AS big`
"#
    );
}

#[test]
fn a_table_like_another_is_not_read() {
    let said = said(Dialect::Pg, &["CREATE TABLE a (id int);\nCREATE TABLE b (LIKE a);\n"]);
    assert_eq!(
        format!("\n{said}"),
        r#"
error[schema-unreadable]: 0001_change (Postgres): CREATE TABLE … LIKE is not read
 --> schema/0001_change.sql:2:14
  |
2 | CREATE TABLE b (LIKE a);
  |              ^ has no columns here
  |
  = help: name the columns
"#
    );
}

#[test]
fn an_open_quote_in_a_migration_is_told() {
    let said = said(Dialect::Sqlite, &["CREATE TABLE a (id TEXT DEFAULT 'x);\nCREATE TABLE b (id TEXT);\n"]);
    assert_eq!(
        format!("\n{said}"),
        r#"
error[schema-unreadable]: 0001_change (SQLite): a text or a comment is not closed
 --> schema/0001_change.sql:1:33
  |
1 | CREATE TABLE a (id TEXT DEFAULT 'x);
  |                                 ^^^^ opened here
  |
  = help: close it; the rest of this file is not read
"#
    );
}
