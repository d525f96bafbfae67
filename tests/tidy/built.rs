//! SQL is written on pages or by a query builder: no code of the compiler and its command puts it together by hand.

use super::{Complaint, File, Rust};

/// Words with which a statement begins.
const VERBS: [&str; 10] =
    ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "MERGE ", "CREATE ", "ALTER ", "DROP ", "TRUNCATE "];

/// Texts that are put together all the same, each with why.
const EXCEPTIONS: [(&str, &str, &str); 12] = [
    ("crates/cargo-diglot/src/prepare/pg.rs", "CREATE DATABASE ", "a builder has no word for databases"),
    ("crates/cargo-diglot/src/prepare/pg.rs", "DROP DATABASE ", "a builder has no word for databases"),
    ("crates/cargo-diglot/src/plans/citus.rs", "CREATE SCHEMA ", "a builder has no word for schemas"),
    ("crates/cargo-diglot/src/plans/citus.rs", "DROP SCHEMA ", "a builder has no word for schemas"),
    ("crates/diglot-tools/src/prove/pg.rs", "TRUNCATE ", "a builder's TRUNCATE has no CASCADE"),
    (
        "crates/cargo-diglot/src/prove/pg/schema.rs",
        "CREATE OR REPLACE FUNCTION ",
        "a builder has no word for functions",
    ),
    ("crates/cargo-diglot/src/prove/generated/", "", "pairs are spelled in many ways on purpose, and only in tests"),
    ("crates/cargo-diglot/src/new/", "", "a draft is a text that a person reads and goes on with"),
    ("crates/diglot-tools/src/translate/", "", "a draft keeps the words of a text that somebody wrote"),
    ("crates/diglot/src/rules/", "add `", "help that a person reads"),
    ("crates/diglot/src/emit.rs", "", "a piece of a text that somebody wrote"),
    ("crates/diglot/src/emit/", "", "a relation in the middle of a text that somebody wrote"),
];

fn is_excused(path: &str, text: &str) -> bool {
    EXCEPTIONS.iter().any(|(file, begin, _)| path.starts_with(file) && text.starts_with(begin))
}

/// Whether a text begins like SQL, or has a query inside, and has a place for more: one of `format!`, or an end that
/// something is put behind.
fn is_built(text: &str) -> bool {
    let text = text.trim_start_matches('(');
    let begins = VERBS.iter().any(|verb| text.starts_with(verb)) || text.contains("(SELECT ");
    begins && (text.replace("{{", "").contains('{') || text.ends_with(' '))
}

/// Complaints about the files of the crates, without their tests.
pub(crate) fn complaints(files: &[File]) -> Vec<String> {
    let is_code = |path: &str| {
        path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs") && !path.contains("/tests")
    };
    let mut report = Vec::new();
    for file in files.iter().filter(|file| is_code(&file.path)) {
        for (line, what) in of_file(&file.path, &file.text) {
            report.push(format!("{}:{line}: [built-sql] {what}", file.path));
        }
    }
    report
}

fn of_file(path: &str, text: &str) -> Vec<Complaint> {
    let tests = text.lines().position(|line| line.starts_with("#[cfg(test)]")).map_or(usize::MAX, |line| line + 1);
    let strings = Rust::new(text).strings.into_iter();
    let built = strings.filter(|(line, string)| *line < tests && is_built(string) && !is_excused(path, string));
    built.map(|(line, string)| (line, format!("`{string}` is put together; let sea-query build it"))).collect()
}

#[test]
fn a_planted_text_is_found_and_a_whole_one_is_not() {
    let found = |path: &str, text: &str| complaints(&[File { path: path.into(), text: text.into() }]).len();
    for planted in [
        "let sql = format!(\"INSERT INTO {table} VALUES (1)\");",
        "let sql = format!(\n    \"SELECT {} FROM t\",\n    columns,\n);",
        "text.push_str(&format!(\"(SELECT {column} FROM t)\"));",
        "let sql = \"DELETE FROM \".to_owned() + table;",
        "write!(text, \"CREATE TABLE {} (id)\", name)?;",
        "let sql = format!(r#\"UPDATE \"{table}\" SET a = 1\"#);",
        "let sql = format!(\"DROP TABLE {table}\");",
        "let condition = format!(\"id IN (SELECT id FROM {table})\");",
    ] {
        assert_eq!(found("crates/diglot-tools/src/draft.rs", planted), 1, "{planted}");
        assert_eq!(found("crates/diglot/tests/rules.rs", planted), 0, "{planted}");
    }
    for whole in [
        "let sql = \"SELECT a FROM t\";",
        "let message = format!(\"SELECTs of {table} are many\");",
        "let json = \"SELECT '{{}}'\";",
        "#[cfg(test)]\nmod tests {\n    fn f() -> String { format!(\"SELECT {}\", 1) }\n}",
    ] {
        assert_eq!(found("crates/diglot-tools/src/draft.rs", whole), 0, "{whole}");
    }
    assert_eq!(found("crates/cargo-diglot/src/prepare/pg.rs", "format!(\"CREATE DATABASE {name}\")"), 0);
    assert_eq!(found("crates/cargo-diglot/src/prepare/pg.rs", "format!(\"CREATE TABLE {name} (a)\")"), 1);
}
