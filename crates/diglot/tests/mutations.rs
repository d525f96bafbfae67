//! A change of one page alone is noticed: constants, operators, columns, parameters, conjuncts and what else a
//! statement is made of, in this repository's own pairs.
//!
//! One change of sixteen is tried, always the same ones; `MUTATIONS=all` tries every one.

use std::path::Path;

use diglot::source::Sources;
use diglot_tools::mutate::{Against, Sample, Survivor, run};

/// Why a change goes unnoticed, as far as the texts show it.
fn reason(sources: &Sources, survivor: &Survivor) -> &'static str {
    let header = format!("-- name: {} ", survivor.statement);
    let declares = sources.iter().filter_map(|(_, file)| file.text.split_once(&header)).any(|(_, text)| {
        let own = text.split("\n-- name: ").next().unwrap_or_default();
        own.contains("-- diverges(")
    });
    match survivor.mutation.kind {
        "lock" => "SQLite needs none there, and no lint sees that Postgres does",
        _ if declares => "the pair declares differences, and one of them covers it",
        _ => "the comparison does not see it",
    }
}

fn told(sources: &Sources, survivor: &Survivor) -> String {
    let file = sources.file(survivor.mutation.span.file);
    let (statement, kind, why) = (&survivor.statement, survivor.mutation.kind, reason(sources, survivor));
    format!("{} {statement} {kind}: `{}` as `{}`: {why}\n", file.path, survivor.original, survivor.mutation.replacement)
}

#[test]
fn one_sided_changes_are_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("diglot.toml").exists() {
        // The crate stands alone, without the pairs.
        return;
    }
    let inputs = diglot::build::load(&root).expect("the repository's own project");
    let sample = if std::env::var("MUTATIONS").is_ok_and(|all| all == "all") { Sample::All } else { Sample::OneOf(16) };
    let report = run(&inputs, sample, Against::Nothing);
    for (kind, (made, caught)) in &report.kinds {
        println!("{kind:16} {made:>6} {caught:>6} {:>6.1} %", 100.0 * *caught as f64 / *made as f64);
    }
    println!("{:16} {:>6} {:>6}", "all", report.made(), report.caught());
    let survivors: String = report.survivors.iter().map(|survivor| told(&inputs.sources, survivor)).collect();
    assert!(report.made() > 500 && report.caught() * 100 >= report.made() * 99, "{survivors}");
    if sample != Sample::All {
        insta::assert_snapshot!("survivors", survivors);
    }
}
