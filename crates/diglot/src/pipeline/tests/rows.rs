//! Statements that take a list of rows.

use super::{compile, inputs, pair, rendered, rules, sound};
use crate::emitted::EmittedText;

/// One text on both pages, under these annotations and this header.
fn both(text: &str) -> super::Inputs {
    pair(text, text)
}

fn texts(text: &str) -> Vec<EmittedText> {
    sound(&both(text)).texts
}

fn signature(text: &str) -> String {
    sound(&both(text)).signatures[0].to_string()
}

const UPDATE: &str = "-- rows: given(id uuid key, note text null, epoch i64)\n-- name: job_note_all :opt\n\
    UPDATE job SET note = given.note FROM given WHERE job.id = given.id AND job.epoch = given.epoch\n\
    RETURNING job.id, job.size;";

#[test]
fn rows_are_read_like_a_table() {
    let texts = texts(UPDATE);
    assert_eq!(
        texts[0].sql,
        "/* job.job_note_all sqlite */ UPDATE job SET note = given.note FROM \
         (SELECT unhex(json_extract(value, '$[0]')) AS \"id\", json_extract(value, '$[1]') AS \"note\", \
         json_extract(value, '$[2]') AS \"epoch\", key + 1 AS \"ordinality\" FROM json_each(?1)) AS \"given\" \
         WHERE job.id = given.id AND job.epoch = given.epoch RETURNING job.id, job.size"
    );
    assert_eq!(
        texts[1].sql,
        "/* job.job_note_all pg */ UPDATE job SET note = given.note FROM \
         unnest($1::uuid[], $2::text[], $3::int8[]) WITH ORDINALITY AS \"given\"(\"id\", \"note\", \"epoch\", \"ordinality\") \
         WHERE job.id = given.id AND job.epoch = given.epoch RETURNING job.id, job.size"
    );
    assert_eq!(
        signature(UPDATE),
        "job_note_all(given: [id: uuid key, note: text null, epoch: i64]) :opt -> (id: uuid, size: i32 null)"
    );
}

#[test]
fn a_statement_takes_parameters_beside_its_rows_and_calls_them_as_it_likes() {
    let text = "-- rows: given(id uuid)\n-- name: job_read_all :many\n\
        SELECT g.ordinality, job.size FROM given AS g JOIN job ON job.id = g.id WHERE job.epoch > :after;";
    let texts = texts(text);
    assert!(texts[0].sql.contains("FROM json_each(?2)) AS \"g\" JOIN job"), "{}", texts[0].sql);
    assert!(
        texts[1].sql.contains("unnest($2::uuid[]) WITH ORDINALITY AS \"g\"(\"id\", \"ordinality\")"),
        "{}",
        texts[1].sql
    );
}

#[test]
fn several_lines_are_one_list_and_a_field_takes_the_newtype_of_what_it_meets() {
    let text = "-- rows: given(id uuid key, lane text)\n-- rows: given(at_ms i64)\n-- name: job_log_all :exec\n\
        INSERT INTO event (job_id, lane, at_ms) SELECT given.id, given.lane, given.at_ms FROM given;";
    assert_eq!(signature(text), "job_log_all(given: [id: uuid key, lane: text [crate::Lane], at_ms: i64]) :exec");
}

#[test]
fn every_type_is_read_back_from_the_document() {
    let text = "-- rows: given(id uuid, part i16, active bool, doc json, score f64 null, payload bytes null)\n\
        -- name: job_add_all :exec\n\
        INSERT INTO job (id, part, active, doc, score, payload, lane, state, tags, epoch)\n\
        SELECT given.id, given.part, given.active, given.doc, given.score, given.payload, :lane, :state, :tags, 0 FROM given;";
    let texts = texts(text);
    assert!(texts[0].sql.contains("unhex(json_extract(value, '$[5]')) AS \"payload\""), "{}", texts[0].sql);
    let arrays = "unnest($4::uuid[], $5::int2[], $6::bool[], $7::jsonb[], $8::float8[], $9::bytea[])";
    assert!(texts[1].sql.contains(arrays), "{}", texts[1].sql);
}

