//! What is wrong, where, and what to write instead.

use insta::assert_snapshot;

use super::{SCHEMA, check};
use crate::dialect::Dialect::{Pg, Sqlite};

#[test]
fn all_wrong_names_are_found_at_once() {
    assert_snapshot!(check(SCHEMA, "SELECT nite, x.id, b.labl FROM a JOIN b ON b.aid = a.id JOIN cc ON true", Pg), @"
    unknown-column: `b` has no column `aid`, which `thing_do` uses
      ^ `b.aid` no such column
      help: did you mean `id`?
    unknown-table: `thing_do` reads `cc`, which the Postgres schema does not have
      ^ `cc` no such table
    unknown-table: `x` in `thing_do` names no relation of the statement
      ^ `x.id` not in any FROM here
    unknown-column: `b` has no column `labl`, which `thing_do` uses
      ^ `b.labl` no such column
      help: did you mean `label`?
    ");
}

#[test]
fn a_name_in_two_relations_is_ambiguous() {
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a JOIN b ON b.a_id = a.id", Sqlite), @"
    ambiguous-column: `id` in `thing_do` is a column of `a` and `b`
      ^ `id` which one?
      help: write `a.id`
    ");
    let sql = "INSERT INTO b (id, label) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET label = label";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    ambiguous-column: `label` in `thing_do` is a column of `b` and `excluded`
      ^ `label` which one?
      help: write `b.label`
    ");
}

#[test]
fn values_must_fit_the_columns() {
    assert_snapshot!(check(SCHEMA, "INSERT INTO b (id, label) VALUES (1, 'x'), (2, 'y', 3)", Pg), @"
    insert-width: `thing_do` inserts 3 values into 2 columns of `b`
      ^ `2, 'y', 3` 3 values
      - `id, label` 2 columns named
    ");
    assert_snapshot!(check(SCHEMA, "INSERT INTO b VALUES (1, 2)", Sqlite), @"
    insert-width: `thing_do` inserts 2 values into 3 columns of `b`
      ^ `1, 2` 2 values
      - `b` 3 columns in the table
    ");
    assert_snapshot!(check(SCHEMA, "INSERT INTO b VALUES (1, 2) ON CONFLICT DO NOTHING", Pg), @"
    statement 0
      insert into s0 = b as b
      columns id, a_id
      values 1, 2
      on conflict None
        nothing
    ");
}

#[test]
fn written_columns_and_constraints_must_exist() {
    assert_snapshot!(check(SCHEMA, "UPDATE a SET nte = 1, n = 2 WHERE id = 1", Pg), @"
    unknown-column: `a` has no column `nte`, which `thing_do` uses
      ^ `nte` no such column
      help: did you mean `note`?
    ");
    assert_snapshot!(check(SCHEMA, "INSERT INTO b (id) VALUES (1) ON CONFLICT (ident) DO NOTHING", Sqlite), @"
    unknown-column: `b` has no column `ident`, which `thing_do` uses
      ^ `ident` no such column
    ");
    assert_snapshot!(check(SCHEMA, "INSERT INTO b (id) VALUES (1) ON CONFLICT ON CONSTRAINT b_key DO NOTHING", Pg), @"
    unknown-constraint: `b` has no constraint `b_key`, which `thing_do` names
      ^ `b_key` no such constraint
      help: name the columns: ON CONFLICT (column, …)
    ");
}

#[test]
fn a_text_in_double_quotes_is_a_column() {
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a WHERE note = \"ready\"", Sqlite), @r#"
    unknown-column: `thing_do` writes a text in double quotes, which are for names
      ^ `"ready"` no column is called so
      help: write it in single quotes
    "#);
    // A word in capitals is no column that somebody wrote wrong.
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a WHERE note = \"NOTED\"", Sqlite), @r#"
    unknown-column: `thing_do` writes a text in double quotes, which are for names
      ^ `"NOTED"` no column is called so
      help: write it in single quotes
    "#);
}

#[test]
fn on_sqlite_returning_sees_the_target_alone() {
    let sql = "UPDATE a SET n = 1 FROM b WHERE b.a_id = a.id RETURNING b.label";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    unknown-table: `b` in `thing_do` names no relation of the statement
      ^ `b.label` not in any FROM here
    ");
}

#[test]
fn a_syntax_error_points_at_the_word() {
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a\n WHERE id = = 1", Sqlite), @"
    syntax: `thing_do` cannot be read: expected an expression
      ^ `=` not understood here
      help: if SQLite itself accepts this text, write the clause in a plainer form: CAST instead of a rare literal, a subquery instead of a rare join
    ");
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a WHERE (id = 1", Pg), @"
    syntax: `thing_do` cannot be read: expected )
      ^ `1` the text ends too early
      help: if Postgres itself accepts this text, write the clause in a plainer form: CAST instead of a rare literal, a subquery instead of a rare join
    ");
    assert_snapshot!(check(SCHEMA, "SELECT 'ä' AS x, id FORM a", Pg), @"
    syntax: `thing_do` cannot be read: expected the end of the statement
      ^ `a` not understood here
      help: if Postgres itself accepts this text, write the clause in a plainer form: CAST instead of a rare literal, a subquery instead of a rare join
    ");
    assert_snapshot!(check(SCHEMA, "SELECT 'never closed", Pg), @"
    syntax: `thing_do` cannot be read: Unterminated string literal
      ^ `'never closed` the text ends too early
      help: if Postgres itself accepts this text, write the clause in a plainer form: CAST instead of a rare literal, a subquery instead of a rare join
    ");
}

#[test]
fn other_kinds_of_statement_are_refused() {
    assert_snapshot!(check(SCHEMA, "CREATE INDEX i ON a (n)", Pg), @"
    unsupported-statement: `thing_do` uses CREATE, which cannot be compared
      ^ `CREATE` not supported
      help: write it as SELECT, INSERT, UPDATE or DELETE in their plain forms
    ");
    assert_snapshot!(check(SCHEMA, "MERGE INTO a USING b ON a.id = b.id WHEN MATCHED THEN DELETE", Pg), @"
    unsupported-statement: `thing_do` uses MERGE, which cannot be compared
      ^ `MERGE` not supported
      help: write it as SELECT, INSERT, UPDATE or DELETE in their plain forms
    ");
}

#[test]
fn deep_and_long_texts_are_refused_without_a_panic() {
    for dialect in [Sqlite, Pg] {
        let deep = format!("SELECT {}1{}", "(".repeat(3000), ")".repeat(3000));
        assert!(check("", &deep, dialect).contains("more than 50 brackets"));
        let negated = format!("SELECT {} true", "NOT ".repeat(5000));
        assert!(check("", &negated, dialect).contains("chains more than"));
        let negated = format!("SELECT {} true", "NOT ".repeat(200));
        assert!(check("", &negated, dialect).contains("cannot be read"));
        let nested = format!("SELECT {}1{}", "(SELECT ".repeat(2000), ")".repeat(2000));
        assert!(check("", &nested, dialect).contains("more than 50 brackets"));
        let chain = format!("SELECT 1{}", " + 1".repeat(3000));
        assert!(check("", &chain, dialect).contains("chains more than"));
        let long = format!("SELECT 1{}", " + 1".repeat(30000));
        assert!(check("", &long, dialect).contains("more than"));
    }
}
