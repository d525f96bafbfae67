//! Where projects keep their SQL: in Go and Rust, below the schema in a file, under names that differ.

use std::fs;

use crate::project::{Ended, Project};

const SETTINGS: &str = "lockstep = false\ngenerate = false\n";

fn lines(ended: &Ended) -> Vec<&str> {
    ended.stdout.lines().collect()
}

/// A store in Go, with its schema in constants; one page deletes by another column.
fn go() -> Project {
    let project = Project::empty();
    let source = |id: &str, by: &str| {
        format!(
            "package store\n\nconst lotSchema = `\nCREATE TABLE lot (\n  id {id} NOT NULL PRIMARY KEY,\n  \
             bay TEXT NOT NULL\n);\n`\n\nconst selectLot = \"\" +\n\t\"SELECT id, bay FROM lot\" +\n\t\" WHERE id = $1\"\n\n\
             func (s *Store) Remove(bay string) error {{\n\treturn s.exec(\"DELETE FROM lot WHERE {by} = $1\", bay)\n}}\n\n\
             func (s *Store) all(by string) error {{\n\treturn s.exec(\"SELECT id FROM lot ORDER BY \" + by)\n}}\n"
        )
    };
    project.write("store/lite/lot.go", source("INTEGER", "id"));
    project.write("store/lite/lot_test.go", "package store\n\nconst q = \"SELECT id FROM test\"\n");
    project.write("store/pg/lot.go", source("BIGINT", "bay"));
    let places = "sqlite = \"store/lite/*.go\"\npg = \"store/pg/*.go\"\n";
    project.write("diglot.toml", format!("{SETTINGS}[sql]\n{places}[schema]\n{places}"));
    project
}

#[test]
fn statements_in_go_are_compared_where_they_stand() {
    let project = go();
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{}", check.seen());
    let told = lines(&check);
    let warnings: Vec<&&str> = told.iter().filter(|line| line.contains("warning[built-text]: all:")).collect();
    assert_eq!(warnings.len(), 2, "{}", check.seen());
    let errors: Vec<&&str> = told.iter().filter(|line| line.contains("error[")).collect();
    let [error] = errors.as_slice() else { panic!("{}", check.seen()) };
    assert!(error.starts_with("store/lite/lot.go:15:39: error[where-differs]: remove:"), "{error}");

    let full = project.run(&["check"]);
    assert!(full.stdout.contains("return s.exec(\"DELETE FROM lot WHERE id = $1\", bay)"), "{}", full.seen());
    assert_eq!(project.run(&["baseline"]).code, Some(0));
    assert_eq!(project.run(&["check"]).code, Some(0));
    let mutate = project.run(&["mutate", "--baseline"]);
    assert!(mutate.stdout.lines().all(|line| !line.contains("not noticed")), "{}", mutate.seen());
    assert!(mutate.stdout.contains("100.0%"), "{}", mutate.seen());
}

#[test]
fn what_is_read_out_of_go_can_be_looked_at() {
    let extract = go().run(&["extract"]);
    assert_eq!(extract.code, Some(0), "{}", extract.seen());
    assert!(extract.stdout.contains("-- store/lite/lot.go:10: selectLot\n"), "{}", extract.seen());
    assert!(
        extract.stdout.contains("-- store/pg/lot.go:15: Remove\nDELETE FROM lot WHERE bay = $1\n"),
        "{}",
        extract.seen()
    );
    let said = "4 statements in 2 files, and 2 that are put together at run time\n";
    assert_eq!(extract.stderr, said, "{}", extract.seen());
}

#[test]
fn a_text_that_is_put_together_is_kept_with_all_of_it() {
    let project = go();
    assert_eq!(project.run(&["baseline"]).code, Some(0));
    let kept = project.read("diglot.baseline");
    assert_eq!(kept.matches("built-text all ").count(), 1, "{kept}");
    project.edit("store/pg/lot.go", "SELECT id FROM lot ORDER BY", "SELECT bay FROM lot ORDER BY");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{}", check.seen());
    assert!(check.stdout.contains("store/pg/lot.go:19:"), "{}", check.seen());
    assert!(check.stdout.contains("error[built-text]: all: `by` is known"), "{}", check.seen());
}

