//! Packages of a workspace.

use crate::project::Project;

const SETTINGS: &str = "lockstep = false\ngenerate = false\n";

#[test]
fn packages_of_a_workspace_are_checked_from_its_root() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"3\"\n");
    for (name, column) in [("a", "id"), ("b", "nothing")] {
        project.write(
            &format!("{name}/Cargo.toml"),
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        );
        project.write(&format!("{name}/src/lib.rs"), "");
        project.write(&format!("{name}/diglot.toml"), SETTINGS);
        for (folder, id) in [("sqlite", "integer"), ("pg", "bigint")] {
            let table = format!("CREATE TABLE lot (id {id} NOT NULL PRIMARY KEY);\n");
            project.write(&format!("{name}/schema/{folder}/1_lot.sql"), table);
            let page = format!("-- name: lot_get :many\nSELECT {column} FROM lot WHERE id = $1;\n");
            project.write(&format!("{name}/sql/{folder}/lot.sql"), page);
        }
    }
    let whole = project.run(&["check", "--workspace", "--format", "short"]);
    assert_eq!(whole.code, Some(2), "{}", whole.seen());
    assert!(whole.stdout.starts_with("b/sql/sqlite/lot.sql:2:8: error[unknown-column]"), "{}", whole.seen());
    assert_eq!(project.run(&["check", "-p", "a"]).code, Some(0));
    assert_eq!(project.run(&["check", "-p", "b"]).code, Some(2));
    let none = project.run(&["check", "-p", "c"]);
    assert_eq!(none.code, Some(1), "{}", none.seen());
    assert!(none.stderr.contains("no package is called `c`; there are: a, b"), "{}", none.seen());
}
