//! `-- require: NAME`: what a unit asks once, first, and when that is the same as asking in each statement.

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, EmittedText, Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL, part INTEGER NOT NULL, lane TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (part, id));
CREATE TABLE lease (job_id INTEGER NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL);
CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT NOT NULL);";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL, part bigint NOT NULL, lane text NOT NULL, state text NOT NULL, n bigint NOT NULL, PRIMARY KEY (part, id));
CREATE TABLE lease (job_id bigint NOT NULL PRIMARY KEY, epoch bigint NOT NULL);
CREATE TABLE event (event_id bigserial PRIMARY KEY, job_id bigint NOT NULL, kind text NOT NULL);";

const UNIT: &str = "-- name: job_end :opt
-- require: live
WITH live AS (
  SELECT job.id, job.lane
    FROM job
    JOIN lease ON lease.job_id = job.id
   WHERE job.part = :part
     AND job.id = :id
     AND job.state = :state
     AND lease.epoch = :epoch
);
UPDATE lease SET epoch = epoch + 1 WHERE job_id = :id AND EXISTS (SELECT 1 FROM live);
INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live;
UPDATE job SET state = 'done' WHERE part = :part AND id = :id AND EXISTS (SELECT 1 FROM live) RETURNING n;
";
const FACING: &str = "-- name: job_end :opt
WITH live AS (
  SELECT job.id, job.lane
    FROM job
    JOIN lease ON lease.job_id = job.id
   WHERE job.part = :part
     AND job.id = :id
     AND job.state = :state
     AND lease.epoch = :epoch
     FOR UPDATE
),
moved AS (UPDATE lease SET epoch = epoch + 1 WHERE job_id = :id AND EXISTS (SELECT 1 FROM live)),
told AS (INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live)
UPDATE job SET state = 'done' WHERE part = :part AND id = :id AND EXISTS (SELECT 1 FROM live) RETURNING n;
";

fn inputs(sqlite: &str, pg: &str) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

fn compiled(sqlite: &str, pg: &str) -> Compiled {
    compile(&inputs(sqlite, pg))
}