#[test]
fn a_statement_that_faces_nothing_is_kept_with_its_text() {
    let project = go();
    let lonely = "\nconst countLots = \"SELECT count(*) FROM lot\"\n";
    project.write("store/lite/count.go", format!("package store\n{lonely}"));
    assert_eq!(project.run(&["baseline"]).code, Some(0));
    assert_eq!(project.run(&["check"]).code, Some(0));
    project.edit("store/lite/count.go", "FROM lot", "FROM lot WHERE id > 0");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{}", check.seen());
    assert!(check.stdout.contains("error[missing-statement]: count_lots"), "{}", check.seen());
}

/// Two folders of Rust with folders below them, whose files and functions say which database they are for.
#[test]
fn folders_of_code_are_read_with_those_below_and_files_face_each_other() {
    let project = Project::empty();
    let schema = |id: &str| format!("CREATE TABLE lot (id {id} NOT NULL PRIMARY KEY, bay TEXT NOT NULL);\n");
    project.write("schema/sqlite/1_lot.sql", schema("INTEGER"));
    project.write("schema/pg/1_lot.sql", schema("BIGINT"));
    let queries = |get: &str, put: &str, mark: &str| {
        format!(
            "const COLUMNS: &str = \"id, bay\";\npub fn {get}(db: &Db) {{\n    \
             query(&format!(\"SELECT {{COLUMNS}} FROM lot WHERE id = {mark}1\"))\n}}\n\
             pub fn {put}(db: &Db) {{ query(\"DELETE FROM lot WHERE bay = {mark}1\") }}\n\
             #[cfg(test)]\nmod tests {{ fn get() {{ query(\"SELECT nothing FROM nowhere\") }} }}\n"
        )
    };
    project.write("src/lite/stores/lots.rs", queries("get_lot", "drop_qry", "?"));
    project.write("src/lite/mod.rs", "mod stores;\n");
    project.write("src/post/pg_lots.rs", queries("pg_get_lot", "drop_query", "$"));
    let places = "[sql]\nsqlite = \"src/lite\"\npg = \"src/post\"\n[names]\n\"*_qry\" = \"*_query\"\n";
    project.write("diglot.toml", format!("{SETTINGS}{places}"));
    let check = project.check();
    assert_eq!(check.code, Some(0), "{}", check.seen());
    assert!(check.stderr.contains("2 pairs, 0 findings"), "{}", check.seen());
    project.edit("src/post/pg_lots.rs", "\"id, bay\"", "\"bay, bay AS id\"");
    let check = project.run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("error[columns-differ]: get_lot"), "{}", check.seen());
}

#[test]
fn a_schema_at_the_head_of_query_files_is_the_schema() {
    let project = Project::empty();
    for (folder, engine, id) in [("lite", "sqlite", "integer"), ("pg", "postgresql", "bigint")] {
        let settings =
            format!("version: '2'\nsql:\n  - engine: {engine}\n    queries: [lot.sql]\n    schema: [lot.sql]\n");
        project.write(&format!("driver/{folder}/sqlc.yaml"), settings);
        let page = format!(
            "CREATE TABLE lot (id {id} NOT NULL PRIMARY KEY, bay text NOT NULL);\n\n\
             -- name: LotGet :one\nSELECT * FROM lot WHERE id = @id;\n"
        );
        project.write(&format!("driver/{folder}/lot.sql"), page);
    }
    assert_eq!(project.run(&["init"]).code, Some(0));
    assert!(project.read("diglot.toml").contains("sqlite = \"driver/lite/lot.sql\""));
    let check = project.check();
    assert_eq!(check.code, Some(0), "{}", check.seen());
    assert!(check.stderr.contains("1 pair, 0 findings"), "{}", check.seen());
}

