//! What a baseline keeps, and what is generated in spite of it.

use super::{pair, rendered, rules};
use crate::baseline;
use crate::config::Config;
use crate::pipeline::{Compiled, compile};
use crate::project::Inputs;
use crate::source::SourceFile;

const SQLITE: &str = "-- name: job_due :many\nSELECT id FROM job WHERE epoch < :now;\n\n\
                      -- name: job_lost :exec\nDELETE FROM job;\n\n\
                      -- name: job_odd :many\nSELECT id, note FROM job;\n\n\
                      -- name: job_bad :exec\nDELETE FRM job;\n";
const PG: &str = "-- name: job_due :many\nSELECT id FROM job WHERE epoch <= :now;\n\n\
                  -- name: job_odd :many\nSELECT id FROM job;\n\n\
                  -- name: job_bad :exec\nDELETE FROM job;\n";

fn with_baseline(sqlite: &str, pg: &str, text: &str) -> (Inputs, Compiled) {
    let mut inputs = pair(sqlite, pg);
    inputs.baseline = Some(inputs.sources.add(SourceFile::new(baseline::FILE, text)));
    let compiled = compile(&inputs);
    (inputs, compiled)
}

fn written(compiled: &Compiled) -> String {
    baseline::text(compiled.keys.iter())
}

#[test]
fn what_is_kept_fails_nothing_and_the_rest_is_generated() {
    let first = compile(&pair(SQLITE, PG));
    let text = written(&first);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let kept: Vec<&str> = lines.filter_map(|line| Some(line.rsplit_once(' ')?.0)).collect();
    assert_eq!(
        kept,
        ["syntax job_bad", "where-differs job_due", "missing-statement job_lost", "columns-differ job_odd"]
    );
    let (inputs, kept) = with_baseline(SQLITE, PG, &text);
    assert!(kept.diagnostics.is_empty(), "{}", rendered(&inputs, &kept));
    assert_eq!(kept.known.len(), 4);
    assert_eq!(kept.left_out, ["job_bad", "job_odd"]);
    assert!(kept.rust.contains("fn job_due") && kept.rust.contains("pub mod sqlite_only"), "{}", kept.rust);
    assert!(!kept.rust.contains("job_odd") && !kept.rust.contains("compile_error"), "{}", kept.rust);
}

#[test]
fn new_drift_fails_and_what_is_repaired_must_leave_the_file() {
    let text = written(&compile(&pair(SQLITE, PG)));
    let pg = PG.replace("DELETE FROM job", "DELETE FROM job WHERE false").replace("<=", "<");
    let (inputs, compiled) = with_baseline(&SQLITE.replace("FRM", "FROM"), &pg, &text);
    assert_eq!(rules(&compiled), ["where-differs", "unused-baseline", "unused-baseline"]);
    insta::assert_snapshot!(rendered(&inputs, &compiled));
}

fn kept(sqlite: &str, pg: &str) -> String {
    let mut inputs = pair(sqlite, pg);
    crate::draft_baseline(&mut inputs).text.expect("there is something to keep")
}

#[test]
fn a_known_difference_that_becomes_another_one_is_new_and_tells_it_once() {
    let text = kept(SQLITE, PG);
    for (from, to) in [("<= :now", ">= :now"), ("<= :now", "<= :then"), ("epoch <=", "id <=")] {
        let (inputs, compiled) = with_baseline(SQLITE, &PG.replace(from, to), &text);
        let told: Vec<&str> = compiled.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
        assert!(!told.is_empty() && told.iter().all(|told| told.starts_with("job_due: ")), "{told:?}");
        assert!(!rules(&compiled).contains(&"unused-baseline"), "{}", rendered(&inputs, &compiled));
    }
    // Layout, and what stands elsewhere, is no part of a difference.
    let moved = format!("-- A page.\n\n{}", PG.replace("WHERE epoch <= :now", "\n  WHERE  epoch<=:now"));
    let (inputs, compiled) = with_baseline(SQLITE, &moved, &text);
    assert!(compiled.diagnostics.is_empty(), "{}", rendered(&inputs, &compiled));
}

#[test]
fn a_statement_that_could_not_be_compared_is_kept_with_all_of_its_text() {
    let text = kept(SQLITE, PG);
    let (_, compiled) =
        with_baseline(SQLITE, &PG.replace("DELETE FROM job;", "DELETE FROM job WHERE id IS NULL;"), &text);
    assert_eq!(rules(&compiled), ["syntax"]);
}

#[test]
fn what_is_kept_may_bring_up_more_which_is_kept_at_once() {
    // Once it is known that the statement stands alone, it is read, and its parameter has no type.
    let (sqlite, pg) = (
        "-- name: job_odd :many\nSELECT id FROM job;\n\n-- name: job_alone :many\nSELECT :x AS x;\n",
        "-- name: job_odd :many\nSELECT id FROM job;\n",
    );
    let mut inputs = pair(sqlite, pg);
    let kept = crate::draft_baseline(&mut inputs);
    assert!(kept.compiled.diagnostics.is_empty(), "{}", rendered(&inputs, &kept.compiled));
    let text = kept.text.expect("there is something to keep");
    assert!(text.contains("missing-statement job_alone") && text.contains("param-type-unknown job_alone"), "{text}");
}

#[test]
fn without_an_api_nothing_is_asked_that_it_alone_needs() {
    let (sqlite, pg) =
        ("-- name: job_odd :many\nSELECT id, id FROM job;\n", "-- name: job_odd :many\nSELECT id, id FROM job;\n");
    assert!(!rules(&compile(&pair(sqlite, pg))).is_empty());
    let without = |sqlite: &str, pg: &str| {
        let mut inputs = pair(sqlite, pg);
        inputs.config = Config::parse("generate = false", "diglot.toml").expect("a configuration");
        let bound =
            "-- allow(unchecked-uuid): the program binds 16 bytes\n-- allow(narrow-column): and small numbers\n";
        inputs.sources.add(SourceFile::new("schema/divergences.sql", bound));
        compile(&inputs)
    };
    let compiled = without(sqlite, pg);
    assert!(compiled.diagnostics.is_empty() && !compiled.rust.contains("fn "), "{:?}", compiled.diagnostics);
    assert_eq!(compiled.statements, (1, 0));
    let drifted = without(sqlite, &pg.replace("FROM job", "FROM job WHERE id IS NULL"));
    assert_eq!(rules(&drifted), ["where-differs"]);
    assert!(drifted.rust.contains("compile_error!"), "{}", drifted.rust);
}
