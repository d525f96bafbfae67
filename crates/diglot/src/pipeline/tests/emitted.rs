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
