//! The same statements for rusqlite and tokio-postgres: nothing of sqlx is left, and stubs have the shape of the API.

use diglot::config::{Config, Driver};
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, n INTEGER NOT NULL);\n\
    CREATE TABLE event (job_id INTEGER NOT NULL, lane TEXT NOT NULL);";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, n integer NOT NULL);\n\
    CREATE TABLE event (job_id bigint NOT NULL, lane text NOT NULL);";

const PAGE: &str = "-- name: job_list :many\nSELECT id, lane FROM job WHERE n = :n ORDER BY id LIMIT :most;\n\n\
    -- name: job_each :stream\nSELECT id FROM job ORDER BY id;\n\n";
const UNIT: &str = "-- name: job_end :opt\n-- require: live\n\
    WITH live AS (SELECT id, lane FROM job WHERE id = :id AND lane = 'open');\n\
    INSERT INTO event (job_id, lane) SELECT live.id, :lane FROM live;\n\
    UPDATE job SET lane = :lane WHERE id = :id AND EXISTS (SELECT 1 FROM live) RETURNING n;\n";
const FACING: &str = "-- name: job_end :opt\n\
    WITH live AS (SELECT id, lane FROM job WHERE id = :id AND lane = 'open' FOR UPDATE),\n\
    told AS (INSERT INTO event (job_id, lane) SELECT live.id, :lane FROM live)\n\
    UPDATE job SET lane = :lane WHERE id = :id AND EXISTS (SELECT 1 FROM live) RETURNING n;\n";

fn compiled(settings: &str, [sqlite, pg]: [&str; 2], previous: Option<String>) -> Compiled {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    let config = Config::parse(settings, "diglot.toml").expect("the settings");
    compile(&Inputs { config, sources, previous, ..Inputs::default() })
}

const SETTINGS: &str =
    "sqlite_feature = \"lite\"\n[generate]\ndriver = \"rusqlite+tokio-postgres\"\neither = true\nqueries = \"plain\"\n";

fn pages(last: [&str; 2]) -> [String; 2] {
    last.map(|last| format!("{PAGE}{last}"))
}

/// The heads of the functions of a module, in their order.
fn heads(rust: &str, module: &str) -> Vec<String> {
    let file = syn::parse_file(rust).expect("Rust");
    let inside = file.items.into_iter().find_map(|item| match item {
        syn::Item::Mod(found) if found.ident == module => found.content,
        _ => None,
    });
    let items = inside.map(|(_, items)| items).unwrap_or_default();
    let functions = items.into_iter().filter_map(|item| match item {
        syn::Item::Fn(function) => Some(function.sig),
        _ => None,
    });
    let mut heads: Vec<String> = functions
        .map(|head| format!("{}{}", if head.asyncness.is_some() { "async " } else { "" }, head.ident))
        .collect();
    heads.sort();
    heads
}

#[test]
fn each_database_has_a_module_of_all_its_functions() {
    let [sqlite, pg] = pages([UNIT, FACING]);
    let found = compiled(SETTINGS, [&sqlite, &pg], None);
    assert_eq!(found.diagnostics, []);
    assert!(!found.rust.contains("sqlx"));
    assert_eq!(heads(&found.rust, "sqlite"), ["job_each", "job_end", "job_list"]);
    assert_eq!(heads(&found.rust, "pg"), ["async job_each", "async job_end", "async job_list"]);
    // Each statement of a unit is prepared by itself, with the numbers that it has.
    let unit = found.rust.split("pub fn job_end").nth(1).expect("the unit");
    let unit = unit.split("pub mod pg").next().unwrap_or_default();
    let prepared: Vec<&str> = unit.lines().map(str::trim).filter(|line| line.contains("prepare_cached")).collect();
    assert!(prepared.iter().all(|line| line.contains("/* job.job_end sqlite */ ")), "{prepared:?}");
    let numbers: Vec<&str> =
        unit.lines().filter_map(|line| line.split("bind(&mut statement, ").nth(1)?.get(..1)).collect();
    assert_eq!((prepared.len(), numbers), (3, vec!["1", "1", "2", "1", "2"]));
}

#[test]
fn values_go_with_the_types_that_the_text_was_checked_with() {
    let [sqlite, pg] = pages([UNIT, FACING]);
    let found = compiled(SETTINGS, [&sqlite, &pg], None).rust;
    let list = found.split("pub async fn job_list").nth(1).expect("the function");
    let list = list.split("pub async fn").next().unwrap_or_default();
    for word in ["diglot_support::pg::all(", "typed(&params.n)", "typed(&params.most)", ", true, &["] {
        assert!(list.contains(word), "{word}: {list}");
    }
}

#[test]
fn stubs_have_both_modules() {
    let [sqlite, pg] = pages([UNIT, FACING]);
    let before = compiled(SETTINGS, [&sqlite, &pg], None).rust;
    let [_, broken] = pages([UNIT, "-- name: job_end :opt\nSELEC n;\n"]);
    for previous in [None, Some(before)] {
        let found = compiled(SETTINGS, [&sqlite, &broken], previous);
        assert!(found.has_errors() && found.rust.contains("compile_error!"));
        assert!(!found.rust.contains("sqlx"));
        assert_eq!(heads(&found.rust, "sqlite"), ["job_each", "job_end", "job_list"]);
        assert_eq!(heads(&found.rust, "pg"), ["async job_each", "async job_end", "async job_list"]);
    }
}

#[test]
fn what_only_sqlx_has_is_a_fault_of_the_settings() {
    let fault = |line: &str| {
        let text = format!("[generate]\ndriver = \"rusqlite+tokio-postgres\"\n{line}\n");
        Config::parse(&text, "diglot.toml").map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(fault(""), Ok(()));
    assert_eq!(
        fault("queries = \"macros\"").unwrap_err(),
        "diglot.toml:3:1: the macros are sqlx's: write `checked` or `plain`"
    );
    assert_eq!(
        fault("tables = \"sea-query\"").unwrap_err(),
        "diglot.toml:3:1: rows of built queries are read by sqlx alone"
    );
    assert_eq!(Config::default().generate.driver, Driver::Sqlx);
}
