//! Preludes and shared parts: what is written once reaches every part that names it, and spans stay where it is written.

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

const SQLITE: &str =
    "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL);
CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT NOT NULL);";
const PG: &str =
    "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, state text NOT NULL, n bigint NOT NULL);
CREATE TABLE event (event_id bigserial PRIMARY KEY, job_id bigint NOT NULL, kind text NOT NULL);";

fn inputs(files: &[(&str, &str)]) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    for (path, text) in files {
        sources.add(SourceFile::new(format!("sql/{path}"), *text));
    }
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

fn compiled(files: &[(&str, &str)]) -> Compiled {
    compile(&inputs(files))
}

/// Rule, message and the words under the caret of every finding.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let inputs = inputs(files);
    let told = |finding: &diglot::diagnostic::Diagnostic| {
        let at = finding.labels.first().map_or("", |label| inputs.sources.text(label.span));
        format!("{}: {} [{}]", finding.rule, finding.message, at.lines().next().unwrap_or_default())
    };
    compile(&inputs).diagnostics.iter().map(told).collect()
}

/// The texts of a dialect, without the comment that names the statement.
fn texts(compiled: &Compiled, dialect: Dialect) -> Vec<&str> {
    let own = compiled.texts.iter().filter(|text| text.dialect == dialect);
    own.map(|text| text.sql.split_once("*/ ").map_or("", |(_, sql)| sql)).collect()
}

const UNIT: &str = "-- Ends a job.
-- name: job_end :exec
WITH live AS (
  -- Who ended it first has ended it.
  SELECT id, lane FROM job WHERE id = :id AND state = :state
),
named AS (SELECT id FROM live WHERE lane <> '');
INSERT INTO event (job_id, kind) SELECT id, 'ended' FROM named;
UPDATE job SET n = :n WHERE id = :id AND EXISTS (SELECT 1 FROM live);
";
const FACING: &str = "-- Ends a job.
-- name: job_end :exec
WITH live AS (
  SELECT id, lane FROM job WHERE id = :id AND state = :state FOR UPDATE
),
named AS (SELECT id FROM live WHERE lane <> ''),
told AS (INSERT INTO event (job_id, kind) SELECT id, 'ended' FROM named)
UPDATE job SET n = :n WHERE id = :id AND EXISTS (SELECT 1 FROM live);
";

#[test]
fn each_part_gets_the_ctes_that_it_names_and_those_that_these_name() {
    let compiled = compiled(&[("sqlite/job.sql", UNIT), ("pg/job.sql", FACING)]);
    assert_eq!(compiled.diagnostics, []);
    let live = "live AS ( SELECT id, lane FROM job WHERE id = ?1 AND state = ?2 )";
    let first = format!(
        "WITH {live}, named AS (SELECT id FROM live WHERE lane <> '') \
         INSERT INTO event (job_id, kind) SELECT id, 'ended' FROM named"
    );
    let second = format!("WITH {live} UPDATE job SET n = ?3 WHERE id = ?1 AND EXISTS (SELECT 1 FROM live)");
    assert_eq!(texts(&compiled, Dialect::Sqlite), [format!("{first}; {second}")]);
    assert_eq!(compiled.texts[0].parts, [first, second]);
}

#[test]
fn a_prelude_stands_before_what_a_part_begins_with_itself() {
    let unit = UNIT.replace(
        "INSERT INTO event (job_id, kind) SELECT id, 'ended' FROM named;",
        "WITH named AS (SELECT id FROM live WHERE lane <> '') INSERT INTO event (job_id, kind) SELECT id, 'ended' FROM named;",
    );
    let unit = unit.replace("),\nnamed AS (SELECT id FROM live WHERE lane <> '');", ");");
    let compiled = compiled(&[("sqlite/job.sql", &unit), ("pg/job.sql", FACING)]);
    assert_eq!(compiled.diagnostics, []);
    let live = "WITH live AS ( SELECT id, lane FROM job WHERE id = ?1 AND state = ?2 ), named AS (SELECT";
    assert!(compiled.texts[0].parts[0].starts_with(live), "{:?}", compiled.texts[0].parts);
}

#[test]
fn a_finding_about_a_prelude_points_into_it_and_is_told_once() {
    let unit = UNIT.replace("AND state = :state", "AND stat = :state");
    assert_eq!(
        found(&[("sqlite/job.sql", &unit), ("pg/job.sql", FACING)]),
        ["unknown-column: `job` has no column `stat`, which `job_end` uses [stat]"]
    );
    let unit = UNIT.replace("AND state = :state", "AND state <> :state");
    assert_eq!(
        found(&[("sqlite/job.sql", &unit), ("pg/job.sql", FACING)]),
        ["where-differs: job_end: the pages differ in which rows they take [<>]"]
    );
}

const LIVE: &str = "-- A job that nobody has ended.
-- part: live_job
WITH live AS (SELECT id, lane FROM job WHERE id = :id AND state = :state);
";
const USES: &str = "-- name: job_end :exec
-- use: live_job
UPDATE job SET n = :n WHERE id IN (SELECT id FROM live);

-- name: job_tell :exec
-- use: live_job
INSERT INTO event (job_id, kind) SELECT id, lane FROM live;
";

/// A page as Postgres has it, which locks what it decides by.
fn locked(page: &str) -> String {
    page.replace("state = :state)", "state = :state FOR UPDATE)")
}

