//! The full text of every finding about annotations.

use super::tests::said;
use crate::dialect::Dialect;

#[test]
fn a_slip_of_the_finger_is_no_comment() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\n-- diverge(lock): one writer at a time\n-- Allow(shard-key): it reads all of them\n-- colum: epoch i64\n-- nam: lease_put :one\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease_get: `diverge` is not an annotation
 --> sql/lease.sql:2:4
  |
2 | -- diverge(lock): one writer at a time
  |    ^^^^^^^ did you mean `diverges`?
  |
  = help: write `-- diverges(FACT): REASON`, or word the comment so that it reads as prose

error[unknown-annotation]: lease_get: `Allow` is not an annotation
 --> sql/lease.sql:3:4
  |
3 | -- Allow(shard-key): it reads all of them
  |    ^^^^^ lower case: `allow`
  |
  = help: write `-- allow(RULE): REASON`, or word the comment so that it reads as prose

error[unknown-annotation]: lease_get: `colum` is not an annotation
 --> sql/lease.sql:4:4
  |
4 | -- colum: epoch i64
  |    ^^^^^ did you mean `column`?
  |
  = help: write `-- column: NAME TYPE`, or word the comment so that it reads as prose

error[unknown-annotation]: lease_get: `nam` is not an annotation
 --> sql/lease.sql:5:4
  |
5 | -- nam: lease_put :one
  |    ^^^ did you mean `name`?
  |
  = help: write `-- name: noun_verb :one`, or word the comment so that it reads as prose
"#
    );
}

#[test]
fn a_half_written_annotation_is_no_comment() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\n-- diverges(where order): there is no partition\n-- diverges lock: one writer at a time\n-- diverges(lock) one writer at a time\n-- diverges(lock: one writer at a time\n-- allow(Shard Key): it reads all of them\n-- allow(shard-key) it reads all of them\n-- allow(shard-key: it reads all of them\n-- returns: epoch\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease_get: `where order` does not name one fact
 --> sql/lease.sql:2:13
  |
2 | -- diverges(where order): there is no partition
  |             ^^^^^^^^^^^ one fact, with one item at most
  |
  = help: write `-- diverges(FACT): REASON` or `-- diverges(FACT.ITEM): REASON`; one line for each fact

error[unknown-annotation]: lease_get: `diverges` is not written as an annotation
 --> sql/lease.sql:3:4
  |
3 | -- diverges lock: one writer at a time
  |    ^^^^^^^^ not understood
  |
  = help: write `-- diverges(FACT): REASON`, or word the comment so that it reads as prose

error[unknown-annotation]: lease_get: `diverges(…)` is not followed by a colon
 --> sql/lease.sql:4:1
  |
4 | -- diverges(lock) one writer at a time
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a colon is missing
  |
  = help: write `-- diverges(FACT): REASON` or `-- diverges(FACT.ITEM): REASON`

error[unknown-annotation]: lease_get: the parenthesis of `diverges(…)` is not closed
 --> sql/lease.sql:5:1
  |
5 | -- diverges(lock: one writer at a time
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no `)` in this line
  |
  = help: write `-- diverges(FACT): REASON` or `-- diverges(FACT.ITEM): REASON`

error[unknown-annotation]: lease_get: `Shard Key` does not name one rule
 --> sql/lease.sql:6:10
  |
6 | -- allow(Shard Key): it reads all of them
  |          ^^^^^^^^^ one rule, in kebab case
  |
  = help: write `-- allow(RULE): REASON`; one line for each rule

error[unknown-annotation]: lease_get: `allow(…)` is not followed by a colon
 --> sql/lease.sql:7:1
  |
7 | -- allow(shard-key) it reads all of them
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a colon is missing
  |
  = help: write `-- allow(RULE): REASON`

error[unknown-annotation]: lease_get: the parenthesis of `allow(…)` is not closed
 --> sql/lease.sql:8:1
  |
8 | -- allow(shard-key: it reads all of them
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no `)` in this line
  |
  = help: write `-- allow(RULE): REASON`

error[unknown-annotation]: lease_get: `returns` is not written as an annotation
 --> sql/lease.sql:9:4
  |
9 | -- returns: epoch
  |    ^^^^^^^ not understood
  |
  = help: write `-- returns`, or word the comment so that it reads as prose
"#
    );
}

#[test]
fn a_declared_type_must_be_one_of_the_list() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\n-- param: id bigint null\n-- column: epoch money\n-- column: epoch\n-- param: 1st text\n-- param id i64\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease_get: `bigint` is not a type
 --> sql/lease.sql:2:14
  |
2 | -- param: id bigint null
  |              ^^^^^^ not a type
  |
  = help: write `-- param: id i64 null`

error[unknown-annotation]: lease_get: `money` is not a type
 --> sql/lease.sql:3:18
  |
3 | -- column: epoch money
  |                  ^^^^^ not a type
  |
  = help: the types are: bool i16 i32 i64 numeric f64 text bytes uuid json timestamp datetime date time text[] i64[] uuid[]

error[unknown-annotation]: lease_get: `column` takes a name and a type
 --> sql/lease.sql:4:1
  |
4 | -- column: epoch
  | ^^^^^^^^^^^^^^^^ not a name and a type
  |
  = help: write `-- column: NAME TYPE` or `-- column: NAME TYPE null`

error[unknown-annotation]: lease_get: `1st` is not the name of a param
 --> sql/lease.sql:5:11
  |
5 | -- param: 1st text
  |           ^^^ not a name
  |
  = help: write `-- param: NAME TYPE` or `-- param: NAME TYPE null`

error[unknown-annotation]: lease_get: `param` is not written as an annotation
 --> sql/lease.sql:6:4
  |
6 | -- param id i64
  |    ^^^^^ not understood
  |
  = help: write `-- param: NAME TYPE`, or word the comment so that it reads as prose
"#
    );
}

