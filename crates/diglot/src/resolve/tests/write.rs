//! INSERT, UPDATE, DELETE.

use insta::assert_snapshot;

use super::{SCHEMA, check};
use crate::dialect::Dialect::{Pg, Sqlite};

#[test]
fn an_upsert_names_its_target_by_columns_or_by_constraint() {
    let sql = "INSERT INTO b AS held (id, a_id, label) VALUES (:id, :a_id, DEFAULT) ON CONFLICT ON CONSTRAINT b_pkey \
               DO UPDATE SET label = excluded.label WHERE held.a_id <> excluded.a_id RETURNING id, (xmax = 0) AS made";
    assert_snapshot!(check(SCHEMA, sql, Pg), @r#"
    statement 0 -> rows
      insert into s0 = b as held
      columns id, a_id, label
      values :id, :a_id, `DEFAULT`
      on conflict Some(["id"])
        update, excluded is s1
        set label = s1.label
        where (s0.a_id <> s1.a_id)
      returning id: i64 = s0.id
      returning made: bool = (s0.xmax = 0)
    params id a_id
    "#);
    let sql =
        "INSERT INTO b (id, label) SELECT id, note FROM a WHERE true ON CONFLICT (id) WHERE label > 'a' DO NOTHING";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @r#"
    statement 0
      insert into s1 = b as b
      columns id, label
      select id: i64 = s0.id
      select note: text null = s0.note
      from s0 = a as a
      where true
      on conflict Some(["id"])
        target where (s1.label > 'a')
        nothing
    "#);
}

#[test]
fn insert_or_and_default_values_are_kept() {
    assert_snapshot!(check(SCHEMA, "INSERT OR IGNORE INTO b VALUES (1, 2, 'x')", Sqlite), @"
    statement 0
      insert into s0 = b as b
      columns id, a_id, label
      or ignore
      values 1, 2, 'x'
    ");
    assert_snapshot!(check(SCHEMA, "INSERT INTO b DEFAULT VALUES RETURNING *", Sqlite), @"
    statement 0 -> rows
      insert into s0 = b as b
      columns 
      values 
      returning id: i64 = s0.id
      returning a_id: i64 = s0.a_id
      returning label: text = s0.label
    ");
}

#[test]
fn returning_of_an_update_shows_the_new_row() {
    let sql = "UPDATE a SET n = NULL, note = :note FROM b WHERE b.a_id = a.id AND a.n IS NOT NULL AND a.doc IS NOT NULL \
               RETURNING a.n, a.note, a.doc, b.label";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
      update s0 = a as a
      set n = null
      set note = :note
      from s1 = b as b
      where (((s1.a_id = s0.id) and (s0.n is not null)) and (s0.doc is not null))
      returning n: i64 null = s0.n
      returning note: text = s0.note
      returning doc: json = s0.doc
      returning label: text = s1.label
    params note
    ");
}

#[test]
fn row_assignments_are_taken_apart() {
    assert_snapshot!(check(SCHEMA, "UPDATE a SET (n, note) = (1, :note) WHERE id = 1", Sqlite), @"
    statement 0
      update s0 = a as a
      set n = 1
      set note = :note
      where (s0.id = 1)
    params note
    ");
    let sql = "UPDATE a SET (n, note) = (SELECT b.id, b.label FROM b WHERE b.a_id = a.id) WHERE id = 1";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0
      update s0 = a as a
      set n = {select id: i64 = s1.id; from s1 = b as b; where (s1.a_id = s0.id)}
      set note = {select label: text = s1.label; from s1 = b as b; where (s1.a_id = s0.id)}
      where (s0.id = 1)
    ");
}

#[test]
fn writing_ctes_are_parts_and_give_their_returned_columns() {
    let sql = "WITH gone AS (DELETE FROM b USING a WHERE b.a_id = a.id AND a.id = :id RETURNING b.id, b.label), \
               kept AS (UPDATE a SET n = 0 WHERE id = :id RETURNING id) \
               INSERT INTO b (id, a_id, label) SELECT gone.id + 1, kept.id, gone.label FROM gone, kept RETURNING id";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    cte gone
      delete from s0 = b as b
      from s1 = a as a
      where ((s0.a_id = s1.id) and (s1.id = :id))
      returning id: i64 = s0.id
      returning label: text = s0.label
    cte kept
      update s2 = a as a
      set n = 0
      where (s2.id = :id)
      returning id: i64 = s2.id
    statement 0 -> rows
      insert into s5 = b as b
      columns id, a_id, label
      select ?column?: i64 = (s3.id + 1)
      select id: i64 = s4.id
      select label: text = s3.label
      from s3 = cte gone as gone
      from join s4 = cte kept as kept
      returning id: i64 = s5.id
    params id id
    ");
}

#[test]
fn a_unit_returns_the_rows_of_its_last_statement() {
    let sql = "UPDATE a SET n = 1 WHERE id = :id; DELETE FROM b WHERE a_id = :id RETURNING id";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    statement 0
      update s0 = a as a
      set n = 1
      where (s0.id = :id)
    statement 1 -> rows
      delete from s1 = b as b
      where (s1.a_id = :id)
      returning id: i64 = s1.id
    params id id
    ");
    let sql = "DELETE FROM b WHERE a_id = :id RETURNING id; UPDATE a SET n = 1 WHERE id = :id";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    statement 0 -> rows
      delete from s0 = b as b
      where (s0.a_id = :id)
      returning id: i64 = s0.id
    statement 1
      update s1 = a as a
      set n = 1
      where (s1.id = :id)
    params id id
    ");
}
