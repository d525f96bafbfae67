//! SELECT in its forms.

use insta::assert_snapshot;

use super::{SCHEMA, check};
use crate::dialect::Dialect::{Pg, Sqlite};

#[test]
fn a_star_is_expanded_and_keeps_the_types_of_the_table() {
    assert_snapshot!(check(SCHEMA, "SELECT *, b.label FROM a JOIN b ON b.a_id = a.id WHERE a.id = :id", Pg), @"
    statement 0 -> rows
      select id: i64 = s0.id
      select n: i64 null = s0.n
      select small: i16 = s0.small
      select note: text null = s0.note
      select doc: json null = s0.doc
      select id: i64 = s1.id
      select a_id: i64 = s1.a_id
      select label: text = s1.label
      select label: text = s1.label
      from s0 = a as a
      from join s1 = b as b
        on (s1.a_id = s0.id)
      where (s0.id = :id)
    params id
    ");
}

#[test]
fn an_outer_join_makes_columns_nullable_until_a_condition_proves_a_row() {
    let sql = "SELECT a.id, b.label, c.label AS other FROM a LEFT JOIN b ON b.a_id = a.id LEFT JOIN b AS c \
               ON c.a_id = a.id WHERE c.id > 0";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
      select id: i64 = s0.id
      select label: text null = s1.label
      select other: text = s2.label
      from s0 = a as a
      from left join s1 = b as b
        on (s1.a_id = s0.id)
      from left join s2 = b as c
        on (s2.a_id = s0.id)
      where (s2.id > 0)
    ");
    let sql = "SELECT x.id, y.id AS other FROM a AS x JOIN a AS y ON y.id = x.n FULL JOIN b ON b.a_id = x.id";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
      select id: i64 null = s0.id
      select other: i64 null = s1.id
      from s0 = a as x
      from join s1 = a as y
        on (s1.id = s0.n)
      from full join s2 = b as b
        on (s2.a_id = s0.id)
    ");
    assert_snapshot!(check(SCHEMA, "SELECT a.id, b.label FROM b RIGHT JOIN a ON b.a_id = a.id", Pg), @"
    statement 0 -> rows
      select id: i64 = s1.id
      select label: text null = s0.label
      from s0 = b as b
      from right join s1 = a as a
        on (s0.a_id = s1.id)
    ");
    assert_snapshot!(check(SCHEMA, "SELECT a.id, b.label FROM b FULL JOIN a ON b.a_id = a.id", Sqlite), @"
    statement 0 -> rows
      select id: i64 null = s1.id
      select label: text null = s0.label
      from s0 = b as b
      from full join s1 = a as a
        on (s0.a_id = s1.id)
    ");
}

#[test]
fn a_condition_that_null_fails_makes_its_columns_present() {
    let sql = "SELECT note, n, doc, id FROM a WHERE note IS NOT NULL AND n > :least AND (doc = :doc OR id = 1)";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    statement 0 -> rows
      select note: text = s0.note
      select n: i64 = s0.n
      select doc: json null = s0.doc
      select id: i64 = s0.id
      from s0 = a as a
      where (((s0.note is not null) and (s0.n > :least)) and ((s0.doc = :doc) or (s0.id = 1)))
    params least doc
    ");
}

#[test]
fn ctes_come_before_the_statement_as_parts() {
    let sql = "WITH RECURSIVE up(id, depth) AS (SELECT id, 0 FROM a WHERE id = :id UNION ALL \
               SELECT a.id, up.depth + 1 FROM a JOIN up ON a.n = up.id), \
               named AS MATERIALIZED (SELECT id FROM up) SELECT count(*) AS n FROM named";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    cte up recursive
        select id: i64 = s0.id
        select depth: i32 = 0
        from s0 = a as a
        where (s0.id = :id)
      union all
        select id: i64 = s1.id
        select ?column?: i32 = (s2.depth + 1)
        from s1 = a as a
        from join s2 = cte up as up
          on (s1.n = s2.id)
    cte named materialized recursive
      select id: i64 = s3.id
      from s3 = cte up as up
    statement 0 -> rows
      select n: i64 = count(*)
      from s4 = cte named as named
    params id
    ");
}

#[test]
fn a_lateral_subquery_sees_what_stands_before_it() {
    let sql = "SELECT a.id, last.label FROM a CROSS JOIN LATERAL (SELECT b.label FROM b WHERE b.a_id = a.id \
               ORDER BY b.id DESC NULLS LAST LIMIT 1) AS last";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
      select id: i64 = s0.id
      select label: text = s2.label
      from s0 = a as a
      from cross join lateral s2 = subquery as last
        select label: text = s1.label
        from s1 = b as b
        where (s1.a_id = s0.id)
        order s1.id desc nulls last
        limit 1
    ");
    let hidden = "SELECT a.id FROM a, (SELECT b.label FROM b WHERE b.a_id = a.id) AS x";
    assert_snapshot!(check(SCHEMA, hidden, Pg), @"
    unknown-table: `a` in `thing_do` names no relation of the statement
      ^ `a.id` not in any FROM here
    ");
}

#[test]
fn locks_belong_to_the_query_that_they_end() {
    let sql = "SELECT id FROM (SELECT id FROM a FOR NO KEY UPDATE SKIP LOCKED) AS x JOIN b USING (id) \
               FOR KEY SHARE OF x, b NOWAIT";
    assert_snapshot!(check(SCHEMA, sql, Pg), @r#"
    statement 0 -> rows
      select id: i64 = s1.id
      from s1 = subquery as x
        select id: i64 = s0.id
        from s0 = a as a
        lock no key update skip locked of []
      from join s2 = b as b
        on (s1.id = s2.id)
      lock key share nowait of ["x", "b"]
    "#);
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a AS x FOR UPDATE OF a", Pg), @"
    unknown-table: `thing_do` locks `a`, which its FROM does not have
      ^ `FOR UPDATE OF a` no such relation here
    ");
}

#[test]
fn sort_and_group_keys_may_be_numbers_or_aliases() {
    let sql = "SELECT n + 1 AS next, count(*) FROM a GROUP BY next HAVING count(*) > 1 ORDER BY 2 DESC, next";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    statement 0 -> rows
      select next: i64 null = (s0.n + 1)
      select count(*): i64 = count(*)
      from s0 = a as a
      group (s0.n + 1)
      having (count(*) > 1)
      order count(*) desc
      order (s0.n + 1)
    ");
}

#[test]
fn set_operations_merge_nullability() {
    let sql = "SELECT id, note FROM a UNION ALL SELECT id, label FROM b ORDER BY 1 LIMIT 5 OFFSET 2";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
        select id: i64 = s0.id
        select note: text null = s0.note
        from s0 = a as a
      union all
        select id: i64 = s1.id
        select label: text = s1.label
        from s1 = b as b
      order s0.id
      limit 5
      offset 2
    ");
    assert_snapshot!(check(SCHEMA, "SELECT id FROM a UNION SELECT NULL", Sqlite), @"
    statement 0 -> rows
        select id: i64 = s0.id
        from s0 = a as a
      union
        select NULL: ? = null
    ");
}

#[test]
fn intersect_binds_tighter_on_postgres_alone() {
    let sql = "SELECT id FROM a UNION SELECT a_id FROM b INTERSECT SELECT n FROM a";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    statement 0 -> rows
          select id: i64 = s0.id
          from s0 = a as a
        union
          select a_id: i64 = s1.a_id
          from s1 = b as b
      intersect
        select n: i64 null = s2.n
        from s2 = a as a
    ");
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
        select id: i64 = s0.id
        from s0 = a as a
      union
          select a_id: i64 = s1.a_id
          from s1 = b as b
        intersect
          select n: i64 null = s2.n
          from s2 = a as a
    ");
}

#[test]
fn window_functions_keep_their_window() {
    let sql = "SELECT row_number() OVER w AS r, sum(n) OVER (PARTITION BY id ORDER BY n ROWS BETWEEN 1 PRECEDING AND \
               CURRENT ROW) AS s FROM a WINDOW w AS (ORDER BY id DESC)";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
      select r: i64 = row_number() over [ order s0.id desc frame ]
      select s: numeric null = sum(s0.n) over [s0.id order s0.n frame rows between $ preceding and current row]
      from s0 = a as a
    ");
}

#[test]
fn functions_in_from_have_columns() {
    assert_snapshot!(check(SCHEMA, "SELECT e.value, e.type FROM a, json_each(a.doc) AS e", Sqlite), @"
    statement 0 -> rows
      select value: ? = s1.value
      select type: text = s1.type
      from s0 = a as a
      from join s1 = json_each(s0.doc) as e
    ");
    let sql = "SELECT t.id, t.pos, g, e FROM unnest(:ids::bigint[]) WITH ORDINALITY AS t(id, pos), \
               generate_series(1, 3) AS g, jsonb_array_elements_text(:tags) AS e";
    assert_snapshot!(check(SCHEMA, sql, Pg), @"
    statement 0 -> rows
      select id: i64 = s0.id
      select pos: i64 = s0.pos
      select g: i32 = s1.g
      select value: text null = s2.value
      from s0 = unnest((:ids as bigint[])) as t
      from join s1 = generate_series(1, 3) as g
      from join s2 = jsonb_array_elements_text(:tags) as e
    params ids tags
    ");
}

#[test]
fn values_rows_and_distinct_on_are_kept() {
    assert_snapshot!(check(SCHEMA, "WITH v(k, x) AS (VALUES (1, 'a'), (2, NULL)) SELECT x, k FROM v", Pg), @"
    cte v
      values 1, 'a'
      values 2, null
    statement 0 -> rows
      select x: text null = s0.x
      select k: i32 = s0.k
      from s0 = cte v as v
    ");
    assert_snapshot!(check(SCHEMA, "SELECT DISTINCT ON (n) n, id FROM a ORDER BY n, id FETCH FIRST 3 ROWS ONLY", Pg), @"
    statement 0 -> rows
      distinct s0.n
      select n: i64 null = s0.n
      select id: i64 = s0.id
      from s0 = a as a
      order s0.n
      order s0.id
      limit 3
    ");
}

#[test]
fn sqlite_binds_operators_in_its_own_order() {
    let sql = "SELECT doc ->> 'n' + 1, -n || 'x', a.id = 1 < 2, n & 3 + 1, note IS NOT :note, note IS NULL, \
               note NOT GLOB 'x*', n ISNULL FROM a";
    assert_snapshot!(check(SCHEMA, sql, Sqlite), @"
    statement 0 -> rows
      select doc ->> 'n' + 1: i64 null = ((s0.doc ->> 'n') + 1)
      select -n || 'x': text null = ((- s0.n) || 'x')
      select a.id = 1 < 2: bool = (s0.id = (1 < 2))
      select n & 3 + 1: i64 null = (s0.n & (3 + 1))
      select note IS NOT :note: bool = (s0.note is distinct from :note)
      select note IS NULL: bool = (s0.note is null)
      select note NOT GLOB 'x*': bool null = (s0.note not glob 'x*')
      select n ISNULL: bool = (s0.n is null)
      from s0 = a as a
    params note
    ");
    assert_snapshot!(check(SCHEMA, "SELECT doc ->> 'n' || 'x', n ISNULL, note !~ 'x' FROM a", Pg), @"
    statement 0 -> rows
      select ?column?: text null = ((s0.doc ->> 'n') || 'x')
      select ?column?: bool = (s0.n is null)
      select ?column?: bool null = (s0.note !~ 'x')
      from s0 = a as a
    ");
}

#[test]
fn a_tilde_of_postgres_takes_the_calculation_behind_it() {
    let same = [("2 * ~n + 1", "2 * (~(n + 1))"), ("~n | 4", "(~n) | 4"), ("n + ~n * 2 << 1", "(n + ~(n * 2)) << 1")];
    for (bare, bracketed) in same {
        let [bare, bracketed] = [bare, bracketed].map(|text| check(SCHEMA, &format!("SELECT {text} AS x FROM a"), Pg));
        assert_eq!(bare, bracketed);
    }
    let [sqlite, bracketed] =
        ["2 * ~n + 1", "(2 * (~n)) + 1"].map(|text| check(SCHEMA, &format!("SELECT {text} AS x FROM a"), Sqlite));
    assert_eq!(sqlite, bracketed);
}
