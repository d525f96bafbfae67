//! The catalogue of dialect differences: pairs that mean the same must pass, pairs that do not must be refused.
//!
//! Each case holds what both engines really answered, so a case is evidence and not an opinion.

#[path = "catalogue/declared.rs"]
mod declared;
#[path = "catalogue/drafts.rs"]
mod drafts;
#[path = "catalogue/recorded.rs"]
mod recorded;

use std::collections::BTreeMap;

use diglot::diagnostic::{Diagnostic, Severity};
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

mod case;

use case::{BETWEEN_SESSIONS, Declared, cases, page, with_names};

/// Findings that every bare statement of a case would have: a case gives its columns no names.
const BARE: [&str; 6] = [
    "column-unnamed",
    "column-duplicate",
    "cardinality-columns",
    "column-type-unknown",
    "param-type-unknown",
    "unordered-limit",
];

/// Why a parameter without a declared type is no drift.
const TYPED: &str =
    "no type is declared: the generated function gives the parameter one on both engines, so none of them guesses";

/// Why a case that a compiler can decide is not answered as recommended.
const REASONS: [(&str, &str); 12] = [
    (
        "clock-timestamp-per-row",
        "a warning is for what may be meant; the two counts are of different things in different words",
    ),
    ("decimal-literal-type", "a function that decodes an f64 would fail on every row of Postgres"),
    ("json-arrow-on-array-text", "the same operator reads another element on each engine, so the columns differ"),
    (
        "json-set-real",
        "the engines agree on 0.1; of a double that needs more than 15 digits SQLite writes 15 and Postgres all",
    ),
    ("json-key-order", "one page gives the document as its text and the other one writes it anew"),
    ("param-coalesce-narrow", TYPED),
    ("param-insert-union", TYPED),
    ("param-ms-times-literal", TYPED),
    ("param-reuse-width", TYPED),
    ("param-select-list", TYPED),
    ("param-unused", "the generated function has no parameter that its statement does not use"),
    ("uuid-text-bound-to-blob", TYPED),
];

/// What the compiler says of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Accept,
    Warn,
    Error,
}

/// The rules that find something.
fn findings(case: &toml::Table) -> (Answer, Vec<&'static str>) {
    // Only columns that are written in two ways need one name.
    let case = with_names(case, |ours, theirs| ours != theirs);
    // As a user does: the type of an argument is declared when the compiler asks for it.
    let mut found = compiled(&case, Declared::Known);
    if found.iter().any(|finding| finding.rule == "param-type-unknown") {
        found = compiled(&case, Declared::All);
    }
    let alone = case.get("category").and_then(toml::Value::as_str) == Some("equivalence");
    found.retain(|finding| !(BARE.contains(&finding.rule) || alone && BETWEEN_SESSIONS.contains(&finding.rule)));
    let worst = found.iter().map(|finding| finding.severity).max();
    let answer = match worst {
        None => Answer::Accept,
        Some(Severity::Warning) => Answer::Warn,
        Some(Severity::Error) => Answer::Error,
    };
    let mut rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    (answer, rules)
}

/// All that the compiler says of a case.
fn compiled(case: &toml::Table, declared: Declared) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    for (dialect, mark) in [("sqlite", '?'), ("pg", '$')] {
        let (schema, statements) = page(case, dialect, mark, declared);
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        sources.add(SourceFile::new(format!("sql/{dialect}/case.sql"), statements));
    }
    let mut inputs = Inputs { config: declared::config(case), sources, ..Inputs::default() };
    inputs.answers = Some(recorded::answers(case, &inputs, &compile(&inputs)));
    compile(&inputs).diagnostics
}

/// Whether an answer is the one that the catalogue recommends. What is accepted under a condition may be refused
/// where the condition is not known to hold, unless both engines really agree.
fn is_right(answer: Answer, recommended: &str, category: &str) -> bool {
    match (recommended, category) {
        (_, "equivalence") if recommended.starts_with("accept") => answer == Answer::Accept,
        ("accept", _) => answer == Answer::Accept,
        ("accept-if", _) => true,
        ("warn", _) => answer == Answer::Warn,
        _ => answer == Answer::Error,
    }
}

/// By group: right answers, all answers, and the wrong ones by name.
type Groups = BTreeMap<String, (usize, usize, Vec<String>)>;

fn groups(folder: &str) -> Groups {
    let mut groups = Groups::new();
    for (name, case) in cases(folder) {
        let text = |key: &str| case.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        let (answer, rules) = findings(&case);
        let (recommended, category) = (text("rule"), text("category"));
        let kind = if category == "equivalence" { "equivalence" } else { "difference" };
        let group = groups.entry(format!("static = {:6} {kind}", text("static"))).or_default();
        group.1 += 1;
        if is_right(answer, &recommended, &category) {
            group.0 += 1;
        } else {
            group
                .2
                .push(format!("{name}: {recommended}, answered {answer:?} {}", rules.join(" ")).trim_end().to_owned());
        }
    }
    groups
}

/// What share of each group is answered as recommended, and every case that is not, with the reason where one is known.
fn table(groups: &Groups) -> String {
    let mut table = String::new();
    for (group, (right, all, _)) in groups {
        table += &format!("{group:28} {right:>4} of {all:>4} {:>6.1} %\n", 100.0 * *right as f64 / *all as f64);
    }
    for (group, (_, _, wrong)) in groups {
        table += &format!("\n{group}\n");
        for line in wrong {
            table += &format!("  {line}\n");
            if let Some(reason) = reason(line) {
                table += &format!("    {reason}\n");
            }
        }
    }
    table
}

fn reason(line: &str) -> Option<&'static str> {
    let name = line.split(':').next().unwrap_or_default();
    REASONS.iter().find(|(case, _)| *case == name).map(|(_, reason)| *reason)
}

/// `cargo test -p diglot --test catalogue -- --nocapture` prints the table.
#[test]
fn the_catalogue_is_answered() {
    let groups = groups("cases");
    for line in
        groups.iter().filter(|(group, _)| group.starts_with("static = yes")).flat_map(|(_, (_, _, wrong))| wrong)
    {
        assert!(reason(line).is_some(), "{line} has no reason");
    }
    let table = table(&groups);
    println!("{table}");
    insta::assert_snapshot!("catalogue", table);
}

/// Cases of the same kinds that were written, and run on both engines, before the compiler was asked about them.
#[test]
fn cases_that_were_held_out_are_answered() {
    let table = table(&groups("held_out"));
    println!("{table}");
    insta::assert_snapshot!("held_out", table);
}

/// The same with other schemas: a chat, a queue, a ledger and a history that is copied between hosts.
#[test]
fn the_second_set_of_cases_that_were_held_out_is_answered() {
    let table = table(&groups("held_out_second"));
    println!("{table}");
    insta::assert_snapshot!("held_out_second", table);
}

/// A third set: builds and their steps, a library, and a fleet whose schema is loose.
#[test]
fn the_third_set_of_cases_that_were_held_out_is_answered() {
    let table = table(&groups("held_out_third"));
    println!("{table}");
    insta::assert_snapshot!("held_out_third", table);
}

/// A fourth set: a clinic, probes and their readings, and a shop.
#[test]
fn the_fourth_set_of_cases_that_were_held_out_is_answered() {
    let table = table(&groups("held_out_fourth"));
    println!("{table}");
    insta::assert_snapshot!("held_out_fourth", table);
}