#[test]
fn only_takes_a_dialect_and_a_reason() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\n-- only: postgres — has no such thing here\nSELECT 1;\n\n-- name: lease_put :one\n-- only: pg since the other cannot\nSELECT 1;\n\n-- name: lease_end :one\n-- only: mysql — has no such thing here\nSELECT 1;\n\n-- name: lease_run :one\n-- only pg — has no such thing here\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease_get: `postgres` is not a dialect
 --> sql/lease.sql:2:10
  |
2 | -- only: postgres — has no such thing here
  |          ^^^^^^^^ not a dialect
  |
  = help: write `-- only: pg — REASON`

error[unknown-annotation]: lease_put: `only` has no dash before its reason
 --> sql/lease.sql:6:1
  |
6 | -- only: pg since the other cannot
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ a dash is missing
  |
  = help: write `-- only: pg — since the other cannot`

error[unknown-annotation]: lease_end: `mysql` is not a dialect
  --> sql/lease.sql:10:10
   |
10 | -- only: mysql — has no such thing here
   |          ^^^^^ not a dialect
   |
   = help: write `-- only: pg — REASON` or `-- only: sqlite — REASON`

error[unknown-annotation]: lease_run: `only` is not written as an annotation
  --> sql/lease.sql:14:4
   |
14 | -- only pg — has no such thing here
   |    ^^^^ not understood
   |
   = help: write `-- only: DIALECT — REASON`, or word the comment so that it reads as prose
"#
    );
}

#[test]
fn an_optional_part_is_closed_and_made_of_whole_conjuncts() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_list :many\nSELECT 1\n  FROM lease\n WHERE true\n-- if: worker\n   AND worker = :worker\n;\n\n\
         -- name: lease_sort :many\nSELECT 1\n  FROM lease\n-- if: lane\n ORDER BY lane\n-- end\n;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[bad-optional-part]: lease_list: an optional part is not closed
 --> sql/lease.sql:5:1
  |
5 | -- if: worker
  | ^^^^^^^^^^^^^ begins here
  |
  = help: write `-- end` on a line below its condition

error[bad-optional-part]: lease_sort: the optional part on `lane` is not made of whole conjuncts
  --> sql/lease.sql:13:2
   |
12 | -- if: lane
   | ----------- begins here
13 |  ORDER BY lane
   |  ^^^^^ does not begin with AND
   |
   = help: put `-- if:` and `-- end` around conditions that begin with AND, such as `AND lane = :lane`
"#
    );
}

