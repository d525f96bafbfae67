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
    "unordered-limit",
    "limit-ties",
];

/// A bare NULL as an argument has no type that could be declared.
const UNTYPED: &str = "param-type-unknown";

/// What is told of both pages alike says nothing of whether they mean the same: a word that both CHECKs refuse.
const ALIKE: &str = "unknown-word";

/// Cases that bind a text and leave its type to the server, which no generated function does.
const TEXTS_OF_ANY_TYPE: [&str; 5] =
    ["param-coalesce-narrow", "param-insert-union", "param-reuse-width", "param-unused", "uuid-text-bound-to-blob"];

/// Why a case that a compiler can decide is not answered as recommended.
const REASONS: [(&str, &str); 7] = [
    (
        "clock-timestamp-per-row",
        "a warning is for what may be meant; the two counts are of different things in different words",
    ),
    ("decimal-literal-type", "a function that decodes an f64 would fail on every row of Postgres"),
    ("group-alias-shadows", "small letters are sorted by a language on Postgres, beside spaces and hyphens"),
    ("json-arrow-on-array-text", "the same operator reads another element on each engine, so the columns differ"),
    (
        "json-set-real",
        "the engines agree on 0.1; of a double that needs more than 15 digits SQLite writes 15 and Postgres all",
    ),
    ("json-key-order", "one page gives the document as its text and the other one writes it anew"),
    ("json-set-deep-equiv", "`||` appends to a document that is an array, which `json_set` leaves as it is"),
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
    // What leaves a type to the server is bound by a program's own call.
    let declared = if has_open(&toml::Value::Table(case.clone())) { Declared::None } else { Declared::Known };
    let mut found = compiled(&case, declared);
    let alone = case.get("category").and_then(toml::Value::as_str) == Some("equivalence");
    let is_aside = |rule: &str| {
        BARE.contains(&rule) || alone && (BETWEEN_SESSIONS.contains(&rule) || rule == ALIKE) || rule == UNTYPED
    };
    found.retain(|finding| !is_aside(finding.rule));
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

/// Whether a case leaves the type of an argument to the server.
fn has_open(value: &toml::Value) -> bool {
    match value {
        toml::Value::String(text) => text.starts_with("unknown:"),
        toml::Value::Array(values) => values.iter().any(has_open),
        toml::Value::Table(table) => table.values().any(has_open),
        _ => false,
    }
}

/// All that the compiler says of a case.
fn compiled(case: &toml::Table, declared: Declared) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    for (dialect, mark) in [("sqlite", '?'), ("pg", '$')] {
        let (schema, statements) = page(case, dialect, mark, declared);
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        sources.add(SourceFile::new(format!("sql/{dialect}/case.sql"), statements));
    }
    let mut config = declared::config(case);
    config.generate.enabled = declared != Declared::None;
    let mut inputs = Inputs { config, sources, ..Inputs::default() };
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

/// The answers to the cases of one kind.
#[derive(Default)]
struct Group {
    /// How many are right as the texts stand.
    right: usize,
    /// How many are an error until both pages are run: `when_run` says what comes of it.
    run: usize,
    all: usize,
    /// The wrong ones by name.
    wrong: Vec<String>,
}

type Groups = BTreeMap<String, Group>;

fn groups(folder: &str) -> Groups {
    let mut groups = Groups::new();
    for (name, case) in cases(folder) {
        let text = |key: &str| case.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        let (answer, rules) = findings(&case);
        let (recommended, category) = (text("rule"), text("category"));
        let kind = if category == "equivalence" { "equivalence" } else { "difference" };
        let group = groups.entry(format!("static = {:6} {kind}", text("static"))).or_default();
        group.all += 1;
        let (is_right, is_run) = (is_right(answer, &recommended, &category), text("when_run") == "same");
        assert!(!(is_right && is_run), "{name} is the same by law");
        group.right += usize::from(is_right);
        group.run += usize::from(is_run);
        if !is_right && !is_run {
            group
                .wrong
                .push(format!("{name}: {recommended}, answered {answer:?} {}", rules.join(" ")).trim_end().to_owned());
        }
    }
    groups
}

/// What share of each group is answered as recommended, and every case that is not, with the reason where one is known.
fn table(groups: &Groups) -> String {
    let mut table = String::new();
    for (group, Group { right, run, all, .. }) in groups {
        let run = if *run > 0 { format!(", {run} more when run") } else { String::new() };
        table += &format!("{group:28} {right:>4} of {all:>4} {:>6.1} %{run}\n", 100.0 * *right as f64 / *all as f64);
    }
    for (group, Group { wrong, .. }) in groups {
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
    for line in groups.iter().filter(|(group, _)| group.starts_with("static = yes")).flat_map(|(_, group)| &group.wrong)
    {
        assert!(reason(line).is_some(), "{line} has no reason");
    }
    let table = table(&groups);
    println!("{table}");
    insta::assert_snapshot!("catalogue", table);
}

/// The cases that bind a text of unknown type, with that said: then the compiler refuses what the engines do not do alike.
#[test]
fn a_text_that_is_declared_is_refused_where_the_engines_take_it_in_two_ways() {
    let cases: BTreeMap<String, toml::Table> = cases("cases").into_iter().collect();
    for name in TEXTS_OF_ANY_TYPE {
        let found = compiled(&cases[name], Declared::All);
        let refused = found.iter().any(|finding| {
            finding.severity == Severity::Error && ["param-type-conflict", "unused-annotation"].contains(&finding.rule)
        });
        assert!(refused, "{name}: {found:?}");
    }
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

/// A fifth set: a newspaper's archive.
#[test]
fn the_fifth_set_of_cases_that_were_held_out_is_answered() {
    let table = table(&groups("held_out_fifth"));
    println!("{table}");
    insta::assert_snapshot!("held_out_fifth", table);
}
