//! Programs of two releases on the tables of each: which changes can be rolled out, and which cannot.

use std::collections::BTreeMap;

use crate::book::blocks;
use crate::project::{Ended, Project, git, parts, postgres};

const CASES: &str = include_str!("verify.sql");

/// The tables and statements of the older release, where a case says nothing else.
const SQLITE: &str = "CREATE TABLE lane (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n\
    CREATE TABLE job (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id), title TEXT,\n\
      tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL) STRICT;\n";
const PG: &str = "CREATE TABLE lane (id bigint PRIMARY KEY, name text NOT NULL);\n\
    CREATE TABLE job (id bigint PRIMARY KEY, lane_id bigint NOT NULL REFERENCES lane (id), title text,\n\
      tries bigint NOT NULL DEFAULT 0, state text NOT NULL);\n";
const PAGE: &str = "-- Adds.\n-- name: job_add :exec\nINSERT INTO job (id, lane_id, title, state)\n\
    VALUES (:id, :lane_id, :title, :state);\n\n\
    -- Counts.\n-- name: job_count :one\nSELECT count(*) AS n FROM job WHERE state = 'new';\n\n\
    -- Retries.\n-- name: job_retry :exec\nUPDATE job SET tries = tries + 1 WHERE id = :id;\n\n\
    -- Lists.\n-- name: job_list :many\nSELECT id, title, tries FROM job WHERE lane_id = :lane_id ORDER BY id;\n";

/// A project whose first release is committed as `v1`, with the migration and the pages of a case beside it.
fn project(parts: &BTreeMap<&str, String>) -> Project {
    let project = Project::empty();
    project.write("diglot.toml", "generate = false\n");
    for (dialect, tables) in [("sqlite", SQLITE), ("pg", PG)] {
        project.write(&format!("schema/{dialect}/0001_first.sql"), tables);
        project.write(&format!("sql/{dialect}/job.sql"), PAGE);
    }
    released(&project);
    for dialect in ["sqlite", "pg"] {
        let both = parts.get("both").or_else(|| parts.get(dialect));
        project.write(&format!("schema/{dialect}/0002_next.sql"), both.map_or("SELECT 1;\n", String::as_str));
        let added = parts.get("statements").map_or("", String::as_str);
        project.write(&format!("sql/{dialect}/job.sql"), format!("{PAGE}{added}"));
    }
    project
}

fn released(project: &Project) {
    git(project, &["init", "--quiet"]);
    git(project, &["add", "."]);
    git(project, &["commit", "--quiet", "--message", "first"]);
    git(project, &["tag", "v1"]);
}

fn verify(project: &Project, arguments: &[&str]) -> Ended {
    project.run(&[&["verify", "--since", "v1", "--postgres", postgres()], arguments].concat())
}