#[test]
fn the_generated_functions_give_each_row_its_answers() {
    let numbered = "-- rows: given(id uuid)\n-- name: job_size_all :many\n\
        SELECT given.ordinality, job.size FROM given JOIN job ON job.id = given.id;\n";
    let all = format!("{UPDATE}\n{numbered}");
    let rust = sound(&both(&all)).rust;
    let api = rust.split("/// Conversions between what").next().unwrap_or_default();
    insta::assert_snapshot!(api);
}

/// What is generated for a statement for one row and the list of its calls.
fn calls(sqlite: &str, pg: &str) -> String {
    let inputs = super::Inputs { asking: true, ..pair(sqlite, pg) };
    let rust = sound(&inputs).rust;
    let from = |mark: &str, to: &str| {
        let (_, rest) = rust.split_once(mark).unwrap_or_default();
        format!("{mark}{}\n", rest.split(to).next().unwrap_or_default().trim_end())
    };
    let list = from("/// Statements that Postgres alone has.", "/// A statement as a value");
    let listed = from("/// A statement of which Postgres makes", "/// What");
    let on_pg = from("impl Statements for sqlx::PgConnection", "\n}\n");
    format!("{list}\n{listed}\n{on_pg}")
}

const ONE: &str = "-- name: job_end :opt\n-- param: note text null\n\
    UPDATE job SET note = :note WHERE id = :id AND epoch = :epoch RETURNING size;\n";

#[test]
fn a_list_takes_calls_and_gives_their_answers() {
    let list = "-- rows: given(id uuid key, epoch i64, note text null)\n-- name: job_end_many :opt\n\
        -- each: job_end by epoch\n\
        UPDATE job SET note = given.note FROM given WHERE job.id = given.id AND job.epoch = given.epoch\n\
        RETURNING job.id, job.size;";
    insta::assert_snapshot!(calls(ONE, &format!("{ONE}\n{list}")));
}

#[test]
fn a_call_that_gives_more_than_the_list_takes_is_none_for_it_and_without_a_page_it_is_a_list_of_one() {
    let list = "-- rows: given(id uuid, epoch i64)\n-- name: job_end_many :opt\n-- each: job_end\n\
        UPDATE job SET note = NULL FROM given WHERE job.id = given.id AND job.epoch = given.epoch\n\
        RETURNING given.ordinality, job.size;";
    insta::assert_snapshot!(calls(ONE, list));
}

#[test]
fn a_list_of_calls_goes_by_either_driver() {
    let list = "-- rows: given(id uuid, epoch i64)\n-- name: job_end_many :opt\n-- each: job_end\n\
        UPDATE job SET note = NULL FROM given WHERE job.id = given.id AND job.epoch = given.epoch\n\
        RETURNING given.ordinality, job.size;";
    let mut inputs = super::Inputs { asking: true, ..pair(ONE, list) };
    inputs.config.generate.driver = crate::config::Driver::Pair;
    let rust = sound(&inputs).rust;
    for part in [
        "on: &'a impl pg::Session",
        "pg::job_end_many(on, calls)",
        "let answers = job_end_many(connection, &[params]).await?;",
    ] {
        assert!(rust.contains(part), "{part}\n{rust}");
    }
}

#[test]
fn a_unit_on_sqlite_faces_one_statement_that_writes_and_locks() {
    let sqlite = "-- rows: given(id uuid key, epoch i64)\n-- name: job_renew_all :opt\n\
        -- diverges(parts): one statement of Postgres locks, writes and reads, SQLite runs two of them.\n\
        UPDATE job SET epoch = job.epoch + 1 FROM given WHERE job.id = given.id AND job.epoch = given.epoch\n\
        RETURNING job.id, job.epoch;";
    let pg = "-- rows: given(id uuid key, epoch i64)\n-- name: job_renew_all :opt\n\
        WITH fence AS (SELECT job.id FROM job JOIN given ON given.id = job.id AND job.epoch = given.epoch ORDER BY job.id FOR UPDATE OF job)\n\
        UPDATE job SET epoch = job.epoch + 1 FROM fence WHERE job.id = fence.id RETURNING job.id, job.epoch;";
    let compiled = compile(&pair(sqlite, pg));
    let text = compiled.texts.iter().find(|text| text.sql.contains("FOR UPDATE"));
    assert!(
        compiled
            .diagnostics
            .iter()
            .all(|finding| !["syntax", "unknown-table", "unmatched-rows"].contains(&finding.rule))
    );
    assert!(text.is_none_or(|text| text.sql.contains("JOIN unnest($1::uuid[], $2::int8[])")));
}

