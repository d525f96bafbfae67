//! `courier`, a sqlc project with two engines, is adopted by doing what the book says in `docs/adopting.md`.

use std::fs;
use std::path::Path;

use crate::cargo_build;
use crate::project::{Project, postgres};

fn read(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    fs::read_to_string(path).unwrap()
}

/// The first block of a language in a page of the book.
fn block(page: &str, language: &str) -> String {
    let text = read(page);
    let (_, rest) = text.split_once(&format!("```{language}\n")).expect("a block of that language");
    rest.split("```").next().unwrap().to_owned()
}

/// The commands of a page from one heading to the next, in order.
fn commands(page: &str, heading: &str) -> Vec<String> {
    let text = read(page);
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).expect("that heading");
    let section = rest.split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

#[test]
fn a_project_with_two_engines_begins_today_and_only_new_drift_fails() {
    let project = Project::copy_of("courier");
    let (mut kept, mut left_open) = (String::new(), 2);
    let commands = commands("adopting.md", "From sqlc");
    for command in &commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let (ended, expected) = match words[..] {
            ["cargo", "install", ..] => continue,
            ["cargo", "build"] => {
                let _alone = cargo_build::ONE_AT_A_TIME.lock();
                let built = cargo_build::build_new(&project);
                // What only a number at the end of its width would show is told, and fails nothing.
                let warnings: Vec<&str> = built.stderr.lines().filter(|line| line.starts_with("warning")).collect();
                assert!(warnings.iter().all(|warning| warning.contains("[edge-differs]")), "{}", built.seen());
                (built, 0)
            }
            ["cargo", "diglot", "prepare"] => {
                let ended = project.prepare(&[]);
                // What running finds is told once, and kept by the next baseline.
                (ended, std::mem::take(&mut left_open))
            }
            ["cargo", "diglot", "check"] => (project.check(), 2),
            ["cargo", "diglot", "baseline"] => {
                let ended = project.run(&["baseline"]);
                kept.clone_from(&ended.stderr);
                (ended, 0)
            }
            ["cargo", "diglot", "prove"] => {
                let ended = project.run(&["prove", "--postgres", postgres()]);
                assert!(
                    ended.stdout.contains("task_set_retryable: afterwards the rows of task differ"),
                    "{}",
                    ended.seen()
                );
                (ended, 2)
            }
            ["cargo", "diglot", ..] => (project.run(&words[2..]), 0),
            _ => panic!("{command}"),
        };
        assert_eq!(ended.code, Some(expected), "{command}: {}", ended.seen());
    }
    assert_eq!(commands.len(), 10, "{commands:?}");
    assert_eq!(project.read("diglot.toml"), block("adopting.md", "toml"));
    insta::assert_snapshot!("adopting", format!("{kept}\n{}", project.read("diglot.baseline")));
    let check = project.check();
    assert_eq!((check.code, check.stdout.contains("error[")), (Some(0), false), "{check:?}");
    let review = project.read("target/diglot/review.html");
    let known =
        project.read("diglot.baseline").lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    assert!(known > 0 && review.contains(&format!(", {known} in the baseline")), "{known} in {review}");

    // The same templates as before reach the driver, on both pages.
    let templates = project.answers().into_values().filter(|text| text.contains("/* TEMPLATE: schema */task")).count();
    assert_eq!(templates, 2);

    project.edit("db/sqlite/queries/tasks.sql", "SET args = @args WHERE id = @id;", "SET args = @args;");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{check:?}");
    let errors: Vec<&str> = check.stdout.lines().filter(|line| line.contains("error[")).collect();
    assert_eq!(errors.len(), 1, "{check:?}");
    assert!(errors[0].contains("error[where-differs]: task_update_args"), "{check:?}");
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
    let others: Vec<&str> = before.lines().filter(|line| !line.contains("where-differs task_rescue_stuck ")).collect();
    assert_eq!(project.read("diglot.baseline").lines().collect::<Vec<_>>(), others);
}
