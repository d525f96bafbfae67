//! Every clause that the parser can read is known, or a finding: on both pages alike, and on one page alone.

use diglot::config::Config;
use diglot::diagnostic::Severity;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

const SQLITE: &str =
    "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, n INTEGER NOT NULL, note TEXT) STRICT;
CREATE TABLE part (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL) STRICT;";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text COLLATE \"C\" NOT NULL, n bigint NOT NULL, note text COLLATE \"C\");
CREATE TABLE part (id bigint NOT NULL PRIMARY KEY, n bigint NOT NULL) PARTITION BY RANGE (id);";

/// The rules that find something on a pair of texts.
fn found(sqlite: &str, pg: &str) -> Vec<&'static str> {
    let mut sources = Sources::default();
    for (dialect, schema, text) in [("sqlite", SQLITE, sqlite), ("pg", PG, pg)] {
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        let page = format!("-- name: job_list {}\n{text};\n", cardinality(text));
        sources.add(SourceFile::new(format!("sql/{dialect}/job.sql"), page));
    }
    let inputs = Inputs { config: Config::default(), sources, ..Inputs::default() };
    let errors = compile(&inputs).diagnostics.into_iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.rule).collect()
}

/// What a text promises: rows where it gives some.
fn cardinality(text: &str) -> &'static str {
    let gives_rows = text.starts_with("SELECT") || text.starts_with("--") || text.contains("RETURNING");
    if gives_rows { ":many" } else { ":exec" }
}

