//! Shared parts that take arguments: what differs in a word is written once.

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, n INTEGER NOT NULL);
CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL);";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, n bigint NOT NULL);
CREATE TABLE event (event_id bigserial PRIMARY KEY, job_id bigint NOT NULL, kind text NOT NULL, n bigint NOT NULL);";

const PART: &str = "-- Tells of a job.
-- part: told(source, :kind, :n)
WITH told AS (
  INSERT INTO event (job_id, kind, n) SELECT source.id, :kind, :n FROM source RETURNING event_id
);
";
const USES: &str = "-- name: job_start :opt
-- use: told(source = live, kind = 'it''s, started', n = 1)
WITH live AS (SELECT id FROM job WHERE id = :id)
SELECT told.event_id FROM told;

-- name: job_end :opt
-- use: told(source = done, kind = :how, n = done.n)
WITH done AS (SELECT id, n FROM job WHERE id = :id AND lane <> '')
SELECT told.event_id FROM told;
";

fn inputs(sqlite: &str, pg: &str) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

fn texts(compiled: &Compiled, dialect: Dialect) -> Vec<&str> {
    let own = compiled.texts.iter().filter(|text| text.dialect == dialect);
    own.map(|text| text.sql.split_once("*/ ").map_or("", |(_, sql)| sql)).collect()
}

/// Rule, message and the words under the caret of every finding of a page that both dialects have.
fn found(page: &str) -> Vec<String> {
    let inputs = inputs(page, page);
    let told = |finding: &diglot::diagnostic::Diagnostic| {
        let at = finding.labels.first().map_or("", |label| inputs.sources.text(label.span));
        format!("{}: {} [{}]", finding.rule, finding.message, at.lines().next().unwrap_or_default())
    };
    let mut all: Vec<String> = compile(&inputs).diagnostics.iter().map(told).collect();
    all.dedup();
    all
}

#[test]
fn arguments_stand_where_the_part_takes_them() {
    let page = format!("{PART}\n{USES}");
    let compiled = compile(&inputs(&page, &page));
    assert_eq!(compiled.diagnostics, []);
    let select =
        |name: &str, columns: &str, more: &str| format!("{name} AS (SELECT {columns} FROM job WHERE id = {more})");
    assert_eq!(
        texts(&compiled, Dialect::Sqlite),
        [
            format!(
                "WITH {} INSERT INTO event (job_id, kind, n) SELECT live.id, 'it''s, started', 1 FROM live RETURNING event_id",
                select("live", "id", "?1")
            ),
            format!(
                "WITH {} INSERT INTO event (job_id, kind, n) SELECT done.id, ?2, done.n FROM done RETURNING event_id",
                select("done", "id, n", "?1 AND lane <> ''")
            ),
        ]
    );
    assert_eq!(
        texts(&compiled, Dialect::Pg)[1],
        format!(
            "WITH {}, told AS ( INSERT INTO event (job_id, kind, n) SELECT done.id, $2, done.n FROM done RETURNING event_id ) \
             SELECT told.event_id FROM told",
            select("done", "id, n", "$1 AND lane <> ''")
        )
    );
    let how = &compiled.signatures[1].params[1];
    assert_eq!((how.name.as_str(), how.ty.to_string().as_str()), ("how", "text"));
}

#[test]
fn a_part_hands_its_arguments_on() {
    let outer = "-- part: told_once(:what)\n-- use: told(source = live, kind = :what, n = 1)\n\
                 WITH live AS (SELECT id FROM job WHERE id = :id);\n";
    let uses = "-- name: job_start :opt\n-- use: told_once(what = 'started')\nSELECT told.event_id FROM told;\n";
    let page = format!("{PART}\n{outer}\n{uses}");
    let compiled = compile(&inputs(&page, &page));
    assert_eq!(compiled.diagnostics, []);
    assert!(texts(&compiled, Dialect::Sqlite)[0].contains("SELECT live.id, 'started', 1 FROM live"));
}

#[test]
fn another_argument_is_another_statement() {
    let (sqlite, pg) = (format!("{PART}\n{USES}"), format!("{PART}\n{}", USES.replace("it''s, started", "begun")));
    let rules: Vec<String> =
        compile(&inputs(&sqlite, &pg)).diagnostics.iter().map(|it| format!("{} {}", it.rule, it.message)).collect();
    assert_eq!(rules, ["insert-differs job_start: the pages differ in the values they insert (`kind`)"]);
}

#[test]
fn a_finding_in_a_part_points_to_the_place_that_takes_the_argument() {
    let page = format!("{PART}\n{USES}").replace("n = done.n)", "n = done.m)");
    assert_eq!(found(&page), ["unknown-column: `done` has no column `m`, which `job_end` uses [:n]"]);
}

#[test]
fn what_does_not_fit_is_a_finding() {
    let with = |from: &str, to: &str| format!("{PART}\n{USES}").replace(from, to);
    let cases = [
        (with("n = 1)", "m = 1, n = 1)"), "bad-prelude: job_start: `told` takes no `m` [1]"),
        (
            with(", n = 1)", ")"),
            "bad-prelude: job_start: `told` is not given `n` [-- use: told(source = live, kind = 'it''s, started')]",
        ),
        (with("n = 1)", "n = live)"), "bad-prelude: job_start: `told` takes a value as `n` [live]"),
        (
            with("source = live,", "source = 'live',"),
            "bad-prelude: job_start: `told` takes a name as `source` ['live']",
        ),
        (
            with(":kind, :n)", ":kind, :n, :more)")
                .replace("n = 1)", "n = 1, more = 2)")
                .replace("n = done.n)", "n = done.n, more = 2)"),
            "bad-prelude: the shared part `told` has no place for `more`, which it takes [:more]",
        ),
        (with("n = 1)", "n = 1 + 1)"), "unknown-annotation: job_start: `1 + 1` cannot be an argument [1 + 1]"),
        (with("n = 1)", "n = 1, n = 2)"), "unknown-annotation: job_start: the argument `n` is given twice [n = 2]"),
        (with(":kind, :n)", ":kind, :kind)"), "unknown-annotation: told: a shared part takes `kind` twice [:kind]"),
    ];
    for (page, expected) in cases {
        assert!(found(&page).iter().any(|found| found == expected), "{expected}\n{:#?}", found(&page));
    }
}

#[test]
fn a_statement_has_a_part_once() {
    let twice = "-- name: job_start :opt\n-- use: told(source = live, kind = 'a', n = 1)\n\
                 -- use: told(source = live, kind = 'b', n = 1)\nWITH live AS (SELECT id FROM job WHERE id = :id)\n\
                 SELECT told.event_id FROM told;\n";
    let found = found(&format!("{PART}\n{twice}"));
    let expected = "bad-prelude: job_start: `told` is used twice, with other arguments [-- use: told(source = live, kind = 'b', n = 1)]";
    assert!(found.iter().any(|found| found == expected), "{found:#?}");
}
