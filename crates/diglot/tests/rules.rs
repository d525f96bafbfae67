//! Each lint on text that means something else on each engine: a pair where it fires, and one where it is silent.

mod follow;
#[path = "rules/helps.rs"]
mod helps;
#[path = "rules/orders.rs"]
mod orders;
#[path = "rules/picked.rs"]
mod picked;
#[path = "rules/values.rs"]
mod values;

use std::collections::BTreeSet;

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

const SQLITE: &str = "
CREATE TABLE job (id INTEGER PRIMARY KEY, lane TEXT NOT NULL, n INTEGER NOT NULL, x REAL NOT NULL, flag INTEGER NOT NULL,
  raw TEXT NOT NULL, data BLOB NOT NULL, pos INTEGER NOT NULL, at_ms BIGINT NOT NULL, UNIQUE (lane, pos));
CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, job_id INTEGER NOT NULL, kind TEXT NOT NULL);
CREATE TABLE live (id INTEGER PRIMARY KEY, dedup TEXT NOT NULL, state TEXT NOT NULL, used BIGINT NOT NULL CHECK (used >= 0));
CREATE UNIQUE INDEX live_dedup ON live (dedup) WHERE state <> 'done';
CREATE TABLE note (name TEXT PRIMARY KEY, doc TEXT);
CREATE TABLE mark (id BLOB PRIMARY KEY NOT NULL CHECK (length(id) = 16));
CREATE TABLE stay (id INTEGER PRIMARY KEY, seen INTEGER NOT NULL DEFAULT (unixepoch()),
  made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, price TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'closed')));
CREATE TABLE paper (name TEXT PRIMARY KEY, doc TEXT) STRICT;
CREATE TABLE slot (id INTEGER PRIMARY KEY, part INTEGER NOT NULL CHECK (part >= 0 AND part < 256),
  size INTEGER NOT NULL CHECK (size > 0), step INTEGER CHECK (step IS NULL OR step BETWEEN 1 AND 20));";
const PG: &str = "
CREATE TABLE job (id integer PRIMARY KEY, lane text NOT NULL, n integer NOT NULL, x double precision NOT NULL,
  flag boolean NOT NULL, raw jsonb NOT NULL, data bytea NOT NULL, pos integer NOT NULL, at_ms bigint NOT NULL,
  UNIQUE (lane, pos));
CREATE TABLE event (event_id bigserial PRIMARY KEY, job_id integer NOT NULL, kind text NOT NULL);
CREATE TABLE live (id integer PRIMARY KEY, dedup text NOT NULL, state text NOT NULL, used bigint NOT NULL CHECK (used >= 0));
CREATE UNIQUE INDEX live_dedup ON live (dedup) WHERE state <> 'done';
CREATE TABLE note (name text PRIMARY KEY, doc jsonb);
CREATE TABLE mark (id uuid PRIMARY KEY);
CREATE TYPE stay_state AS ENUM ('open', 'closed');
CREATE TABLE stay (id integer PRIMARY KEY, seen timestamptz NOT NULL DEFAULT now(),
  made timestamptz NOT NULL DEFAULT now(), price numeric(10, 2) NOT NULL, state stay_state NOT NULL);
