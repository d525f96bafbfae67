//! One text for both databases: the commands on a project whose dialects read the same files.

use crate::project::{Ended, Project, postgres};

const STATEMENTS: &str = "sql/job.sql";

const SETTINGS: &str = "lockstep = true\n\n[sql]\nsqlite = \"sql\"\npg = \"sql\"\n\n[stripped]\n\
                        sqlite = [\"FOR UPDATE\", \"FOR UPDATE SKIP LOCKED\"]\n";

const TEXT: &str = "\
-- The next jobs of a lane, for one worker alone.
-- name: job_next :many
SELECT id, due_ms FROM job WHERE lane = :lane AND due_ms <= :now_ms ORDER BY due_ms, id LIMIT :most
   for update  SKIP LOCKED;

-- name: job_lock :opt
SELECT due_ms FROM job WHERE id = :id FOR UPDATE;

-- name: job_some :many
-- only: sqlite — a list arrives as JSON
SELECT id FROM job WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id;

-- name: job_some :many
-- only: pg — a list arrives as an array, and E'\\'' is one of its texts
SELECT id FROM job WHERE id = ANY(:ids) AND lane <> E'\\'' ORDER BY id;

-- name: job_file :one
-- only: sqlite — Postgres has no file
SELECT sqlite_version() AS version;

-- name: job_put :exec
INSERT INTO job (id, lane, due_ms) VALUES (:id, :lane, :due_ms);
";

fn project() -> Project {
    let project = Project::empty();
    project.write("diglot.toml", SETTINGS);
    let columns = |wide: &str, text: &str| {
        format!("CREATE TABLE job (id {wide} NOT NULL PRIMARY KEY, lane {text} NOT NULL, due_ms {wide} NOT NULL)")
    };
    project.write("schema/sqlite/0001_job.sql", columns("INTEGER", "TEXT") + " STRICT;\n");
    project.write("schema/pg/0001_job.sql", columns("bigint", "text") + ";\n");
    // What either engine says of `lane <> …` is the same: no job has that lane.
    project.write(STATEMENTS, TEXT.replace(" AND lane <> E'\\''", ""));
    project
}

fn lines(ended: &Ended) -> Vec<&str> {
    ended.stdout.lines().collect()
}

#[test]
fn one_text_is_a_pair_whose_clause_one_database_never_gets() {
    let project = project();
    let checked = project.check();
    assert_eq!(
        (checked.code, checked.stderr.as_str()),
        (Some(2), "4 pairs, 1 for one dialect alone, 1 finding\n"),
        "{}",
        checked.seen()
    );
    let prepared = project.prepare(&[]);
    assert_eq!(prepared.code, Some(0), "{}", prepared.seen());
    let sent: Vec<String> =
        project.answers().into_iter().filter(|(name, _)| name.starts_with("query-")).map(|(_, text)| text).collect();
    let of = |dialect: &str, statement: &str| {
        let mark = format!("/* job.{statement} {dialect} */");
        let mut fitting = sent.iter().filter(|text| text.contains(&mark));
        let text = fitting.next().unwrap_or_else(|| panic!("no {mark}")).to_lowercase();
        assert!(fitting.next().is_none());
        text
    };
    for statement in ["job_next", "job_lock"] {
        assert!(!of("sqlite", statement).contains("for update"), "{}", of("sqlite", statement));
        assert!(of("pg", statement).contains("for update"), "{}", of("pg", statement));
    }
    assert!(of("sqlite", "job_some").contains("json_each") && of("pg", "job_some").contains("any("));
    assert_eq!(project.check().stderr, "4 pairs, 1 for one dialect alone, 0 findings\n");
    assert_eq!(project.prepare(&["--check"]).code, Some(0));
}

#[test]
fn a_text_for_one_dialect_is_read_by_that_one_alone() {
    let project = project();
    // A quote that Postgres closes, and that SQLite would leave open.
    project.write(STATEMENTS, TEXT);
    let found = project.run(&["check", "--format", "short"]).stdout;
    assert!(!found.contains("unterminated"), "{found}");
    assert!(found.contains("job_some: the pages differ in which rows they take"), "{found}");
}

