//! The other page of every equivalence, drafted from either page: as many drafts as can be are equal to their original
//! without anybody's help.

use std::collections::BTreeMap;

use diglot::Inputs;
use diglot::source::{SourceFile, Sources};
use diglot_tools::translate::translate;

use super::{ALIKE, BARE, Declared, UNTYPED, cases, declared, page};

/// What is open about the drafts of a case's statements when one page is there.
fn open(case: &toml::Table, from: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let mut names = Vec::new();
    for (dialect, mark) in [("sqlite", '?'), ("pg", '$')] {
        let (schema, statements) = page(case, dialect, mark, Declared::All);
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        if dialect == from {
            let headers = statements.lines().filter_map(|line| line.strip_prefix("-- name: "));
            names.extend(headers.filter_map(|line| line.split_whitespace().next()).map(str::to_owned));
            sources.add(SourceFile::new(format!("sql/{dialect}/case.sql"), statements));
        }
    }
    let inputs = Inputs { config: declared::config(case), sources, ..Inputs::default() };
    let mut open = Vec::new();
    for name in names {
        match translate(&inputs, &name) {
            Ok(translation) => {
                let bare = |line: &&String| {
                    BARE.iter().chain([&UNTYPED, &ALIKE]).any(|rule| line.starts_with(&format!("{rule}:")))
                };
                open.extend(translation.open.iter().filter(|line| !bare(line)).cloned());
            }
            Err(error) => open.push(error.to_string()),
        }
    }
    open
}

/// The share, and every draft that needs somebody: `cargo test -p diglot --test catalogue drafts -- --nocapture`.
#[test]
fn drafts_of_equivalences_check_clean_where_they_can() {
    let mut shares: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut others = String::new();
    for (name, case) in cases("cases") {
        let text = |key: &str| case.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        if text("category") != "equivalence" {
            continue;
        }
        for (from, to) in [("sqlite", "pg"), ("pg", "sqlite")] {
            let share = shares.entry(format!("static = {:6} {from} to {to}", text("static"))).or_default();
            let open = open(&case, from);
            share.1 += 1;
            share.0 += usize::from(open.is_empty());
            if let Some(first) = open.first() {
                others += &format!("  {name}, {from} to {to}: {first}\n");
            }
        }
    }
    let mut table = String::new();
    for (group, (clean, all)) in &shares {
        table += &format!("{group:32} {clean:>4} of {all:>4} {:>6.1} %\n", 100.0 * *clean as f64 / *all as f64);
    }
    println!("{table}");
    insta::assert_snapshot!("drafts", format!("{table}\n{others}"));
}