#[test]
fn a_reason_is_at_least_three_words() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\n-- diverges(lock)\n-- diverges(where.id): same thing\n-- allow(shard-key): —\n-- only: pg — because\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[missing-reason]: lease_get: the divergence has no reason
 --> sql/lease.sql:2:1
  |
2 | -- diverges(lock)
  | ^^^^^^^^^^^^^^^^^ why is this meant?
  |
  = help: say in a few words why it is meant: `-- diverges(lock): REASON`

error[missing-reason]: lease_get: the divergence has a reason of fewer than three words
 --> sql/lease.sql:3:24
  |
3 | -- diverges(where.id): same thing
  |                        ^^^^^^^^^^ too short to convince a reader
  |
  = help: say in a few words why it is meant: `-- diverges(where.id): REASON`

error[missing-reason]: lease_get: the exception has no reason
 --> sql/lease.sql:4:1
  |
4 | -- allow(shard-key): —
  | ^^^^^^^^^^^^^^^^^^^^^^ why is this meant?
  |
  = help: say in a few words why it is meant: `-- allow(shard-key): REASON`

error[missing-reason]: lease_get: the one-sided statement has a reason of fewer than three words
 --> sql/lease.sql:5:15
  |
5 | -- only: pg — because
  |               ^^^^^^^ too short to convince a reader
  |
  = help: say in a few words why it is meant: `-- only: pg — REASON`
"#
    );
}

#[test]
fn an_annotation_between_two_statements_belongs_to_neither() {
    let said = said(
        Dialect::Pg,
        "-- param: id text\n\n-- name: lease_get :one\nSELECT 1;\n-- allow(shard-key): it reads all of them\n\n-- name: lease_put :one\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease: an annotation that belongs to no statement
 --> sql/lease.sql:1:1
  |
1 | -- param: id text
  | ^^^^^^^^^^^^^^^^^ between two statements
  |
  = help: move it next to the header of its statement, with no blank line between

error[unknown-annotation]: lease: an annotation that belongs to no statement
 --> sql/lease.sql:5:1
  |
5 | -- allow(shard-key): it reads all of them
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ between two statements
  |
  = help: move it next to the header of its statement, with no blank line between
"#
    );
}

#[test]
fn returns_stands_above_one_statement_of_a_unit() {
    let said = said(
        Dialect::Sqlite,
        "-- name: lease_get :one\n-- returns\nSELECT 1;\n-- returns\nSELECT 2;\n\n-- name: lease_put :one\nSELECT 1\n-- returns\n  + 1;\n\n-- name: lease_end :one\nSELECT 1;\n-- returns\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease_get: two statements of the unit are marked as the one that returns rows
 --> sql/lease.sql:4:1
  |
2 | -- returns
  | ---------- first mark
3 | SELECT 1;
4 | -- returns
  | ^^^^^^^^^^ second mark
  |
  = help: keep one `-- returns`

error[unknown-annotation]: lease_put: `-- returns` marks no statement
 --> sql/lease.sql:9:1
  |
9 | -- returns
  | ^^^^^^^^^^ no statement starts below this line
  |
  = help: put it on the line above the statement of the unit that returns rows

error[unknown-annotation]: lease_end: `-- returns` marks no statement
  --> sql/lease.sql:14:1
   |
14 | -- returns
   | ^^^^^^^^^^ no statement starts below this line
   |
   = help: put it on the line above the statement of the unit that returns rows
"#
    );
}

#[test]
fn a_declaration_stands_once() {
    let said = said(
        Dialect::Pg,
        "-- name: lease_get :one\n-- param: id text\n-- param: id uuid\n-- only: pg — has no such thing here\n-- only: sqlite — has no such thing here\nSELECT 1;\n",
    );
    assert_eq!(
        format!("\n{said}"),
        r#"
error[unknown-annotation]: lease_get: `param id` is declared twice
 --> sql/lease.sql:3:1
  |
2 | -- param: id text
  | ----------------- declared first
3 | -- param: id uuid
  | ^^^^^^^^^^^^^^^^^ declared again
  |
  = help: keep one of the two lines

error[unknown-annotation]: lease_get: `only` is declared twice
 --> sql/lease.sql:5:1
  |
4 | -- only: pg — has no such thing here
  | ------------------------------------ declared first
5 | -- only: sqlite — has no such thing here
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ declared again
  |
  = help: keep one of the two lines
"#
    );
}
