//! Migrations of both databases on rows: which upgrades are told, and which are not.

use std::collections::BTreeMap;

use crate::project::{Project, parts};

const CASES: &str = include_str!("migrations.sql");

/// The tables before the migrations of a case that says nothing else.
const SQLITE: &str = "CREATE TABLE lane (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n\
    CREATE TABLE job (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE, title TEXT,\n\
      tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL) STRICT;\n";
const PG: &str = "CREATE TABLE lane (id bigint PRIMARY KEY, name text NOT NULL);\n\
    CREATE TABLE job (id bigint PRIMARY KEY, lane_id bigint NOT NULL REFERENCES lane (id) ON DELETE CASCADE, title text,\n\
      tries bigint NOT NULL DEFAULT 0, state text NOT NULL);\n";

/// A project with two migrations for each database.
fn project(parts: &BTreeMap<&str, String>) -> Project {
    let project = Project::empty();
    project.write("diglot.toml", "generate = false\n");
    for (dialect, tables) in [("sqlite", SQLITE), ("pg", PG)] {
        let first = parts.get(format!("first: {dialect}").as_str()).map_or(tables, String::as_str);
        project.write(&format!("schema/{dialect}/0001_first.sql"), first);
        project.write(&format!("schema/{dialect}/0002_next.sql"), &parts[dialect]);
        project.write(
            &format!("sql/{dialect}/lane.sql"),
            "-- Counts.\n-- name: lane_count :one\nSELECT count(*) AS n FROM lane;\n",
        );
    }
    project
}

#[test]
fn upgrades_that_break_are_told_with_their_rows_and_others_are_not() {
    let mut wrong = Vec::new();
    for case in CASES.split("-- case: ").skip(1) {
        let (name, wanted) = case.lines().next().and_then(|line| line.split_once(' ')).expect("a name and a verdict");
        let ended = project(&parts(case, "-- ")).prepare(&[]);
        let is_told = ended.stdout.contains("error[migration-differs]: migration 0002_next: ");
        if is_told != (wanted == "told") {
            wrong.push(format!("{name} is not {wanted}:\n{}", ended.seen()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_told_shows_the_rows_and_both_databases_behind_the_migrations() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("backfill_differs ")).expect("the case");
    let ended = project(&parts(case, "-- ")).prepare(&[]);
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn what_is_recorded_is_not_run_again_and_is_told_offline() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("backfill_differs ")).expect("the case");
    let project = project(&parts(case, "-- "));
    project.prepare(&[]);
    let recorded = project.read(".sqlx/evidence.json");
    assert!(project.check().stdout.contains("migration-differs"), "{:?}", project.check());
    project.prepare(&[]);
    assert_eq!(project.read(".sqlx/evidence.json"), recorded);
    let ended = project.prepare(&["--check"]);
    assert!(!ended.seen().contains("no evidence of the migrations"), "{ended:?}");
    project.edit("schema/pg/0002_next.sql", "'open'", "'free'");
    let ended = project.prepare(&["--check"]);
    assert!(ended.seen().contains("no evidence of the migrations as they are now"), "{ended:?}");
}
