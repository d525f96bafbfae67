//! `cargo diglot try`: a folder that nobody has set up is tried, and stays as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::project::{Ended, Project, git, postgres};

/// All files of a folder with their texts.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    all
}

fn tried(project: &Project, arguments: &[&str]) -> Ended {
    let before = files(&project.path("."));
    let ended = project.run(&[&["try"], arguments, &["--postgres", postgres()]].concat());
    assert_eq!(files(&project.path(".")), before, "{}", ended.seen());
    ended
}

fn last(ended: &Ended) -> &str {
    ended.stderr.lines().last().unwrap_or_default()
}

/// A shop in folders that are named for their databases, which sells by another price and forgets what is sold out.
fn shop() -> Project {
    let project = Project::empty();
    let table = |id: &str, price: &str| {
        format!(
            "CREATE TABLE tea (\n    id {id} NOT NULL PRIMARY KEY,\n    name TEXT NOT NULL,\n    price {price} NOT NULL,\n    \
             sold {price} NOT NULL DEFAULT 0\n);\n"
        )
    };
    project.write("db/sqlite/migrations/1_tea.sql", table("INTEGER", "INTEGER"));
    project.write("db/postgres/migrations/1_tea.sql", table("BIGINT", "BIGINT"));
    let queries = |below: &str, sell: &str| {
        format!(
            "-- name: TeaCheap :many\nSELECT id, name FROM tea WHERE price {below} $1 ORDER BY id;\n\n\
             -- name: TeaSell :exec\nUPDATE tea SET sold = {sell} WHERE id = $1;\n\n\
             -- name: TeaAll :many\nSELECT id FROM tea ORDER BY id;\n"
        )
    };
    project.write("db/sqlite/queries/tea.sql", queries("<=", "sold + 1"));
    project.write("db/postgres/queries/tea.sql", queries("<", "1"));
    project
}

#[test]
fn folders_that_are_named_for_databases_are_found_and_what_is_stored_is_told_first() {
    let project = shop();
    let ended = tried(&project, &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    let told: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("error[")).collect();
    let [stored, answered] = told.as_slice() else { panic!("{}", ended.seen()) };
    assert!(stored.contains("[set-differs]: tea_sell") && answered.contains("[where-differs]: tea_cheap"), "{told:?}");
    for shown in ["afterwards SQLite has", "afterwards Postgres has", "SQLite gives", " --> db/sqlite/queries/tea.sql:"]
    {
        assert!(ended.stdout.contains(shown), "{shown}: {}", ended.seen());
    }
    let places = "Postgres: statements in db/postgres/queries; schema in db/postgres/migrations\n";
    assert!(ended.stderr.contains(places), "{}", ended.seen());
    assert!(ended.stderr.contains("3 pairs compared\n3 of them run on small databases: 2 differ"), "{}", ended.seen());
    assert_eq!(last(&ended), "next: cargo diglot try . --adopt");
    let first = tried(&project, &["--show", "1"]);
    assert_eq!((first.stdout.matches("error[").count(), first.stdout.contains(stored)), (1, true), "{}", first.seen());
}

#[test]
fn what_was_tried_can_be_adopted_by_the_command_that_is_named() {
    let project = shop();
    let adopted = project.run(&["try", ".", "--adopt"]);
    assert_eq!(adopted.code, Some(0), "{}", adopted.seen());
    let settings = project.read("diglot.toml");
    assert!(settings.contains("generate = false") && settings.contains("pg = \"db/postgres/queries\""), "{settings}");
    assert_eq!(project.check().code, Some(0));
    project.edit("db/postgres/queries/tea.sql", "FROM tea ORDER BY id;", "FROM tea ORDER BY id DESC;");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!((check.code, check.stdout.lines().count()), (Some(2), 1), "{}", check.seen());
}