/// Rule and message of every finding.
fn found(sqlite: &str, pg: &str) -> Vec<String> {
    let findings = compiled(sqlite, pg).diagnostics.into_iter();
    findings.map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

fn sqlite(compiled: &Compiled) -> &EmittedText {
    compiled.texts.iter().find(|text| text.dialect == Dialect::Sqlite).expect("a text of SQLite")
}

#[test]
fn the_guard_is_asked_once_and_later_statements_find_its_row_by_its_key() {
    let compiled = compiled(UNIT, FACING);
    assert_eq!(compiled.diagnostics, []);
    let text = sqlite(&compiled);
    assert!(text.guarded);
    assert_eq!(text.result, Some(3));
    let live = |conditions: &str| {
        format!(
            "WITH live AS ( SELECT job.id, job.lane FROM job JOIN lease ON lease.job_id = job.id \
             WHERE job.part = ?1 AND job.id = ?2 AND {conditions} )"
        )
    };
    assert_eq!(
        text.parts,
        [
            format!(
                "{} SELECT json_extract('{{}}', '{}') WHERE NOT EXISTS (SELECT 1 FROM live)",
                live("job.state = ?3 AND lease.epoch = ?4"),
                EmittedText::NO_ROW
            ),
            "UPDATE lease SET epoch = epoch + 1 WHERE job_id = ?2 AND true".to_owned(),
            format!("{} INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live", live("true AND true")),
            "UPDATE job SET state = 'done' WHERE part = ?1 AND id = ?2 AND true RETURNING n".to_owned(),
        ]
    );
    assert!(compiled.rust.contains(".or_else(diglot_support::unless_required)"), "{}", compiled.rust);
    assert!(!compiled.texts.iter().any(|text| text.dialect == Dialect::Pg && text.guarded));
}

#[test]
fn a_shared_part_guards_the_units_that_use_it() {
    let (head, list) = UNIT.split_once("-- require: live\n").expect("a guard");
    let (list, rest) = list.split_once(";\n").expect("a prelude");
    let other = rest.replace("RETURNING n", "RETURNING state AS n");
    let read = "-- name: job_read :opt\n-- use: live\nSELECT live.id FROM live;\n";
    let page = format!("-- part: live\n-- require: live\n{list};\n\n{head}-- use: live\n{rest}\n{read}");
    let facing = format!("{FACING}\n-- name: job_read :opt\n{} SELECT live.id FROM live;\n", list.trim_end());
    let compiled = compiled(&page, &facing);
    assert_eq!(compiled.diagnostics, [], "{other}");
    let guarded: Vec<bool> = compiled.texts.iter().map(|text| text.guarded).collect();
    assert_eq!(guarded, [true, false, false, false]);
}

#[test]
fn what_does_not_guard_is_found() {
    let require = "-- require: live\n";
    let cases: [(&str, String, String, &[&str]); 8] = [
        (
            "on the page of Postgres",
            UNIT.to_owned(),
            FACING.replace(":opt\n", ":opt\n-- require: live\n"),
            &["bad-guard: job_end: no CTE of its prelude and shared parts is named `live`", "bad-guard: job_end: Postgres runs a unit as one statement"],
        ),
        (
            "no such CTE",
            UNIT.replace(require, "-- require: alive\n"),
            FACING.to_owned(),
            &["bad-guard: job_end: no CTE of its prelude and shared parts is named `alive`", "unit-read-after-write: job_end: `lease.epoch` is read after an earlier statement wrote it"],
        ),
        (
            "a statement that is no unit",
            format!("-- name: job_read :opt\n{require}WITH live AS (SELECT lane FROM job WHERE part = :part AND id = :id);\nSELECT lane FROM live;"),
            "-- name: job_read :opt\nWITH live AS (SELECT lane FROM job WHERE part = :part AND id = :id) SELECT lane FROM live;".to_owned(),
            &["bad-guard: job_read: a statement that is no unit has nothing to guard"],
        ),
        (
            "half a key",
            UNIT.replace("   WHERE job.part = :part\n     AND job.id = :id", "   WHERE job.id = :id"),
            FACING.replace("   WHERE job.part = :part\n     AND job.id = :id", "   WHERE job.id = :id"),
            &[
                "bad-guard: job_end: `live` does not pin its rows",
                "unit-read-after-write: job_end: `lease.epoch` is read after an earlier statement wrote it",
            ],
        ),
        (
            "a statement beside it",
            UNIT.replace("WHERE job_id = :id AND EXISTS (SELECT 1 FROM live);", "WHERE job_id = :id;"),
            FACING.replace("WHERE job_id = :id AND EXISTS (SELECT 1 FROM live))", "WHERE job_id = :id)"),
            &["bad-guard: job_end: a statement does not ask for `live`"],
        ),
        (
            "no lock on the facing page",
            UNIT.to_owned(),
            FACING.replace("     FOR UPDATE\n", "     FOR UPDATE OF job\n"),
            &["bad-guard: job_end: the Postgres page does not lock the rows of `live`"],
        ),
        (
            "its row is deleted before it is read",
            UNIT.replace("UPDATE lease SET epoch = epoch + 1 WHERE", "DELETE FROM lease WHERE"),
            FACING.replace("UPDATE lease SET epoch = epoch + 1 WHERE", "DELETE FROM lease WHERE"),
            &["bad-guard: job_end: `live` is read when its row may be gone"],
        ),
        (
            "twice",
            UNIT.replace(require, "-- require: live\n-- require: live\n"),
            FACING.to_owned(),
            &["bad-guard: job_end: two CTEs are required"],
        ),
    ];
    for (case, sqlite, pg, expected) in cases {
        let mut told = found(&sqlite, &pg);
        told.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(told, expected, "{case}");
    }
}

#[test]
fn a_value_that_an_earlier_statement_changed_is_still_found() {
    let unit = UNIT.replace("SELECT job.id, job.lane\n", "SELECT job.id, job.lane, lease.epoch\n");
    let facing = FACING.replace("SELECT job.id, job.lane\n", "SELECT job.id, job.lane, lease.epoch\n");
    let told = found(&unit, &facing);
    assert_eq!(told, ["unit-read-after-write: job_end: `lease.epoch` is read after an earlier statement wrote it"]);
}
