//! Every rule that is reported has a page, and every page a rule.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

fn is_family(folder: &Path) -> bool {
    folder.parent().is_some_and(|folder| folder.ends_with("src/rules"))
}

/// The code of the sources, tests and the registry left out.
fn code(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a readable entry").path();
        // The lists of lints run checks, and report nothing themselves.
        let is_list = path.ends_with("src/rule.rs") || path.ends_with("mod.rs") && path.parent().is_some_and(is_family);
        let is_code = path.extension().is_some_and(|extension| extension == "rs") && !is_list;
        if path.is_dir() {
            code(&path, all);
        } else if is_code && path.file_stem().is_some_and(|stem| stem != "tests") {
            let text = fs::read_to_string(&path).expect("a readable source");
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
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
fn every_page_of_a_rule_is_registered_below_its_family() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("the rules").map(|entry| entry.expect("a readable entry").path());
        entries.collect::<Vec<_>>()
    };
    let pages = entries(&folder).into_iter().filter(|path| path.is_dir()).flat_map(|family| entries(&family));
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let names: BTreeSet<String> =
        pages.filter_map(|path| Some(path.file_stem()?.to_str()?.replace('_', "-"))).collect();
    assert_eq!(names, ALL.iter().map(|rule| rule.name.to_owned()).collect());
}

#[test]
fn every_page_says_what_why_and_what_to_write_instead() {
    for rule in ALL {
        assert!(rule.summary.ends_with('.') && rule.summary.len() < 80, "{}: {}", rule.name, rule.summary);
        for heading in ["# What it finds", "# Why it bites", "# Write instead", "# Example"] {
            assert!(rule.doc.contains(heading), "{} has no `{heading}`", rule.name);
        }
    }
}
