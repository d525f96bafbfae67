//! Pairs of seventeen domains, half of them equal and half drifted, that were written and run on both engines before the
//! compiler was asked: how `check` answers them after `prepare`.
//!
//! `cargo test -p cargo-diglot --test cli unseen -- --ignored --nocapture` prints every wrong answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::Project;

/// What is expected: the domain, the statement, whether its pages are `equal` or `drifted`, and why.
const EXPECTED: &str = include_str!("unseen/expected.tsv");

/// The folders beside this file, a project each.
const DOMAINS: [&str; 17] = [
    "library",
    "depot",
    "podcast",
    "clinic",
    "tournament",
    "hotel",
    "parking",
    "observatory",
    "court",
    "orchard",
    "ferry",
    "school",
    "brewery",
    "gazette",
    "hall",
    "water",
    "museum",
];

/// How many of 401 equal pairs may be an error, of 391 drifted ones pass without a word, and lack a database.
const MOST: [usize; 3] = [2, 0, 0];

#[test]
#[ignore = "it takes minutes"]
fn what_nobody_had_seen_is_answered_by_the_engines() {
    let mut wrong: [Vec<String>; 3] = Default::default();
    for domain in DOMAINS {
        let project = Project::copy_of(&format!("unseen/{domain}"));
        project.prepare(&[]);
        let evidence: serde_json::Value = serde_json::from_str(&project.read(".sqlx/evidence.json")).expect("JSON");
        let (errors, told) = findings(&project);
        for line in EXPECTED.lines() {
            let mut cells = line.split('\t');
            let (Some(of), Some(name), Some(kind), Some(why)) =
                (cells.next(), cells.next(), cells.next(), cells.next())
            else {
                panic!("four cells: {line}");
            };
            if of != domain {
                continue;
            }
            let verdict = evidence["pairs"][name]["verdict"].as_str().unwrap_or("none");
            let answer = format!("{domain}: {name} ({verdict}): {why} {}", errors.get(name).map_or("", String::as_str));
            let [false_alarms, silent, without] = &mut wrong;
            match kind {
                "equal" if errors.contains_key(name) => false_alarms.push(answer),
                "equal" => {}
                _ if !told.contains(name) => silent.push(answer),
                _ if verdict != "differs" => without.push(answer),
                _ => {}
            }
        }
    }
    for (what, answers) in
        ["equal and an error", "drifted without a word", "drifted without a database"].iter().zip(&wrong)
    {
        println!("{}: {what}", answers.len());
        answers.iter().for_each(|answer| println!("  {answer}"));
    }
    assert!(wrong.iter().zip(MOST).all(|(answers, most)| answers.len() <= most), "more answers are wrong than before");
}

/// The rule of the last error about each statement, and the statements of which anything is told.
fn findings(project: &Project) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let check = project.run(&["check", "--format", "json"]);
    let (mut errors, mut told) = (BTreeMap::new(), BTreeSet::new());
    for line in check.stdout.lines() {
        let finding: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        // What is known of each pair stands between the findings.
        let Some(message) = finding["message"].as_str() else { continue };
        let subject = message.split(": ").next().unwrap_or_default();
        let named = if subject == message { message.split('`').nth(1).unwrap_or_default() } else { subject };
        told.insert(named.to_owned());
        if finding["severity"] == "error" {
            errors.insert(named.to_owned(), finding["rule"].as_str().unwrap_or_default().to_owned());
        }
    }
    (errors, told)
}
