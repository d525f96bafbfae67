//! Findings as other programs read them, once and again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::project::Project;

const PG: &str = "sql/pg/job.sql";

fn drifted() -> Project {
    let project = Project::clean();
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    project.edit(PG, "AND owner IS NULL", "AND owner IS NOT NULL");
    project
}

#[test]
fn the_first_line_of_a_finding_works_alone() {
    let ended = drifted().run(&["check", "--format", "short"]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ended.seen());
    for (line, name) in lines.iter().zip(["job_due", "job_take"]) {
        assert!(line.starts_with("sql/sqlite/job.sql:") && line.contains(&format!("]: {name}: ")), "{line}");
    }
}

#[test]
fn a_document_for_code_scanning_has_every_finding() {
    let ended = drifted().run(&["check", "--format", "sarif"]);
    assert_eq!(ended.code, Some(2));
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["runs"][0]["results"].as_array().unwrap().len(), 2);
    let clean = Project::clean().run(&["check", "--format", "sarif"]);
    let document: Value = serde_json::from_str(&clean.stdout).unwrap();
    assert_eq!(document["runs"][0]["results"], Value::Array(Vec::new()));
}

#[test]
fn findings_become_annotations_of_a_pull_request() {
    let ended = drifted().run(&["check", "--format", "github"]);
    assert_eq!(ended.stdout.lines().count(), 2, "{}", ended.seen());
    for line in ended.stdout.lines() {
        assert!(line.starts_with("::error file=sql/sqlite/job.sql,line="), "{line}");
    }
}

#[test]
fn an_editor_gets_new_findings_when_a_file_changes() {
    let project = Project::clean();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"));
    command.args(["check", "--format", "json", "--watch"]).current_dir(project.path("."));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Each round ends with a line of its own, so nothing here waits for a length of time.
    let mut round = || -> Vec<Value> {
        let mut found = Vec::new();
        loop {
            let line: Value = serde_json::from_str(&lines.next().expect("it goes on").unwrap()).unwrap();
            if line["checked"].is_object() {
                assert_eq!(line["checked"]["errors"], found.len());
                return found;
            }
            found.push(line);
        }
    };
    // A file that is being written is seen before and after, so what was found may be told twice.
    let mut until = |rule: Option<&str>| {
        let is_told = (0..4).any(|_| round().first().map(|found| found["rule"].clone()) == rule.map(Value::from));
        assert!(is_told, "{rule:?}");
    };
    until(None);
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    until(Some("where-differs"));
    project.edit(PG, "job.due_ms <= :now_ms", "job.due_ms < :now_ms");
    until(None);
    // A new file is seen as well.
    project.write("sql/pg/lane.sql", "-- name: lane_names :many\nSELECT name FROM lane ORDER BY name;\n");
    until(Some("missing-page"));
    child.kill().unwrap();
    child.wait().unwrap();
}
