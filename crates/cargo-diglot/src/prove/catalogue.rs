//! The catalogue of dialect differences, run: what really differs has to be found by data that nobody wrote for it.

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};

use super::*;
use crate::catalog;
use crate::host::Sorting;
use crate::interrupt::Interrupts;

#[path = "../../../diglot/tests/case/mod.rs"]
pub(super) mod case;
#[path = "../../../diglot/tests/case/versions.rs"]
mod versions;

use versions::NO_DRIFT_SINCE;

fn inputs(case: &toml::Table) -> Inputs {
    // A column without a name is no field of a row, and would not be compared.
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let case = case::with_names(case, |ours, theirs| !is_word(ours) || !is_word(theirs));
    let mut sources = Sources::default();
    for (dialect, mark) in [("sqlite", '?'), ("pg", '$')] {
        let (schema, statements) = case::page(&case, dialect, mark, case::Declared::All);
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        sources.add(SourceFile::new(format!("sql/{dialect}/case.sql"), statements));
    }
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

/// What running a case shows.
async fn shown(case: &toml::Table, host: &Host) -> String {
    let inputs = inputs(case);
    let compiled = diglot::check(&inputs);
    let mut engines = match Engines::open_again(&inputs, host).await {
        Ok(engines) => engines,
        Err(_) if sqlite::Sqlite::open(&inputs).is_err() && pg::make_again(host, &inputs).await.is_err() => {
            return "no engine takes the schema".into();
        }
        Err(error) => return format!("found: {error}").lines().next().unwrap_or("").to_owned(),
    };
    let relations = engines.relations().await.unwrap();
    let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
    if subjects.is_empty() {
        let rules: BTreeSet<&str> = compiled.diagnostics.iter().map(|finding| finding.rule).collect();
        return format!("refused: {}", rules.into_iter().collect::<Vec<_>>().join(", "));
    }
    let arguments = Prove {
        project: crate::cli::Project { root: None, package: None },
        statement: None,
        rows: 4,
        cases: 160,
        seed: 1,
        postgres: crate::cli::Postgres::default(),
    };
    let mut cases = 0;
    for subject in &subjects {
        let tried = subject_tried(&mut engines, subject, Vec::new(), &arguments, 1).await.unwrap();
        cases += tried.cases;
        if tried.refused {
            return "refused: neither engine takes the text".into();
        }
        if let Some((_, difference)) = tried.found.first() {
            return format!("found: {}", difference.what);
        }
    }
    format!("equal in {cases} cases")
}

#[test]
fn real_drift_is_found_by_running_it() {
    let mut lines = Vec::new();
    runtime().unwrap().block_on(async {
        let mut interrupts = Interrupts::catch().unwrap();
        let host = Host::open(&crate::cli::Postgres::default(), Sorting::Language, &mut interrupts).await.unwrap();
        let mut connection = host.scratch.connect().await.unwrap();
        let major = catalog::major(&mut connection).await.unwrap();
        drop(connection);
        for (name, case) in case::cases("cases") {
            let category = case["category"].as_str().unwrap_or_default().to_owned();
            if ["real drift", "same-text-different-meaning"].contains(&category.as_str()) {
                let mut shown = shown(&case, &host).await;
                let since = NO_DRIFT_SINCE.iter().find(|(of, since)| *of == name && *since <= major);
                if let Some((_, since)) = since {
                    assert!(!shown.starts_with("found"), "{name} differs on Postgres {major}: {shown}");
                    shown = format!("found: before Postgres {since}");
                }
                lines.push((category, name, shown));
            }
        }
        host.close().await.unwrap();
    });
    let mut table = String::new();
    for category in ["real drift", "same-text-different-meaning"] {
        let of = || lines.iter().filter(|(of, ..)| of == category);
        let [found, refused] =
            ["found", "refused"].map(|start| of().filter(|(_, _, shown)| shown.starts_with(start)).count());
        table += &format!("{category:28} {found:>4} of {:>4} found, {refused} refused\n", of().count());
    }
    for (_, name, shown) in lines.iter().filter(|(_, _, shown)| !shown.starts_with("found")) {
        table += &format!("  {name}: {shown}\n");
    }
    println!("{table}");
    insta::assert_snapshot!("catalogue_run", table);
}

/// What the texts alone do not show to be the same, as the catalogue has it.
#[test]
fn what_is_the_same_when_run_gives_the_same() {
    let folders =
        ["cases", "held_out", "held_out_second", "held_out_third", "held_out_fourth", "held_out_fifth"].into_iter();
    let said: Vec<(String, toml::Table)> =
        folders.flat_map(case::cases).filter(|(_, case)| case.contains_key("when_run")).collect();
    assert!(!said.is_empty());
    runtime().unwrap().block_on(async {
        let mut interrupts = Interrupts::catch().unwrap();
        let host = Host::open(&crate::cli::Postgres::default(), Sorting::Language, &mut interrupts).await.unwrap();
        for (name, case) in said {
            let shown = shown(&case, &host).await;
            assert!(shown.starts_with("equal"), "{name}: {shown}");
        }
        host.close().await.unwrap();
    });
}
