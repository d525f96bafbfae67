//! Migrations of both databases on rows: which upgrades are told, and which are not.

use std::collections::BTreeMap;

use crate::project::{Project, parts};

const CASES: &str = include_str!("migrations.sql");

/// The tables before the migrations of a case that says nothing else.
const SQLITE: &str = "CREATE TABLE lane (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;\n\
    CREATE TABLE job (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE, title TEXT,\n\
      tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL) STRICT;\n";
const PG: &str = "CREATE TABLE lane (id bigint PRIMARY KEY, name text NOT NULL);\n\
    CREATE TABLE job (id bigint PRIMARY KEY, lane_id bigint NOT NULL REFERENCES lane (id) ON DELETE CASCADE, title text,\n\
      tries bigint NOT NULL DEFAULT 0, state text NOT NULL);\n";

/// A project with two migrations for each database.
fn project(parts: &BTreeMap<&str, String>) -> Project {
    let project = Project::empty();
    project.write("diglot.toml", "generate = false\n");
    for (dialect, tables) in [("sqlite", SQLITE), ("pg", PG)] {
        let first = parts.get(format!("first: {dialect}").as_str()).map_or(tables, String::as_str);
        project.write(&format!("schema/{dialect}/0001_first.sql"), first);
        project.write(&format!("schema/{dialect}/0002_next.sql"), &parts[dialect]);
        project.write(
            &format!("sql/{dialect}/lane.sql"),
            "-- Counts.\n-- name: lane_count :one\nSELECT count(*) AS n FROM lane;\n",
        );
    }
    project
}

