//! SQLite pages whose CTEs write: each is a statement of the unit, and the rows are joined from what they return.

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, EmittedText, Inputs, JoinedText, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL, part INTEGER NOT NULL, lane TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (part, id));
CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT NOT NULL);";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL, part bigint NOT NULL, lane text NOT NULL, state text NOT NULL, n bigint NOT NULL, PRIMARY KEY (part, id));
CREATE TABLE event (event_id bigserial PRIMARY KEY, job_id bigint NOT NULL, kind text NOT NULL);";

const PAGE: &str = "-- name: job_end :opt
-- require: live
WITH live AS (SELECT job.id, job.lane FROM job WHERE job.part = :part AND job.id = :id AND job.state = 'open');
WITH told AS (INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live RETURNING event_id),
ended AS (
  UPDATE job SET state = 'done' WHERE part = :part AND id = :id AND EXISTS (SELECT 1 FROM live) RETURNING lane, n
)
SELECT told.event_id, ended.n, ended.lane FROM told CROSS JOIN ended;
";

/// The page as Postgres has it.
fn facing(page: &str) -> String {
    page.replace("-- require: live\n", "").replace("job.state = 'open')", "job.state = 'open' FOR UPDATE)")
}

fn compiled(sqlite: &str, pg: &str) -> Compiled {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    compile(&Inputs { config: Config::default(), sources, ..Inputs::default() })
}

/// Rule and message of every finding.
fn found(sqlite: &str) -> Vec<String> {
    let findings = compiled(sqlite, &facing(sqlite)).diagnostics.into_iter();
    findings.map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

fn text(compiled: &Compiled, dialect: Dialect) -> &EmittedText {
    compiled.texts.iter().find(|text| text.dialect == dialect).expect("a text")
}

#[test]
fn each_cte_that_writes_is_a_statement_and_the_join_is_not_sent() {
    let compiled = compiled(PAGE, &facing(PAGE));
    assert_eq!(compiled.diagnostics, []);
    let sqlite = text(&compiled, Dialect::Sqlite);
    assert_eq!(
        sqlite.parts[1..],
        [
            "WITH live AS (SELECT job.id, job.lane FROM job WHERE job.part = ?1 AND job.id = ?2 AND true) \
             INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live RETURNING event_id",
            "UPDATE job SET state = 'done' WHERE part = ?1 AND id = ?2 AND true RETURNING lane, n",
        ]
    );
    assert!(sqlite.guarded && sqlite.parts.len() == 3 && sqlite.result.is_none());
    let joined = JoinedText { sources: vec![(1, false), (2, false)], columns: vec![(0, 0), (1, 1), (1, 0)] };
    assert_eq!(sqlite.joined, Some(joined));
    let pg = text(&compiled, Dialect::Pg);
    assert!(pg.joined.is_none() && pg.result == Some(0), "{pg:?}");
    for part in [1, 2] {
        let source = format!("(diglot_support::of(&returned, {part}), false)");
        assert!(compiled.rust.contains(&source), "{source}");
    }
}

#[test]
fn a_statement_that_may_have_no_row_leaves_null() {
    let page = PAGE
        .replace("FROM live RETURNING event_id", "FROM live WHERE live.lane <> '' RETURNING event_id")
        .replace("FROM told CROSS JOIN ended", "FROM ended LEFT JOIN told ON true");
    let compiled = compiled(&page, &facing(&page));
    assert_eq!(compiled.diagnostics, []);
    let sqlite = text(&compiled, Dialect::Sqlite);
    assert_eq!(sqlite.joined.as_ref().map(|joined| joined.sources.clone()), Some(vec![(2, false), (1, true)]));
    let nullable: Vec<bool> = compiled.signatures[0].columns.iter().map(|column| column.ty.nullable).collect();
    assert_eq!(nullable, [true, false, false]);
}

#[test]
fn what_the_pages_join_is_compared() {
    let other = facing(PAGE).replace("live.id, live.lane FROM live", "live.id, 'ended' FROM live");
    let rules: Vec<&str> = compiled(PAGE, &other).diagnostics.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["insert-differs"]);
    let other = facing(PAGE)
        .replace("told.event_id, ended.n, ended.lane FROM", "told.event_id, ended.n + 1 AS n, ended.lane FROM");
    let rules: Vec<&str> = compiled(PAGE, &other).diagnostics.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["columns-differ"]);
}

#[test]
fn what_was_returned_is_read_by_the_last_select_alone_and_joined_whole() {
    let cases = [
        (
            PAGE.replace(
                "AND EXISTS (SELECT 1 FROM live) RETURNING",
                "AND EXISTS (SELECT 1 FROM told) AND EXISTS (SELECT 1 FROM live) RETURNING",
            ),
            "a statement reads what another one returned",
        ),
        (
            PAGE.replace("CROSS JOIN ended;", "CROSS JOIN ended WHERE ended.n > 0;"),
            "the rows that its statements returned are more than joined",
        ),
        (
            PAGE.replace("SELECT told.event_id,", "SELECT told.event_id + 1 AS event_id,"),
            "the rows that its statements returned are more than joined",
        ),
        (
            PAGE.replace("CROSS JOIN ended;", "JOIN ended ON ended.n = told.event_id;"),
            "the rows that its statements returned are more than joined",
        ),
        (
            PAGE.replace("FROM told CROSS JOIN ended;", "FROM ended;").replace("told.event_id, ", ""),
            "what a statement returns is read by nobody",
        ),
    ];
    for (page, expected) in cases {
        let found = found(&page);
        assert!(found.contains(&format!("lost-rows: job_end: {expected}")), "{page}\n{found:?}");
    }
    let stream = PAGE.replace(":opt", ":stream").replace("-- require: live\n", "");
    assert!(found(&stream).contains(&"lost-rows: job_end: rows that are joined do not come one by one".to_owned()));
}

#[test]
fn a_value_that_an_earlier_statement_changed_is_found() {
    let page = PAGE.replace("-- require: live\n", "").replace(
        "SELECT told.event_id, ended.n, ended.lane FROM told CROSS JOIN ended;",
        "SELECT told.event_id, ended.n, ended.lane FROM ended CROSS JOIN told;",
    );
    let swapped = page.replace(
        "WITH told AS (INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live RETURNING event_id),\nended AS (",
        "WITH ended AS (",
    );
    let swapped = swapped.replace(
        "RETURNING lane, n\n)\n",
        "RETURNING lane, n\n),\ntold AS (INSERT INTO event (job_id, kind) SELECT live.id, live.lane FROM live RETURNING event_id)\n",
    );
    assert!(found(&page).is_empty(), "{:?}", found(&page));
    let rules: Vec<String> =
        found(&swapped).into_iter().filter(|found| found.starts_with("unit-read-after-write")).collect();
    assert_eq!(rules, ["unit-read-after-write: job_end: `job.state` is read after an earlier statement wrote it"]);
}