#[test]
fn what_cannot_be_rolled_out_is_told_for_each_database_and_nothing_else() {
    let mut wrong = Vec::new();
    for case in CASES.split("-- case: ").skip(1) {
        let (name, wanted) = case.lines().next().and_then(|line| line.split_once(": ")).expect("a name and lines");
        let ended = verify(&project(&parts(case, "-- part: ")), &[]);
        let found: Vec<&str> = ended
            .stderr
            .lines()
            .filter_map(|line| line.split_once("beside the migrations of now: "))
            .map(|it| it.1)
            .collect();
        let back: Vec<&str> =
            ended.stderr.lines().filter_map(|line| line.split_once("on the tables of v1: ")).map(|it| it.1).collect();
        let told = format!("{} | {}", found.join(""), back.join(""));
        let code = if found == ["yes"] { 0 } else { 2 };
        if told != wanted || ended.code != Some(code) {
            wrong.push(format!("{name}: {told}, not {wanted}\n{}", ended.seen()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_clash_shows_the_rows_and_what_either_tables_answer() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("other_word: ")).expect("the case");
    insta::assert_snapshot!(verify(&project(&parts(case, "-- part: ")), &[]).seen());
    let json = verify(&project(&parts(case, "-- part: ")), &["--format", "json"]);
    assert!(json.stdout.lines().count() > 1, "{}", json.seen());
    assert!(
        json.stdout.lines().all(|line| line.starts_with('{') && line.contains("release-differs")),
        "{}",
        json.seen()
    );
}

#[test]
fn what_is_meant_is_allowed_with_a_reason_and_no_longer_than_it_is_needed() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("other_word: ")).expect("the case");
    let project = project(&parts(case, "-- part: "));
    let allowed =
        "programs of v1 beside the migrations of now: yes, with what is allowed of job_count (SQLite, Postgres)";
    // With its name beside the migrations, and above the statement.
    project.write("schema/divergences.sql", "-- allow(release-differs.job_count): they are stopped before.\n");
    let ended = verify(&project, &[]);
    assert!(ended.code == Some(0) && ended.stderr.contains(allowed), "{}", ended.seen());
    assert!(!ended.stdout.contains("release-differs"), "{}", ended.seen());
    assert!(!project.check().stdout.contains("allow"), "{}", project.check().seen());
    std::fs::remove_file(project.path("schema/divergences.sql")).unwrap();
    project.edit("sql/pg/job.sql", "-- Counts.\n", "-- Counts.\n-- allow(release-differs): they are stopped before.\n");
    let ended = verify(&project, &[]);
    assert!(ended.code == Some(0) && ended.stderr.contains(allowed), "{}", ended.seen());
    assert!(!project.check().stdout.contains("allow"), "{}", project.check().seen());
    // Of a migration, and of a statement that does not differ.
    project.edit("schema/pg/0001_first.sql", "title text", "title varchar");
    let beside =
        "-- allow(release-differs.0001_first): nobody ran it.\n-- allow(release-differs.job_list): it differed once.\n";
    project.write("schema/divergences.sql", beside);
    let ended = verify(&project, &[]);
    assert!(!ended.stdout.contains("reads otherwise"), "{}", ended.seen());
    assert!(ended.stdout.contains("warning[unused-allow]: job_list does not differ from v1"), "{}", ended.seen());
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
}

#[test]
fn without_a_migration_nothing_is_run() {
    let project = project(&BTreeMap::new());
    std::fs::remove_file(project.path("schema/sqlite/0002_next.sql")).unwrap();
    std::fs::remove_file(project.path("schema/pg/0002_next.sql")).unwrap();
    let ended = project.run(&["verify", "--since", "v1", "--postgres", "postgres://nobody@nowhere/x"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert!(ended.stderr.contains("no migration since v1"), "{}", ended.seen());
}

#[test]
fn migrations_that_have_run_stay() {
    let project = project(&BTreeMap::new());
    project.edit("schema/pg/0001_first.sql", "title text", "title text NOT NULL");
    std::fs::rename(project.path("schema/sqlite/0001_first.sql"), project.path("schema/sqlite/0001_begin.sql"))
        .unwrap();
    let ended = verify(&project, &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    for line in [
        "migration 0001_first of v1 is gone on SQLite",
        "migration 0001_first reads otherwise than in v1",
        "SQLite does not take the migrations since v1: table lane already exists",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.seen());
    }
    assert!(ended.stderr.contains("on the tables of v1: unknown"), "{}", ended.seen());
}

#[test]
fn settings_of_the_older_release_that_cannot_be_read_are_shown_there() {
    let project = Project::empty();
    project.write("diglot.toml", "generate = perhaps\n");
    project.write("sql/sqlite/job.sql", PAGE);
    released(&project);
    project.write("diglot.toml", "generate = false\n");
    let ended = project.run(&["verify", "--since", "v1"]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.stdout.contains("v1:diglot.toml:1:") && ended.stderr.contains("nothing was run"), "{}", ended.seen());
}

#[test]
fn what_git_cannot_give_is_told_with_the_way_out() {
    let project = project(&BTreeMap::new());
    let bad = |project: &Project, revision: &str| {
        let ended = project.run(&["verify", &format!("--since={revision}")]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.seen());
        ended.stderr
    };
    assert!(bad(&project, "v9").contains("there is no revision `v9`"));
    assert!(bad(&project, "--all").contains("`--all` is no revision"));
    git(&project, &["checkout", "--quiet", "--orphan", "other"]);
    git(&project, &["rm", "--quiet", "-r", "--cached", "."]);
    git(&project, &["commit", "--quiet", "--allow-empty", "--message", "nothing"]);
    assert!(bad(&project, "HEAD").contains("`HEAD` has no project where"));
    let alone = Project::unprepared();
    assert!(bad(&alone, "HEAD").contains("is in no repository of git"));
    let ended = project.run_with(&["verify", "--since", "v1"], ("PATH", "/nowhere"));
    assert!(ended.code == Some(1) && ended.stderr.contains("cannot run the command `git`"), "{}", ended.seen());
}

#[test]
fn the_page_about_it_shows_what_is_printed() {
    let page = "docs/rolling.md";
    let project = Project::empty();
    project.write("diglot.toml", "generate = false\n");
    for dialect in ["sqlite", "pg"] {
        let table = "CREATE TABLE note (id bigint PRIMARY KEY, state text NOT NULL);\n";
        project.write(&format!("schema/{dialect}/0001_note.sql"), table);
        let statement = "-- New ones.\n-- name: note_new :one\nSELECT count(*) AS n FROM note WHERE state = 'new';\n";
        project.write(&format!("sql/{dialect}/note.sql"), statement);
    }
    released(&project);
    let migration = &blocks(page, "sql")[0];
    for dialect in ["sqlite", "pg"] {
        project.write(&format!("schema/{dialect}/0002_words.sql"), migration);
    }
    let ended = verify(&project, &[]);
    let shown = blocks(page, "text");
    assert_eq!(shown.len(), 2);
    for text in shown {
        assert!(ended.seen().contains(&text), "{text}\n{}", ended.seen());
    }
}
