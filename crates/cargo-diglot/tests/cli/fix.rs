//! `check --fix` takes away what is not needed, writes the seals that are asked for, and leaves the SQL alone.

use crate::project::Project;

const SQLITE: &str = "sql/sqlite/job.sql";
const PG: &str = "sql/pg/job.sql";
const LOCK: &str = "-- diverges(lock): SQLite has a single writer, so it needs no lock on the row.";

#[test]
fn what_is_not_needed_goes_and_a_second_run_changes_nothing() {
    let project = Project::clean();
    let (sqlite, pg) = (project.read(SQLITE), project.read(PG));
    project.edit(PG, "-- name: job_take :rows", "-- name: job_take :rows\n-- allow(shard-key): it is small");
    project.edit(
        SQLITE,
        "-- name: job_put :rows",
        "-- name: job_put :rows\n-- diverges(order): it is sorted elsewhere",
    );
    assert_eq!(project.check().code, Some(2));
    let ended = project.run(&["check", "--fix"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert_eq!((project.read(SQLITE), project.read(PG)), (sqlite, pg));
    let again = project.run(&["check", "--fix"]);
    assert_eq!(again.stderr, "4 pairs, 0 findings\n");
}

#[test]
fn a_seal_that_is_asked_for_is_written() {
    let project = Project::clean();
    project.edit(SQLITE, LOCK, &LOCK.replace("(lock)", "(lock#)"));
    let ended = project.run(&["check", "--fix"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    let text = project.read(SQLITE);
    let (_, rest) = text.split_once("-- diverges(lock#").unwrap();
    assert!(rest[..6].chars().all(|c| c.is_ascii_hexdigit()) && rest[6..].starts_with("): SQLite has"), "{rest}");
    project.edit(PG, "FOR UPDATE", "FOR SHARE");
    // The seal is of another difference now, and somebody has to look.
    let ended = project.run(&["check", "--fix"]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert_eq!(project.read(SQLITE), text);
}

#[test]
fn a_declaration_stays_while_its_statement_has_other_findings() {
    let project = Project::clean();
    project.edit(PG, "\n   FOR UPDATE;", "\n OFFSET 1;");
    let before = (project.read(SQLITE), project.read(PG));
    let ended = project.run(&["check", "--fix"]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert_eq!((project.read(SQLITE), project.read(PG)), before);
}

#[test]
fn drift_is_not_settled_by_a_machine() {
    let project = Project::clean();
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let before = (project.read(SQLITE), project.read(PG));
    let ended = project.run(&["check", "--fix", "--format", "json"]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert_eq!((project.read(SQLITE), project.read(PG)), before);
    // An editor can offer both ways.
    assert_eq!(ended.stdout.matches("\"safe\":false").count(), 2, "{}", ended.seen());
}
