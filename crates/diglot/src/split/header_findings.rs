//! The full text of every finding about headers, names and the SQL below them.

use super::tests::said;
use crate::dialect::Dialect;
use crate::page::Cardinality;

#[test]
fn a_header_must_say_how_many_rows() {
    let said = said(Dialect::Pg, "-- name: lease_get\nSELECT 1;\n");
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-header]: lease_get: the header does not say how many rows the statement gives
 --> sql/lease.sql:1:1
  |
1 | -- name: lease_get
  | ^^^^^^^^^^^^^^^^^^ no cardinality
  |
  = help: write `-- name: noun_verb :one|:opt|:many|:exec|:rows|:stream`
"#
    );
}

#[test]
fn an_unknown_cardinality_is_named() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :onee\nSELECT 1;\n\n-- name: lease_put :execlastid\nDELETE FROM lease;\n\n-- name: lease_list many\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-header]: lease_get: `:onee` is not a cardinality
 --> sql/lease.sql:1:20
  |
1 | -- name: lease_get :onee
  |                    ^^^^^ not a cardinality
  |
  = help: write `:one`

error[bad-header]: lease_put: `:execlastid` is not a cardinality
 --> sql/lease.sql:4:20
  |
4 | -- name: lease_put :execlastid
  |                    ^^^^^^^^^^^ not a cardinality
  |
  = help: write `:one`, and `RETURNING` with the key at the end of the statement

error[bad-header]: lease_list: `many` is not a cardinality
 --> sql/lease.sql:7:21
  |
7 | -- name: lease_list many
  |                     ^^^^ not a cardinality
  |
  = help: write `:many`
"#
    );
}

#[test]
fn a_header_must_have_a_name() {
    let said = said(Dialect::Pg, "-- name: :one\nSELECT 1;\n");
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-header]: lease: a header without a name
 --> sql/lease.sql:1:1
  |
1 | -- name: :one
  | ^^^^^^^^^^^^^ no name
  |
  = help: write `-- name: noun_verb :one|:opt|:many|:exec|:rows|:stream`
"#
    );
}

#[test]
fn nothing_may_follow_the_cardinality() {
    let said = said(Dialect::Pg, "-- name: lease_get :one by its key\nSELECT 1;\n");
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-header]: lease_get: the header goes on after its cardinality
 --> sql/lease.sql:1:25
  |
1 | -- name: lease_get :one by its key
  |                         ^^^^^^^^^^ does not belong here
  |
  = help: put documentation on comment lines above the header
"#
    );
}

#[test]
fn a_name_must_be_one_that_a_function_can_have() {
    let said = said(
        Dialect::Pg,
        "-- name: Lease_Get :one\nSELECT 1;\n\n-- name: lease-put :one\nSELECT 1;\n\n-- name: type :one\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-name]: `Lease_Get` cannot name a statement: it is not in lower snake case
 --> sql/lease.sql:1:10
  |
1 | -- name: Lease_Get :one
  |          ^^^^^^^^^ bad name
  |
  = help: write `lease_get`

error[bad-name]: `lease-put` cannot name a statement: it is not in lower snake case
 --> sql/lease.sql:4:10
  |
4 | -- name: lease-put :one
  |          ^^^^^^^^^ bad name
  |
  = help: write `lease_put`

error[bad-name]: `type` cannot name a statement: it is a word of Rust, so no function can have it
 --> sql/lease.sql:7:10
  |
7 | -- name: type :one
  |          ^^^^ bad name
  |
  = help: write `lease_type`
"#
    );
}

#[test]
fn headers_as_sqlc_has_them_are_read() {
    let text = "-- name: LeaseGetByID :one\nSELECT 1;\n/* name: leasePut :batchexec */\nDELETE FROM lease;\n\
                -- name: HTTPLease2Copy :copyfrom\nDELETE FROM lease;\n";
    let (_, page, found) = super::tests::page(Dialect::Pg, text);
    assert!(found.is_empty(), "{found:#?}");
    let read: Vec<_> = page.statements.iter().map(|raw| (raw.name.as_str(), raw.cardinality)).collect();
    let wanted = [Cardinality::One, Cardinality::Exec, Cardinality::Exec];
    assert_eq!(read, ["lease_get_by_id", "lease_put", "http_lease2_copy"].into_iter().zip(wanted).collect::<Vec<_>>());
}

