//! Every rule that is reported has a page, and every page a rule.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

/// Every text of the sources that may name a rule, with its file: literals in kebab case or of one word.
fn literals(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            literals(&path, found);
            continue;
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if !is_rust || path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        let mut text = fs::read_to_string(&path).expect("a readable source");
        if path.ends_with("rules/mod.rs") {
            // The registry itself names every rule.
            text = text.split_off(text.find("pub(crate) struct Context").expect("the registry ends there"));
        }
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            found.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
        }
    }
}

/// The rules that findings are made with.
fn reported(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            reported(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" && !path.ends_with("rules/mod.rs") {
            let text = fs::read_to_string(&path).expect("a readable source");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for call in ["Diagnostic::error(", "Diagnostic::warning("] {
                for rest in text.split(call).skip(1) {
                    let rest = rest.trim_start();
                    if let Some(rule) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                        found.insert(rule.to_owned());
                    }
                }
            }
        }
    }
}

fn sources() -> [std::path::PathBuf; 2] {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    [here.join("src"), here.join("../cargo-diglot/src")]
}

#[test]
fn every_rule_that_is_reported_has_a_page() {
    let mut found = BTreeSet::new();
    sources().iter().filter(|folder| folder.exists()).for_each(|folder| reported(folder, &mut found));
    found.extend(crate::facts::Kind::ALL.iter().map(|row| row.2.to_owned()));
    let unknown: Vec<&String> = found.iter().filter(|rule| find(rule).is_none()).collect();
    assert!(unknown.is_empty(), "rules without a file in rules/: {unknown:?}");
}

#[test]
fn every_page_belongs_to_a_rule_that_is_reported() {
    let mut found = BTreeSet::new();
    sources().iter().filter(|folder| folder.exists()).for_each(|folder| literals(folder, &mut found));
    let unused: Vec<&str> = ALL.iter().map(|rule| rule.name).filter(|name| !found.contains(*name)).collect();
    assert!(unused.is_empty(), "rules that nothing reports: {unused:?}");
}

#[test]
fn every_page_says_what_why_and_what_to_write_instead() {
    for rule in ALL {
        assert!(rule.summary.ends_with('.') && rule.summary.len() < 80, "{}: {}", rule.name, rule.summary);
        for heading in ["# What it finds", "# Why it bites", "# Write instead", "# Example"] {
            assert!(rule.doc.contains(heading), "{} has no `{heading}`", rule.name);
        }
        assert!(!rule.doc.contains("//!"), "{} shows the marks of its comments", rule.name);
    }
}

#[test]
fn rules_are_listed_by_name_and_lints_are_rules() {
    assert!(ALL.is_sorted_by_key(|rule| rule.name));
    assert!(LINTS.iter().all(|lint| find(lint.name).is_some()));
}