CREATE TABLE paper (name text COLLATE \"C\" PRIMARY KEY, doc text COLLATE \"C\");
CREATE TABLE slot (id integer PRIMARY KEY, part integer NOT NULL CHECK (part >= 0 AND part < 256),
  size integer NOT NULL CHECK (size > 0), step integer CHECK (step IS NULL OR step BETWEEN 1 AND 20));";

/// A rule, a statement where it fires, and one where it is silent. Two texts are those of SQLite and Postgres.
struct Case {
    rule: &'static str,
    fires: &'static [&'static str],
    silent: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        rule: "absence-guard",
        fires: &[
            "INSERT INTO event (job_id, kind) SELECT 1, 'a' WHERE NOT EXISTS (SELECT 1 FROM event AS e WHERE e.kind = 'a')",
        ],
        silent: &[
            "INSERT INTO event (job_id, kind) SELECT 1, 'a' WHERE NOT EXISTS (SELECT 1 FROM live AS l WHERE l.id = 1)",
        ],
    },
    Case {
        rule: "alias-shadows",
        fires: &["SELECT lower(lane) AS lane, count(*) AS c FROM job GROUP BY lane"],
        silent: &["SELECT lower(lane) AS folded, count(*) AS c FROM job GROUP BY lane"],
    },
    Case {
        rule: "cast-length",
        fires: &["SELECT CAST(lane AS VARCHAR(3)) AS short FROM job"],
        silent: &["SELECT substr(lane, 1, 3) AS short FROM job"],
    },
    Case {
        rule: "cast-width",
        fires: &["SELECT CAST(at_ms AS INTEGER) AS at FROM job"],
        silent: &["SELECT CAST(at_ms AS BIGINT) AS at FROM job"],
    },
    Case {
        rule: "checked-delta",
        fires: &[
            "INSERT INTO live (id, dedup, state, used) VALUES (:id, 'a', 'b', :used) ON CONFLICT (id) DO UPDATE SET used = live.used + excluded.used",
        ],
        silent: &[
            "INSERT INTO live (id, dedup, state, used) VALUES (:id, 'a', 'b', :used) ON CONFLICT (id) DO UPDATE SET used = excluded.used",
        ],
    },
    Case {
        rule: "claim-waits",
        fires: &[
            "SELECT id FROM job WHERE flag = 1 ORDER BY id LIMIT 1",
            "SELECT id FROM job WHERE flag ORDER BY id LIMIT 1 FOR UPDATE",
        ],
        silent: &[
            "SELECT id FROM job WHERE flag = 1 ORDER BY id LIMIT 1",
            "SELECT id FROM job WHERE flag ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
        ],
    },
    Case { rule: "column-case", fires: &["SELECT lane AS Queue FROM job"], silent: &["SELECT lane AS queue FROM job"] },
    Case {
        rule: "conflict-target",
        fires: &[
            "INSERT INTO live (id, dedup, state, used) VALUES (1, 'a', 'b', 0) ON CONFLICT (dedup) WHERE state = 'ready' DO NOTHING",
        ],
        silent: &[
            "INSERT INTO live (id, dedup, state, used) VALUES (1, 'a', 'b', 0) ON CONFLICT (dedup) WHERE (state != 'done') DO NOTHING",
        ],
    },
    Case {
        rule: "counted-guard",
        fires: &[
            "INSERT INTO live (id, dedup, state, used) SELECT 1, 'a', 'b', 0 WHERE (SELECT count(*) FROM live AS l) < 3",
        ],
        silent: &["UPDATE live SET used = used + 1 WHERE id = :id AND used < 3"],
    },
    Case {
        rule: "decimal-as-text",
        fires: &["SELECT id FROM stay WHERE price < :most"],
        silent: &["SELECT id FROM stay WHERE price = :exactly"],
    },
    Case {
        rule: "endless-recursion",
        fires: &["WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r LIMIT 3"],
        silent: &["WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r"],
    },
    Case {
        rule: "enum-order",
        fires: &["SELECT id FROM stay ORDER BY state, id"],
        silent: &["SELECT id FROM stay WHERE state = 'open' ORDER BY id"],
    },
    Case {
        rule: "epoch-text",
        fires: &[
            "SELECT id FROM job WHERE at_ms <= strftime('%s', '2024-01-01')",
            "SELECT id FROM job WHERE at_ms <= CAST(extract(epoch FROM timestamptz '2024-01-01 00:00:00+00') AS bigint)",
        ],
        silent: &[
            "SELECT id FROM job WHERE at_ms <= unixepoch('2024-01-01')",
            "SELECT id FROM job WHERE at_ms <= CAST(extract(epoch FROM timestamptz '2024-01-01 00:00:00+00') AS bigint)",
        ],
    },
    Case {
        rule: "explicit-number",
        fires: &["INSERT INTO event (event_id, job_id, kind) VALUES (1, 2, 'a')"],
        silent: &["INSERT INTO event (job_id, kind) VALUES (2, 'a')"],
    },
    Case {
        rule: "format-directive",
        fires: &["SELECT format('%d', n) AS t FROM job"],
        silent: &["SELECT format('%s', n) AS t FROM job"],
    },
    Case {
        rule: "group-bare-column",
        fires: &["SELECT lane, n FROM job GROUP BY lane"],
        silent: &["SELECT id, n FROM job GROUP BY id"],
    },
    Case {
        rule: "half-rounded",
        fires: &["SELECT round(x) AS whole FROM job"],
        silent: &[
            "SELECT round(x) AS whole FROM job",
            "SELECT CAST(round(CAST(x AS numeric)) AS double precision) AS whole FROM job",
        ],
    },
    Case {
        rule: "id-cursor",
        fires: &["SELECT event_id, kind FROM event WHERE event_id > :after ORDER BY event_id LIMIT 10"],
        silent: &["SELECT id, lane FROM job WHERE id > :after ORDER BY id LIMIT 10"],
    },
    Case {
        rule: "int-real-comparison",
        fires: &["SELECT id FROM job WHERE at_ms = x"],
        silent: &["SELECT id FROM job WHERE at_ms = n"],
    },
    Case {
        rule: "key-shift",
        fires: &["UPDATE job SET pos = pos - 1 WHERE lane = :lane"],
        silent: &["UPDATE job SET n = n - 1 WHERE lane = :lane"],
    },
    Case {
        rule: "like-backslash",
        fires: &[r"SELECT id FROM job WHERE lane LIKE '1\_%'"],
        silent: &[r"SELECT id FROM job WHERE lane LIKE '1\_%' ESCAPE '\'"],
    },
    Case {
        rule: "like-case",
        fires: &["SELECT id FROM job WHERE lane LIKE 'a%'"],
        silent: &["SELECT id FROM job WHERE lane LIKE '%-1'"],
    },
    Case {
        rule: "like-case",
        fires: &["SELECT id FROM job WHERE lane LIKE :prefix || '%'"],
        silent: &["SELECT id FROM job WHERE lower(lane) LIKE lower(:pattern)"],
    },
    Case {
        rule: "like-case",
        fires: &["SELECT id FROM job WHERE lower(lane) LIKE 'A%'"],
        silent: &["SELECT id FROM job WHERE lower(lane) LIKE 'a%'"],
    },
    Case {
        rule: "like-case",
        fires: &["SELECT id FROM job WHERE upper(lane) LIKE 'a%'"],
        silent: &["SELECT id FROM job WHERE upper(lane) LIKE 'A%'"],
    },
    Case {
        rule: "local-time",
        fires: &[
            "UPDATE stay SET made = datetime('now', 'localtime') WHERE id = 1",
            "UPDATE stay SET made = now() WHERE id = 1",
        ],
        silent: &["UPDATE stay SET made = datetime('now') WHERE id = 1", "UPDATE stay SET made = now() WHERE id = 1"],
    },
    Case {
        rule: "missing-function",
        fires: &["SELECT floor(x) AS whole FROM job"],
        silent: &["SELECT abs(x) AS plain FROM job"],
    },
    Case {
        rule: "mixed-types",
        fires: &["SELECT id FROM job WHERE flag = 1"],
        silent: &["SELECT id FROM job WHERE flag = 1", "SELECT id FROM job WHERE flag = TRUE"],
    },
    Case {
        rule: "mixed-types",
        fires: &["SELECT coalesce(n, 'none') AS t FROM job"],
        silent: &["SELECT coalesce(n, 0) AS t FROM job"],
    },
    Case {
        rule: "negative-substr",
        fires: &["SELECT substr(lane, -3) AS tail FROM job"],
        silent: &["SELECT substr(lane, 3) AS tail FROM job"],
    },
    Case {
        rule: "nested-comment",
        fires: &["SELECT id /* a /* b */ FROM job", "SELECT id /* a /* b */ */ FROM job"],
        silent: &["SELECT id /* a, b */ FROM job"],
    },
    Case {
        rule: "next-number",
        fires: &[
            "INSERT INTO live (id, dedup, state, used) SELECT (SELECT coalesce(max(l.id), 0) + 1 FROM live AS l), 'a', 'b', 0",
        ],
        silent: &["INSERT INTO live (id, dedup, state, used) VALUES (:id, 'a', 'b', 0)"],
    },
    Case {
        rule: "null-document",
        fires: &[
            "UPDATE note SET doc = json_set(doc, '$.m', 'x') WHERE name = :name",
            "UPDATE note SET doc = doc || jsonb_build_object('m', 'x'::text) WHERE name = :name",
        ],
        silent: &[
            "UPDATE note SET doc = json_set(COALESCE(doc, '{}'), '$.m', 'x') WHERE name = :name",
            "UPDATE note SET doc = COALESCE(doc, '{}') || jsonb_build_object('m', 'x'::text) WHERE name = :name",
        ],
    },
    Case {
        rule: "null-key",
        fires: &["INSERT INTO event (event_id, job_id, kind) VALUES (NULL, 2, 'a')"],
        silent: &["INSERT INTO event (job_id, kind) VALUES (2, 'a')"],
    },
    Case {
        rule: "null-key",
        fires: &["-- param: name text null\nINSERT INTO note (name) VALUES (:name)"],
        silent: &["-- param: name text\nINSERT INTO note (name) VALUES (:name)"],
    },
    Case {
        rule: "null-key",
        fires: &["INSERT INTO note (doc) VALUES ('{}')"],
        silent: &["INSERT INTO note (name, doc) VALUES ('a', '{}')"],
    },
    Case {
        rule: "null-key",
        fires: &["INSERT INTO note (doc) VALUES ('{}')"],
        silent: &["INSERT INTO note (name, doc) VALUES ('a', '{}')", "INSERT INTO note (doc) VALUES ('{}')"],
    },
    Case {
        rule: "null-key",
        fires: &[
            "INSERT INTO note (name) SELECT l.dedup FROM job AS j LEFT JOIN live AS l ON l.id = j.n WHERE j.id = :id",
        ],
        silent: &["INSERT INTO note (name) SELECT l.dedup FROM job AS j JOIN live AS l ON l.id = j.n WHERE j.id = :id"],
    },
    Case {
        rule: "null-key",
        fires: &["UPDATE note SET name = NULLIF(name, 'a') WHERE name = :name"],
        silent: &["UPDATE note SET name = COALESCE(NULLIF(name, 'a'), 'b') WHERE name = :name"],
    },
    Case {
        rule: "number-joined",
        fires: &["-- param: n i64\nSELECT 'k:' || :n AS c FROM job"],
        silent: &["-- param: n i64\nSELECT 'k:' || CAST(:n AS TEXT) AS c FROM job"],
    },
    Case {
        rule: "order-by-param",
        fires: &["-- param: sort text\nSELECT id FROM job ORDER BY :sort"],
        silent: &["SELECT id FROM job ORDER BY id"],
    },
    Case {
        rule: "real-into-integer",
        fires: &["UPDATE job SET n = 1.5 WHERE id = :id"],
        silent: &["UPDATE job SET n = 2 WHERE id = :id"],
    },
    Case {
        rule: "refused-by-postgres",
        fires: &["SELECT id FROM job WHERE n == 1"],
        silent: &["SELECT id FROM job WHERE n = 1 AND (n = 1) = (id = 2)"],
    },
    Case {
        rule: "refused-by-postgres",
        fires: &["SELECT DISTINCT lane FROM job ORDER BY n"],
        silent: &["SELECT DISTINCT lane, n FROM job ORDER BY n"],
    },
    Case {
        rule: "refused-types",
        fires: &["SELECT max(data) AS last FROM job"],
        silent: &["SELECT max(lane) AS last FROM job"],
    },
    Case {
        rule: "refused-types",
        fires: &["SELECT id FROM job WHERE n"],
        silent: &["SELECT id FROM job WHERE n <> 0"],
    },
    Case {
        rule: "value-as-text",
        fires: &["SELECT id, CAST(n / 2.0 AS TEXT) AS half FROM job"],
        silent: &["SELECT id, CAST(n AS TEXT) AS number FROM job"],
    },
    Case {
        rule: "refused-by-postgres",
        fires: &["UPDATE job SET job.n = 2 WHERE job.id = :id"],
        silent: &["UPDATE job SET n = job.pos WHERE job.id = :id"],
    },
    Case {
        rule: "refused-by-sqlite",
        fires: &["DELETE FROM job USING event WHERE event.job_id = job.id"],
        silent: &["DELETE FROM job WHERE EXISTS (SELECT 1 FROM event WHERE event.job_id = job.id)"],
    },
    Case {
        rule: "refused-by-sqlite",
        fires: &["SELECT v.a FROM (VALUES (1), (2)) AS v(a)"],
        silent: &["WITH v(a) AS (VALUES (1), (2)) SELECT v.a FROM v"],
    },
    Case {
        rule: "returning-reads-target",
        fires: &["UPDATE job SET n = 1 WHERE id = :id RETURNING (SELECT count(*) FROM job AS j) AS c"],
        silent: &["UPDATE job SET n = 1 WHERE id = :id RETURNING n"],
    },
    Case {
        rule: "same-name-function",
        fires: &["SELECT random() AS dice"],
        silent: &["SELECT :dice + n AS dice FROM job"],
    },
    Case {
        rule: "scalar-many",
        fires: &["SELECT (SELECT event.kind FROM event WHERE event.job_id = job.id) AS kind FROM job"],
        silent: &["SELECT (SELECT live.state FROM live WHERE live.id = job.id) AS state FROM job"],
    },
    Case {
        rule: "stale-write",
        fires: &[
            "WITH seen AS (SELECT id, used FROM live WHERE id = :id) UPDATE live SET used = seen.used + 1 FROM seen WHERE live.id = seen.id",
        ],
        silent: &[
            "WITH seen AS (SELECT id, used FROM live WHERE id = :id) UPDATE live SET used = seen.used + 1 FROM seen WHERE live.id = seen.id AND live.used = seen.used",
        ],
    },
    Case {
        rule: "text-into-number",
        fires: &["UPDATE job SET n = 'many' WHERE id = :id"],
        silent: &["UPDATE job SET n = 3 WHERE id = :id"],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT id FROM job ORDER BY lane, id"],
        silent: &["SELECT id FROM job ORDER BY n, id"],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT id FROM job WHERE lane > :after"],
        silent: &["SELECT id FROM job WHERE lane = :lane"],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT id FROM job WHERE lane <> :lane ORDER BY lane, id"],
        silent: &["SELECT id FROM job WHERE lane = :lane ORDER BY lane, id"],
    },
    Case {
        rule: "time-format",
        fires: &["SELECT id FROM stay WHERE seen < CURRENT_TIMESTAMP", "SELECT id FROM stay WHERE seen < now()"],
        silent: &["SELECT id FROM stay WHERE seen < unixepoch()", "SELECT id FROM stay WHERE seen < now()"],
    },
    Case {
        rule: "time-format",
        fires: &["UPDATE stay SET made = unixepoch() WHERE id = 1", "UPDATE stay SET made = now() WHERE id = 1"],
        silent: &["UPDATE stay SET made = CURRENT_TIMESTAMP WHERE id = 1", "UPDATE stay SET made = now() WHERE id = 1"],
    },
    Case {
        rule: "time-format",
        fires: &["SELECT id FROM stay WHERE seen < made"],
        silent: &["SELECT id FROM stay WHERE seen < :before"],
    },
    Case {
        rule: "unlocked-fence",
        fires: &[
            "WITH fence AS (SELECT id FROM live WHERE id = :id AND state = 'b') UPDATE live SET state = 'c' WHERE id = :id AND EXISTS (SELECT 1 FROM fence)",
        ],
        silent: &[
            "WITH fence AS (SELECT id FROM live WHERE id = :id AND state = 'b') UPDATE live SET state = 'c' WHERE id = :id AND state = 'b' AND EXISTS (SELECT 1 FROM fence)",
        ],
    },
    Case {
        rule: "unordered-set",
        fires: &["SELECT lane FROM job UNION SELECT kind FROM event"],
        silent: &["SELECT lane FROM job UNION SELECT kind FROM event ORDER BY 1"],
    },
    Case {
        rule: "untyped-null-test",
        fires: &["SELECT id FROM job WHERE :lane IS NULL OR lane = :lane"],
        silent: &["SELECT id FROM job WHERE CAST(:lane AS TEXT) IS NULL OR lane = :lane"],
    },
    Case {
        rule: "untyped-null-test",
        fires: &["SELECT id FROM job WHERE :lane IS NOT NULL AND lane = :lane"],
        silent: &["-- param: lane text null\nSELECT id FROM job WHERE :lane IS NOT NULL AND lane = :lane"],
    },
    Case {
        rule: "update-from-many",
        fires: &["UPDATE job SET lane = event.kind FROM event WHERE event.job_id = job.id"],
        silent: &["UPDATE job SET lane = live.state FROM live WHERE live.id = job.id"],
    },
    Case {
        rule: "update-reads-target",
        fires: &["UPDATE job SET n = 1 WHERE NOT EXISTS (SELECT 1 FROM job AS j WHERE j.lane = job.lane AND j.n = 1)"],
        silent: &[
            "UPDATE job SET n = 1 WHERE NOT EXISTS (SELECT 1 FROM job AS j WHERE j.lane = job.lane AND j.pos = 1)",
        ],
    },
    Case {
        rule: "upsert-twice",
        fires: &[
            "INSERT INTO note (name, doc) VALUES ('a', '{}'), ('a', '[]') ON CONFLICT (name) DO UPDATE SET doc = excluded.doc",
        ],
        silent: &[
            "INSERT INTO note (name, doc) VALUES ('a', '{}'), ('b', '[]') ON CONFLICT (name) DO UPDATE SET doc = excluded.doc",
        ],
    },
    Case {
        rule: "upsert-twice",
        fires: &[
            "INSERT INTO note (name, doc) VALUES (:name, '{}'), (:name, '[]') ON CONFLICT (name) DO UPDATE SET doc = excluded.doc",
        ],
        silent: &[
            "INSERT INTO note (name, doc) VALUES (:name, '{}'), (:other, '[]') ON CONFLICT (name) DO UPDATE SET doc = excluded.doc",
        ],
    },
    Case {
        rule: "unknown-operation",
        fires: &["SELECT soundex(lane) AS sound FROM job"],
        silent: &["SELECT lower(lane) AS folded FROM job"],
    },
];

