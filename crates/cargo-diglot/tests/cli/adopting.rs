//! `courier`, a sqlc project with two engines, is adopted by doing what the book says in `docs/adopting.md`.

use std::fs;
use std::path::Path;

use crate::project::Project;

/// The first block of a language in a page of the book.
fn block(page: &str, language: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("```{language}\n")).expect("a block of that language");
    rest.split("```").next().unwrap().to_owned()
}

#[test]
fn a_project_with_two_engines_begins_today_and_only_new_drift_fails() {
    let project = Project::copy_of("courier");
    project.write("diglot.toml", block("adopting.md", "toml"));
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{check:?}");

    let kept = project.run(&["baseline"]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    insta::assert_snapshot!("adopting", format!("{}\n{}", kept.stderr, project.read("diglot.baseline")));
    let asked = project.prepare(&[]);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let check = project.check();
    assert_eq!((check.code, check.stdout.as_str()), (Some(0), ""), "{check:?}");

    // The same templates as before reach the driver, on both pages.
    let templates = project.answers().into_values().filter(|text| text.contains("/* TEMPLATE: schema */task")).count();
    assert_eq!(templates, 2);

    project.edit("db/sqlite/queries/tasks.sql", "SET args = @args WHERE id = @id;", "SET args = @args;");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{check:?}");
    assert_eq!(check.stdout.lines().count(), 1, "{check:?}");
    assert!(check.stdout.contains("error[where-differs]: task_update_args"), "{check:?}");
}

#[test]
fn a_repaired_statement_must_leave_the_baseline() {
    let project = Project::copy_of("courier");
    project.write("diglot.toml", block("adopting.md", "toml"));
    assert_eq!(project.run(&["baseline"]).code, Some(0));
    project.edit("db/sqlite/queries/tasks.sql", "attempted_ms <= @stuck_before_ms", "attempted_ms < @stuck_before_ms");
    let check = project.run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("error[unused-baseline]: task_rescue_stuck"), "{check:?}");
    let before = project.read("diglot.baseline");
    assert_eq!(project.run(&["baseline"]).code, Some(0));
    assert_eq!(project.read("diglot.baseline"), before.replace("where-differs task_rescue_stuck\n", ""));
}
