//! A finding that one line of the settings settles has that line in its help, as it is to be pasted; with it, it is gone.

use super::{Config, Inputs, SourceFile, Sources, compile, rules};
use crate::diagnostic::Diagnostic;

const SQLITE: &str = "
CREATE TABLE w (n INTEGER NOT NULL PRIMARY KEY, parts INTEGER NOT NULL, big BIGINT NOT NULL, name TEXT NOT NULL,
    doc TEXT NOT NULL CHECK (json_valid(doc)), seen INTEGER NOT NULL DEFAULT (unixepoch()),
    made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);";
const PG: &str = "
CREATE TABLE w (n integer NOT NULL PRIMARY KEY, parts integer NOT NULL, big bigint NOT NULL, name text NOT NULL,
    doc jsonb NOT NULL, seen timestamptz NOT NULL DEFAULT now(), made timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP);";

fn given(config: &str, [sqlite, pg]: [&str; 2]) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/w.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/w.sql", pg));
    let config = Config::parse(config, "diglot.toml").unwrap_or_else(|error| panic!("{config}: {}", error.message));
    Inputs { config, sources, ..Inputs::default() }
}

/// The settings with what the helps of a finding say is to be written there.
fn followed(settings: &str, finding: &Diagnostic) -> String {
    let mut written = settings.to_owned();
    for help in finding.help.iter().filter(|help| help.contains("`diglot.toml`")) {
        let section = help.split_once("below `[").and_then(|(_, rest)| rest.split_once("]`"));
        let lines: Vec<&str> = help.split('`').skip(1).step_by(2).filter(|text| text.contains(" = ")).collect();
        match section {
            Some((section, _)) => written = format!("{written}\n[{section}]\n{}\n", lines.join("\n")),
            None => written = format!("{}\n{written}", lines.join("\n")),
        }
    }
    written
}

#[test]
fn a_setting_that_settles_a_finding_is_named_by_it() {
    let one = |text: &str| format!("-- name: w_get :many\n{text};\n");
    let drop = "-- name: w_drop :exec\nDELETE FROM w WHERE n = :n;\n";
    let get = one("SELECT w.n FROM w ORDER BY w.n");
    let cases: [(&str, &str, [String; 2]); 12] = [
        (
            "where-differs",
            "",
            [
                one("SELECT w.n FROM w WHERE w.seen < unixepoch('now', '-1 day') ORDER BY w.n"),
                one("SELECT w.n FROM w WHERE w.seen < now() - interval '1 day' ORDER BY w.n"),
            ],
        ),
        (
            "columns-differ",
            "",
            [
                one("SELECT w.n, CAST(w.doc AS text) AS doc FROM w ORDER BY w.n"),
                one("SELECT w.n, CAST(w.doc AS text) AS doc FROM w ORDER BY w.n"),
            ],
        ),
        (
            "columns-differ",
            "",
            [
                one("SELECT w.n, CAST(json_extract(w.doc, '$.size') AS INTEGER) AS size FROM w ORDER BY w.n"),
                one("SELECT w.n, CAST(w.doc ->> 'size' AS bigint) AS size FROM w ORDER BY w.n"),
            ],
        ),
        ("divided-by-zero", "", both(&one("SELECT w.n / w.parts AS c FROM w ORDER BY w.n"))),
        ("shift-count", "", both(&one("SELECT w.big << w.parts AS c FROM w ORDER BY w.n"))),
        ("narrow-arithmetic", "", both(&one("SELECT w.n * w.parts AS c FROM w ORDER BY w.n"))),
        (
            "time-out-of-range",
            "",
            [
                one("SELECT strftime('%Y-%m-%d', w.big, 'unixepoch') AS c FROM w ORDER BY w.n"),
                one("SELECT to_char(to_timestamp(w.big) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS c FROM w ORDER BY w.n"),
            ],
        ),
        (
            "time-format",
            "",
            [
                one("UPDATE w SET made = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE n = :n").replace(":many", ":exec"),
                one("UPDATE w SET made = now() AT TIME ZONE 'utc' WHERE n = :n").replace(":many", ":exec"),
            ],
        ),
        ("limit-without-number", "generate = false\n", both(&one("SELECT w.n FROM w ORDER BY w.n LIMIT :most"))),
        ("text-order", "", both(&one("SELECT w.n FROM w ORDER BY w.name, w.n"))),
        ("statement-order", "", [format!("{get}{drop}"), format!("{drop}{get}")]),
        (
            "local-time",
            "",
            [
                one("UPDATE w SET made = datetime('now') WHERE n = :n").replace(":many", ":exec"),
                one("UPDATE w SET made = localtimestamp WHERE n = :n").replace(":many", ":exec"),
            ],
        ),
    ];
    for (rule, settings, [sqlite, pg]) in &cases {
        let compiled = compile(&given(settings, [sqlite, pg]));
        let finding = compiled.diagnostics.iter().find(|finding| finding.rule == *rule);
        let finding = finding.unwrap_or_else(|| panic!("{rule}: {sqlite}{:?}", rules(&compiled)));
        let followed = followed(settings, finding);
        assert_ne!(followed, *settings, "{rule}: {:?}", finding.help);
        let found = compile(&given(&followed, [sqlite, pg]));
        assert!(!rules(&found).contains(rule), "{rule}: {followed}{:?}", found.diagnostics);
    }
}

fn both(page: &str) -> [String; 2] {
    [page.to_owned(), page.to_owned()]
}

#[test]
fn a_setting_that_settles_nothing_is_not_named() {
    let page = |op: &str, ago: &str| {
        format!("-- name: w_get :many\nSELECT w.n FROM w WHERE w.seen {op} {ago} ORDER BY w.n;\n")
    };
    let sqlite = page("<", "unixepoch('now', '-1 day')");
    for pg in [page("<=", "now() - interval '1 day'"), page("<", "now() - interval '2 days'")] {
        let compiled = compile(&given("", [&sqlite, &pg]));
        let finding = compiled.diagnostics.iter().find(|finding| finding.rule == "where-differs").unwrap();
        assert!(finding.help.iter().all(|help| !help.contains("pg_timezone")), "{:?}", finding.help);
    }
}
