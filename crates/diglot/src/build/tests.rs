//! Reading a project from a folder.

use std::fs;
use std::path::Path;

use super::{KEPT, generate, load};
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
    let kept = fs::read_to_string(out.join(KEPT)).unwrap();
    assert_eq!(rust(), first);
    for broken in ["", "another compiler\n{}", &kept[..kept.len() / 2], &kept.replace('{', "[")] {
        fs::write(out.join(KEPT), broken).unwrap();
        assert_eq!(rust(), first);
        assert_eq!(fs::read_to_string(out.join(KEPT)).unwrap(), kept);
    }
}
