//! Query files and schemas of other tools, as they are.

use super::{PG_SCHEMA, SQLITE_SCHEMA, pair, rendered, rules, sound};
use crate::config::Config;
use crate::pipeline::check;
use crate::project::Inputs;
use crate::source::{SourceFile, Sources};

fn texts(sqlite: &str, pg: &str) -> [String; 2] {
    let compiled = sound(&pair(sqlite, pg));
    let text = |at: usize| compiled.texts[at].sql.split_once("*/ ").unwrap().1.to_owned();
    [text(0), text(1)]
}

#[test]
fn macros_become_what_each_engine_takes() {
    let head = "-- name: JobPick :exec\n";
    let sqlite = format!(
        "{head}UPDATE job SET note = sqlc.narg('note') WHERE lane IN (sqlc.slice('lanes')) AND epoch = @epoch;"
    );
    let pg =
        format!("{head}UPDATE job SET note = sqlc.narg(note) WHERE lane = ANY(@lanes) AND epoch = sqlc.arg(epoch);");
    let [lite, post] = texts(&sqlite, &pg);
    assert_eq!(lite, "UPDATE job SET note = ?1 WHERE lane IN (SELECT value FROM json_each(?2)) AND epoch = ?3");
    assert_eq!(post, "UPDATE job SET note = $1 WHERE lane = ANY($2) AND epoch = $3");
}

#[test]
fn a_slice_is_a_list_on_both_pages_whatever_its_type() {
    let sql = "-- name: JobDrop :execrows\nDELETE FROM job WHERE id NOT IN (sqlc.slice(ids)) AND epoch IN (sqlc.slice(epochs));";
    let compiled = sound(&pair(sql, sql));
    assert_eq!(compiled.signatures[0].to_string(), "job_drop(ids: uuid[], epochs: i64[]) :rows");
    assert_eq!(
        compiled.texts[0].parts,
        [
            "DELETE FROM job WHERE id NOT IN (SELECT unhex(value, '-') FROM json_each(?1)) AND epoch IN (SELECT value FROM json_each(?2))"
        ]
    );
    assert_eq!(compiled.texts[1].parts, ["DELETE FROM job WHERE id <> ALL($1) AND epoch = ANY($2)"]);
}

#[test]
fn an_embedded_table_gives_its_columns_with_its_name() {
    let sql =
        "-- name: EventList :many\nSELECT sqlc.embed(e), job.epoch FROM event AS e JOIN job ON job.id = e.job_id;";
    let compiled = sound(&pair(sql, sql));
    assert_eq!(
        compiled.signatures[0].to_string(),
        "event_list() :many -> (e_event_id: i64 [crate::EventId], e_job_id: uuid, e_lane: text [crate::Lane], \
         e_at_ms: i64, epoch: i64)"
    );
    assert_eq!(
        compiled.texts[1].parts,
        [
            "SELECT e.\"event_id\" AS e_event_id, e.\"job_id\" AS e_job_id, e.\"lane\" AS e_lane, e.\"at_ms\" AS e_at_ms, \
          job.epoch FROM event AS e JOIN job ON job.id = e.job_id"
        ]
    );
}

#[test]
fn templates_and_hints_stay_in_the_text() {
    let sql = "-- name: JobAll :many\n/*+ Leading(job) */ SELECT id -- which\n FROM /* TEMPLATE: schema */job /* why */\n\
               WHERE /* TEMPLATE_BEGIN: filter */ true /* TEMPLATE_END */;\n\n-- Between two statements.\n\n\
               -- name: JobNone :exec\nDELETE FROM job;";
    let [lite, post] = texts(sql, sql);
    let wanted = "/*+ Leading(job) */ SELECT id FROM /* TEMPLATE: schema */job \
                  WHERE /* TEMPLATE_BEGIN: filter */ true /* TEMPLATE_END */";
    assert_eq!([lite.as_str(), post.as_str()], [wanted, wanted]);
}

#[test]
fn numbered_and_nameless_parameters_take_the_names_of_what_they_meet() {
    let sqlite = "-- name: JobGet :exec\nUPDATE job SET epoch = ?, note = ? WHERE id = ?;";
    let pg = "-- name: JobGet :exec\nUPDATE job SET epoch = $1, note = $2 WHERE id = $3;";
    let compiled = sound(&pair(sqlite, pg));
    assert_eq!(compiled.signatures[0].to_string(), "job_get(epoch: i64, note: text, id: uuid) :exec");
}

/// Files at places that a configuration names.
fn project(config: &str, files: &[(&str, &str)]) -> Inputs {
    let mut sources = Sources::default();
    for (path, text) in files {
        sources.add(SourceFile::new(*path, *text));
    }
    Inputs { config: Config::parse(config, "diglot.toml").unwrap(), sources, ..Inputs::default() }
}