#[test]
fn a_shared_part_reaches_statements_of_its_own_file_and_of_others() {
    let own = format!("{LIVE}\n{USES}");
    let expected = [
        "WITH live AS (SELECT id, lane FROM job WHERE id = ?1 AND state = ?2) UPDATE job SET n = ?3 WHERE id IN (SELECT id FROM live)",
        "WITH live AS (SELECT id, lane FROM job WHERE id = ?1 AND state = ?2) INSERT INTO event (job_id, kind) SELECT id, lane FROM live",
    ];
    let compiled = compiled(&[("sqlite/job.sql", &own), ("pg/job.sql", &locked(&own))]);
    assert_eq!(compiled.diagnostics, []);
    assert_eq!(texts(&compiled, Dialect::Sqlite), expected);
    let live = locked(LIVE);
    // The other file's statements come first in the order of names, or last.
    for other in ["all", "parts"] {
        let paths = [format!("sqlite/{other}.sql"), format!("pg/{other}.sql")];
        let files =
            [(paths[0].as_str(), LIVE), ("sqlite/job.sql", USES), (paths[1].as_str(), &live), ("pg/job.sql", USES)];
        let compiled = self::compiled(&files);
        assert_eq!(compiled.diagnostics, []);
        assert_eq!(texts(&compiled, Dialect::Sqlite), expected);
    }
}

#[test]
fn a_shared_part_may_need_another_and_one_page_may_write_it_out() {
    let page = format!(
        "{LIVE}\n-- part: named_job\n-- use: live_job\nWITH named AS (SELECT id FROM live WHERE lane <> '');\n
-- name: job_read :opt\n-- use: named_job\nSELECT id FROM named;\n"
    );
    let written = "-- name: job_read :opt
WITH live AS (SELECT id, lane FROM job WHERE id = :id AND state = :state),
named AS (SELECT id FROM live WHERE lane <> '')
SELECT id FROM named;";
    let compiled = compiled(&[("sqlite/job.sql", &page), ("pg/job.sql", written)]);
    assert_eq!(compiled.diagnostics, []);
    assert!(texts(&compiled, Dialect::Sqlite)[0].starts_with("WITH live AS ("), "{:?}", compiled.texts);
}

#[test]
fn what_a_shared_part_says_is_compared_where_it_is_used() {
    let own = format!("{LIVE}\n{USES}");
    let other = locked(&own).replace("state = :state", "state <> :state");
    let differs = |name: &str| format!("where-differs: {name}: the pages differ in which rows they take [=]");
    assert_eq!(found(&[("sqlite/job.sql", &own), ("pg/job.sql", &other)]), [differs("job_end"), differs("job_tell")]);
    let declared =
        own.replace("-- part: live_job", "-- part: live_job\n-- diverges(where): the pages are to differ here");
    assert_eq!(found(&[("sqlite/job.sql", &declared), ("pg/job.sql", &other)]), [""; 0]);
}

#[test]
fn what_reaches_nobody_is_a_finding() {
    let read = "-- name: job_read :opt\nSELECT lane FROM job WHERE id = :id;\n";
    let alone = |sqlite: &str| found(&[("sqlite/job.sql", sqlite), ("pg/job.sql", read)]);
    let cases = [
        (
            "-- name: job_read :opt\nWITH live AS (SELECT id FROM job);\nSELECT lane FROM job WHERE id = :id;",
            "bad-prelude: job_read: no statement of the unit names `live` [live AS (SELECT id FROM job)]",
        ),
        (
            "-- name: job_read :opt\nSELECT lane FROM job WHERE id = :id;\nWITH live AS (SELECT id FROM job);",
            "bad-prelude: job_read: a list of CTEs stands alone behind a statement [WITH live AS (SELECT id FROM job)]",
        ),
        (
            "-- name: job_read :opt\n-- use: lve\nSELECT lane FROM job WHERE id = :id;",
            "bad-prelude: job_read: there is no shared part `lve` [-- use: lve]",
        ),
        (
            "-- part: live\nWITH live AS (SELECT id FROM job);\n\n-- name: job_read :opt\nSELECT lane FROM job WHERE id = :id;",
            "bad-prelude: no statement uses the shared part `live` [-- part: live]",
        ),
        (
            "-- part: live\nSELECT id FROM job;\n\n-- name: job_read :opt\nSELECT lane FROM job WHERE id = :id;",
            "bad-prelude: live: a shared part is a list of CTEs and nothing else [SELECT id FROM job]",
        ),
        (
            "-- part: live\nWITH live AS (SELECT id FROM job);\n\n-- name: job_read :opt\n-- use: live\nSELECT lane FROM job WHERE id = :id;",
            "bad-prelude: job_read: no statement of it names a CTE of `live` [-- use: live]",
        ),
    ];
    for (sqlite, expected) in cases {
        assert_eq!(alone(sqlite), [expected], "{sqlite}");
    }
}

#[test]
fn a_prelude_without_a_statement_is_none() {
    let read = "-- name: job_read :opt\nSELECT lane FROM job WHERE id = :id;\n";
    let told = found(&[
        ("sqlite/job.sql", "-- name: job_read :opt\nWITH live AS (SELECT id FROM job);"),
        ("pg/job.sql", read),
    ]);
    assert_eq!(told, ["empty-statement: job_read: the statement has no SQL [-- name: job_read :opt]"]);
}
