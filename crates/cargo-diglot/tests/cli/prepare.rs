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
fn a_column_that_comes_out_of_a_function_is_answered() {
    let project = Project::clean();
    let (sqlite, pg) = (project.read(SQLITE), project.read(PG));
    let annotated = "\n-- name: job_words :many\n-- column: word text null\n";
    project.write(
        SQLITE,
        format!("{sqlite}{annotated}SELECT word.value AS word FROM json_each('[\"a\", \"b\"]') AS word;\n"),
    );
    project.write(
        PG,
        format!("{pg}{annotated}SELECT word.value AS word FROM jsonb_array_elements_text('[\"a\", \"b\"]') AS word (value);\n"),
    );
    let prepared = project.prepare(&[]);
    assert!(!prepared.seen().contains("no such table column"), "{}", prepared.seen());
    assert_eq!(prepared.code, Some(0), "{}", prepared.seen());
    assert_eq!(project.prepare(&["--check"]).code, Some(0));
}

#[test]
fn what_an_engine_alone_knows_of_a_type_is_held_against_the_declared_one() {
    let project = Project::clean();
    let pg = project.read(PG);
    let given = |word: &str| {
        format!(
            "{pg}\n-- name: job_day :one\n-- only: pg — SQLite has no such function\n-- column: day {word}\n\
             SELECT make_date(2024, 1, 31) AS day;\n"
        )
    };
    project.write(PG, given("text"));
    assert!(!project.check().stdout.contains("column-type-conflict"), "nobody knows the function");
    let prepared = project.prepare(&[]);
    assert_eq!(prepared.code, Some(2), "{}", prepared.seen());
    let expected = "error[column-type-conflict]: job_day: Postgres gives `date` for `day`, which cannot become `text`";
    assert!(prepared.stdout.contains(expected), "{}", prepared.seen());
    project.write(PG, given("date"));
    let prepared = project.prepare(&[]);
    assert_eq!(prepared.code, Some(0), "{}", prepared.seen());
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
    // Of the pair alone that changed.
    assert!(prepared.stderr.contains("2 of ") && prepared.stderr.contains("as before"), "{}", prepared.stderr);
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
fn drift_comes_with_the_database_that_shows_it_and_no_answer_is_recorded() {
    let project = Project::clean();
    let before = project.answers();
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let ended = project.prepare(&[]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    for part in
        ["error[where-differs]: job_due", "note: job holds", "note: SQLite gives no row", "note: Postgres gives "]
    {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.seen());
    }
    assert!(ended.stderr.ends_with("the answers were not recorded\n"), "{}", ended.stderr);
    // The build knows it too, and asks nobody.
    assert!(project.check().stdout.contains("note: job holds"));
    let mut after = project.answers();
    let evidence = after.insert("evidence.json".to_owned(), before["evidence.json"].clone());
    assert!(evidence.is_some_and(|text| text.contains("\"job_due\": {\n")));
    assert_eq!(after, before);
    project.edit(PG, "job.due_ms <= :now_ms", "job.due_ms < :now_ms");
    assert_eq!(project.prepare(&[]).code, Some(0));
    assert_eq!(project.answers(), before);
}

#[test]
fn what_is_the_same_by_law_is_run_once_and_named_where_it_was_not() {
    let project = Project::clean();
    let whole = project.read(".sqlx/evidence.json");
    let lines: Vec<&str> = whole.lines().filter(|line| line.contains("\"verdict\":\"same\"")).collect();
    assert!(lines.iter().any(|line| line.starts_with("\"job_due\": ")), "{whole}");
    let stats = project.run(&["check", "--stats"]);
    assert!(stats.stderr.contains("one-sided changes noticed"), "{}", stats.seen());

    // Another number says something that no run would: it is kept, so the pair is not run again.
    let kept = whole.replacen("\"databases\":", "\"databases\":1000", 1);
    project.write(".sqlx/evidence.json", &kept);
    assert_eq!(project.prepare(&[]).code, Some(0));
    assert_eq!(project.read(".sqlx/evidence.json"), kept);

    let without: Vec<&str> = whole.lines().filter(|line| !line.starts_with("\"job_due\": ")).collect();
    project.write(".sqlx/evidence.json", without.join("\n").replace(",\n}", "\n}"));
    let missing = project.prepare(&["--check"]);
    assert!(
        missing.code == Some(2) && missing.stderr.contains("no evidence of job_due as it is now"),
        "{}",
        missing.seen()
    );
    assert_eq!(project.prepare(&[]).code, Some(0));
    assert_eq!(project.read(".sqlx/evidence.json"), whole);
}

#[test]
fn what_no_law_knows_is_the_same_when_run_until_a_text_changes() {
    let project = Project::clean();
    let text = project.read(PG);
    project.write(
        PG,
        format!("{text}\n-- name: job_lanes :many\nSELECT DISTINCT lane FROM job WHERE NOT due_ms < :least;\n"),
    );
    let text = project.read(SQLITE);
    let sqlite = "SELECT lane FROM job WHERE due_ms >= :least GROUP BY lane";
    project.write(SQLITE, format!("{text}\n-- name: job_lanes :many\n{sqlite};\n"));
    let check = project.check();
    assert!(check.code == Some(2) && check.stdout.contains("or let the engines decide"), "{}", check.seen());
    let ended = project.prepare(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert!(ended.stderr.contains("1 when run"), "{}", ended.stderr);
    assert_eq!((project.check().code, project.prepare(&["--check"]).code), (Some(0), Some(0)));
    let stats = project.run(&["check", "--stats"]);
    assert!(stats.stdout.contains("note: job_lanes: equal on all "), "{}", stats.seen());
    let check = project.check();
    assert!(check.stdout.starts_with("note: job_lanes is the same when run"), "{}", check.seen());

    project.edit(SQLITE, "due_ms >= :least", "due_ms > :least");
    assert_eq!(project.check().code, Some(2));
    let stale = project.prepare(&["--check"]);
    assert!(
        stale.code == Some(2) && stale.stderr.contains("no evidence of job_lanes as it is now"),
        "{}",
        stale.seen()
    );
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
    for part in ["note: SQLite gives total = 3", "note: Postgres gives total = 4"] {
        assert!(differ.seen().contains(part), "{part}: {}", differ.seen());
    }
    let mut after = project.answers();
    after.insert("evidence.json".to_owned(), before["evidence.json"].clone());
    assert_eq!(after, before);

    project.edit(PG, "'2024-01-04'", "'2024-01-03'");
    let same = project.prepare(&[]);
    assert_eq!(same.code, Some(0), "{}", same.seen());
    assert_eq!(project.check().code, Some(0));
}

#[test]
fn what_depends_on_the_session_differs_and_many_rows_are_compared() {
    let statements = [
        ("day", "SELECT '2024-01-01' as day", "SELECT CAST(timestamptz '2024-01-01 00:00+00' AS text) AS day", 2),
        (
            "many",
            "WITH RECURSIVE g (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 101) SELECT i AS n FROM g",
            "SELECT i AS n FROM generate_series(1, 101) AS i",
            0,
        ),
    ];
    for (name, sqlite, pg, code) in statements {
        let project = Project::clean();
        for (page, sql) in [(SQLITE, sqlite), (PG, pg)] {
            let text = project.read(page);
            project.write(page, format!("{text}\n-- name: job_{name} :many\n{sql};\n"));
        }
        let ended = project.prepare(&[]);
        assert_eq!(ended.code, Some(code), "{}", ended.seen());
        assert!(!ended.seen().contains("let the engines decide"), "{}", ended.seen());
    }
}

#[test]
fn a_server_that_does_not_answer_is_the_tools_failure() {
    let ended = Project::clean().run(&["prepare", "--postgres", "postgres://nobody@127.0.0.1:1/x"]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
    assert!(ended.stderr.starts_with("error: cannot connect to Postgres at 127.0.0.1:1"), "{}", ended.stderr);
}