#[test]
fn names_that_differ_are_told_once_in_the_settings() {
    let project = Project::empty();
    for (folder, id, name) in [("sqlite", "integer", "lot_get"), ("pg", "bigint", "fetch_lot")] {
        project.write(
            &format!("schema/{folder}/1_lot.sql"),
            format!("CREATE TABLE lot (id {id} NOT NULL PRIMARY KEY);\n"),
        );
        let page = format!("-- name: {name} :many\nSELECT id FROM lot WHERE id = $1;\n");
        project.write(&format!("sql/{folder}/lot.sql"), page);
    }
    project.write("diglot.toml", format!("{SETTINGS}[names]\nlot_get = \"fetch_lot\"\n"));
    let check = project.check();
    assert_eq!(check.code, Some(0), "{}", check.seen());
    let mutate = project.run(&["mutate", "--baseline"]);
    assert!(!mutate.stdout.contains("not noticed") && mutate.stdout.contains("100.0%"), "{}", mutate.seen());
    project.write("diglot.toml", format!("{SETTINGS}[names]\nlot_get = \"fetch_lots\"\n"));
    let check = project.run(&["check", "--format", "short"]);
    assert!(
        check.stdout.contains("diglot.toml:4:1: error[missing-statement]: fetch_lots: `[names]`"),
        "{}",
        check.seen()
    );
}

#[test]
fn a_crate_gets_the_libraries_of_the_types_in_its_tables() {
    for (column, library, features) in [
        ("leaves_at timestamptz NOT NULL DEFAULT now()", "chrono = {", "\"json\", \"uuid\"]"),
        ("toll numeric(6, 2)", "rust_decimal = {", "\"json\", \"uuid\", \"rust_decimal\"]"),
        ("bay text", "", "\"json\", \"uuid\"]"),
    ] {
        let project = Project::empty();
        let stored = column.split_once(' ').map_or("", |(name, _)| name);
        for (folder, columns) in [("sqlite", format!("{stored} text")), ("pg", column.to_owned())] {
            let table = format!("CREATE TABLE lot (id bigint NOT NULL PRIMARY KEY, {columns});\n");
            project.write(&format!("schema/{folder}/1_lot.sql"), table);
            project.write(&format!("sql/{folder}/lot.sql"), "-- name: lot_all :many\nSELECT * FROM lot ORDER BY id;\n");
        }
        let made = project.run(&["init", "--crate"]);
        assert_eq!(made.code, Some(0), "{}", made.seen());
        let manifest = project.read("Cargo.toml");
        assert!(manifest.contains(library) && manifest.contains(features), "{column}: {manifest}");
        assert_eq!(manifest.contains("chrono") || manifest.contains("decimal"), !library.is_empty(), "{manifest}");
        assert!(!manifest.contains('@'), "{manifest}");

        let told = project.run(&["init"]);
        assert!(told.stderr.contains(library) && told.stderr.contains(features), "{}", told.seen());
    }
}

/// Two stores of one program, each with its own words for what it does.
fn program(lite: &str, post: &str) -> Project {
    let project = Project::empty();
    let schema = |key: &str| {
        format!(
            "CREATE TABLE \"Crate\" (\n  id {key} NOT NULL PRIMARY KEY,\n  bay TEXT NOT NULL,\n  size {key} NOT NULL\n);\n"
        )
    };
    project.write("schema/lite.sql", schema("INTEGER"));
    project.write("schema/post.sql", schema("BIGINT"));
    project.write("src/lite.go", format!("package store\n{lite}"));
    project.write("src/post.go", format!("package store\n{post}"));
    let places = |of: &str| format!("[{of}]\nsqlite = \"{}\"\npg = \"{}\"\n", path(of, "lite"), path(of, "post"));
    project.write("diglot.toml", format!("{SETTINGS}{}{}", places("sql"), places("schema")));
    project
}

fn path(of: &str, page: &str) -> String {
    if of == "sql" { format!("src/{page}.go") } else { format!("schema/{page}.sql") }
}

#[test]
fn names_with_capitals_and_parameters_of_either_kind_meet() {
    let lite = "func move() { exec(`UPDATE Crate SET bay = :place, size = size + :more WHERE id = :which`) }\n\
                func all() { query(`SELECT id FROM crate WHERE bay = ? ORDER BY id`) }\n";
    let post = "func move() { exec(`UPDATE \"Crate\" SET bay = $2, size = \"Crate\".size + $3 WHERE id = $1`) }\n\
                func all() { query(`SELECT id FROM \"Crate\" WHERE bay = $1 ORDER BY id`) }\n";
    let check = program(lite, post).run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(0), "{}", check.seen());
    // Postgres knows the table in that case alone.
    let check = program(lite, &post.replace("FROM \"Crate\"", "FROM Crate")).run(&["check"]);
    assert!(check.stdout.contains("Postgres calls the table `\"Crate\"`"), "{}", check.seen());
    // A column less is a difference, whatever the parameters are called.
    let check = program(lite, &post.replace("size = \"Crate\".size + $3", "size = $3")).run(&["check"]);
    assert!(check.stdout.contains("move: the pages differ in what they assign (`size`)"), "{}", check.seen());
}