fn cases() -> impl Iterator<Item = &'static Case> {
    [CASES, orders::CASES, picked::CASES, values::CASES].into_iter().flatten()
}

fn found(texts: &[&str], allow: Option<&str>) -> BTreeSet<&'static str> {
    found_by(Config::default(), texts, allow)
}

fn found_by(config: Config, texts: &[&str], allow: Option<&str>) -> BTreeSet<&'static str> {
    let findings = compile(&project(config, texts, allow)).diagnostics;
    findings.iter().map(|finding| finding.rule).collect()
}

/// A project of one pair.
fn project(config: Config, texts: &[&str], allow: Option<&str>) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    for (dialect, text) in [("sqlite", texts.first()), ("pg", texts.last())] {
        let allow = allow.map_or(String::new(), |rule| format!("-- allow({rule}): it is meant like this here\n"));
        let text = format!("-- name: case_one :many\n{allow}{};\n", text.expect("a case has a text"));
        sources.add(SourceFile::new(format!("sql/{dialect}/case.sql"), text));
    }
    Inputs { config, sources, ..Inputs::default() }
}

#[test]
fn every_rule_fires_where_the_engines_differ_and_is_silent_where_they_do_not() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (fired, silent) = (found(case.fires, None), found(case.silent, None));
        let unreadable = ["syntax", "unsupported-statement", "unknown-column", "unknown-table"];
        if !fired.contains(case.rule) || unreadable.iter().any(|rule| fired.contains(rule)) {
            wrong.push(format!("{} does not fire on {:?}: {fired:?}", case.rule, case.fires));
        }
        if silent.contains(case.rule) || unreadable.iter().any(|rule| silent.contains(rule)) {
            wrong.push(format!("{} fires on {:?}: {silent:?}", case.rule, case.silent));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_is_silenced_by_a_declaration_with_a_reason() {
    for case in cases() {
        assert!(!found(case.fires, Some(case.rule)).contains(case.rule), "{} cannot be allowed", case.rule);
    }
}

/// Statements whose meaning hangs on what a program binds, and the same where that is said. Two texts are those of SQLite
/// and Postgres.
const OF_A_PROGRAM: &[[&[&str]; 2]] = &[
    [
        &[
            "INSERT INTO event (event_id, job_id, kind) VALUES (?1, ?1, 'a')",
            "INSERT INTO event (event_id, job_id, kind) VALUES ($1, $1, 'a')",
        ],
        &[
            "INSERT INTO event (event_id, job_id, kind) VALUES (?1, ?2, 'a')",
            "INSERT INTO event (event_id, job_id, kind) VALUES ($1, $2, 'a')",
        ],
    ],
    [
        &["UPDATE job SET n = ?1, at_ms = ?1 WHERE id = 4", "UPDATE job SET n = $1, at_ms = $1 WHERE id = 4"],
        &["UPDATE job SET n = ?1, pos = ?1 WHERE id = 4", "UPDATE job SET n = $1, pos = $1 WHERE id = 4"],
    ],
    [
        &[
            "WITH one AS (SELECT ?1 AS at) UPDATE job SET at_ms = (SELECT at FROM one)",
            "WITH one AS (SELECT $1 AS at) UPDATE job SET at_ms = (SELECT at FROM one)",
        ],
        &[
            "WITH one AS (SELECT ?1 AS at) UPDATE job SET lane = (SELECT at FROM one)",
            "WITH one AS (SELECT $1 AS at) UPDATE job SET lane = (SELECT at FROM one)",
        ],
    ],
    [
        &[
            "SELECT CASE WHEN flag = 1 THEN ?1 ELSE at_ms END AS at FROM job",
            "SELECT CASE WHEN flag THEN $1 ELSE at_ms END AS at FROM job",
        ],
        &[
            "SELECT CASE WHEN flag = 1 THEN ?1 ELSE lane END AS at FROM job",
            "SELECT CASE WHEN flag THEN $1 ELSE lane END AS at FROM job",
        ],
    ],
    [
        &["SELECT ?1 AS mark, id FROM job", "SELECT $1 AS mark, id FROM job"],
        &["SELECT CAST(?1 AS TEXT) AS mark, id FROM job", "SELECT CAST($1 AS text) AS mark, id FROM job"],
    ],
    [
        &["SELECT id FROM job WHERE at_ms < ?1 * 1000", "SELECT id FROM job WHERE at_ms < $1 * 1000"],
        &[
            "SELECT id FROM job WHERE at_ms < CAST(?1 AS BIGINT) * 1000",
            "SELECT id FROM job WHERE at_ms < CAST($1 AS bigint) * 1000",
        ],
    ],
    [
        &["SELECT id FROM job WHERE n < ?1 + 1 AND at_ms = ?1", "SELECT id FROM job WHERE n < $1 + 1 AND at_ms = $1"],
        &["SELECT id FROM job WHERE n < ?1 + 1 AND id = ?1", "SELECT id FROM job WHERE n < $1 + 1 AND id = $1"],
    ],
    [
        &["SELECT id FROM job WHERE id = ?2", "SELECT id FROM job WHERE id = $2"],
        &["SELECT id FROM job WHERE id = ?1", "SELECT id FROM job WHERE id = $1"],
    ],
];

#[test]
fn what_a_program_of_its_own_binds_is_asked_for_where_it_matters() {
    let rule = "untyped-parameter";
    let of = |texts: &[&str], allow: Option<&str>| {
        found_by(Config::parse("generate = false", "diglot.toml").expect("settings"), texts, allow)
    };
    for [fires, silent] in OF_A_PROGRAM {
        assert!(of(fires, None).contains(rule), "{fires:?}: {:?}", of(fires, None));
        assert!(!of(silent, None).contains(rule), "{silent:?}");
        assert!(!of(fires, Some(rule)).contains(rule), "{fires:?} cannot be allowed");
        assert!(!found(fires, None).contains(rule), "a generated function gives the type: {fires:?}");
    }
    let of_text = "-- param: id text\nSELECT id FROM mark WHERE id = ";
    assert!(of(&[&format!("{of_text}?1"), &format!("{of_text}$1")], None).contains("param-type-conflict"));
}

#[test]
fn an_order_by_what_is_null_on_one_side_of_a_union_is_told_as_the_place_of_null() {
    let by = |other: &str| found(&[&format!("SELECT lane AS k FROM job UNION ALL SELECT {other} ORDER BY k")], None);
    assert!(by("doc FROM paper").contains("null-order"));
    assert!(!by("kind FROM event").contains("null-order"));
}
