//! `cargo diglot prepare`: what the engines say is recorded, and kept up to date.

use crate::project::Project;

const SQLITE: &str = "sql/sqlite/job.sql";
const PG: &str = "sql/pg/job.sql";

#[test]
fn a_second_run_writes_nothing() {
    let project = Project::clean();
    let before = project.answers();
    let modified = |name: &str| project.path(".sqlx").join(name).metadata().unwrap().modified().unwrap();
    let times: Vec<_> = before.keys().map(|name| modified(name)).collect();
    let ended = project.prepare(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert!(ended.stderr.ends_with("the recorded answers were up to date\n"), "{}", ended.stderr);
    assert_eq!(project.answers(), before);
    assert_eq!(before.keys().map(|name| modified(name)).collect::<Vec<_>>(), times);
}

#[test]
fn a_throwaway_server_gives_the_same_answers() {
    let project = Project::clean();
    let ended = project.run(&["prepare", "--check"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
}

#[test]
fn a_changed_statement_makes_the_answers_stale_until_they_are_asked_again() {
    let project = Project::clean();
    for page in [SQLITE, PG] {
        project.edit(page, "LIMIT 10", "LIMIT 20");
    }
    let stale = project.check();
    assert_eq!(stale.code, Some(2), "{}", stale.seen());
    assert!(stale.seen().contains("cargo diglot prepare"), "{}", stale.seen());
    let before = project.answers();
    let checked = project.prepare(&["--check"]);
    assert_eq!(checked.code, Some(2), "{}", checked.seen());
    assert_eq!(project.answers(), before);
    let prepared = project.prepare(&[]);
    assert_eq!(prepared.code, Some(0), "{}", prepared.seen());
    assert_eq!(project.answers().len(), before.len());
    assert_eq!(project.check().code, Some(0));
    assert_eq!(project.prepare(&["--check"]).code, Some(0));
}

#[test]
fn a_changed_migration_makes_the_answers_stale() {
    let project = Project::clean();
    for dialect in ["sqlite", "pg"] {
        project.write(
            &format!("schema/{dialect}/0002_note.sql"),
            "CREATE TABLE note (id integer NOT NULL PRIMARY KEY);\n",
        );
    }
    assert_eq!(project.prepare(&["--check"]).code, Some(2));
}

#[test]
fn what_an_engine_refuses_is_shown_at_its_place_and_nothing_is_written() {
    let project = Project::clean();
    let before = project.answers();
    // Both pages agree, and no engine counts what it is still to take.
    for page in [SQLITE, PG] {
        project.edit(page, "LIMIT 10", "LIMIT count(*)");
    }
    let ended = project.prepare(&[]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.seen().contains("nothing was written"), "{}", ended.seen());
    assert_eq!(project.answers(), before);
    insta::assert_snapshot!("engine_refuses", ended.seen());
}

#[test]
fn drift_is_found_before_any_engine_is_asked() {
    let project = Project::clean();
    project.edit(PG, "LIMIT 10", "LIMIT 11");
    let ended = project.run(&["prepare", "--postgres", "postgres://nobody@127.0.0.1:1/x"]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
}

#[test]
fn a_server_that_does_not_answer_is_the_tools_failure() {
    let ended = Project::clean().run(&["prepare", "--postgres", "postgres://nobody@127.0.0.1:1/x"]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
    assert!(ended.stderr.starts_with("error: cannot connect to Postgres at 127.0.0.1:1"), "{}", ended.stderr);
}