#[test]
fn what_is_found_is_told_once_in_the_one_file() {
    let project = project();
    let found = |from: &str, to: &str| {
        project.edit(STATEMENTS, from, to);
        let ended = project.run(&["check", "--format", "short"]);
        project.edit(STATEMENTS, to, from);
        lines(&ended).into_iter().filter(|line| !line.contains("stale-answers")).map(str::to_owned).collect::<Vec<_>>()
    };
    // What is wrong for both.
    let unknown = found("SELECT due_ms FROM job WHERE id = :id", "SELECT due FROM job WHERE id = :id");
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert!(unknown[0].starts_with("sql/job.sql:7:8: error[unknown-column]"), "{unknown:?}");
    // What one grammar refuses.
    let refused =
        found("SELECT due_ms FROM job WHERE id = :id", "SELECT due_ms::text AS due_ms FROM job WHERE id = :id");
    assert!(refused.iter().all(|line| line.starts_with("sql/job.sql:7:")), "{refused:?}");
    assert!(!refused.is_empty() && refused.len() < 3, "{refused:?}");
    // What each reads in its own way points to the one place, once.
    project.edit(STATEMENTS, "WHERE lane = :lane AND due_ms", "WHERE lane LIKE :lane AND due_ms");
    let full = project.check().stdout;
    assert_eq!(full.matches("lane LIKE :lane").count(), full.matches("--> sql/job.sql").count(), "{full}");
    assert!(full.contains("job_next") && !full.contains("::: sql/job.sql"), "{full}");
    project.edit(STATEMENTS, "WHERE lane LIKE :lane AND due_ms", "WHERE lane = :lane AND due_ms");
    // A mark that says what is so anyway.
    let marked = found("-- name: job_put :exec\n", "-- name: job_put :exec\n-- both\n");
    assert_eq!(
        marked,
        ["sql/job.sql:22:1: error[unused-annotation]: job_put: both dialects read this file as a whole"]
    );
}

#[test]
fn a_clause_that_stands_nowhere_is_told_and_one_that_is_not_named_is_refused() {
    let project = project();
    project.edit("diglot.toml", "\"FOR UPDATE\",", "\"FOR SHARE\",");
    let found = project.run(&["check", "--format", "short"]).stdout;
    assert!(
        found.contains("diglot.toml:8:12: error[bad-config]: `[stripped]` names `FOR SHARE`, which no SQLite page has"),
        "{found}"
    );
    let refused = project.check().stdout;
    assert!(refused.contains("sql/job.sql:7:39"), "{refused}");
    assert!(refused.contains("below `[stripped]`: `sqlite = [\"FOR UPDATE\"]`"), "{refused}");
}

#[test]
fn every_command_takes_one_text_for_both() {
    let project = project();
    assert_eq!(project.prepare(&[]).code, Some(0));
    for command in [
        &["mutate", "--most", "4"][..],
        &["prove", "--postgres", postgres()],
        &["plans", "--postgres", postgres()],
        &["locks"],
    ] {
        let ended = project.run(command);
        assert!(
            ended.code == Some(0) || command[0] == "mutate" && ended.code == Some(2),
            "{command:?}: {}",
            ended.seen()
        );
    }
    let review = project.run(&["review", "--out", "review.html"]);
    assert_eq!(review.code, Some(0), "{}", review.seen());
    assert!(project.read("review.html").contains("a clause that one database never gets"));
    // What is kept is kept, whichever dialect it was found by.
    project.edit(STATEMENTS, "WHERE lane = :lane AND", "WHERE lane LIKE 'A%' AND");
    assert_eq!(project.check().code, Some(2));
    let kept = project.run(&["baseline"]);
    assert_eq!(kept.code, Some(0), "{}", kept.seen());
    let known = project.run(&["check", "--format", "short"]);
    assert!(lines(&known).iter().all(|line| line.contains("stale-answers")), "{}", known.seen());
}

#[test]
fn a_new_statement_is_written_once_and_a_text_for_the_other_dialect_beside_it() {
    let project = project();
    let made = project.run(&["new", "job", "delete"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    assert_eq!(project.read(STATEMENTS).matches("-- name: job_delete").count(), 1);
    let refused = project.run(&["translate", "job_file"]);
    assert_eq!(refused.code, Some(1), "{}", refused.seen());
    let expected = "both dialects read sql/job.sql: write `job_file` there in words that both know, or below it once more with `-- only: pg`";
    assert!(refused.stderr.contains(expected), "{}", refused.seen());
    // A dialect with a place of its own gets its text there.
    project.edit("diglot.toml", "pg = \"sql\"", "pg = [\"sql\", \"sql/pg\"]");
    project.write("sql/pg/other.sql", "");
    project.edit(STATEMENTS, "sqlite_version() AS version", "count(*) AS version FROM job");
    let written = project.run(&["translate", "job_file", "--write"]);
    assert_eq!(written.code, Some(0), "{}", written.seen());
    assert!(project.read("sql/pg/job.sql").contains("-- name: job_file :one\nSELECT count(*) AS version FROM job;"));
    let checked = project.run(&["check", "--format", "short"]);
    assert!(!checked.stdout.contains("unused-only"), "{}", checked.seen());
}
