//! What parameters and result columns are inferred to be.

use super::{compile, pair, rules, sound};
use crate::config::Config;
/// The signature of one statement with these pages.
fn signature(mode: &str, sqlite: &str, pg: &str) -> String {
    let header = format!("-- name: job_do :{mode}\n");
    let (sqlite, pg) = (format!("{header}{sqlite};"), format!("{header}{pg};"));
    let compiled = compile(&pair(&sqlite, &pg));
    let Some(signature) = compiled.signatures.first() else { return format!("{:?}", rules(&compiled)) };
    signature.to_string().replace("job_do", "").replace(&format!(" :{mode}"), "")
}

fn same(mode: &str, sql: &str) -> String {
    signature(mode, sql, sql)
}

#[test]
fn the_finer_page_decides_the_type_and_the_column_its_newtype() {
    assert_eq!(
        same(
            "opt",
            "SELECT id, part, active, doc, note, tags, score, payload, size, lane, state FROM job WHERE id = :id AND part = :p AND lane = :l AND active = :a"
        ),
        "(id: uuid, p: i16, l: text [crate::Lane], a: bool) -> (id: uuid, part: i16, active: bool, doc: json, \
         note: text null, tags: text[], score: f64 null, payload: bytes null, size: i32 null, lane: text [crate::Lane], \
         state: text [crate::State])"
    );
}

#[test]
fn a_value_to_be_stored_has_the_type_of_its_column() {
    let expected = "(id: uuid, lane: text [crate::Lane], at_ms: i64)";
    assert_eq!(same("exec", "INSERT INTO event (job_id, lane, at_ms) VALUES (:id, :lane, :at_ms)"), expected);
    assert_eq!(same("exec", "INSERT INTO event (job_id, lane, at_ms) SELECT :id, :lane, :at_ms WHERE true"), expected);
    assert_eq!(
        same("exec", "UPDATE job SET state = :state, size = :size, doc = :doc WHERE id = :id"),
        "(state: text [crate::State], size: i32, doc: json, id: uuid)"
    );
    let upsert = "INSERT INTO event (event_id, job_id, lane, at_ms) VALUES (:e, :id, :lane, 1) \
                  ON CONFLICT (event_id) DO UPDATE SET at_ms = excluded.at_ms + :more WHERE event.lane = :old";
    assert_eq!(
        same("exec", upsert),
        "(e: i64 [crate::EventId], id: uuid, lane: text [crate::Lane], more: i64, old: text [crate::Lane])"
    );
}

#[test]
fn operators_and_functions_say_what_they_take() {
    let of = |condition: &str| {
        let shown = same("many", &format!("SELECT 1 AS one FROM job WHERE {condition}"));
        shown.replace(" -> (one: i32)", "")
    };
    assert_eq!(of("epoch BETWEEN :low AND :high"), "(low: i64, high: i64)");
    assert_eq!(of("part IN (:a, :b)"), "(a: i16, b: i16)");
    assert_eq!(of("(part, epoch) >= (:p, :e)"), "(p: i16, e: i64)");
    assert_eq!(of("epoch > :now - size"), "(now: i32)");
    assert_eq!(of("note LIKE :pattern"), "(pattern: text)");
    assert_eq!(of("coalesce(note, :fallback) = 'x'"), "(fallback: text)");
    assert_eq!(of("CASE WHEN :all THEN epoch ELSE :other END = 1"), "(all: bool, other: i64)");
    assert_eq!(of(":everything OR active = :active"), "(everything: bool, active: bool)");
    assert_eq!(of("CAST(:x AS bigint) > 0"), "(x: i64)");
    assert_eq!(of("EXISTS (SELECT 1 FROM event WHERE event.job_id = :id AND event.lane = job.lane)"), "(id: uuid)");
    assert_eq!(of("lane IN (SELECT lane FROM event WHERE at_ms < :before)"), "(before: i64)");
    assert_eq!(of("(SELECT max(at_ms) FROM event) < :latest"), "(latest: i64)");
    assert_eq!(of("epoch = :a AND :a = :b"), "(a: i64, b: i64)");
}

#[test]
fn bounds_are_64_bits_wide() {
    assert_eq!(
        same("many", "SELECT lane FROM job ORDER BY id LIMIT :size OFFSET :skip"),
        "(size: i64, skip: i64) -> (lane: text [crate::Lane])"
    );
}

#[test]
fn a_list_has_the_type_of_what_it_is_compared_with() {
    let lanes = signature(
        "many",
        "SELECT id FROM job WHERE lane IN (SELECT value FROM json_each(:lanes)) ORDER BY id",
        "SELECT id FROM job WHERE lane = ANY(:lanes) ORDER BY id",
    );
    assert_eq!(lanes, "(lanes: text[] [crate::Lane]) -> (id: uuid)");
    let epochs = signature(
        "many",
        "SELECT id FROM job WHERE epoch IN (SELECT value FROM json_each(:epochs)) ORDER BY id",
        "SELECT id FROM job WHERE epoch = ANY(:epochs) ORDER BY id",
    );
    assert_eq!(epochs, "(epochs: i64[]) -> (id: uuid)");
    let stored = same("exec", "UPDATE job SET tags = :tags WHERE id = :id");
    assert_eq!(stored, "(tags: text[], id: uuid)");
}

