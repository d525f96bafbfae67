//! What both grammars have and the parser behind them does not read by itself, and what is left.

use super::{inputs, pair, rendered, rules, sound};
use crate::diagnostic::Severity;
use crate::dialect::Dialect;
use crate::pipeline::{check, compile};

/// A page of one dialect whose statements stand alone.
fn alone(dialect: Dialect, statements: &[&str]) -> String {
    let statement = |(at, sql): (usize, &&str)| {
        let mode = if sql.starts_with("SELECT") || sql.contains("RETURNING") { "many" } else { "exec" };
        format!("-- only: {dialect} — it shows what is read\n-- name: job_{at} :{mode}\n{sql};\n\n")
    };
    statements.iter().enumerate().map(statement).collect()
}

#[test]
fn clauses_that_the_parser_does_not_know_are_read() {
    let sqlite = alone(
        Dialect::Sqlite,
        &[
            "SELECT id FROM job WHERE note IS ? AND size IS NOT ?2",
            "SELECT lane FROM job INDEXED BY x WHERE note ISNULL",
            "SELECT lane FROM job WHERE lane NOT IN lanes",
            "INSERT INTO event (job_id, lane, at_ms) SELECT :job, 'a', 1 ON CONFLICT DO NOTHING",
        ],
    );
    let pg = alone(
        Dialect::Pg,
        &[
            "SELECT id FROM job FOR NO KEY UPDATE OF job SKIP LOCKED",
            "SELECT id FROM ONLY job",
            "DELETE FROM ONLY event",
            "INSERT INTO event (event_id, job_id, lane, at_ms) OVERRIDING SYSTEM VALUE VALUES (:a, :b, 'a', 1)",
            "INSERT INTO event (job_id, lane, at_ms) SELECT :job, 'a', 1 ON CONFLICT (event_id) DO NOTHING",
            "WITH x AS NOT MATERIALIZED (SELECT id FROM job) DELETE FROM event WHERE job_id IN (SELECT id FROM x)",
        ],
    );
    let mut inputs = inputs(&[("sqlite/one", &sqlite), ("pg/two", &pg)]);
    let lanes = crate::source::SourceFile::new("schema/sqlite/0002.sql", "CREATE TABLE lanes (name TEXT NOT NULL);");
    inputs.sources.add(lanes);
    let compiled = check(&inputs);
    let found: Vec<_> = rules(&compiled)
        .into_iter()
        .filter(|rule| !["schema-table-differs", "on-conflict-without-target"].contains(rule))
        .collect();
    assert!(found.is_empty(), "{}", rendered(&inputs, &compiled));
}

#[test]
fn a_statement_of_another_kind_is_named_and_the_rest_of_the_file_is_compared() {
    let others = "-- name: job_fix :exec\nDO $$ BEGIN PERFORM 1; END $$;\n\n-- name: job_view :exec\nREFRESH MATERIALIZED VIEW x;\n\n";
    let page = |operator: &str| format!("-- name: job_due :many\nSELECT id FROM job WHERE epoch {operator} :now;\n");
    let inputs = pair(&page("<"), &format!("{others}{}", page("<=")));
    let compiled = check(&inputs);
    let mut found = rules(&compiled);
    found.retain(|rule| *rule != "missing-statement");
    assert_eq!(
        found,
        ["where-differs", "unsupported-statement", "unsupported-statement"],
        "{}",
        rendered(&inputs, &compiled)
    );
}

#[test]
fn migrations_of_every_kind_leave_the_tables_that_they_leave() {
    let pg = "CREATE TABLE gone (id bigint);\nDO $$ BEGIN EXECUTE 'x'; END $$;\nDROP TABLE gone;\n\
              CREATE INDEX CONCURRENTLY IF NOT EXISTS ji ON job USING gin (doc jsonb_path_ops);\nDROP INDEX ji;\n\
              CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RETURN NEW; END $f$;\n\
              CREATE TRIGGER t BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION f();\nCREATE EXTENSION pgcrypto;\n";
    let mut inputs = inputs(&[]);
    inputs.sources.add(crate::source::SourceFile::new("schema/pg/0002_more.sql", pg));
    let compiled = sound(&inputs);
    assert!(compiled.stats.facts > 0);
}

#[test]
fn what_a_block_puts_together_is_named_where_nothing_is_generated_too() {
    let pg = "DO $$ BEGIN EXECUTE format('ALTER TABLE job ADD COLUMN %I int', 'n'); END $$;\n\
              ALTER TABLE job ADD COLUMN place point;\n";
    let found = |toml: &str| {
        let mut inputs = inputs(&[]);
        inputs.sources.add(crate::source::SourceFile::new("schema/pg/0002_more.sql", pg));
        inputs.config = crate::config::Config::parse(toml, "diglot.toml").expect("a configuration");
        let findings = compile(&inputs).diagnostics;
        let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning);
        warnings.map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(found(""), ["built-text", "schema-unreadable"]);
    // The type of a column is asked for by Rust alone.
    assert_eq!(found("generate = false\n"), ["narrow-column", "built-text"]);
}
