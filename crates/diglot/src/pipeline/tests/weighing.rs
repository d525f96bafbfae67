//! Pairs that recorded evidence settles, or shows to differ.

use std::collections::BTreeMap;

use super::{Inputs, compile, pair, rendered, rules, sound};
use crate::cache::Cache;
use crate::config::{Config, Unproved};
use crate::evidence::{Evidence, Record, Scope, VERSION, Verdict, Witness};
use crate::pipeline::compile_again;

const SQLITE: &str = "-- name: job_lanes :many\nSELECT lane FROM job WHERE epoch >= :least GROUP BY lane;";
const PG: &str = "-- name: job_lanes :many\nSELECT DISTINCT lane FROM job WHERE NOT epoch < :least;";

/// The pair with a verdict on it, or several pairs with the same one.
fn weighed(sqlite: &str, pg: &str, verdict: Verdict) -> Inputs {
    let mut inputs = pair(sqlite, pg);
    let record = |basis: String| Record { basis, verdict: verdict.clone() };
    let pairs = compile(&inputs).weighed.into_iter().map(|pair| (pair.name, record(pair.basis)));
    let evidence = Evidence {
        version: VERSION,
        engines: "SQLite 3, Postgres 15".into(),
        pairs: pairs.collect(),
        steps: Vec::new(),
    };
    assert!(!evidence.pairs.is_empty());
    inputs.evidence = Some(evidence.to_text());
    inputs
}

fn same() -> Verdict {
    Verdict::Same(Scope { databases: 12, rows: 2, values: 3, noticed: 7, changes: 8, ..Scope::default() })
}

fn differs() -> Witness {
    let row: BTreeMap<String, String> =
        [("id", "uuid:11111111-1111-4111-9111-111111111100"), ("lane", "text:a"), ("epoch", "int:5")]
            .map(|(name, word)| (name.to_owned(), word.to_owned()))
            .into();
    Witness {
        what: "the rows differ".into(),
        rows: [("job".to_owned(), vec![row])].into(),
        args: [("least".to_owned(), "int:5".to_owned())].into(),
        sqlite: vec!["lane = 'a'".into()],
        pg: vec!["no row".into()],
        named: [("job".to_owned(), ["lane", "epoch"].map(str::to_owned).into())].into(),
        ..Witness::default()
    }
}

#[test]
fn what_is_the_same_when_run_has_a_function_and_no_finding() {
    assert!(compile(&pair(SQLITE, PG)).has_errors());
    let compiled = sound(&weighed(SQLITE, PG, same()));
    assert!(compiled.rust.contains("fn job_lanes"));
    assert!(!compiled.weighed[0].by_law && !compiled.weighed[0].open);
}

#[test]
fn who_wants_laws_alone_keeps_the_findings() {
    let mut inputs = weighed(SQLITE, PG, same());
    inputs.config.unproved = Unproved::Deny;
    let compiled = compile(&inputs);
    assert_eq!(rules(&compiled), rules(&compile(&pair(SQLITE, PG))));
    let first = &compiled.diagnostics[0];
    assert!(first.notes.iter().any(|note| note.starts_with("running says equal on all 12 databases")), "{first:?}");
}

#[test]
fn one_finding_shows_the_database_on_which_a_pair_differs() {
    let inputs = weighed(SQLITE, PG, Verdict::Differs(Box::new(differs())));
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
}

#[test]
fn what_is_the_same_by_law_and_differs_when_run_is_an_error() {
    let same = SQLITE.replace(">=", ">");
    let inputs = weighed(&same, &same, Verdict::Differs(Box::new(differs())));
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
}

#[test]
fn what_only_edges_show_is_a_warning() {
    let inputs = weighed(SQLITE, PG, Verdict::Differs(Box::new(Witness { edge: true, ..differs() })));
    let compiled = compile(&inputs);
    assert_eq!(rules(&compiled), ["edge-differs"]);
    assert!(!compiled.has_errors() && compiled.rust.contains("fn job_lanes"));
}

#[test]
fn who_has_not_run_the_pair_is_told_to() {
    let compiled = compile(&pair(SQLITE, PG));
    let help = compiled.diagnostics.iter().flat_map(|finding| &finding.help);
    assert_eq!(help.filter(|help| help.contains("cargo diglot prepare")).count(), 1);
    assert!(compiled.weighed[0].open);
}

#[test]
fn a_pair_of_which_running_says_nothing_keeps_its_findings_with_the_reason() {
    let inputs = weighed(SQLITE, PG, Verdict::Unknown { reason: "SQLite takes no row".into() });
    let notes: Vec<String> = compile(&inputs).diagnostics.into_iter().flat_map(|finding| finding.notes).collect();
    assert!(notes.iter().any(|note| note == "running says nothing: SQLite takes no row"), "{notes:?}");
}