/// A statement and the same with a clause more.
const CLAUSES: [(&str, &str); 66] = [
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY ROLLUP (lane)"),
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY CUBE (lane)"),
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY GROUPING SETS ((lane), ())"),
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY lane WITH ROLLUP"),
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY lane WITH TOTALS"),
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY DISTINCT lane"),
    ("SELECT lane FROM job GROUP BY lane", "SELECT lane FROM job GROUP BY ALL"),
    (
        "SELECT id, count(n) OVER (ORDER BY id) AS s FROM job",
        "SELECT id, count(n) OVER (ORDER BY id GROUPS 1 PRECEDING) AS s FROM job",
    ),
    (
        "SELECT id, count(n) OVER (ORDER BY id) AS s FROM job",
        "SELECT id, count(n) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM job",
    ),
    (
        "SELECT id, count(n) OVER (ORDER BY id) AS s FROM job",
        "SELECT id, count(n) OVER (ORDER BY id ROWS 1 PRECEDING EXCLUDE CURRENT ROW) AS s FROM job",
    ),
    (
        "SELECT id, count(n) OVER (ORDER BY id) AS s FROM job",
        "SELECT id, count(n) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) AS s FROM job",
    ),
    (
        "SELECT id, lag(note) OVER (ORDER BY id) AS s FROM job",
        "SELECT id, lag(note) IGNORE NULLS OVER (ORDER BY id) AS s FROM job",
    ),
    (
        "SELECT id, lag(note) OVER (ORDER BY id) AS s FROM job",
        "SELECT id, lag(note IGNORE NULLS) OVER (ORDER BY id) AS s FROM job",
    ),
    ("SELECT count(*) AS c FROM job", "SELECT count(*) FILTER (WHERE n > 1) AS c FROM job"),
    ("SELECT count(n) AS c FROM job", "SELECT count(DISTINCT n) AS c FROM job"),
    ("SELECT max(n) AS c FROM job", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS c FROM job"),
    ("SELECT max(n) AS c FROM job", "SELECT mode() WITHIN GROUP (ORDER BY n) AS c FROM job"),
    (
        "SELECT string_agg(lane, ',' ORDER BY id) AS c FROM job",
        "SELECT string_agg(lane, ',' ORDER BY id DESC) AS c FROM job",
    ),
    ("SELECT id FROM job", "SELECT id FROM job TABLESAMPLE BERNOULLI (10)"),
    ("SELECT id FROM job", "SELECT id FROM job TABLESAMPLE SYSTEM (10) REPEATABLE (3)"),
    ("SELECT id FROM job", "SELECT TOP 3 id FROM job"),
    ("SELECT id FROM job", "SELECT DISTINCT ON (lane) id FROM job"),
    ("SELECT lane FROM job", "SELECT DISTINCT lane FROM job"),
    ("SELECT id FROM job", "SELECT id FROM job QUALIFY row_number() OVER (ORDER BY id) = 1"),
    ("SELECT id FROM job", "SELECT id INTO other FROM job"),
    ("SELECT id FROM job ORDER BY n, id", "SELECT id FROM job ORDER BY n USING >, id"),
    ("SELECT id FROM job ORDER BY n, id", "SELECT id FROM job ORDER BY n USING <>, id"),
    ("SELECT id FROM job ORDER BY n, id", "SELECT id FROM job ORDER BY n NULLS FIRST, note NULLS LAST, id"),
    ("SELECT id FROM job ORDER BY lane, id", "SELECT id FROM job ORDER BY lane COLLATE \"en_US\", id"),
    ("SELECT id FROM job ORDER BY lane, id", "SELECT id FROM job ORDER BY lane COLLATE NOCASE, id"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY ALL"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id LIMIT 3"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FETCH FIRST 3 ROWS ONLY"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FETCH FIRST 3 ROWS WITH TIES"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FETCH FIRST 3 PERCENT ROWS ONLY"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id OFFSET 2 ROWS"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FOR UPDATE"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FOR UPDATE OF job NOWAIT"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FOR NO KEY UPDATE SKIP LOCKED"),
    ("SELECT id FROM job ORDER BY id", "SELECT id FROM job ORDER BY id FOR KEY SHARE"),
    ("SELECT id FROM job ORDER BY id", "SELECT s.id FROM (SELECT id FROM job FOR UPDATE) AS s ORDER BY s.id"),
    ("SELECT id FROM job", "SELECT id FROM job WINDOW w AS (ORDER BY id) LIMIT 1"),
    ("SELECT a.id FROM job AS a JOIN job AS b ON b.id = a.n", "SELECT a.id FROM job AS a JOIN job AS b USING (id)"),
    ("SELECT a.id FROM job AS a JOIN job AS b ON b.id = a.n", "SELECT a.id FROM job AS a NATURAL JOIN job AS b"),
    (
        "SELECT a.id FROM job AS a JOIN job AS b ON b.id = a.n",
        "SELECT a.id FROM job AS a FULL JOIN job AS b ON b.id = a.n",
    ),
    (
        "SELECT a.id FROM job AS a JOIN job AS b ON b.id = a.n",
        "SELECT a.id FROM job AS a LEFT SEMI JOIN job AS b ON b.id = a.n",
    ),
    (
        "SELECT a.id FROM job AS a JOIN job AS b ON b.id = a.n",
        "SELECT a.id FROM job AS a ANTI JOIN job AS b ON b.id = a.n",
    ),
    (
        "SELECT a.id FROM job AS a JOIN job AS b ON b.id = a.n",
        "SELECT a.id FROM job AS a CROSS APPLY (SELECT b.id FROM job AS b WHERE b.id = a.n) AS b",
    ),
    ("SELECT id FROM job UNION ALL SELECT n FROM job", "SELECT id FROM job UNION SELECT n FROM job"),
    ("SELECT id FROM job UNION ALL SELECT n FROM job", "SELECT id FROM job UNION ALL BY NAME SELECT n FROM job"),
    ("SELECT id FROM job EXCEPT SELECT n FROM job", "SELECT id FROM job EXCEPT ALL SELECT n FROM job"),
    (
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2)",
        "INSERT INTO job (id, lane, n) OVERRIDING USER VALUE VALUES (1, 'a', 2)",
    ),
    (
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2)",
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2) ON CONFLICT DO NOTHING",
    ),
    ("INSERT INTO job (id, lane, n) VALUES (1, 'a', 2)", "INSERT OR REPLACE INTO job (id, lane, n) VALUES (1, 'a', 2)"),
    (
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2)",
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2) RETURNING id",
    ),
    ("INSERT INTO job (id, lane, n) VALUES (1, 'a', 2)", "INSERT INTO job SET id = 1, lane = 'a', n = 2"),
    ("INSERT INTO job (id, lane, n) VALUES (1, 'a', 2)", "REPLACE INTO job (id, lane, n) VALUES (1, 'a', 2)"),
    (
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2) ON CONFLICT (id) DO UPDATE SET n = 3",
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2) ON CONFLICT (id) DO UPDATE SET n = 3 WHERE job.n < 3",
    ),
    (
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO job (id, lane, n) VALUES (1, 'a', 2) ON CONFLICT (id) WHERE n > 1 DO NOTHING",
    ),
    ("UPDATE job SET n = 1", "UPDATE job SET n = 1 ORDER BY id LIMIT 1"),
    ("UPDATE job SET n = 1", "UPDATE OR IGNORE job SET n = 1"),
    ("UPDATE job SET n = 1", "UPDATE job SET n = 1 RETURNING id"),
    ("DELETE FROM job", "DELETE FROM job ORDER BY id LIMIT 1"),
    ("DELETE FROM job", "DELETE FROM job RETURNING id"),
    ("SELECT lower(lane) AS l FROM job", "SELECT other.lower(lane) AS l FROM job"),
    ("SELECT CAST(n AS text) AS l FROM job", "SELECT TRY_CAST(n AS text) AS l FROM job"),
];

