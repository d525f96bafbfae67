//! What stands in for the API while there are errors.

use super::{compile, pair, sound};

const GET: &str =
    "-- name: job_get :opt\n-- param: note text null\nSELECT id, size FROM job WHERE part = :part AND note = :note;";

fn count(rust: &str, what: &str) -> usize {
    rust.matches(what).count()
}

#[test]
fn one_compile_error_holds_all_findings_and_nothing_else_is_missing() {
    let pages = format!(
        "{GET}\n-- name: job_bad :opt\nSELECT nosuch FROM job WHERE id = :id;\n-- name: job_worse :exec\nDELETE FRM job;\n"
    );
    let compiled = compile(&pair(&pages, &pages));
    assert!(compiled.has_errors());
    syn::parse_file(&compiled.rust).unwrap();
    assert_eq!(count(&compiled.rust, "compile_error!"), 1);
    for part in ["3 findings", "nosuch", "DELETE FRM", "sql/pg/job.sql"] {
        assert!(compiled.rust.contains(part), "{part} is missing in\n{}", compiled.rust);
    }
    for part in ["struct JobGetParams", "struct JobGetRow", "fn job_get", "fn job_bad", "fn job_worse"] {
        assert!(compiled.rust.contains(part), "{part} is missing in\n{}", compiled.rust);
    }
    assert!(!compiled.rust.contains("query_as!"), "a stub needs no answers");
}

#[test]
fn a_page_that_was_understood_gives_the_shape_of_a_broken_pair() {
    let compiled = compile(&pair(&GET.replace("FROM", "FRM"), GET));
    for part in ["pub part: i16", "pub note: Option<String>", "pub size: Option<i32>"] {
        assert!(compiled.rust.contains(part), "{part} is missing in\n{}", compiled.rust);
    }
}

#[test]
fn a_page_alone_takes_the_finer_types_from_the_facing_schema() {
    for pg in ["-- Nothing.\n".to_owned(), GET.replace("FROM", "FRM")] {
        let rust = compile(&pair(GET, &pg)).rust;
        for part in ["pub id: uuid::Uuid", "pub part: i16", "pub note: Option<String>", "pub size: Option<i32>"] {
            assert!(rust.contains(part), "{part} is missing in\n{rust}");
        }
    }
}

#[test]
fn an_earlier_run_gives_the_shape_when_no_page_can() {
    let broken = GET.replace("FROM", "FRM");
    let mut inputs = pair(&broken, &broken);
    inputs.previous = Some(sound(&pair(GET, GET)).rust);
    let compiled = compile(&inputs);
    syn::parse_file(&compiled.rust).unwrap();
    for part in ["pub part: i16", "pub note: Option<String>", "pub size: Option<i32>", "Option<job::JobGetRow>"] {
        assert!(compiled.rust.contains(part), "{part} is missing in\n{}", compiled.rust);
    }
}

#[test]
fn what_was_there_before_gives_way_when_the_statement_has_other_fields_now() {
    let wider = GET.replace("id, size", "id, size, epoch");
    let mut inputs = pair(&wider, &wider.replace("FROM", "FRM"));
    inputs.previous = Some(sound(&pair(GET, GET)).rust);
    let rust = compile(&inputs).rust;
    assert!(rust.contains("pub epoch: i64"), "{rust}");
}

#[test]
fn a_previous_file_that_is_no_rust_is_no_obstacle() {
    let broken = GET.replace("FROM", "FRM");
    let mut inputs = pair(&broken, &broken);
    inputs.previous = Some("fn {".to_owned());
    syn::parse_file(&compile(&inputs).rust).unwrap();
}

#[test]
fn a_page_that_went_away_leaves_the_parameters_that_it_alone_had() {
    let before = pair(
        "-- name: job_do :exec\n-- diverges(where): the part is on one page alone here\nDELETE FROM job WHERE id = :id;",
        "-- name: job_do :exec\nDELETE FROM job WHERE id = :id AND part = :part;",
    );
    let mut after = pair("-- name: job_do :exec\nDELETE FROM job WHERE id = :id;", "-- Nothing.\n");
    after.previous = Some(sound(&before).rust);
    let rust = compile(&after).rust;
    assert!(rust.contains("pub part: i16"), "{rust}");
}

#[test]
fn a_bad_configuration_is_the_only_finding_and_the_api_stays() {
    let good = pair(GET, GET);
    let rust = sound(&good).rust;
    let mut bad = pair(GET, &GET.replace("part = ", "part > "));
    let span = crate::source::Span::new(crate::source::FileId(0), 0..1);
    bad.findings.push(crate::diagnostic::Diagnostic::error(crate::rule::BAD_CONFIG, "no", span, ""));
    bad.previous = Some(rust.clone());
    let compiled = compile(&bad);
    assert_eq!(super::rules(&compiled), ["bad-config"]);
    syn::parse_file(&compiled.rust).unwrap();
    let api = rust.split_once("\n\n").map_or("", |(_, api)| api);
    assert!(compiled.rust.contains("compile_error!") && compiled.rust.ends_with(api), "{}", compiled.rust);
}
