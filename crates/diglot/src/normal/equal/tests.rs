//! Every pair in the documentation of an equivalence is what it is said to be.

use super::*;
use crate::answers::{Described, Record, index, key, record};
use crate::config::Config;
use crate::source::{SourceFile, Sources};
use crate::{Inputs, compile};

const SQLITE: &str = include_str!("examples/sqlite.sql");
const PG: &str = include_str!("examples/pg.sql");
const CONFIG: &str = include_str!("examples/diglot.toml");

/// Findings that a bare example has because it declares no types and may give its rows in any order.
const BARE: [&str; 4] = ["column-type-unknown", "param-type-unknown", "column-type-conflict", "cardinality-columns"];

/// What is found where the engines gave this row for both texts, or were not asked.
fn findings(sqlite: &str, pg: &str, rows: Option<&str>) -> Vec<String> {
    let mut sources = Sources::default();
    let statement = |text: &str| format!("-- name: t_get :many\n{text};\n");
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/t.sql", statement(sqlite)));
    sources.add(SourceFile::new("sql/pg/t.sql", statement(pg)));
    let config = Config::parse(CONFIG, "diglot.toml").expect("a sound configuration");
    let mut inputs = Inputs { config, sources, ..Inputs::default() };
    inputs.answers = rows.map(|row| {
        let records = compile(&inputs).texts.into_iter().map(|text| {
            let rows = text.constant.then(|| vec![vec![row.to_owned()]]);
            (key(&text), Record { rows, ..record(&text, &Described::default()) })
        });
        index(&inputs, &records.collect())
    });
    let found = compile(&inputs).diagnostics;
    found.into_iter().filter(|f| !BARE.contains(&f.rule)).map(|f| format!("{}: {}", f.rule, f.message)).collect()
}

/// The pairs below a heading, with the row that both gave.
fn pairs<'d>(doc: &'d str, heading: &str) -> Vec<(&'d str, &'d str, Option<&'d str>)> {
    let Some(below) = doc.split(heading).nth(1) else { return Vec::new() };
    let below = below.split("\n# ").next().unwrap_or_default();
    let mut pairs = Vec::new();
    for example in below.split("sqlite:").skip(1) {
        let mut lines = example.lines();
        let sqlite = lines.next().map(str::trim).expect("a text behind its page");
        let pg = lines.next().and_then(|line| line.strip_prefix("pg:")).expect("every example has both pages");
        pairs.push((sqlite, pg.trim(), lines.next().and_then(|line| line.strip_prefix("rows:")).map(str::trim)));
    }
    pairs
}

#[test]
fn every_example_is_what_it_is_said_to_be() {
    let mut wrong = Vec::new();
    for rule in ALL {
        let same = pairs(rule.doc, "# The same\n");
        assert!(!same.is_empty(), "{} has no example", rule.name);
        for (sqlite, pg, rows) in same {
            let found = findings(sqlite, pg, rows);
            if !found.is_empty() {
                wrong.push(format!("{}: not taken for the same: {sqlite} | {pg}: {}", rule.name, found.join("; ")));
            }
        }
        for (sqlite, pg, rows) in pairs(rule.doc, "# Not the same\n") {
            if findings(sqlite, pg, rows).is_empty() {
                wrong.push(format!("{}: taken for the same: {sqlite} | {pg}", rule.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_equivalence_has_a_name_of_its_own_and_says_why() {
    let mut names: Vec<&str> = ALL.iter().chain(crate::rules::ALL).map(|rule| rule.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    for rule in ALL {
        assert!(rule.summary.ends_with('.') && rule.summary.len() < 90, "{}: {}", rule.name, rule.summary);
        assert!(rule.doc.contains("# Why\n") && rule.doc.contains("# Not the same\n"), "{}", rule.name);
    }
}
