//! The generated Rust.

use super::{Inputs, inputs, pair, sound};
use crate::pipeline::compile;

/// The generated file without the module that is the same in each.
fn api(inputs: &Inputs) -> String {
    let rust = sound(inputs).rust;
    rust.split("/// Conversions between what").next().unwrap_or("").trim_end().to_owned()
}

const GET: &str =
    "-- Reads a job.\n-- name: job_get :opt\nSELECT id, part, active, doc, note, tags, state FROM job WHERE id = :id;";

#[test]
fn a_read() {
    insta::assert_snapshot!(api(&pair(GET, GET)));
}

#[test]
fn a_write_binds_each_type_in_its_dialects_form() {
    let sql = "-- name: job_add :exec\n-- param: note text null\n-- param: payload bytes null\n-- param: score f64 null\n\
               INSERT INTO job (id, part, lane, state, active, doc, note, tags, payload, score, epoch)\n\
               VALUES (:id, :part, :lane, :state, :active, :doc, :note, :tags, :payload, :score, 0);";
    insta::assert_snapshot!(api(&pair(sql, sql)));
}

#[test]
fn every_cardinality() {
    let sql = "-- name: job_one :one\nSELECT lane FROM job WHERE id = :id;\n\
               -- name: job_many :many\nSELECT size FROM job ORDER BY id;\n\
               -- name: job_stream :stream\nSELECT epoch FROM job WHERE lane = :lane ORDER BY id;\n\
               -- name: job_rows :rows\nDELETE FROM job WHERE size > :size;\n\
               -- name: job_exec :exec\nDELETE FROM job;\n";
    insta::assert_snapshot!(api(&pair(sql, sql)));
}

#[test]
fn a_unit_is_one_call_on_either_side() {
    let sqlite = "-- name: job_move :opt\nUPDATE job SET epoch = :now WHERE id = :id;\n\
                  INSERT INTO event (job_id, lane, at_ms) VALUES (:id, :lane, :now) RETURNING event_id;";
    let pg = "-- name: job_move :opt\nWITH moved AS (UPDATE job SET epoch = :now WHERE id = :id)\n\
              INSERT INTO event (job_id, lane, at_ms) VALUES (:id, :lane, :now) RETURNING event_id;";
    insta::assert_snapshot!(api(&pair(sqlite, pg)));
}

#[test]
fn a_statement_of_one_dialect_stands_in_its_own_module_behind_its_feature() {
    let sqlite = "-- Only here.\n-- name: job_vacuum :many\n-- only: sqlite — the other one does this by itself\nSELECT size FROM job WHERE epoch = :e ORDER BY id;";
    let mut inputs = inputs(&[("sqlite/job", sqlite), ("pg/job", "-- Nothing.\n")]);
    inputs.config.sqlite_feature = Some("sqlite".to_owned());
    inputs.config.pg_feature = Some("postgres".to_owned());
    insta::assert_snapshot!(api(&inputs));
}

#[test]
fn what_is_generated_depends_on_the_input_alone() {
    let reversed = inputs(&[("pg/job", GET), ("sqlite/job", GET)]);
    assert_eq!(sound(&pair(GET, GET)).rust, sound(&reversed).rust);
}

#[test]
fn names_and_comments_that_rust_would_trip_over_do_no_harm() {
    let sql = "-- \"Quotes\" \\ */ ``` and `ticks`, <T>, [brackets], #![deny(x)]\n-- ```\n-- name: job_odd :opt\n\
               SELECT type, size AS \"match\", note AS \"loop\" FROM job WHERE type = :type AND note = :fn;";
    let rust = sound(&pair(sql, sql)).rust;
    syn::parse_file(&rust).unwrap();
    for part in ["r#type", "r#match", "r#loop", "r#fn"] {
        assert!(rust.contains(part), "{part} is missing in\n{rust}");
    }
    assert!(!rust.lines().any(|line| line.trim_start().starts_with("/// ```")), "{rust}");
}

#[test]
fn a_project_without_statements_still_has_its_trait() {
    let compiled = compile(&Inputs::default());
    assert!(compiled.diagnostics.is_empty());
    assert!(compiled.rust.contains("pub trait Statements: Send {}"), "{}", compiled.rust);
}

#[test]
fn the_module_of_conversions_parses() {
    let rust = compile(&Inputs::default()).rust;
    let file = syn::parse_file(&rust).unwrap();
    assert!(file.items.iter().any(|item| matches!(item, syn::Item::Mod(module) if module.ident == "diglot_support")));
}

#[test]
fn a_negative_number_of_rows_is_refused_where_sqlite_would_take_all() {
    let check = "number_of_rows(\"job.job_list\", \"most\", ";
    let page =
        |sql: &str| format!("-- name: job_list :many\n-- param: most i64\nSELECT epoch FROM job ORDER BY id {sql};");
    let calls = |sqlite: &str, pg: &str| sound(&pair(&page(sqlite), &page(pg))).rust.matches(check).count();
    assert_eq!(calls("LIMIT :most", "LIMIT CAST(:most AS bigint)"), 1);
    assert_eq!(calls("LIMIT 5 OFFSET :most", "LIMIT 5 OFFSET :most"), 1);
    assert_eq!(calls("LIMIT max(:most, 0)", "LIMIT greatest(:most, 0)"), 0);
    let one = format!(
        "{}\n",
        page("LIMIT :most").replace("job_list :many", "job_list :many\n-- only: sqlite — it takes all for -1")
    );
    assert_eq!(sound(&inputs(&[("sqlite/job", &one)])).rust.matches(check).count(), 0);
}

#[test]
fn a_number_of_rows_may_be_narrow_and_a_stream_ends_before_it_begins() {
    let sql = "-- name: job_page :stream\n-- param: most i32\nSELECT epoch FROM job ORDER BY id LIMIT :most;";
    let rust = sound(&pair(sql, sql)).rust;
    let check = "if let Err(error) = diglot_support::number_of_rows(\"job.job_page\", \"most\", Some(i64::from(params.most))) {";
    assert!(rust.contains(check), "{rust}");
}

#[test]
fn a_number_of_several_widths_is_read_as_it_comes_on_postgres_alone() {
    let sql = "-- name: job_score :opt\nSELECT score FROM job WHERE id = :id;";
    let rust = sound(&pair(sql, sql)).rust;
    assert_eq!(rust.matches("score: Option<diglot_support::PgReal>,").count(), 1, "{rust}");
    // In what both give, and in what SQLite's driver gives.
    assert_eq!(rust.matches("score: Option<f64>,").count(), 2, "{rust}");
    assert!(rust.contains("record.score.map(|wide| wide.0)"), "{rust}");
    assert!(rust.contains("pg_widths!(PgReal, f64, f32, f64::from);"), "{rust}");
    let without = sound(&pair(GET, GET)).rust;
    assert!(!without.contains("pg_widths"), "{without}");
}