#[test]
fn upgrades_that_break_are_told_with_their_rows_and_others_are_not() {
    let mut wrong = Vec::new();
    for case in CASES.split("-- case: ").skip(1) {
        let (name, wanted) = case.lines().next().and_then(|line| line.split_once(' ')).expect("a name and a verdict");
        let ended = project(&parts(case, "-- ")).prepare(&[]);
        let is_told = ended.stdout.contains("error[migration-differs]: migration 0002_next: ");
        // What an engine does not take at all needs no rows, and neither does a view that cannot be read.
        let shows_why =
            ["holds\n", "all tables are empty", "cannot be read"].iter().any(|why| ended.stdout.contains(why));
        if is_told != (wanted == "told") || is_told && !shows_why {
            wrong.push(format!("{name} is not {wanted}:\n{}", ended.seen()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_told_shows_the_rows_and_both_databases_behind_the_migrations() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("backfill_differs ")).expect("the case");
    let ended = project(&parts(case, "-- ")).prepare(&[]);
    insta::assert_snapshot!(ended.stdout);
}

#[test]
fn what_is_recorded_is_not_run_again_and_is_told_offline() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("backfill_differs ")).expect("the case");
    let project = project(&parts(case, "-- "));
    project.prepare(&[]);
    let recorded = project.read(".sqlx/evidence.json");
    assert!(project.check().stdout.contains("migration-differs"), "{:?}", project.check());
    project.prepare(&[]);
    assert_eq!(project.read(".sqlx/evidence.json"), recorded);
    let ended = project.prepare(&["--check"]);
    assert!(!ended.seen().contains("no evidence of the migrations"), "{ended:?}");
    project.edit("schema/pg/0002_next.sql", "'open'", "'free'");
    let ended = project.prepare(&["--check"]);
    assert!(ended.seen().contains("no evidence of the migrations as they are now"), "{ended:?}");
}

/// A project with migrations that each database has of its own.
fn ways(sqlite: &[(&str, &str)], pg: &[(&str, &str)]) -> Project {
    let project = project(&BTreeMap::from([("sqlite", "SELECT 1;".to_owned()), ("pg", "SELECT 1;".to_owned())]));
    for (dialect, files) in [("sqlite", sqlite), ("pg", pg)] {
        for (name, text) in files {
            project.write(&format!("schema/{dialect}/{name}.sql"), text);
        }
    }
    project
}

/// What makes bytes of a text on SQLite.
const BYTES: &str = "CREATE TABLE job2 (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE, \
    title BLOB, tries INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL, due INTEGER, hue TEXT) STRICT;\n\
    INSERT INTO job2 SELECT id, lane_id, CAST(title AS BLOB), tries, state, due, hue FROM job;\nDROP TABLE job;\n\
    ALTER TABLE job2 RENAME TO job;\n";

#[test]
fn a_column_may_become_bytes_on_one_database_some_migrations_before_the_other() {
    let due = "ALTER TABLE job ADD COLUMN due INTEGER;";
    let hue = "ALTER TABLE job ADD COLUMN hue TEXT;";
    let bytes = "ALTER TABLE job ALTER COLUMN title TYPE bytea USING convert_to(title, 'UTF8');";
    let sqlite = [("0003_due", due), ("0004_hue", hue), ("0005_title_bytes", BYTES)];
    let pg = [("0010_bytes", bytes), ("0011_due_at", "ALTER TABLE job ADD COLUMN due bigint;"), ("0012_hues", hue)];
    let ended = ways(&sqlite, &pg).prepare(&[]);
    assert!(!ended.stdout.contains("migration-differs"), "{}", ended.seen());
    // Other bytes are told, with all the migrations on the way.
    let other = "ALTER TABLE job ALTER COLUMN title TYPE bytea USING convert_to(upper(title), 'UTF8');";
    let ended = ways(&sqlite, &[("0010_bytes", other), pg[1], pg[2]]).prepare(&[]);
    assert!(ended.stdout.contains("afterwards the rows of job differ"), "{}", ended.seen());
}

#[test]
fn a_value_for_old_rows_may_come_with_another_migration_than_the_column() {
    let sqlite = [
        ("0003_weight", "ALTER TABLE job ADD COLUMN weight INTEGER DEFAULT 1;"),
        ("0004_hue", "ALTER TABLE job ADD COLUMN hue TEXT;"),
    ];
    let pg = [
        ("0010_weight", "ALTER TABLE job ADD COLUMN weight bigint;"),
        ("0011_weigh", "UPDATE job SET weight = 1;\nALTER TABLE job ALTER COLUMN weight SET DEFAULT 1;"),
        ("0012_hue", "ALTER TABLE job ADD COLUMN hue text;"),
    ];
    let ended = ways(&sqlite, &pg).prepare(&[]);
    assert!(!ended.stdout.contains("migration-differs"), "{}", ended.seen());
    let other = ("0011_weigh", "UPDATE job SET weight = 2;\nALTER TABLE job ALTER COLUMN weight SET DEFAULT 1;");
    let ended = ways(&sqlite, &[pg[0], other, pg[2]]).prepare(&[]);
    assert!(ended.stdout.contains("afterwards the rows of job differ"), "{}", ended.seen());
}

#[test]
fn behind_what_is_lost_the_way_goes_on_and_what_is_known_is_not_run_again() {
    let case = CASES.split("-- case: ").find(|case| case.starts_with("rebuild_loses_trigger ")).expect("the case");
    let project = project(&parts(case, "-- "));
    for dialect in ["sqlite", "pg"] {
        project.write(&format!("schema/{dialect}/0003_fill.sql"), "UPDATE job SET tries = 0;\n");
    }
    project.prepare(&[]);
    let steps = |project: &Project| {
        let evidence: serde_json::Value = serde_json::from_str(&project.read(".sqlx/evidence.json")).unwrap();
        evidence["steps"].as_array().unwrap().len()
    };
    assert_eq!(steps(&project), 3);
    // Whoever ran it again would write it anew.
    project.edit(".sqlx/evidence.json", "with the table job that was built anew", "as somebody wrote");
    for dialect in ["sqlite", "pg"] {
        project.write(&format!("schema/{dialect}/0004_fill.sql"), "UPDATE job SET tries = 1;\n");
    }
    project.prepare(&[]);
    assert_eq!(steps(&project), 4);
    assert!(project.read(".sqlx/evidence.json").contains("as somebody wrote"));
}

/// Ten tables with ten steps each: columns, values, indexes, tables that SQLite builds anew. With `apart` indexes are made
/// outside of a transaction on Postgres.
fn hundred(apart: bool) -> Project {
    let project = Project::empty();
    project.write("diglot.toml", "generate = false\n");
    let mut number = 0;
    let mut step = |name: &str, sqlite: &str, pg: &str| {
        number += 1;
        for (dialect, text) in [("sqlite", sqlite), ("pg", pg)] {
            project.write(&format!("schema/{dialect}/{number:04}_{name}.sql"), text);
        }
    };
    let (mark, beside) = if apart { ("-- diglot: no-transaction\n", "CONCURRENTLY ") } else { ("", "") };
    for table in 0..10 {
        let t = format!("part{table}");
        let owner = match table {
            0 => String::new(),
            _ => format!(" REFERENCES part{} (id) ON DELETE CASCADE", table - 1),
        };
        let first = format!(
            "id INTEGER PRIMARY KEY, owner INTEGER{owner}, state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0"
        );
        let created = format!("CREATE TABLE {t} ({first}, title TEXT) STRICT;\n");
        step(&t, &created, &created.replace("INTEGER", "bigint").replace(" STRICT", ""));
        let weight = format!("ALTER TABLE {t} ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;\n");
        step("weight", &weight, &weight.replace("INTEGER", "bigint"));
        let fill = format!("UPDATE {t} SET weight = tries WHERE state = 'open';\n");
        step("fill", &fill, &fill);
        let index = format!("INDEX {t}_state ON {t} (state, id);\n");
        let on_pg = index.replace("INDEX", &format!("INDEX {beside}"));
        step("index", &format!("CREATE {index}"), &format!("{mark}CREATE {on_pg}"));
        let label = format!("ALTER TABLE {t} ADD COLUMN label TEXT;\nUPDATE {t} SET label = COALESCE(title, state);\n");
        step("label", &label, &label);
        let rebuilt = format!(
            "CREATE TABLE {t}_new ({first}, title TEXT NOT NULL, weight INTEGER NOT NULL DEFAULT 1, label TEXT) STRICT;\n\
             INSERT INTO {t}_new SELECT id, owner, state, tries, COALESCE(title, ''), weight, label FROM {t};\n\
             DROP TABLE {t};\nALTER TABLE {t}_new RENAME TO {t};\nCREATE {index}"
        );
        let on_pg = format!(
            "UPDATE {t} SET title = '' WHERE title IS NULL;\nALTER TABLE {t} ALTER COLUMN title SET NOT NULL;\n"
        );
        step("title", &rebuilt, &on_pg);
        let sweep = format!("DELETE FROM {t} WHERE tries > 5 AND state = 'dead';\n");
        step("sweep", &sweep, &sweep);
        let rename = format!("ALTER TABLE {t} RENAME COLUMN label TO name;\n");
        step("rename", &rename, &rename);
        let due = format!("ALTER TABLE {t} ADD COLUMN due_ms INTEGER;\n");
        step("due", &due, &due.replace("INTEGER", "bigint"));
        let drop = format!("ALTER TABLE {t} DROP COLUMN name;\n");
        step("drop", &drop, &drop);
    }
    for dialect in ["sqlite", "pg"] {
        let page = "-- Counts.\n-- name: part_count :one\nSELECT count(*) AS n FROM part0;\n";
        project.write(&format!("sql/{dialect}/part.sql"), page);
    }
    project
}

#[test]
#[ignore = "measures, and says nothing of what is right"]
fn a_hundred_steps_on_rows() {
    for apart in [false, true] {
        let project = hundred(apart);
        for again in ["first", "again"] {
            let start = std::time::Instant::now();
            let ended = project.prepare(&[]);
            assert_eq!(ended.code, Some(0), "{}", ended.seen());
            println!("100 steps, outside of transactions: {apart}, {again}: {:?}", start.elapsed());
        }
    }
}
