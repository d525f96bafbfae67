//! `[keys]`: parameters and columns that are one field together.

use super::{pair, rendered, sound};
use crate::config::Config;
use crate::pipeline::compile;
use crate::project::Inputs;
use crate::source::SourceFile;

const KEY: &str = "[keys.job]
struct = \"crate::JobKey\"
fields.part = \"*.part\"
fields.id = [\"job.id\", \"event.job_id\"]
";

const PAGE: &str = "-- Reads one job, by its key.
-- name: job_read :opt
SELECT part, id, epoch, note FROM job WHERE part = :part AND id = :id;

-- name: job_save :exec
UPDATE job SET epoch = :epoch, lane = :lane WHERE part = :part AND id = :id;

-- name: job_of_part :many
SELECT id FROM job WHERE part = :part ORDER BY id;

-- name: event_last :opt
SELECT event.event_id, event.job_id, job.part
  FROM event JOIN job ON job.id = event.job_id
 WHERE event.job_id = :id AND job.part = :part
 ORDER BY event.event_id DESC LIMIT 1;

-- name: job_maybe :many
SELECT job.part, job.id FROM event LEFT JOIN job ON job.id = event.job_id WHERE event.lane = :lane ORDER BY event.event_id;

-- name: job_some :many
SELECT part, id FROM job WHERE part = :part
-- if: id
 AND id > :id
-- end
 ORDER BY id;

-- page: after
-- name: job_page :many
SELECT part, id, epoch FROM job WHERE lane = :lane ORDER BY part, id LIMIT 10;

-- rows: given(id uuid key, part i16 key, epoch i64)
-- name: job_save_all :opt
UPDATE job SET epoch = given.epoch FROM given
 WHERE job.id = given.id AND job.part = given.part
RETURNING job.id, job.part, job.epoch;
";

/// The project with these settings, which stand in a file too.
fn with(settings: &str, page: &str) -> Inputs {
    let mut inputs = pair(page, page);
    inputs.config = Config::parse(settings, "diglot.toml").unwrap();
    inputs.sources.add(SourceFile::new("diglot.toml", settings));
    inputs
}

fn rust(settings: &str) -> String {
    let rust = sound(&with(settings, PAGE)).rust;
    syn::parse_file(&rust).unwrap();
    rust.split("/// Conversions between").next().unwrap().to_owned()
}

#[test]
fn whoever_takes_or_gives_a_whole_key_has_one_field_of_it() {
    let queries = "[generate]\nqueries = \"plain\"\n";
    insta::assert_snapshot!(rust(&format!("{KEY}{queries}")));
}

#[test]
fn a_key_that_is_borrowed_holds_what_is_its_own() {
    let generate = "[types]\n\"job.id\" = \"crate::JobId\"\n[generate]\nqueries = \"macros\"\nparams = \"borrowed\"\n";
    let key = "[keys.job]\nstruct = \"crate::JobKey\"\nfields.lane = \"job.lane\"\nfields.id = \"job.id\"\n";
    let page =
        "-- name: job_find :opt\nSELECT id, lane, note FROM job WHERE lane = :lane AND id = :id AND note = :note;\n";
    let rust = sound(&with(&format!("{key}{generate}"), page)).rust;
    insta::assert_snapshot!(rust.split("/// Conversions between").next().unwrap());
}

#[test]
fn the_signature_shows_what_belongs_together() {
    let compiled = sound(&with(KEY, PAGE));
    let shown: Vec<String> = compiled.signatures.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_value_of_another_type_or_of_another_column_is_no_field() {
    let page = "-- name: job_other :many\n-- param: part i64\nSELECT id FROM job WHERE part = :part AND id = :id ORDER BY id;\n\n\
        -- name: event_job :many\nSELECT event_id AS id, lane FROM event WHERE event_id = :id AND lane = :part ORDER BY event_id;\n\n\
        -- name: job_known :many\nSELECT id, part FROM job WHERE lane = :lane ORDER BY id;\n";
    let compiled = sound(&with(KEY, page));
    let within = |name: &str| {
        let signature = compiled.signatures.iter().find(|signature| signature.name == name).unwrap();
        let params = signature.params.iter().map(|param| param.within.is_some());
        params.chain(signature.columns.iter().map(|column| column.within.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(within("job_other"), [false; 3]);
    assert_eq!(within("event_job"), [false; 4]);
    assert_eq!(within("job_known"), [false, true, true]);
}

#[test]
fn the_longer_of_two_keys_comes_first() {
    let both = format!(
        "{KEY}[keys.held]\nstruct = \"crate::Held\"\nfields.part = \"job.part\"\nfields.id = \"job.id\"\nfields.epoch = \"job.epoch\"\n"
    );
    let page = "-- name: job_hold :opt\nSELECT id, part FROM job WHERE part = :part AND id = :id AND epoch = :epoch;\n";
    let shown = sound(&with(&both, page)).signatures[0].to_string();
    assert_eq!(shown, "job_hold(held.part: i16, held.id: uuid, held.epoch: i64) :opt -> (job.id: uuid, job.part: i16)");
}

#[test]
fn a_statement_with_errors_keeps_its_key() {
    let settings = format!("{KEY}[generate]\nqueries = \"plain\"\n");
    let previous = rust(&settings);
    let slip = PAGE.replace("UPDATE job SET epoch = :epoch, lane", "UPDATE job SET epoc = :epoch, lane");
    let mut broken = pair(PAGE, &slip);
    broken.config = Config::parse(&settings, "diglot.toml").unwrap();
    broken.previous = Some(previous);
    let compiled = compile(&broken);
    assert!(compiled.has_errors());
    syn::parse_file(&compiled.rust).unwrap();
    let saves = &compiled.rust[compiled.rust.find("pub struct JobSaveParams").unwrap()..];
    assert!(saves[..200].contains("pub job: crate::JobKey"), "{saves}");
}

#[test]
fn what_the_settings_cannot_mean_is_told_in_their_line() {
    let mut told = String::new();
    for (settings, page) in [
        (KEY.replace("job.id", "job.idd"), PAGE),
        (KEY.replace("event.job_id", "event.lane"), PAGE),
        (KEY.replace("event.job_id", "evnt.job_id"), PAGE),
        (KEY.replace("[\"job.id\", \"event.job_id\"]", "\"*.type\"").replace("*.part", "*.nothing_like_it"), PAGE),
        (KEY.to_owned(), "-- name: job_none :many\nSELECT id FROM job WHERE lane = :lane ORDER BY id;\n"),
        (
            KEY.to_owned(),
            "-- name: job_twice :opt\nSELECT note AS job FROM job WHERE part = :part AND id = :id AND lane = :job;\n",
        ),
        (KEY.to_owned(), "-- name: job_given :opt\nSELECT part, id, note AS job FROM job WHERE lane = :lane;\n"),
    ] {
        let inputs = with(&settings, page);
        told += &rendered(&inputs, &compile(&inputs));
        told += "\n";
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_column_of_several_types_asks_for_the_one_that_is_meant() {
    let schema = "CREATE TABLE box (part INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (part, id));";
    let of_pg = "CREATE TABLE box (part integer NOT NULL, id uuid NOT NULL, PRIMARY KEY (part, id));";
    let several = |key: &str| {
        let mut inputs = with(
            key,
            "-- name: job_a :opt\nSELECT epoch FROM job WHERE part = :part AND id = :id;\n\n\
            -- name: job_b :opt\nSELECT id FROM box WHERE part = :part AND id = :id;\n",
        );
        inputs.sources.add(SourceFile::new("schema/sqlite/0002_box.sql", schema));
        inputs.sources.add(SourceFile::new("schema/pg/0002_box.sql", of_pg));
        inputs
    };
    let inputs = several(KEY);
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
    let inputs =
        several(&KEY.replace("\"*.part\"", "[\"job.part\", \"*.part\"]").replace("\"job.id\", ", "\"*.id\", "));
    let shown: Vec<String> = sound(&inputs).signatures.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["job_a(job.part: i16, job.id: uuid) :opt -> (epoch: i64)", "job_b(part: i32, id: uuid) :opt -> (id: uuid)",]
    );
}
