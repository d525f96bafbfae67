//! The catalogue of dialect differences: pairs that mean the same must pass, pairs that do not must be refused.
//!
//! Each case holds what both engines really answered, so a case is evidence and not an opinion.

use std::fs;
use std::path::Path;

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

/// Findings about types and about recorded answers are not the business of these cases.
const ELSEWHERE: [&str; 8] = [
    "column-type-conflict",
    "column-type-unknown",
    "column-unnamed",
    "column-duplicate",
    "param-type-unknown",
    "param-type-conflict",
    "cardinality-columns",
    "stale-answers",
];

/// Lints that speak about one statement, not about the pair.
const LINTS: [&str; 1] = ["unordered-limit"];

fn word(argument: &str) -> &'static str {
    match argument.split(':').find(|part| *part != "null" && *part != "unknown") {
        Some("int" | "int8" | "int4" | "int2") => "i64",
        Some("real") => "f64",
        Some("blob") => "bytes",
        Some("uuid") => "uuid",
        Some("bool") => "bool",
        Some("jsonb") => "json",
        Some("int8[]" | "int4[]") => "i64[]",
        Some("text[]") => "text[]",
        Some("uuid[]") => "uuid[]",
        _ => "text",
    }
}

/// The text with `:p1` for `?1` and `$1`.
fn named(sql: &str, mark: char) -> String {
    let mut text = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find(mark) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let is_number = from[1..].starts_with(|c: char| c.is_ascii_digit());
        let in_text = before.matches('\'').count() + text[..text.len() - before.len()].matches('\'').count();
        text.push_str(if is_number && in_text.is_multiple_of(2) { ":p" } else { &from[..1] });
        rest = &from[1..];
    }
    text + rest
}

/// The statement of a case, or the first one of its script, with the script's arguments.
fn statement<'c>(case: &'c toml::Table, key: &str) -> Option<(&'c str, Option<&'c toml::Value>)> {
    match case.get(key)? {
        toml::Value::String(text) => Some((text, None)),
        toml::Value::Array(steps) => match steps.first()? {
            toml::Value::String(text) => Some((text, None)),
            step => Some((step.get("q")?.as_str()?, step.get("a"))),
        },
        _ => None,
    }
}

fn findings(case: &toml::Table) -> Option<Vec<(String, String)>> {
    let text = |key: &str| case.get(key).and_then(toml::Value::as_str);
    let ((sqlite, own), (pg, _)) = (statement(case, "sqlite")?, statement(case, "pg")?);
    let args = case.get("pg_args").or_else(|| case.get("args")).or(own).and_then(toml::Value::as_array);
    let params: String = args
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(at, arg)| {
            let arg = arg.as_str()?;
            let null = if arg.starts_with("null") { " null" } else { "" };
            Some(format!("-- param: p{} {}{null}\n", at + 1, word(arg)))
        })
        .collect();
    let mut sources = Sources::default();
    let schema = text("sqlite_schema").unwrap_or_default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", schema));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", text("pg_schema").unwrap_or(schema)));
    let page = |sql: &str, mark| format!("-- name: case_run :many\n{params}{};\n", named(sql, mark));
    sources.add(SourceFile::new("sql/sqlite/case.sql", page(sqlite, '?')));
    sources.add(SourceFile::new("sql/pg/case.sql", page(pg, '$')));
    let inputs = Inputs { config: Config::default(), sources, ..Inputs::default() };
    let found = compile(&inputs).diagnostics;
    Some(
        found
            .into_iter()
            .filter(|finding| !ELSEWHERE.contains(&finding.rule) && !LINTS.contains(&finding.rule))
            .map(|finding| (finding.rule.to_owned(), finding.message))
            .collect(),
    )
}

fn cases() -> Vec<(String, toml::Table)> {
    let folder = std::env::var("CASES").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases").into());
    let mut cases: Vec<(String, toml::Table)> = fs::read_dir(Path::new(&folder))
        .expect("the cases are there")
        .map(|entry| {
            let path = entry.expect("a readable entry").path();
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text = fs::read_to_string(&path).expect("a readable case");
            (name, text.parse().expect("a case is TOML"))
        })
        .collect();
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

fn of(category: &str) -> Vec<(String, toml::Table)> {
    let fits = |case: &toml::Table| case.get("category").and_then(toml::Value::as_str) == Some(category);
    cases().into_iter().filter(|(_, case)| fits(case)).collect()
}

#[test]
fn pairs_that_mean_the_same_pass() {
    let refused: Vec<String> = of("equivalence")
        .into_iter()
        .filter_map(|(name, case)| {
            let found = findings(&case)?;
            (!found.is_empty()).then(|| format!("{name}: {found:?}"))
        })
        .collect();
    assert!(refused.is_empty(), "refused although equal:\n{}", refused.join("\n"));
}

#[test]
fn pairs_that_do_not_mean_the_same_are_refused() {
    let passed: Vec<String> =
        of("real drift").into_iter().filter_map(|(name, case)| findings(&case)?.is_empty().then_some(name)).collect();
    assert!(passed.is_empty(), "passed although different: {passed:?}");
}
