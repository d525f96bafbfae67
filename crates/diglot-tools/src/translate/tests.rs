//! Drafts of single statements.

use super::translate;
use diglot::config::Config;
use diglot::project::Inputs;
use diglot::source::{SourceFile, Sources};

const STORAGE: &str =
    "[storage]\n\"visit.at\" = \"milliseconds\"\n\"visit.read_at\" = \"iso-ms\"\n\"stay.*\" = \"date\"\n";
const SQLITE_SCHEMA: &str = "CREATE TABLE visit (id INTEGER PRIMARY KEY NOT NULL, at INTEGER NOT NULL, \
    made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, seen INTEGER NOT NULL DEFAULT (unixepoch()), read_at TEXT, UNIQUE (made, seen)); \
    CREATE TABLE stay (id INTEGER PRIMARY KEY NOT NULL, from_on TEXT NOT NULL, to_on TEXT NOT NULL, nights INTEGER NOT NULL);";
const PG_SCHEMA: &str = "CREATE SCHEMA ward; CREATE TABLE ward.visit (id bigint PRIMARY KEY NOT NULL, \
    at timestamptz NOT NULL, made timestamptz NOT NULL DEFAULT now(), seen timestamptz NOT NULL DEFAULT now(), \
    read_at timestamptz, CONSTRAINT visit_once UNIQUE (made, seen)); \
    CREATE TABLE stay (id bigint PRIMARY KEY NOT NULL, from_on date NOT NULL, to_on date NOT NULL, nights bigint NOT NULL);";

/// The SQL of the draft that faces a statement, and what is open about it.
fn draft(from: &str, sql: &str) -> (String, Vec<String>) {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE_SCHEMA));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG_SCHEMA));
    sources.add(SourceFile::new(format!("sql/{from}/visit.sql"), format!("-- name: visit_do :exec\n{sql};\n")));
    let config = Config::parse(STORAGE, "diglot.toml").unwrap();
    let translation = translate(&Inputs { config, sources, ..Inputs::default() }, "visit_do").unwrap();
    let lines = translation.draft.text.lines().filter(|line| !line.starts_with("--"));
    (lines.collect::<Vec<_>>().join("\n"), translation.open)
}

