//! Folders of every sort, and the places that their names tell.

use super::*;

const TABLE: &str = "CREATE TABLE lot (id BIGINT PRIMARY KEY);\n";
const QUERY: &str = "-- name: lot_get :one\nSELECT id FROM lot WHERE id = $1;\n";

fn found(files: &[(&str, &str)]) -> Search {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    find(root.path())
}

/// Queries of both, then schemas of both.
fn lists(files: &[(&str, &str)]) -> [Vec<String>; 4] {
    match found(files) {
        Search::Found { places: Places { queries, schema, .. }, .. } => {
            [queries.sqlite, queries.pg, schema.sqlite, schema.pg]
        }
        Search::Nothing { why } => panic!("{why}"),
    }
}

fn one(places: [&str; 4]) -> [Vec<String>; 4] {
    places.map(|place| vec![place.to_owned()])
}

#[test]
fn a_name_says_a_database_by_one_of_its_words_alone() {
    let said = |path| said(path).map(|(dialect, site, _)| (dialect, site));
    let site = |site: &str| site.to_owned();
    assert_eq!(said("db/sqlite3/lot.sql"), Some((Dialect::Sqlite, site("db"))));
    assert_eq!(said("crates/store-postgres/src/lib.rs"), Some((Dialect::Pg, site("crates/store"))));
    assert_eq!(said("db/schema_pg.sql"), Some((Dialect::Pg, site("db"))));
    assert_eq!(said("pg/lite/lot.sql"), Some((Dialect::Sqlite, site("pg"))));
    assert_eq!(said("sqlite-to-pg/lot.sql"), None);
    assert_eq!(said("elite/lot.sql"), None);
}

#[test]
fn folders_of_statements_and_of_migrations_are_told_apart_by_what_is_in_them() {
    let files = [
        ("db/sqlite/queries/lot.sql", QUERY),
        ("db/postgres/queries/lot.sql", QUERY),
        ("db/sqlite/migrations/1_lot.sql", TABLE),
        ("db/sqlite/migrations/2_fill.sql", "UPDATE lot SET id = id + 1;\n"),
        ("db/sqlite/migrations/3_note.sql", "-- Nothing is done.\n"),
        ("db/postgres/migrations/1_lot.up.sql", TABLE),
        ("db/postgres/migrations/1_lot.down.sql", "DROP TABLE lot;\n"),
        ("vendor/sqlite/other.sql", TABLE),
    ];
    let expected = ["db/sqlite/queries", "db/postgres/queries", "db/sqlite/migrations", "db/postgres/migrations"];
    assert_eq!(lists(&files), one(expected));
}

#[test]
fn one_file_for_each_database_is_a_place() {
    let files = [("schema_sqlite.sql", TABLE), ("schema_pg.sql", TABLE), ("lite/q.sql", QUERY), ("psql/q.sql", QUERY)];
    assert_eq!(lists(&files), one(["lite", "psql", "schema_sqlite.sql", "schema_pg.sql"]));
}

#[test]
fn each_step_in_a_folder_of_its_own_leads_up() {
    let files = [
        ("sqlite/queries/get.sql", "SELECT id FROM lot WHERE id = ?"),
        ("pg/queries/get.sql", "SELECT id FROM lot WHERE id = $1"),
        ("sqlite/migrations/1_a/up.sql", TABLE),
        ("sqlite/migrations/1_a/down.sql", "DROP TABLE lot;\n"),
        ("pg/migrations/1_a/up.sql", TABLE),
    ];
    let expected = ["sqlite/queries", "pg/queries", "sqlite/migrations/1_a/up.sql", "pg/migrations/1_a"];
    assert_eq!(lists(&files), one(expected));
}

#[test]
fn a_schema_that_stands_as_a_whole_above_its_steps_is_read_without_them() {
    let begun = format!("DO $$ BEGIN PERFORM 1; END $$;\n{TABLE}");
    let files = [
        ("store/sqlite/lot.go", "package lot\n\nconst get = \"SELECT id FROM lot WHERE id = $1\"\n"),
        ("store/pg/lot.go", "package lot\n\nconst get = \"SELECT id FROM lot WHERE id = $1\"\n"),
        ("schema/sqlite/all.sql", TABLE),
        ("schema/sqlite/0.1/0__lot.sql", TABLE),
        ("schema/sqlite/0.2/0__fill.sql", "UPDATE lot SET id = 1;\n"),
        ("schema/pg/v3/all.sql", &begun),
        ("schema/pg/v3/steps/v1.0/base.sql", TABLE),
    ];
    assert_eq!(lists(&files), one(["store/sqlite/*.go", "store/pg/*.go", "schema/sqlite", "schema/pg/v3"]));
    // What makes a table anew only changes it.
    let again = "ALTER TABLE lot RENAME TO old;\nCREATE TABLE lot (id BIGINT PRIMARY KEY, bay TEXT);\n";
    let files = [
        ("sqlite/q.sql", QUERY),
        ("pg/q.sql", QUERY),
        ("sqlite/schema/base.sql", TABLE),
        ("sqlite/schema/1/bay.sql", again),
        ("pg/schema/base.sql", TABLE),
    ];
    assert_eq!(lists(&files)[2], ["sqlite/schema", "sqlite/schema/1"]);
}

