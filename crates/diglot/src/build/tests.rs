//! Reading a project from a folder.

use std::fs;
use std::path::Path;

use super::{CACHE, generate, load};
use crate::pipeline::compile;

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn paths(root: &Path) -> Vec<String> {
    load(root).unwrap().sources.iter().map(|(_, file)| file.path.clone()).collect()
}

#[test]
fn an_empty_folder_is_a_project_without_statements() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = load(folder.path()).unwrap();
    assert!(inputs.check_answers && inputs.answers.is_none());
    assert!(compile(&inputs).diagnostics.is_empty());
}

#[test]
fn files_are_read_in_the_order_of_their_names_and_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        "sql/pg/b.sql",
        "sql/pg/a.sql",
        "sql/pg/.a.sql",
        "sql/pg/a.sql~",
        "sql/sqlite/a.sql",
        "schema/pg/0001_x.sql",
        "sql/notes.sql",
    ] {
        write(folder.path(), path, b"");
    }
    assert_eq!(paths(folder.path()), ["sql/sqlite/a.sql", "sql/pg/a.sql", "sql/pg/b.sql", "schema/pg/0001_x.sql"]);
}

#[test]
fn the_configuration_says_where_the_files_are() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "diglot.toml", b"sql = \"db/statements/\"\nschema = \"db\"\n");
    write(folder.path(), "db/statements/pg/a.sql", b"");
    write(folder.path(), "db/sqlite/0001.sql", b"");
    assert_eq!(paths(folder.path()), ["diglot.toml", "db/statements/pg/a.sql", "db/sqlite/0001.sql"]);
}

#[test]
fn a_bad_configuration_and_bytes_that_are_no_text_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "diglot.toml", b"sqll = \"x\"\n");
    write(folder.path(), "sql/pg/a.sql", b"-- fine\n-- \xff not\n");
    let inputs = load(folder.path()).unwrap();
    let found: Vec<(&str, usize)> =
        inputs.findings.iter().map(|finding| (finding.rule, finding.labels[0].span.start as usize)).collect();
    assert_eq!(found, [("bad-config", 0), ("not-utf8", 11)]);
    assert!(compile(&inputs).has_errors());
}

/// The messages of what is found in a folder with these files.
fn told(files: &[(&str, &[u8])]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        write(folder.path(), path, bytes);
    }
    let compiled = compile(&load(folder.path()).unwrap());
    compiled.diagnostics.into_iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

#[test]
fn what_others_would_follow_from_is_told_alone() {
    let schema: &[u8] = b"CREATE TABLE job (id bigint NOT NULL, note text);\n";
    let page: &[u8] = b"-- name: job_drop :exec\nDELETE FROM job WHERE id = :id;\n";
    let other: &[u8] = b"-- name: job_drop :exec\nDELETE FROM job;\n";
    let merge: &[u8] =
        b"-- name: job_drop :exec\n<<<<<<< ours\nDELETE FROM job;\n=======\nDELETE FRM job;\n>>>>>>> theirs\n";
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(page.iter().flat_map(|byte| [*byte, 0])).collect();
    let schemas = [("schema/sqlite/1.sql", schema), ("schema/pg/1.sql", schema)];
    let project = |sqlite, pg| [&schemas[..], &[("sql/sqlite/job.sql", sqlite), ("sql/pg/job.sql", pg)]].concat();
    assert_eq!(told(&project(page, other)).len(), 1);
    assert_eq!(told(&project(page, merge)), ["merge-conflict: sql/pg/job.sql holds a merge that is not settled"]);
    assert_eq!(told(&project(page, &utf16)), ["not-utf8: sql/pg/job.sql is UTF-16, not UTF-8"]);
    let elsewhere: &[u8] = b"schema = { sqlite = \"schema/sqlite\", pg = \"migrations/pg\" }\n";
    let elsewhere = [&project(page, page)[..], &[("diglot.toml", elsewhere)]].concat();
    assert_eq!(told(&elsewhere), ["missing-folder: there is no `migrations/pg`, where SQL is looked for"]);
    let bare = told(&project(page, page)[2..]);
    assert_eq!(bare, ["missing-folder: there is no `schema`, where SQL is looked for"]);
    let slip: &[u8] = b"CREATE TABLE job (id bigint NOT NULL, note txet);\n";
    let slipped = [&project(page, page)[1..], &[("schema/sqlite/1.sql", slip)]].concat();
    assert_eq!(told(&slipped), ["schema-unreadable: 1 (SQLite): there is no type `txet`, which job.note is to have"]);
}

#[test]
fn a_folder_in_the_place_of_a_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("diglot.toml")).unwrap();
    assert!(load(folder.path()).unwrap_err().to_string().starts_with("cannot read diglot.toml: "));
}

#[test]
fn what_a_run_kept_changes_nothing_that_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path(), folder.path().join("out"));
    fs::create_dir(&out).unwrap();
    for dialect in ["sqlite", "pg"] {
        write(root, &format!("schema/{dialect}/0001_all.sql"), b"CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY);");
        write(root, &format!("sql/{dialect}/job.sql"), b"-- name: job_list :many\nSELECT job.id FROM job;\n");
    }
    let rust = || generate(root, &out).unwrap().1.rust;
    let first = rust();
    let kept = fs::read_to_string(out.join(CACHE)).unwrap();
    assert_eq!(rust(), first);
    for broken in ["", "another compiler\n{}", &kept[..kept.len() / 2], &kept.replace('{', "[")] {
        fs::write(out.join(CACHE), broken).unwrap();
        assert_eq!(rust(), first);
        assert_eq!(fs::read_to_string(out.join(CACHE)).unwrap(), kept);
    }
}
