//! The text that goes to the driver.

use super::{pair, sound};

fn texts(sqlite: &str, pg: &str) -> Vec<String> {
    sound(&pair(sqlite, pg)).texts.into_iter().map(|text| text.sql).collect()
}

#[test]
fn comments_go_and_white_space_outside_quotes_is_folded() {
    let sql = "-- name: job_do :exec\nUPDATE job -- which\n   SET note = 'a  -- b\n c /* d */',\n\n\t\"type\" = '',size=1/* why */WHERE id = :id;";
    let body = "UPDATE job SET note = 'a  -- b\n c /* d */', \"type\" = '',size=1 WHERE id = ";
    assert_eq!(texts(sql, sql), [format!("/* job.job_do sqlite */ {body}?1"), format!("/* job.job_do pg */ {body}$1")]);
}

#[test]
fn a_parameter_used_twice_keeps_its_number() {
    let sql = "-- name: job_do :exec\nUPDATE job SET epoch = :now, size = :size WHERE epoch < :now AND id = :id;";
    assert_eq!(
        texts(sql, sql)[1],
        "/* job.job_do pg */ UPDATE job SET epoch = $1, size = $2 WHERE epoch < $1 AND id = $3"
    );
}

#[test]
fn a_placeholder_never_grows_together_with_the_word_before_it() {
    let sql = "-- name: job_do :many\nSELECT id FROM job ORDER BY id LIMIT:size;";
    assert_eq!(texts(sql, sql)[1], "/* job.job_do pg */ SELECT id FROM job ORDER BY id LIMIT $1");
}

#[test]
fn a_colon_in_a_text_or_a_cast_is_no_placeholder() {
    let sqlite = "-- name: job_do :exec\nUPDATE job SET note = ':id', epoch = CAST(:e AS bigint) WHERE id = :id;";
    let pg = "-- name: job_do :exec\nUPDATE job SET note = ':id', epoch = :e::bigint WHERE id = :id;";
    assert_eq!(
        texts(sqlite, pg)[1],
        "/* job.job_do pg */ UPDATE job SET note = ':id', epoch = $1::bigint WHERE id = $2"
    );
}

#[test]
fn the_statements_of_a_unit_share_their_numbers() {
    let sqlite = "-- name: job_do :opt\nUPDATE job SET epoch = :now WHERE id = :id;\n\
                  INSERT INTO event (job_id, lane, at_ms) VALUES (:id, :lane, :now) RETURNING event_id;";
    let pg = "-- name: job_do :opt\nWITH moved AS (UPDATE job SET epoch = :now WHERE id = :id)\n\
              INSERT INTO event (job_id, lane, at_ms) VALUES (:id, :lane, :now) RETURNING event_id;";
    let compiled = sound(&pair(sqlite, pg));
    let text = &compiled.texts[0];
    assert_eq!(
        text.sql,
        "/* job.job_do sqlite */ UPDATE job SET epoch = ?1 WHERE id = ?2; \
         INSERT INTO event (job_id, lane, at_ms) VALUES (?2, ?3, ?1) RETURNING event_id"
    );
    assert_eq!((text.parts.len(), text.result), (2, Some(1)));
    assert!(text.parts[1].starts_with("INSERT INTO event"), "{:?}", text.parts);
}

#[test]
fn a_unit_that_skips_more_numbers_than_it_has_binds_as_many_more() {
    // The driver gives the numbers 1 to 5 of the last statement the arguments 2 to 6, and would end before ?6.
    let statement = |name: &str| format!("DELETE FROM job WHERE epoch = :{name};\n");
    let sqlite: String = ["a", "b", "c", "d", "e", "f"].into_iter().map(statement).collect();
    let compiled = super::super::compile(&pair(
        &format!("-- name: job_do :exec\n{sqlite}"),
        "-- name: job_do :exec\nDELETE FROM job;",
    ));
    let spares: Vec<usize> = compiled.texts.iter().map(|text| text.spare).collect();
    assert_eq!(spares, [15 - 6, 0], "{:?}", compiled.diagnostics);
}

/// Both texts of a query with this select list, without what stands before and behind the list.
fn lists(sqlite: &str, pg: &str) -> [String; 2] {
    let page = |list: &str| format!("-- name: job_do :many\nSELECT {list} FROM job;");
    let cut = |text: &String| {
        let (_, rest) = text.split_once("SELECT ").unwrap();
        rest.rsplit_once(" FROM job").unwrap().0.to_owned()
    };
    let texts = texts(&page(sqlite), &page(pg));
    [cut(&texts[0]), cut(&texts[1])]
}

