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

/// A pair that reads nothing and is written in two ways that only running it shows to be the same.
const CONSTANTS: [(&str, &str); 2] = [
    (SQLITE, "SELECT sum(column1) AS total FROM (VALUES (1), (2)) AS v"),
    (PG, "SELECT count(*) AS total FROM generate_series(timestamptz '2024-01-01', '2024-01-03', interval '1 day')"),
];

#[test]
fn the_engines_rows_decide_where_both_pages_always_give_the_same() {
    let project = Project::clean();
    for (page, sql) in CONSTANTS {
        let text = project.read(page);
        project.write(page, format!("{text}\n-- name: job_total :one\n{sql};\n"));
    }
    let before = project.answers();
    let asked_nobody = project.check();
    assert_eq!(asked_nobody.code, Some(2), "{}", asked_nobody.seen());
    assert!(asked_nobody.seen().contains("or let the engines decide"), "{}", asked_nobody.seen());

    project.edit(PG, "'2024-01-03'", "'2024-01-04'");
    let differ = project.prepare(&[]);
    assert_eq!(differ.code, Some(2), "{}", differ.seen());
    assert!(differ.seen().contains("row 1: SQLite gave 3; Postgres gave 4"), "{}", differ.seen());
    assert_eq!(project.answers(), before);

    project.edit(PG, "'2024-01-04'", "'2024-01-03'");
    let same = project.prepare(&[]);
    assert_eq!(same.code, Some(0), "{}", same.seen());
    assert_eq!(project.check().code, Some(0));
}

#[test]
fn what_depends_on_the_session_or_has_many_rows_is_not_recorded() {
    let statements = [
        ("day", "SELECT '2024-01-01' as day", "SELECT CAST(timestamptz '2024-01-01 00:00+00' AS text) AS day"),
        (
            "many",
            "WITH RECURSIVE g (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 101) SELECT i AS n FROM g",
            "SELECT i AS n FROM generate_series(1, 101) AS i",
        ),
    ];
    for (name, sqlite, pg) in statements {
        let project = Project::clean();
        for (page, sql) in [(SQLITE, sqlite), (PG, pg)] {
            let text = project.read(page);
            project.write(page, format!("{text}\n-- name: job_{name} :many\n{sql};\n"));
        }
        let ended = project.prepare(&[]);
        assert_eq!(ended.code, Some(2), "{}", ended.seen());
        assert!(ended.seen().contains(&format!("job_{name}: the pages differ")), "{}", ended.seen());
        assert!(!ended.seen().contains("gave"), "{}", ended.seen());
        assert!(!ended.seen().contains("let the engines decide"), "{}", ended.seen());
    }
}

#[test]
fn a_server_that_does_not_answer_is_the_tools_failure() {
    let ended = Project::clean().run(&["prepare", "--postgres", "postgres://nobody@127.0.0.1:1/x"]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
    assert!(ended.stderr.starts_with("error: cannot connect to Postgres at 127.0.0.1:1"), "{}", ended.stderr);
}
