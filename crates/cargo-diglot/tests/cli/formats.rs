//! Findings as other programs read them, once and again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::project::{Ended, Project};

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

fn git(project: &Project, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(project.path(".")).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_page_that_a_pull_request_changed_is_marked() {
    let project = Project::clean();
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "-m", "before"]);
    git(&project, &["checkout", "--quiet", "-b", "branch"]);
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    project.edit("sql/sqlite/job.sql", "AND owner IS NULL", "AND owner IS NOT NULL");
    git(&project, &["commit", "--quiet", "-a", "-m", "after"]);
    let marked = |ended: &Ended| -> Vec<String> {
        let file = |line: &str| line.split("file=").nth(1).and_then(|rest| rest.split(',').next()).map(str::to_owned);
        ended.stdout.lines().filter_map(file).collect()
    };
    let both = ["sql/pg/job.sql", "sql/sqlite/job.sql"];
    assert_eq!(marked(&project.run(&["check", "--format", "github", "--base", "main"])), both);
    assert_eq!(marked(&project.run_with(&["check", "--format", "github"], ("GITHUB_BASE_REF", "main"))), both);
    // Without a branch to compare with, and with one that was not fetched: the first page.
    assert_eq!(marked(&project.run(&["check", "--format", "github"])), [both[1], both[1]]);
    let unknown = project.run_with(&["check", "--format", "github"], ("GITHUB_BASE_REF", "gone"));
    assert_eq!(marked(&unknown), [both[1], both[1]]);
    assert!(unknown.stderr.contains("names `gone`, which was not fetched"), "{}", unknown.stderr);
    let wrong = project.run(&["check", "--format", "github", "--base", "gone"]);
    assert_eq!((wrong.code, wrong.stderr.contains("there is no revision `gone`")), (Some(1), true), "{}", wrong.stderr);
}

#[test]
fn files_have_the_paths_of_their_repository() {
    let repository = Project::empty();
    git(&repository, &["init", "--quiet"]);
    for file in [PG, "sql/sqlite/job.sql", "schema/pg/0001_job.sql", "schema/sqlite/0001_job.sql"] {
        repository.write(&format!("deep/down/{file}"), Project::unprepared().read(file));
    }
    repository.edit("deep/down/sql/pg/job.sql", "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let ended = repository.run(&["check", "--format", "github", "--root", "deep/down"]);
    assert!(ended.stdout.starts_with("::error file=deep/down/sql/sqlite/job.sql,"), "{}", ended.seen());
}

#[test]
fn colours_are_as_somebody_says() {
    let project = drifted();
    let is_coloured = |ended: &Ended| ended.stdout.contains('\u{1b}');
    assert!(!is_coloured(&project.run(&["check"])));
    assert!(is_coloured(&project.run(&["check", "--color", "always"])));
    assert!(is_coloured(&project.run_with(&["--color=always", "check"], ("NO_COLOR", "1"))));
    assert!(!is_coloured(&project.run_with(&["check", "--color", "never"], ("CLICOLOR_FORCE", "1"))));
    assert!(!is_coloured(&project.run_with(&["check"], ("NO_COLOR", "1"))));
    assert!(
        is_coloured(&project.run(&["help", "--color", "always"]))
            || is_coloured(&project.run(&["--color", "always", "--help"]))
    );
    for command in ["check", "explain"] {
        let refused = project.run(&[command, "--color", "always", "--no-such"]);
        assert!(refused.stderr.contains("\u{1b}[1m"), "{}", refused.stderr);
        let refused = project.run_with(&[command, "--no-such", "--color", "never"], ("CLICOLOR_FORCE", "1"));
        assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    }
    let failed = project.run(&["explain", "no-such", "--color", "always"]);
    assert!(failed.stderr.starts_with("\u{1b}[1;31merror"), "{}", failed.stderr);
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