const PLACES: &str = "lockstep = false\nsql = { sqlite = \"lite/queries\", pg = \"db/queries.sql\" }\n\
                      schema = { sqlite = \"lite/schema.sql\", pg = \"db/migrations\" }\n";

#[test]
fn places_and_pairs_need_not_be_in_lock_step() {
    let (get, drop) = ("-- name: GetJob :exec\nDELETE FROM job;\n", "-- name: DropJob :exec\nDELETE FROM event;\n");
    let both = format!("{drop}{get}");
    let inputs = project(
        PLACES,
        &[
            ("lite/schema.sql", SQLITE_SCHEMA),
            ("db/migrations/2_two.up.sql", "ALTER TABLE job DROP COLUMN gone;"),
            ("db/migrations/10_ten.up.sql", "CREATE INDEX job_lane ON job (lane); DROP INDEX job_lane;"),
            ("db/migrations/1_one.up.sql", &PG_SCHEMA.replace("CREATE TABLE job (", "CREATE TABLE job (gone int,")),
            ("db/migrations/1_one.down.sql", "DROP TABLE job;"),
            ("lite/queries/jobs.sql", get),
            ("lite/queries/drop-jobs.sql", drop),
            ("db/queries.sql", &both),
        ],
    );
    let compiled = check(&inputs);
    assert!(compiled.diagnostics.is_empty(), "{}", rendered(&inputs, &compiled));
    let names: Vec<String> = compiled.signatures.iter().map(|s| format!("{}.{}", s.noun, s.name)).collect();
    assert_eq!(names, ["drop_jobs.drop_job", "jobs.get_job"]);
}

#[test]
fn a_statement_that_no_file_of_the_other_dialect_has_is_told_without_lock_step_too() {
    let inputs = project(
        PLACES,
        &[
            ("lite/schema.sql", SQLITE_SCHEMA),
            ("db/migrations/1_one.sql", PG_SCHEMA),
            ("lite/queries/a.sql", "-- name: a_x :exec\nDELETE FROM job;\n-- name: a_y :exec\nDELETE FROM event;\n"),
            ("db/queries.sql", "-- name: a_x :exec\nDELETE FROM job;\n-- name: b :exec\nDELETE FROM event;\n"),
        ],
    );
    assert_eq!(rules(&check(&inputs)), ["missing-statement", "missing-statement"]);
}

#[test]
fn a_list_without_a_name_is_one_parameter_on_both_pages() {
    let head = "-- name: JobPick :many\nSELECT size FROM job WHERE lane IN";
    let sqlite = format!("{head} (SELECT value FROM json_each(?));");
    for (postgres, emitted) in [
        (
            "(SELECT item FROM jsonb_array_elements_text($1) AS item)",
            "jsonb_array_elements_text(to_jsonb($1::text[])) AS item",
        ),
        (
            "(SELECT item::text FROM json_array_elements_text($1) AS e(item))",
            "json_array_elements_text(to_json($1::text[])) AS e(item)",
        ),
    ] {
        let compiled = sound(&pair(&sqlite, &format!("{head} {postgres};")));
        assert!(
            compiled.signatures[0].to_string().starts_with("job_pick(lane: text[] [crate::Lane])"),
            "{}",
            compiled.signatures[0]
        );
        assert!(compiled.texts[1].sql.contains(emitted), "{}", compiled.texts[1].sql);
    }
}

#[test]
fn a_document_that_is_no_list_stays_one() {
    let [_, post] = texts(
        "-- name: JobPick :many\n-- param: lanes json\nSELECT size FROM job WHERE lane IN (SELECT value FROM json_each(:lanes));",
        "-- name: JobPick :many\nSELECT size FROM job WHERE lane IN (SELECT item FROM jsonb_array_elements_text(:lanes) AS item);",
    );
    assert!(post.ends_with("jsonb_array_elements_text($1) AS item)"), "{post}");
}

#[test]
fn a_list_that_only_one_page_names_is_the_same_on_the_other() {
    let head = "-- name: JobPick :many\nSELECT size FROM job WHERE";
    let compiled = sound(&pair(
        &format!("{head} lane <> $1 AND lane IN (sqlc.slice('lane'));"),
        &format!("{head} lane <> $1 AND lane = ANY($2);"),
    ));
    let signature = compiled.signatures[0].to_string();
    assert!(signature.starts_with("job_pick(lane_2: text [crate::Lane], lane: text[] [crate::Lane])"), "{signature}");
    let other_order = pair(
        &format!("{head} lane <> $1 AND lane IN (sqlc.slice('lane'));"),
        &format!("{head} lane = ANY($1) AND lane <> $2;"),
    );
    sound(&other_order);
}