#[test]
fn a_name_is_taken_once() {
    let said = said(Dialect::Pg, "-- name: lease_get :one\nSELECT 1;\n\n-- name: lease_get :many\nSELECT 2;\n");
    assert_eq!(
        format!("\n{said}"),
        r#"
error[duplicate-name]: lease_get: two statements of this file have this name
 --> sql/lease.sql:4:10
  |
1 | -- name: lease_get :one
  |          --------- first statement of this name
...
4 | -- name: lease_get :many
  |          ^^^^^^^^^ second statement of this name
  |
  = help: give one of them another name
"#
    );
}

#[test]
fn sql_above_the_first_header_belongs_to_nobody() {
    let said = said(Dialect::Pg, "SET search_path = x;\nSELECT 1;\n\n-- name: lease_get :one\nSELECT 1;\n");
    assert_eq!(
        format!("\n{said}"),
        r#"
error[sql-before-name]: lease: SQL before the first header
 --> sql/lease.sql:1:1
  |
1 | / SET search_path = x;
2 | | SELECT 1;
  | |_________^ belongs to no statement
  |
  = help: write a header above it: `-- name: noun_verb :one`
"#
    );
}

#[test]
fn a_statement_has_sql() {
    let said = said(Dialect::Pg, "-- name: lease_get :one\n-- Nothing yet.\n\n-- name: lease_put :one\n;\n");
    assert_eq!(
        format!("\n{said}"),
        r#"
error[empty-statement]: lease_get: the statement has no SQL
 --> sql/lease.sql:1:1
  |
1 | -- name: lease_get :one
  | ^^^^^^^^^^^^^^^^^^^^^^^ nothing below this header
  |
  = help: write the SQL below the header, or remove the header

error[empty-statement]: lease_put: the statement has no SQL
 --> sql/lease.sql:4:1
  |
4 | -- name: lease_put :one
  | ^^^^^^^^^^^^^^^^^^^^^^^ nothing below this header
  |
  = help: write the SQL below the header, or remove the header
"#
    );
}

#[test]
fn an_open_quote_hides_only_its_own_statement() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\nSELECT 'abc;\n\n-- name: lease_put :one\nSELECT \"a;\n\n-- name: lease_end :one\nSELECT /* a;\n\n-- name: lease_run :one\nSELECT $x$ a;\n\n-- name: lease_list :one\nSELECT 'fine';\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unterminated]: lease_get: a text is not closed
 --> sql/lease.sql:2:8
  |
2 | SELECT 'abc;
  |        ^^^^^ opened here
  |
  = help: close it with `'`

error[unterminated]: lease_put: a quoted name is not closed
 --> sql/lease.sql:5:8
  |
5 | SELECT "a;
  |        ^^^ opened here
  |
  = help: close it with `"`

error[unterminated]: lease_end: a block comment is not closed
 --> sql/lease.sql:8:8
  |
8 | SELECT /* a;
  |        ^^^^^ opened here
  |
  = help: close it with `*/`

error[unterminated]: lease_run: a dollar-quoted text is not closed
  --> sql/lease.sql:11:8
   |
11 | SELECT $x$ a;
   |        ^^^^^^ opened here
   |
   = help: close it with `$x$`
"#
    );
}

#[test]
fn a_header_is_a_line_of_its_own() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\nSELECT 1; -- name: lease_put :one\nSELECT 2;\nSELECT 3; /* name: lease_end :exec */\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-header]: lease: a header must be a `--` comment on a line of its own
 --> sql/lease.sql:2:11
  |
2 | SELECT 1; -- name: lease_put :one
  |           ^^^^^^^^^^^^^^^^^^^^^^^ not read as a header
  |
  = help: put `-- name: lease_put :one` on its own line

error[bad-header]: lease: a header must be a `--` comment on a line of its own
 --> sql/lease.sql:4:11
  |
4 | SELECT 3; /* name: lease_end :exec */
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^ not read as a header
  |
  = help: put `-- name: lease_end :exec` on its own line
"#
    );
}
