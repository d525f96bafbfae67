//! The types of expressions, and the names and places of parameters.

use insta::assert_snapshot;

use super::{SCHEMA, expressions, placeholders};
use crate::dialect::Dialect::{Pg, Sqlite};

#[test]
fn arithmetic_widens() {
    assert_snapshot!(expressions(SCHEMA, "a", &["small + 1", "small + n", "n / 2", "n / small", "n * 1.5", "-n"], Pg), @"
    small + 1: i32
    small + n: i64 null
    n / 2: i64 null
    n / small: i64 null
    n * 1.5: numeric null
    -n: i64 null
    ");
    assert_snapshot!(expressions(SCHEMA, "a", &["id + 1", "id / 2", "id / n", "id * 1.5", "id % :x", "~id"], Sqlite), @"
    id + 1: i64
    id / 2: i64
    id / n: i64 null
    id * 1.5: f64
    id % :x: i64 null
    ~id: i64
    ");
}

#[test]
fn aggregates_are_null_over_no_rows() {
    let list = ["count(*)", "count(note)", "sum(small)", "sum(n)", "max(id)", "avg(id)", "coalesce(sum(n), 0)"];
    assert_snapshot!(expressions(SCHEMA, "a", &list, Pg), @"
    count(*): i64
    count(note): i64
    sum(small): i64 null
    sum(n): numeric null
    max(id): i64 null
    avg(id): numeric null
    coalesce(sum(n), 0): numeric
    ");
    assert_snapshot!(expressions(SCHEMA, "a", &list, Sqlite), @"
    count(*): i64
    count(note): i64
    sum(small): i64 null
    sum(n): i64 null
    max(id): i64 null
    avg(id): f64 null
    coalesce(sum(n), 0): i64
    ");
    assert_snapshot!(expressions(SCHEMA, "a GROUP BY n", &["max(id)", "max(note)", "sum(id) FILTER (WHERE true)"], Pg), @"
    max(id): i64
    max(note): text null
    sum(id) FILTER (WHERE true): numeric null
    ");
}

#[test]
fn json_operators_and_functions_have_types() {
    let list = [
        "doc -> 'a'",
        "doc ->> 'a'",
        "(doc ->> 'a')::bigint",
        "doc || '{}'",
        "doc @> '{}'",
        "jsonb_build_object('k', id)",
        "jsonb_set(doc, '{a}', '1')",
        "doc #>> '{a,b}'",
        "jsonb_typeof(doc)",
    ];
    assert_snapshot!(expressions(SCHEMA, "a", &list, Pg), @"
    doc -> 'a': json null
    doc ->> 'a': text null
    (doc ->> 'a')::bigint: i64 null
    doc || '{}': json null
    doc @> '{}': bool null
    jsonb_build_object('k', id): json
    jsonb_set(doc, '{a}', '1'): json null
    doc #>> '{a,b}': text null
    jsonb_typeof(doc): text null
    ");
    let list = [
        "json_extract(doc, '$.a')",
        "CAST(json_extract(doc, '$.a') AS INTEGER)",
        "json_object('k', id)",
        "json_set('{}', '$.a', note)",
        "json_group_array(id)",
        "max(id, n)",
        "hex(note)",
        "iif(n > 1, 'a', 'b')",
    ];
    assert_snapshot!(expressions(SCHEMA, "a", &list, Sqlite), @"
    json_extract(doc, '$.a'): ?
    CAST(json_extract(doc, '$.a') AS INTEGER): i64 null
    json_object('k', id): json
    json_set('{}', '$.a', note): json
    json_group_array(id): json
    max(id, n): i64 null
    hex(note): text
    iif(n > 1, 'a', 'b'): text
    ");
}

#[test]
fn conditions_are_null_when_an_operand_is() {
    let list = [
        "id = 1",
        "n = 1",
        "n IS NULL",
        "n IS DISTINCT FROM 1",
        "id IN (1, NULL)",
        "n = ANY(:ids)",
        "EXISTS (SELECT 1)",
        "note LIKE :p ESCAPE '!'",
        "id BETWEEN 1 AND :top",
        "NOT n > 1",
    ];
    assert_snapshot!(expressions(SCHEMA, "a", &list, Pg), @"
    id = 1: bool
    n = 1: bool null
    n IS NULL: bool
    n IS DISTINCT FROM 1: bool
    id IN (1, NULL): bool null
    n = ANY(:ids): bool null
    EXISTS (SELECT 1): bool
    note LIKE :p ESCAPE '!': bool null
    id BETWEEN 1 AND :top: bool
    NOT n > 1: bool null
    ");
}

#[test]
fn choices_are_null_when_a_branch_may_be() {
    let list = [
        "CASE WHEN id > 1 THEN 'a' ELSE 'b' END",
        "CASE id WHEN 1 THEN n END",
        "COALESCE(note, :d)",
        "COALESCE(note, small::text)",
        "nullif(id, 0)",
        "(SELECT max(b.id) FROM b)",
        "(SELECT count(*) FROM b)",
        "xmax = 0",
    ];
    assert_snapshot!(expressions(SCHEMA, "a", &list, Pg), @"
    CASE WHEN id > 1 THEN 'a' ELSE 'b' END: text
    CASE id WHEN 1 THEN n END: i64 null
    COALESCE(note, :d): text
    COALESCE(note, small::text): text
    nullif(id, 0): i64 null
    (SELECT max(b.id) FROM b): i64 null
    (SELECT count(*) FROM b): i64
    xmax = 0: bool
    ");
}

#[test]
fn literals_arrays_and_casts_have_the_types_of_their_dialect() {
    let list = [
        "1",
        "3000000000",
        "1.5",
        "'x'",
        "true",
        "ARRAY[1, 2]",
        "ARRAY[]::text[]",
        "(ARRAY['a'])[1]",
        "'{}'::jsonb",
        "now()",
        "extract(epoch FROM now())",
        "floor(n)",
        "position('a' IN note)",
        "trim(note)",
        "interval '1 day'",
        "current_timestamp - now()",
        "array_agg(note)",
        "ARRAY(SELECT label FROM b)",
    ];
    assert_snapshot!(expressions(SCHEMA, "a", &list, Pg), @"
    1: i32
    3000000000: i64
    1.5: numeric
    'x': text
    true: bool
    ARRAY[1, 2]: i64[]
    ARRAY[]::text[]: text[]
    (ARRAY['a'])[1]: text null
    '{}'::jsonb: json
    now(): timestamp
    extract(epoch FROM now()): numeric
    floor(n): f64 null
    position('a' IN note): i32 null
    trim(note): text null
    interval '1 day': interval
    current_timestamp - now(): interval
    array_agg(note): text[] null
    ARRAY(SELECT label FROM b): text[]
    ");
    assert_snapshot!(expressions(SCHEMA, "a", &["1", "0x10", "1e3", "x'AB'", "CAST(n AS TEXT)", "unixepoch()"], Sqlite), @"
    1: i64
    0x10: i64
    1e3: f64
    x'AB': bytes
    CAST(n AS TEXT): text null
    unixepoch(): i64
    ");
}

#[test]
fn placeholders_of_every_spelling_are_found_in_the_order_of_the_text() {
    let sql =
        "SELECT sqlc.arg(first), @second FROM a WHERE note = sqlc.narg('third') AND id IN (sqlc.slice(ids)) AND n = :n";
    assert_snapshot!(placeholders(SCHEMA, sql, Pg), @"
    first: sqlc.arg(first)
    second: @second
    third null: sqlc.narg('third')
    ids list: sqlc.slice(ids)
    n: :n
    ");
}

#[test]
fn numbered_parameters_are_named_after_what_they_meet() {
    let sql = "UPDATE a SET note = ?2 WHERE id = ?1 AND n > ?1 + ?3 AND small = ?4 AND small <> ?5";
    assert_snapshot!(placeholders(SCHEMA, sql, Sqlite), @"
    note: ?2
    id: ?1
    id: ?1
    arg3: ?3
    small: ?4
    small_2: ?5
    ");
    assert_snapshot!(placeholders(SCHEMA, "INSERT INTO b (id, label) VALUES ($1, $2) RETURNING $3::text", Pg), @"
    id: $1
    label: $2
    arg3: $3
    ");
    let list = "SELECT n FROM a WHERE id IN (SELECT value FROM json_each(?1))";
    assert_snapshot!(placeholders(SCHEMA, list, Sqlite), @"id: ?1");
    assert_snapshot!(placeholders(SCHEMA, "SELECT n FROM a WHERE id = ANY($1)", Pg), @"id: $1");
    assert_snapshot!(placeholders(SCHEMA, "SELECT id FROM a WHERE id = ? OR n = ? LIMIT ?", Sqlite), @"
    id: ?
    n: ?
    limit: ?
    ");
}

#[test]
fn every_expression_knows_its_whole_text() {
    let list = [
        "count(*) FILTER (WHERE n > 1)",
        "sum(n) OVER (ORDER BY id)",
        "CAST(n AS double precision)",
        "n::double precision",
        "(n + 1) * 2",
        "note IS NOT NULL",
        "id NOT IN (1, 2)",
        "NOT EXISTS (SELECT 1)",
        "id = ANY(ARRAY[1, 2])",
        "-(n)",
        "extract(epoch FROM now())",
        "ARRAY[]::bigint[]",
        "substring(note FROM 1 FOR 2)",
    ];
    for text in list {
        let project = super::project(SCHEMA, &format!("SELECT ( {text} ), {text} FROM a GROUP BY id, n, note"), Pg);
        let statement = project.statement.expect("the statement resolves");
        let part = &statement.parts[0];
        let crate::tree::Body::Query(query) = &part.body else { panic!("a query") };
        let crate::tree::Rows::Select(select) = &query.rows else { panic!("a select") };
        let found = select.columns.iter().map(|column| project.sources.text(column.span));
        assert_eq!(found.collect::<Vec<_>>(), [format!("( {text} )"), text.to_owned()]);
    }
}