#[test]
fn init_takes_the_places_that_names_tell() {
    let project = shop();
    let made = project.run(&["init"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    let said = "the places in diglot.toml are those of folders and files whose names say a database\n";
    assert!(made.stderr.contains(said), "{}", made.seen());
    let settings = project.read("diglot.toml");
    assert!(settings.contains("sqlite = \"db/sqlite/migrations\""), "{settings}");
    assert!(project.check().stderr.contains("3 pairs, 2 findings"));
    assert!(!project.path("build.rs").exists());
}

#[test]
fn init_proposes_the_names_by_which_pages_part() {
    let project = shop();
    let page = project.read("db/postgres/queries/tea.sql");
    let named =
        ["TeaCheap", "TeaSell", "TeaAll"].iter().fold(page, |page, name| page.replace(name, &format!("{name}Now")));
    project.write("db/postgres/queries/tea.sql", named);
    let made = project.run(&["init"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    assert!(made.stderr.contains("is guessed below `[names]`"), "{}", made.seen());
    assert!(project.read("diglot.toml").contains("[names]\n\"*\" = \"*_now\"\n"), "{}", project.read("diglot.toml"));
    assert!(project.check().stderr.contains("3 pairs, 2 findings"));
}

#[test]
fn init_compares_what_stands_in_the_code_of_a_crate() {
    let project = Project::empty();
    let manifest = "[package]\nname = \"tea\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    project.write("Cargo.toml", manifest);
    project.write("src/lib.rs", "");
    let page = |behind: &str, mark: &str, made: &str| {
        format!(
            "const SELL{behind}: &str = \"UPDATE tea SET sold = sold + 1 WHERE id = {mark}\";\n\
             const DROP{behind}: &str = \"DELETE FROM tea WHERE id = {mark}\";\n\
             fn add(db: &Db) {{ db.run(\"ALTER TABLE tea ADD COLUMN sold BIGINT NOT NULL DEFAULT 0\"); }}\n{made}"
        )
    };
    let begin = "fn begin(db: &Db) { db.run(\"CREATE TABLE tea (id BIGINT NOT NULL PRIMARY KEY)\"); }\n";
    project.write("src/store/sqlite.rs", page("_ONE", "?1", begin));
    let taken = "const TEA: &str = include_str!(\"../../made/1_tea.sql\");\n";
    project.write("src/store/postgres.rs", page("_TEA", "$1", taken));
    project.write("made/1_tea.sql", "CREATE TABLE tea (id BIGINT NOT NULL PRIMARY KEY);\n");
    let made = project.run(&["init"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    assert!(
        made.stderr.contains("statements stand in the program's own code, so pages are compared"),
        "{}",
        made.seen()
    );
    assert!(!project.path("build.rs").exists() && project.read("Cargo.toml") == manifest);
    let settings = project.read("diglot.toml");
    assert!(settings.contains("pg = [\"made/1_tea.sql\", \"src/store/postgres.rs\"]"), "{settings}");
    let check = project.check();
    assert!(check.stderr.contains("2 pairs, 0 findings") || check.code == Some(0), "{}", check.seen());
}

#[test]
fn a_repository_is_cloned_for_the_time_of_the_trial() {
    let project = shop();
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "-m", "all"]);
    let url = format!("file://{}", project.path(".git").display());
    let elsewhere = Project::empty();
    let ended = tried(&elsewhere, &[&url]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.stdout.contains(" --> db/sqlite/queries/tea.sql:"), "{}", ended.seen());
    assert!(last(&ended).starts_with(&format!("next: git clone {url} && cargo diglot try ")), "{}", ended.seen());
    let adopted = elsewhere.run(&["try", &url, "--adopt"]);
    assert_eq!(adopted.code, Some(1), "{}", adopted.seen());
    assert!(adopted.stderr.contains("git clone"), "{}", adopted.seen());
    let missing = elsewhere.run(&["try", "file:///no/such/repository"]);
    assert_eq!(missing.code, Some(1), "{}", missing.seen());
    assert!(missing.stderr.contains("git clone failed"), "{}", missing.seen());
}

#[test]
fn settings_of_sqlc_are_followed_and_an_extreme_value_comes_behind_ordinary_ones() {
    let ended = tried(&Project::copy_of("courier"), &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.stderr.contains("SQLite: statements in db/sqlite/queries; schema in db/sqlite/schema.sql\n"));
    let told: Vec<&str> = ended.stdout.lines().filter(|line| line.contains("]: ") && !line.starts_with(' ')).collect();
    assert_eq!(told.len(), 3, "{}", ended.seen());
    assert!(told.iter().all(|line| !line.contains("edge-differs")), "{told:?}");
    let databases =
        ended.stdout.matches("SQLite gives").count() + ended.stdout.matches("afterwards SQLite has").count();
    assert_eq!(databases, 3, "{}", ended.seen());
}

#[test]
fn when_the_time_is_over_the_texts_tell() {
    let ended = tried(&shop(), &["--seconds", "0"]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.stdout.contains("error[where-differs]: tea_cheap"), "{}", ended.seen());
    assert!(
        ended.stderr.contains("0 of them run") && ended.stderr.contains("2 not run for want of time"),
        "{}",
        ended.seen()
    );
}

#[test]
fn without_a_server_the_texts_tell_and_the_way_to_one_is_named() {
    let project = shop();
    let ended = project.run_with(&["try", "."], ("DIGLOT_POSTGRES_BIN", "/no/such/folder"));
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.stdout.contains("error[set-differs]: tea_sell"), "{}", ended.seen());
    assert!(ended.stderr.contains("no Postgres server binaries (initdb, postgres) in /no/such/folder"));
    assert!(ended.stderr.contains("so no pair was run"), "{}", ended.seen());
}

#[test]
fn where_one_database_is_missing_it_is_said_where_it_was_looked_and_what_is_needed() {
    let project = shop();
    fs::remove_dir_all(project.path("db/postgres")).unwrap();
    let ended = tried(&project, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
    for said in [
        "no SQL for both databases was found\nlooked at: 2 files of SQL, Go and Rust, of which 2 in folders",
        "SQLite: statements: db/sqlite/queries; schema: db/sqlite/migrations\n",
        "Postgres: statements: none; schema: none\n",
        "needed: statements and a schema",
    ] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.seen());
    }
    let nowhere = project.run(&["try", "no-such-folder"]);
    assert_eq!(nowhere.stderr, "error: no-such-folder is neither a folder nor the URL of a git repository\n");
}

#[test]
fn statements_of_which_none_faces_another_are_named() {
    let project = shop();
    project
        .write("db/sqlite/queries/tea.sql", "-- name: Steep :many\nSELECT name FROM tea WHERE sold = 1 ORDER BY id;\n");
    project.write("db/postgres/queries/tea.sql", "-- name: Brew :exec\nDELETE FROM tea;\n");
    let ended = tried(&project, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
    assert!(ended.stderr.contains("SQLite: steep\nPostgres: brew\nneeded: the same name"), "{}", ended.seen());
}

#[test]
fn a_migration_that_does_not_run_is_named_and_the_texts_tell() {
    let project = shop();
    project.write("db/postgres/migrations/2_more.sql", "ALTER TABLE tea ADD COLUMN leaf no_such_type;\n");
    let ended = tried(&project, &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    assert!(ended.stdout.contains("error[set-differs]: tea_sell"), "{}", ended.seen());
    let said =
        "db/postgres/migrations/2_more.sql does not run: type \"no_such_type\" does not exist\nso no pair was run";
    assert!(ended.stderr.contains(said), "{}", ended.seen());
}