#[test]
fn a_value_of_one_of_several_rows_is_found_unless_there_is_a_key() {
    let text = UPDATE.replace(" key", "").replace(":opt", ":exec").replace("\nRETURNING job.id, job.size", "");
    assert_eq!(rules(&compile(&both(&text))), ["update-from-many"]);
}

#[test]
fn answers_that_belong_to_no_row_are_found() {
    let text = UPDATE.replace("RETURNING job.id, job.size", "RETURNING job.size");
    let inputs = both(&text);
    let compiled = compile(&inputs);
    assert_eq!(rules(&compiled), ["unmatched-rows"]);
    insta::assert_snapshot!(rendered(&inputs, &compiled));
}

#[test]
fn a_declaration_that_is_wrong_says_what_to_write() {
    let of = |declared: &str| {
        let text = UPDATE.replace("given(id uuid key, note text null, epoch i64)", declared);
        let compiled = compile(&both(&text));
        let first = compiled.diagnostics.iter().find(|finding| finding.rule == "unknown-annotation");
        first.map(|finding| finding.message.clone()).unwrap_or_else(|| format!("{:?}", rules(&compiled)))
    };
    assert_eq!(of("given(id uuid key"), "job_note_all: the parenthesis of `rows` is not closed");
    assert_eq!(of("given(id uuid, id text)"), "job_note_all: two fields of `given` are called `id`");
    assert_eq!(of("given(id jsonb)"), "job_note_all: `jsonb` is not a type of a field");
    assert_eq!(of("given(id text[])"), "job_note_all: `text[]` is not a type of a field");
    assert_eq!(of("given(score f64 key)"), "job_note_all: a field of type `f64` is no part of a key");
    assert_eq!(of("given(ordinality i64)"), "job_note_all: `ordinality` is not the name of a field");
    assert_eq!(of("row(id uuid)"), "job_note_all: `row` cannot be the name of rows");
}

#[test]
fn pages_that_take_other_rows_are_found() {
    let other = UPDATE.replace("note text null", "note text");
    assert_eq!(rules(&compile(&pair(UPDATE, &other))), ["params-differ"]);
    let inputs = inputs(&[("sqlite/job", UPDATE), ("pg/job", UPDATE)]);
    sound(&inputs);
}

#[test]
fn a_field_that_nothing_reads_is_found() {
    let text = UPDATE.replace("epoch i64)", "epoch i64, more text)");
    assert_eq!(rules(&compile(&both(&text))), ["unused-annotation"]);
}

#[test]
fn an_upsert_of_a_list_has_a_key_that_tells_its_rows_apart_by_the_target() {
    let upsert = |fields: &str, rest: &str| {
        let text = format!(
            "-- rows: given({fields})\n-- name: event_put_all :exec\nINSERT INTO event (event_id, job_id, lane, at_ms)\n\
             SELECT {rest} ON CONFLICT (event_id) DO UPDATE SET at_ms = excluded.at_ms;"
        );
        rules(&compile(&both(&text))).contains(&"upsert-twice")
    };
    let all = "given.event_id, given.job_id, given.lane, given.at_ms FROM given WHERE true";
    assert!(upsert("event_id i64, job_id uuid, lane text, at_ms i64", all));
    assert!(upsert("event_id i64, job_id uuid key, lane text, at_ms i64", all));
    // A key of two fields may have the same target twice.
    assert!(upsert("event_id i64 key, job_id uuid key, lane text, at_ms i64", all));
    assert!(!upsert("event_id i64 key, job_id uuid, lane text, at_ms i64", all));
    let folded = "given.event_id, given.job_id, given.lane, max(given.at_ms) FROM given \
                  GROUP BY given.event_id, given.job_id, given.lane";
    assert!(!upsert("event_id i64, job_id uuid, lane text, at_ms i64", folded));
}