#[test]
fn statements_of_programs_face_each_other_by_what_they_say() {
    let lite = "func keepCrate() {\n\tquery(`SELECT id FROM crate WHERE bay = $1 ORDER BY id`)\n\
                \tquery(`SELECT size FROM crate WHERE id = $1 ORDER BY size`)\n\
                \texec(`INSERT INTO crate (id, bay, size) VALUES ($1, $2, $3)`)\n}\n";
    let post = "func writeCrate() {\n\tquery(`SELECT size FROM \"Crate\" WHERE id = $1 ORDER BY size`)\n\
                \tquery(`SELECT id FROM \"Crate\" WHERE bay = $1 ORDER BY id`)\n\
                \texec(`INSERT INTO \"Crate\" (id, bay, size) VALUES ($1, $2, $3)`)\n}\n";
    for post in [post.to_owned(), post.replace("writeCrate", "keepCrate")] {
        let check = program(lite, &post).run(&["check", "--format", "short"]);
        assert_eq!(check.code, Some(0), "{}", check.seen());
        let check =
            program(lite, &post.replace("bay = $1 ORDER", "bay < $1 ORDER")).run(&["check", "--format", "short"]);
        assert!(check.stdout.contains("error[where-differs]"), "{}", check.seen());
        assert!(!check.stdout.contains("missing-statement"), "{}", check.seen());
    }
}

#[test]
fn a_schema_that_is_put_together_is_told() {
    let project = program("", "");
    let text = "package store\nfunc make(space string) { exec(fmt.Sprintf(`CREATE TABLE bay_%s (id TEXT)`, space)) }\n";
    project.write("src/post.go", text);
    let places = "[schema]\nsqlite = \"schema/lite.sql\"\npg = [\"schema/post.sql\", \"src/post.go\"]\n";
    project.write("diglot.toml", format!("{SETTINGS}[sql]\nsqlite = \"src/lite.go\"\npg = \"src/post.go\"\n{places}"));
    let check = project.run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("warning[built-text]: make: `space`"), "{}", check.seen());
    assert_eq!(project.run(&["extract"]).code, Some(0));
}

#[test]
fn constants_of_another_folder_are_compared() {
    let project = program("", "");
    project.write("words/words.go", "package words\n\nconst Late = \"late\"\n");
    let source = |word: &str, mark: &str| {
        format!(
            "package store\n\nimport \"shop.test/words\"\n\nfunc late(bay string) {{\n\
             \tquery(\"SELECT id FROM \\\"Crate\\\" WHERE bay = '\" + {word} + \"' AND size > {mark} ORDER BY id\")\n}}\n"
        )
    };
    project.write("src/lite.go", source("words.Late", "?"));
    project.write("src/post.go", source("words.Late", "$1"));
    let check = project.check();
    assert!(check.stderr.contains("1 pair, 0 findings"), "{}", check.seen());
    project.write("src/post.go", source("\"soon\"", "$1"));
    let check = project.run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("error[where-differs]: late:"), "{}", check.seen());
}

#[test]
fn init_tells_how_times_may_be_held() {
    let project = program("const layout = \"2006-01-02T15:04:05.000Z\"\n", "");
    project.write(
        "schema/lite.sql",
        "CREATE TABLE crate (id INTEGER NOT NULL PRIMARY KEY, shut_at TEXT, seen_at TEXT);\n",
    );
    project.write(
        "schema/post.sql",
        "CREATE TABLE crate (id bigint PRIMARY KEY, shut_at timestamptz, seen_at timestamptz);\n",
    );
    let settings = project.read("diglot.toml");
    let init = project.run(&["init"]);
    assert!(init.stderr.contains("[storage]\n\"*.*_at\" = \"iso-ms\"\n"), "{}", init.seen());
    assert_eq!(project.read("diglot.toml"), settings);
    project.write("diglot.toml", format!("{settings}[storage]\n\"*.*_at\" = \"iso-ms\"\n"));
    let init = project.run(&["init"]);
    assert!(!init.stderr.contains("iso-ms"), "{}", init.seen());
}