#[test]
fn evidence_of_another_text_says_nothing() {
    let old = weighed(SQLITE, PG, same());
    let inputs = Inputs { evidence: old.evidence, ..pair(SQLITE, &PG.replace('<', "<=")) };
    assert_eq!(rules(&compile(&inputs)), rules(&compile(&pair(SQLITE, &PG.replace('<', "<=")))));
}

#[test]
fn evidence_of_another_schema_says_nothing_and_that_of_another_table_does_not_matter() {
    let old = weighed(SQLITE, PG, same());
    let with = |change: &dyn Fn(&str) -> String| {
        let mut inputs = Inputs { evidence: old.evidence.clone(), ..pair(SQLITE, PG) };
        let mut sources = crate::source::Sources::default();
        for (_, file) in inputs.sources.iter() {
            let text = if file.path.starts_with("schema/") { change(&file.text) } else { file.text.clone() };
            sources.add(crate::source::SourceFile::new(file.path.clone(), text));
        }
        inputs.sources = sources;
        compile(&inputs)
    };
    assert!(!with(&|text| format!("{text}\nCREATE TABLE other (id integer NOT NULL PRIMARY KEY);")).has_errors());
    assert!(
        with(&|text| text.replace("state TEXT NOT NULL", "state TEXT").replace("state text NOT NULL", "state text"))
            .has_errors()
    );
}

#[test]
fn a_header_is_not_decided_by_rows() {
    let changed = SQLITE.replace(":many", ":opt");
    let inputs = weighed(&changed, PG, same());
    assert!(rules(&compile(&inputs)).contains(&"cardinality-differs"));
}

#[test]
fn a_comment_does_not_void_evidence() {
    let old = weighed(SQLITE, PG, same());
    sound(&Inputs { evidence: old.evidence, ..pair(&format!("-- The lanes.\n{SQLITE}"), PG) });
}

#[test]
fn nothing_that_running_decides_is_found_before_the_pair_is_run() {
    sound(&Inputs { asking: true, ..pair(SQLITE, PG) });
}

#[test]
fn what_evidence_settled_is_not_kept_for_the_next_build() {
    let (compiled, kept) = compile_again(&weighed(SQLITE, PG, same()), &Cache::default());
    assert!(compiled.diagnostics.is_empty());
    assert_eq!(kept.keys().count(), 0);
}

#[test]
fn what_an_earlier_build_kept_says_nothing_against_a_database() {
    let same = SQLITE.replace(">=", ">");
    let inputs = weighed(&same, &same, Verdict::Differs(Box::new(differs())));
    let (sound, kept) = compile_again(&Inputs { evidence: None, ..inputs.clone() }, &Cache::default());
    assert!(sound.diagnostics.is_empty() && kept.keys().count() == 1);
    let (compiled, _) = compile_again(&inputs, &kept);
    assert_eq!(rules(&compiled), ["results-differ"]);
}

/// A database that shows the difference on edges alone.
fn edge() -> Witness {
    let excluded_by = [("numbers_fit", "job.epoch"), ("times_between", "job_lanes.least")]
        .map(|(key, place)| (key.to_owned(), [place.to_owned()].into()));
    Witness { edge: true, excluded_by: excluded_by.into(), ..differs() }
}

#[test]
fn all_that_one_assumption_settles_is_one_finding_with_the_line_to_paste() {
    let more = |text: &str| format!("{text}\n\n{}", text.replace("job_lanes", "job_ways"));
    let inputs = weighed(&more(SQLITE), &more(PG), Verdict::Differs(Box::new(edge())));
    let compiled = compile(&inputs);
    assert_eq!(rules(&compiled), ["edge-differs"]);
    assert!(!compiled.has_errors());
    insta::assert_snapshot!(rendered(&inputs, &compiled));
}

#[test]
fn evidence_holds_for_what_was_assumed_of_its_tables() {
    let old = weighed(SQLITE, PG, same());
    let with = |lines: &str| {
        let config = Config::parse(&format!("[assume]\n{lines}\n"), "diglot.toml").unwrap();
        let assume = config.assume;
        let mut inputs = Inputs { evidence: old.evidence.clone(), ..pair(SQLITE, PG) };
        inputs.config.assume = assume;
        compile(&inputs).has_errors()
    };
    assert!(with("numbers_fit = true") && with("numbers_fit = [\"job\"]") && !with(""));
}