/// What means the same on both engines wherever both take it, so that it is no finding on both pages.
const KNOWN: [&str; 15] = [
    "GROUPS 1",
    "RANGE BETWEEN",
    "NATURAL JOIN",
    "FILTER (WHERE",
    "count(DISTINCT",
    "string_agg",
    "DISTINCT lane",
    "NULLS FIRST",
    "LIMIT 3",
    "USING (id)",
    "FULL JOIN",
    "UNION SELECT",
    "DO NOTHING",
    "DO UPDATE",
    "RETURNING id",
];

#[test]
fn plain_statements_are_the_same() {
    let found: Vec<_> = CLAUSES.iter().map(|(plain, _)| (plain, found(plain, plain))).collect();
    let found: Vec<_> = found.iter().filter(|(_, found)| !found.is_empty()).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_clause_on_one_page_alone_is_found() {
    let mut silent = Vec::new();
    for (plain, clause) in CLAUSES {
        for (sqlite, pg) in [(plain, clause), (clause, plain)] {
            if found(sqlite, pg).is_empty() {
                silent.push(format!("{sqlite} | {pg}"));
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn a_clause_on_both_pages_is_known_or_found() {
    let mut silent = Vec::new();
    for (_, clause) in CLAUSES {
        if found(clause, clause).is_empty() && !KNOWN.iter().any(|known| clause.contains(known)) {
            silent.push(clause);
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn only_means_something_for_a_table_with_partitions() {
    assert!(found("SELECT id FROM job", "SELECT id FROM ONLY job").is_empty());
    assert!(found("SELECT id FROM job", "SELECT id FROM ONLY part").contains(&"unsupported-statement"));
}

#[test]
fn the_numbers_in_a_frame_are_compared() {
    let framed = |rows: &str| format!("SELECT id, count(n) OVER (ORDER BY id ROWS {rows} PRECEDING) AS s FROM job");
    assert_eq!(found(&framed("1"), &framed("1")), Vec::<&str>::new());
    assert_ne!(found(&framed("1"), &framed("2")), Vec::<&str>::new());
    let both = ("-- param: a i64\n-- param: b i64\n", " WHERE n > :a AND id > :b");
    let with = |rows: &str| format!("{}{}{}", both.0, framed(rows), both.1);
    assert_eq!(found(&with(":a"), &with(":a")), Vec::<&str>::new());
    assert_ne!(found(&with(":a"), &with(":b")), Vec::<&str>::new());
}

#[test]
fn a_prefix_operator_of_postgres_takes_the_calculation_behind_it() {
    assert_eq!(found("SELECT ~(n + 1) AS c FROM job", "SELECT ~n + 1 AS c FROM job"), [""; 0]);
    assert_ne!(found("SELECT ~n + 1 AS c FROM job", "SELECT ~n + 1 AS c FROM job"), [""; 0]);
    for (sqlite, pg) in [("2 * ~(n + 1)", "2 * ~n + 1"), ("n + 2 * ~(n - 1)", "n + 2 * ~n - 1")] {
        let [sqlite, pg] = [sqlite, pg].map(|value| format!("SELECT {value} AS c FROM job"));
        assert_eq!(found(&sqlite, &pg), [""; 0], "{pg}");
        assert_ne!(found(&pg, &pg), [""; 0], "{pg}");
    }
    for text in ["SELECT 2 * (~n) + 1 AS c FROM job", "SELECT 1 + 2 * ~n AS c FROM job"] {
        assert_eq!(found(text, text), [""; 0], "{text}");
    }
}