#[test]
fn a_clock_of_postgres_is_written_in_the_form_of_its_column() {
    for (column, wanted) in [
        ("at", "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)"),
        ("made", "datetime('now')"),
        ("seen", "unixepoch()"),
        ("read_at", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"),
    ] {
        for clock in ["now()", "CURRENT_TIMESTAMP"] {
            let (text, open) = draft("pg", &format!("UPDATE ward.visit SET {column} = {clock} WHERE id = $1"));
            assert_eq!(text, format!("UPDATE visit SET {column} = {wanted} WHERE id = $1;"));
            assert_eq!(open, Vec::<String>::new(), "{column}");
        }
    }
}

#[test]
fn a_clock_beside_a_column_is_written_in_its_form_and_moved_as_it_was() {
    let (text, open) = draft("pg", "DELETE FROM ward.visit WHERE seen < now() - interval '2 hours'");
    assert_eq!(text, "DELETE FROM visit WHERE seen < unixepoch('now', '-2 hours');");
    assert_eq!(open, Vec::<String>::new());
    let (text, open) = draft("sqlite", "DELETE FROM visit WHERE seen < unixepoch('now', '-2 hours')");
    assert_eq!(text, "DELETE FROM ward.visit WHERE seen < now() - interval '2 hours';");
    assert_eq!(open, Vec::<String>::new());
    // Months have no length of their own: both engines move by them, and not to the same days.
    let (text, open) = draft("pg", "DELETE FROM ward.visit WHERE seen < now() - interval '2 months'");
    assert!(text.contains("interval '2 months'") && !open.is_empty(), "{text}");
    let (text, open) = draft("sqlite", "DELETE FROM visit WHERE seen < unixepoch('now', '-2 months')");
    assert!(text.contains("'-2 months'") && !open.is_empty(), "{text}");
}

#[test]
fn tables_of_a_schema_are_named_as_the_other_page_must() {
    let sqlite = "SELECT v.id FROM visit AS v WHERE EXISTS (SELECT 1 FROM main.visit WHERE visit.id > v.id)";
    let pg = "SELECT v.id FROM ward.visit AS v WHERE EXISTS (SELECT 1 FROM ward.visit WHERE visit.id > v.id)";
    assert_eq!(draft("sqlite", sqlite).0, format!("{pg};"));
    assert_eq!(draft("pg", pg).0, format!("{};", sqlite.replace("main.", "")));
}

#[test]
fn a_list_out_of_a_document_is_one_on_sqlite() {
    for (pg, sqlite) in [
        ("IN (SELECT item FROM jsonb_array_elements_text($1) AS item)", "IN (SELECT value FROM json_each($1))"),
        ("NOT IN (SELECT n FROM unnest($1::text[]) AS list(n))", "NOT IN (SELECT value FROM json_each($1))"),
    ] {
        let (text, open) = draft("pg", &format!("DELETE FROM ward.visit WHERE CAST(id AS text) {pg}"));
        assert_eq!(text, format!("DELETE FROM visit WHERE CAST(id AS text) {sqlite};"));
        assert_eq!(open, Vec::<String>::new(), "{pg}");
    }
    // A list that is cut off is another one.
    let cut = "SELECT item FROM jsonb_array_elements_text($1) AS item LIMIT 3";
    let (text, _) = draft("pg", &format!("DELETE FROM ward.visit WHERE CAST(id AS text) IN ({cut})"));
    assert!(text.contains(cut), "{text}");
}

#[test]
fn a_constraint_that_a_conflict_names_is_written_by_its_columns() {
    let insert = "INSERT INTO ward.visit (id, at) VALUES ($1, $2)";
    for action in ["DO NOTHING", "DO UPDATE SET at = excluded.at"] {
        let (text, open) =
            draft("pg", &format!("{insert} ON CONFLICT ON /* the pair */ CONSTRAINT visit_once {action}"));
        assert!(text.contains("(id, at)") && text.ends_with(&format!(" ON CONFLICT (made, seen) {action};")), "{text}");
        assert_eq!(open, Vec::<String>::new());
        let (text, _) = draft("pg", &format!("{insert} ON CONFLICT (id) {action}"));
        assert!(text.ends_with(&format!(" ON CONFLICT (id) {action};")), "{text}");
    }
    let (text, _) = draft("pg", &format!("{insert} ON CONFLICT DO NOTHING"));
    assert!(text.ends_with(" ON CONFLICT DO NOTHING;"), "{text}");
}

#[test]
fn days_are_counted_as_days() {
    for (pg, sqlite) in [
        ("to_on - from_on > 3", "CAST(julianday(to_on) - julianday(from_on) AS integer) > 3"),
        ("to_on > from_on + 3", "to_on > date(from_on, (3) || ' days')"),
        ("to_on > 3 + from_on", "to_on > date(from_on, (3) || ' days')"),
        ("from_on < to_on - nights", "from_on < date(to_on, -(nights) || ' days')"),
        ("nights - 1 > 3", "nights - 1 > 3"),
    ] {
        let (text, _) = draft("pg", &format!("DELETE FROM stay WHERE {pg}"));
        assert_eq!(text, format!("DELETE FROM stay WHERE {sqlite};"));
    }
}

#[test]
fn a_sum_of_wide_numbers_is_one_on_postgres() {
    let update = |sum: &str| format!("UPDATE stay SET nights = (SELECT {sum} FROM stay AS s)");
    for (sqlite, pg) in [
        ("sum(s.nights)", "CAST(sum(s.nights) AS bigint)"),
        ("CAST(sum(s.nights) AS bigint)", "CAST(sum(s.nights) AS bigint)"),
        ("sum(s.nights + 1)", "sum(s.nights + 1)"),
    ] {
        assert_eq!(draft("sqlite", &update(sqlite)).0, format!("{};", update(pg)));
    }
}