#[test]
fn what_meets_the_column_of_a_cte_meets_the_parameter_in_it() {
    let sql =
        "WITH wanted AS (SELECT :id AS wanted_id) SELECT job.lane FROM job JOIN wanted ON job.id = wanted.wanted_id";
    assert_eq!(same("opt", sql), "(id: uuid) -> (lane: text [crate::Lane])");
}

#[test]
fn annotations_have_the_last_word() {
    let declared = "-- param: lane text\n-- param: note text null\n-- column: size i64\nSELECT size, lane FROM job WHERE lane > :lane AND note = :note";
    let plain = "SELECT size, lane FROM job WHERE lane > :lane AND note = :note";
    assert_eq!(
        signature("opt", declared, plain),
        "(lane: text, note: text null) -> (size: i64, lane: text [crate::Lane])"
    );
    let nullable = "-- param: lane text null\nUPDATE event SET lane = coalesce(:lane, lane) WHERE at_ms = :at";
    let bare = "UPDATE event SET lane = coalesce(:lane, lane) WHERE at_ms = :at";
    assert_eq!(signature("exec", nullable, bare), "(lane: text null [crate::Lane], at: i64)");
}

#[test]
fn a_column_may_be_null_when_either_page_says_so() {
    let sql = "SELECT event.at_ms, job.lane FROM job LEFT JOIN event ON event.job_id = job.id WHERE job.id = :id";
    assert_eq!(same("many", sql), "(id: uuid) -> (at_ms: i64 null, lane: text [crate::Lane])");
}

#[test]
fn conflicting_newtypes_give_the_plain_type() {
    let sql = "SELECT 1 AS one FROM job WHERE lane = :word AND state = :word";
    assert_eq!(same("many", sql), "(word: text) -> (one: i32)");
}

#[test]
fn parameters_are_numbered_in_the_order_of_the_first_page() {
    let compiled = sound(&pair(
        "-- name: job_do :exec\nUPDATE job SET size = :size WHERE id = :id;",
        "-- name: job_do :exec\nUPDATE job SET size = :size WHERE :id = id;",
    ));
    let texts: Vec<&str> = compiled.texts.iter().map(|text| text.sql.as_str()).collect();
    assert_eq!(
        texts,
        [
            "/* job.job_do sqlite */ UPDATE job SET size = ?1 WHERE id = ?2",
            "/* job.job_do pg */ UPDATE job SET size = $1 WHERE $2 = id",
        ]
    );
}

#[test]
fn ids_go_to_sqlite_as_digits_where_every_use_asks_for_them() {
    let page =
        |condition: &str| format!("-- name: job_list :many\nSELECT lane FROM job WHERE {condition} ORDER BY id;\n");
    let digits = "lower(hex(id)) IN (SELECT value FROM json_each(:ids))";
    let inputs = pair(&page(digits), &page("id = ANY(:ids)"));
    let compiled = sound(&inputs);
    assert_eq!(compiled.signatures[0].to_string(), "job_list(ids: uuid[]) :many -> (lane: text [crate::Lane])");
    assert!(compiled.rust.contains("diglot_support::digits(&params.ids)"), "{}", compiled.rust);
    let blobs = "id IN (SELECT unhex(value, '-') FROM json_each(:ids))";
    let compiled = sound(&pair(&page(blobs), &page("id = ANY(:ids)")));
    assert!(compiled.rust.contains("diglot_support::uuids(&params.ids)"), "{}", compiled.rust);
    // A list goes in one form, and the other use would find nothing with it.
    let mixed = format!("({digits} OR {blobs})");
    let compiled = compile(&pair(&page(&mixed), &page("(id = ANY(:ids) OR id = ANY(:ids))")));
    assert!(compiled.has_errors());
}

#[test]
fn what_a_value_was_turned_into_has_no_type_of_its_column() {
    let sqlite = "-- name: job_texts :many\n-- column: shown text\n-- diverges(where.id, columns.shown, order): an id as text.\n\
        SELECT lower(hex(id)) AS shown FROM job WHERE lower(hex(id)) > :after ORDER BY shown;\n";
    let pg = "-- name: job_texts :many\nSELECT CAST(id AS text) AS shown FROM job WHERE CAST(id AS text) > :after ORDER BY shown;\n";
    let mut inputs = pair(sqlite, pg);
    inputs.config = Config::parse("[types]\n\"job.id\" = \"crate::JobId\"\n", "diglot.toml").unwrap();
    let compiled = compile(&inputs);
    assert_eq!(compiled.signatures[0].to_string(), "job_texts(after: text) :many -> (shown: text)");
}