#[test]
fn columns_that_are_exchanged_after_the_baseline_fail() {
    let lite = "func add() { exec(`INSERT INTO Crate (id, size) VALUES (:id, :size)`) }\n\
                func all() { query(`SELECT id FROM crate ORDER BY size`) }\n";
    let post = "func add() { exec(`INSERT INTO \"Crate\" (id, size) VALUES ($1, $2)`) }\n\
                func all() { query(`SELECT id FROM \"Crate\" ORDER BY id`) }\n";
    let project = program(lite, post);
    assert_eq!(project.run(&["baseline"]).code, Some(0));
    assert_eq!(project.check().code, Some(0));
    project.edit("src/post.go", "(id, size)", "(size, id)");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{}", check.seen());
    assert!(check.stdout.contains("error[param-order-differs]: add:"), "{}", check.seen());
}

#[test]
fn the_number_of_a_new_row_is_no_difference_where_nothing_is_generated() {
    let lite = "func add() { exec(`INSERT INTO Crate (bay, size) VALUES (?, ?)`) }\n";
    let post = "func add() { query(`INSERT INTO \"Crate\" (bay, size) VALUES ($1, $2) RETURNING id`) }\n";
    let numbered = |lite: &str, post: &str| {
        let project = program(lite, post);
        let table = "CREATE TABLE \"Crate\" (id bigserial PRIMARY KEY, bay text NOT NULL, size bigint NOT NULL);\n";
        project.write("schema/post.sql", table);
        project
    };
    let check = numbered(lite, post).run(&["check", "--format", "short"]);
    assert!(!check.stdout.contains("add:"), "{}", check.seen());
    // What a conflict leaves is no new row.
    let conflict = |text: &str| text.replace("`)", " ON CONFLICT (id) DO NOTHING`)").replace(" RETURNING id ON", " ON");
    let post = conflict(post).replace("NOTHING`)", "NOTHING RETURNING id`)");
    let check = numbered(&conflict(lite), &post).run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("error[columns-differ]: add:"), "{}", check.seen());
}

#[test]
fn numbers_are_the_same_parameters_whichever_comes_first() {
    let lite = "func move() { exec(`UPDATE Crate SET bay = $1 WHERE id IN (SELECT id FROM Crate WHERE bay = $2 ORDER BY id \
                LIMIT 3)`) }\n";
    let post = "func move() { exec(`WITH due AS (SELECT id FROM \"Crate\" WHERE bay = $2 ORDER BY id LIMIT 3) UPDATE \
                \"Crate\" SET bay = $1 WHERE id IN (SELECT id FROM due)`) }\n";
    let check = program(lite, post).run(&["check", "--format", "short"]);
    assert!(!check.stdout.contains("param"), "{}", check.seen());
    let check = program(lite, &post.replace("bay = $1", "bay = $3")).run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("param"), "{}", check.seen());
}

#[test]
fn a_crate_with_other_drivers_than_sqlx_keeps_them() {
    let project = Project::empty();
    let manifest =
        "[package]\nname = \"twins\"\n\n[dependencies]\nrusqlite = \"0.39\"\ntokio-postgres = { version = \"0.7\" }\n";
    project.write("Cargo.toml", manifest);
    let made = project.run(&["init", "--no-prepare"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    assert!(project.read("diglot.toml").contains("\ndriver = \"rusqlite+tokio-postgres\"\n"));
    assert!(made.stderr.contains("with-uuid-1") && !made.stderr.contains("sqlx"), "{}", made.seen());
    project.write("Cargo.toml", manifest.replace("[package]", "[dependencies.sqlx]\nversion = \"0.9\"\n\n[package]"));
    fs::remove_file(project.path("diglot.toml")).unwrap();
    project.run(&["init", "--no-prepare"]);
    assert!(!project.read("diglot.toml").contains("\ndriver"));
}
