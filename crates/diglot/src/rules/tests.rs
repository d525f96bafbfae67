//! Every rule that is reported has a page, and every page a rule.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

/// The code of the sources, tests and the registry left out.
fn code(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a readable entry").path();
        let is_code = path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("src/rule.rs");
        if path.is_dir() {
            code(&path, all);
        } else if is_code && path.file_stem().is_some_and(|stem| stem != "tests") {
            let text = fs::read_to_string(&path).expect("a readable source");
            // The list of lints runs checks, and reports nothing itself.
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.contains("Lint::"));
            lines.for_each(|line| all.extend([line, "\n"]));
        }
    }
}

#[test]
fn every_page_belongs_to_a_rule_that_is_reported() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    let folders = [here.join("src"), here.join("../cargo-diglot/src")];
    folders.iter().filter(|folder| folder.exists()).for_each(|folder| code(folder, &mut all));
    let words: BTreeSet<&str> = all.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    let is_named = |rule: &Rule| words.contains(rule.name.replace('-', "_").to_uppercase().as_str());
    let unused: Vec<&str> = ALL.iter().filter(|rule| !is_named(rule)).map(|rule| rule.name).collect();
    assert!(unused.is_empty(), "rules that nothing reports: {unused:?}");
}

#[test]
fn every_file_of_a_rule_is_registered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let files = fs::read_dir(folder).expect("the rules").map(|entry| entry.expect("a readable entry").path());
    let is_rule = |path: &std::path::PathBuf| {
        path.is_file() && fs::read_to_string(path).expect("a readable rule").contains("\n//! # What it finds\n")
    };
    let names: BTreeSet<String> =
        files.filter(is_rule).filter_map(|path| Some(path.file_stem()?.to_str()?.replace('_', "-"))).collect();
    assert_eq!(names, ALL.iter().map(|rule| rule.name.to_owned()).collect());
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
fn rules_are_listed_by_name() {
    assert!(ALL.is_sorted_by_key(|rule| rule.name));
}