#[test]
fn steps_in_folders_of_their_releases_are_told_by_each_other() {
    let files = [
        ("sqlite/q.sql", QUERY),
        ("pg/q.sql", QUERY),
        ("sqlite/steps/0.1/lot.sql", TABLE),
        ("sqlite/steps/0.2/fill.sql", "UPDATE lot SET id = 1;\n"),
        ("pg/steps/0.1/lot.sql", TABLE),
    ];
    let [queries, _, schema, _] = lists(&files);
    assert_eq!(
        (queries, schema),
        (vec!["sqlite".to_owned()], vec!["sqlite/steps/0.1".to_owned(), "sqlite/steps/0.2".to_owned()])
    );
}

#[test]
fn a_schema_further_off_belongs_to_statements_that_name_its_tables() {
    let go = |text: &str| format!("package lot\n\nconst one = \"{text}\"\n");
    let (get, version) = (go("SELECT id FROM bay"), go("CREATE TABLE version (id BIGINT PRIMARY KEY)"));
    let bay = TABLE.replace("lot", "bay");
    let files = [
        ("code/store/sqlite/get.go", get.as_str()),
        ("code/store/pg/get.go", &get),
        ("code/store/sqlite/version.go", &version),
        ("code/store/pg/version.go", &version),
        ("code/other/sqlite/get.go", &get),
        ("code/other/pg/get.go", &get),
        ("schema/sqlite/1.sql", &bay),
        ("schema/pg/1.sql", &bay),
    ];
    let [queries, _, schema, _] = lists(&files);
    assert_eq!(queries, ["code/other/sqlite/*.go", "code/store/sqlite/*.go"]);
    assert_eq!(schema, ["code/store/sqlite/*.go", "schema/sqlite"]);
}

#[test]
fn literals_of_programs_count_and_what_a_program_wrote_does_not() {
    let go =
        "package lot\n\nconst get = \"SELECT id FROM lot WHERE id = $1\"\nconst all = `CREATE TABLE lot (id INT)`\n";
    let written = format!("// Code generated by a tool. DO NOT EDIT.\n{go}");
    let files = [
        ("store/sqlite3/lot.go", go),
        ("store/sqlite3/lot_test.go", go),
        ("store/postgres/lot.go", go),
        ("store/postgres/lot.sql.go", &written),
    ];
    let places = ["store/sqlite3/*.go", "store/postgres/lot.go"];
    assert_eq!(lists(&files), one([places[0], places[1], places[0], places[1]]));
}

#[test]
fn projects_beside_each_other_are_taken_together_unless_tables_have_the_same_names() {
    let schema = |name: &str| TABLE.replace("lot", name);
    let (bay, lot) = (schema("bay"), schema("lot"));
    let more = [("a/sqlite/more.sql", QUERY), ("a/pg/more.sql", QUERY)];
    let with = |other: &str| {
        let other = other.to_owned();
        let files = [
            ("a/sqlite/q.sql", QUERY),
            ("a/pg/q.sql", QUERY),
            ("a/migrations/sqlite/1.sql", lot.as_str()),
            ("a/migrations/pg/1.sql", lot.as_str()),
            ("b/sqlite/q.sql", QUERY),
            ("b/pg/q.sql", QUERY),
            ("b/migrations/sqlite/1.sql", other.as_str()),
            ("b/migrations/pg/1.sql", other.as_str()),
        ];
        match found(&[files.as_slice(), &more].concat()) {
            Search::Found { places, beside } => (places.queries.sqlite, beside),
            Search::Nothing { why } => panic!("{why}"),
        }
    };
    assert_eq!(with(&bay), (vec!["a/sqlite".to_owned(), "b/sqlite".to_owned()], Vec::new()));
    assert_eq!(with(&lot), (vec!["a/sqlite".to_owned()], vec!["b".to_owned()]));
}

#[test]
fn where_one_database_is_missing_it_is_said_what_was_found() {
    let Search::Nothing { why } = found(&[("db/sqlite/q.sql", QUERY), ("notes.sql", TABLE)]) else {
        panic!("a pair without Postgres");
    };
    assert!(why.contains("looked at: 2 files of SQL, Go and Rust, of which 1 in folders"), "{why}");
    assert!(why.contains("SQLite: statements: db/sqlite; schema: none\n"), "{why}");
    assert!(why.contains("Postgres: statements: none; schema: none\n"), "{why}");
}