#[test]
fn a_column_without_a_name_gets_the_same_one_on_both_pages() {
    let alike = |list: &str, expected: &str| assert_eq!(lists(list, list), [expected, expected], "{list}");
    alike("count(*)", "count(*) AS \"count\"");
    alike("COUNT( * ) , min(part)", "COUNT( * ) AS \"count\" , min(part) AS \"min\"");
    alike("max(part), max(epoch)", "max(part) AS \"max\", max(epoch) AS \"column_2\"");
    alike("count(*) FILTER (WHERE part = 1)", "count(*) FILTER (WHERE part = 1) AS \"count\"");
    alike("(count(*) + 1)", "(count(*) + 1) AS \"column_1\"");
    alike("((max(part)))", "((max(part))) AS \"max\"");
    alike(
        "COALESCE((SELECT max(epoch) FROM job), 0) /* why */",
        "COALESCE((SELECT max(epoch) FROM job), 0) AS \"coalesce\"",
    );
}

#[test]
fn an_alias_goes_behind_the_whole_expression() {
    let alike = |list: &str, name: &str| {
        let expected = format!("lane, {list} AS \"{name}\"");
        let list = format!("lane, {list}");
        assert_eq!(lists(&list, &list), [expected.clone(), expected], "{list}");
    };
    alike("CASE WHEN part = 1 THEN 2 ELSE 3 END", "case");
    alike("CAST(part AS bigint)", "column_2");
    alike("CAST('7' AS bigint)", "bigint");
    alike("EXISTS (SELECT 1 FROM event)", "exists");
    alike("(SELECT count(*) FROM event)", "count");
    alike("1", "column_2");
    alike("'x'", "column_2");
    alike("-part", "column_2");
    alike("part = 1", "column_2");
    alike("note IS NULL", "column_2");
    alike("part IN (1, 2)", "column_2");
    alike("part BETWEEN 1 AND 2", "column_2");
    alike("NOT (part = 1)", "column_2");
    alike("row_number() OVER (PARTITION BY lane ORDER BY id)", "row_number");
    alike("lane || 'x'", "column_2");
}

#[test]
fn the_other_page_s_alias_names_a_column_that_has_none() {
    assert_eq!(lists("count(*)", "count(*) AS jobs"), ["count(*) AS \"jobs\"", "count(*) AS jobs"]);
    let pages = lists("CAST(part AS integer) AS wide, lane", "part::int, lane");
    assert_eq!(pages, ["CAST(part AS integer) AS wide, lane", "part::int AS \"wide\", lane"]);
}

#[test]
fn the_other_page_s_alias_is_not_taken_from_what_rows_are_sorted_by() {
    let page = |list: &str| format!("-- name: job_do :many\nSELECT {list} FROM job GROUP BY lane ORDER BY lane;");
    let compiled = super::super::compile(&pair(&page("max(part)"), &page("max(part) AS lane")));
    let found: Vec<&str> = compiled.diagnostics.iter().map(|finding| finding.rule).collect();
    assert!(found.contains(&"columns-differ"), "{found:?}");
}

#[test]
fn expressions_that_each_engine_writes_in_its_own_way_get_one_name() {
    let pages = lists("ifnull(note, 'x')", "coalesce(note, 'x')");
    assert_eq!(pages, ["ifnull(note, 'x') AS \"coalesce\"", "coalesce(note, 'x') AS \"coalesce\""]);
    let pages = lists("max(part), max(epoch) AS max", "max(part), max(epoch) AS max");
    assert_eq!(pages, ["max(part) AS \"column_1\", max(epoch) AS max"; 2]);
}

#[test]
fn a_name_that_a_column_has_is_not_made_up() {
    let sql = "-- name: job_do :many\nSELECT lower(lane), size(part) FROM job;";
    let sql = sql.replace("size(part)", "max(part) OVER (ORDER BY id)");
    assert!(texts(&sql, &sql)[0].contains("lower(lane) AS \"lower\", max(part) OVER (ORDER BY id) AS \"max\" FROM"));
    let sql = "-- name: job_do :many\nSELECT count(*) AS lower, lower(job.note) FROM job GROUP BY job.note;";
    assert!(texts(sql, sql)[0].contains("AS lower, lower(job.note) AS \"column_2\" FROM"));
}

#[test]
fn what_a_write_returns_is_named_too() {
    let sql = "-- name: job_do :one\nUPDATE job SET size = 1 WHERE id = :id RETURNING lower(lane), epoch + 1;";
    assert!(texts(sql, sql)[1].ends_with("RETURNING lower(lane) AS \"lower\", epoch + 1 AS \"column_2\""));
}
