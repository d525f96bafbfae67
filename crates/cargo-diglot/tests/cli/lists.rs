//! Lists of Postgres beside statements of SQLite for one row (`-- each:`).

use crate::project::Project;

const CASES: &str = include_str!("lists.sql");

const SQLITE: &str = "CREATE TABLE job (id INTEGER PRIMARY KEY, lane TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0,\n\
      state TEXT NOT NULL, ended_at_ms INTEGER) STRICT;\n\
    CREATE TABLE note (job_id INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, words TEXT NOT NULL) STRICT;\n\
    CREATE TABLE tally (lane TEXT PRIMARY KEY NOT NULL, total INTEGER NOT NULL) STRICT;\n";
const PG: &str = "CREATE TABLE job (id bigint PRIMARY KEY, lane text NOT NULL, epoch bigint NOT NULL DEFAULT 0,\n\
      state text NOT NULL, ended_at_ms bigint);\n\
    CREATE TABLE note (job_id bigint NOT NULL REFERENCES job (id) ON DELETE CASCADE, words text[] NOT NULL);\n\
    CREATE TABLE tally (lane text PRIMARY KEY, total bigint NOT NULL);\n";

/// A project with the statement of a case for one row on both pages, and its list on the page of Postgres.
fn project(case: &str) -> Project {
    let (one, list) = parts(case);
    // What stands behind the verdict is said of the list.
    let more = case
        .lines()
        .next()
        .and_then(|line| line.splitn(3, ' ').nth(2))
        .map_or(String::new(), |more| format!(" {more}"));
    let project = Project::empty();
    project.write(
        "diglot.toml",
        "pg_collation = \"C\"\n[words]\n\"job.state\" = [\"waiting\", \"running\", \"ended\", \"failed\"]\n\
         [json]\n\"note.words\" = \"text[]\"\n",
    );
    project.write("schema/sqlite/0001_first.sql", SQLITE);
    project.write("schema/pg/0001_first.sql", PG);
    let of_one = |one: &str| format!("-- Does it for one row.\n-- name: job_do :opt\n{one}\n");
    project.write("sql/sqlite/job.sql", of_one(one));
    project.write(
        "sql/pg/job.sql",
        format!("{}\n-- Does it for each row.\n-- name: job_do_many :opt\n-- each: job_do{more}\n{list}", of_one(one)),
    );
    project
}

fn parts(case: &str) -> (&str, &str) {
    let (_, texts) = case.split_once("-- one\n").expect("a statement for one row");
    texts.split_once("-- list\n").expect("a list")
}

#[test]
fn lists_that_do_something_else_are_told_with_their_rows_and_others_are_not() {
    let mut wrong = Vec::new();
    for case in CASES.split("-- case: ").skip(1) {
        let mut words = case.split_whitespace();
        let (name, wanted) = words.next().zip(words.next()).expect("a name and a verdict");
        let ended = project(case).prepare(&[]);
        let is_right = match wanted {
            "same" => ended.stdout.is_empty(),
            _ => ended.stdout.contains("error[results-differ]: job_do_many: "),
        };
        if !is_right {
            wrong.push(format!("{name} is not {wanted}:\n{}", ended.seen()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_list_that_nobody_has_run_is_told_and_its_rows_are_shown() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("lost_condition ")).expect("the case");
    let project = project(case);
    insta::assert_snapshot!("unproved", project.check().stdout);
    insta::assert_snapshot!("lost_condition", project.prepare(&[]).stdout);
}

#[test]
fn what_a_list_cannot_face_is_told() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("end_by_key ")).expect("the case");
    let project = project(case);
    for (from, to, told) in [
        ("-- each: job_do\n", "-- each: job_did\n", "the SQLite page has no statement `job_did`"),
        (
            "epoch i64, now_ms i64)",
            "epoch i64, now_ms i64, more i64)",
            "its rows have `more`, which `job_do` does not take",
        ),
        ("job.lane;", "job.lane, job.ended_at_ms;", "it gives `ended_at_ms`, which `job_do` does not give"),
    ] {
        let before = project.read("sql/pg/job.sql");
        project.edit("sql/pg/job.sql", from, to);
        let ended = project.check();
        assert!(ended.stdout.contains(told), "{told}: {}", ended.seen());
        project.write("sql/pg/job.sql", &before);
    }
}
