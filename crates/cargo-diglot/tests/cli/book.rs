//! What the book's first pages show is what `init` makes and what the commands print.

use std::fs;

use crate::cargo_build::workspace;
use crate::project::{Project, postgres};

/// The files that `init` makes beside its settings.
const MADE: [&str; 7] = [
    "sql/sqlite/note.sql",
    "sql/pg/note.sql",
    "schema/sqlite/0001_note.sql",
    "schema/pg/0001_note.sql",
    "src/lib.rs",
    "src/statements.rs",
    "build.rs",
];

/// The blocks of a page that are in this language.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(workspace().join(page)).unwrap();
    let opened = format!("```{language}\n");
    text.split(&opened).skip(1).map(|rest| rest.split_once("```").expect("a block that ends").0.to_owned()).collect()
}

#[test]
fn the_pages_show_what_init_makes() {
    let project = Project::empty();
    let made = project.run(&["init", "--no-prepare"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    let texts: Vec<String> = MADE.iter().map(|path| project.read(path)).collect();
    for (page, sql, rust) in [("README.md", 2, 1), ("docs/quickstart.md", 4, 3)] {
        for (language, count) in [("sql", sql), ("rust,ignore", rust)] {
            let shown = blocks(page, language);
            let found: Vec<_> = shown.iter().filter(|block| texts.iter().any(|text| text.contains(*block))).collect();
            assert_eq!(found.len(), count, "{page}: {language}: {shown:#?}");
        }
    }
    assert_eq!(blocks("README.md", "sql").len(), 2);
    assert_eq!(blocks("docs/quickstart.md", "sql").len(), 4);
    let manifest = project.read("Cargo.toml");
    let shown = blocks("docs/quickstart.md", "toml");
    assert!(shown.iter().any(|block| manifest.contains(block)), "{manifest}");
}

#[test]
fn the_drift_that_the_pages_show_is_what_check_prints() {
    let project = Project::empty();
    let made = project.run(&["init", "--postgres", postgres()]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    project.edit("sql/pg/note.sql", "due_ms <= :now_ms", "due_ms < :now_ms");
    let check = project.check();
    assert_eq!(check.code, Some(2), "{}", check.seen());
    for page in ["README.md", "docs/quickstart.md"] {
        for shown in blocks(page, "text") {
            assert!(check.stdout.contains(&shown), "{page}: {shown}\n{}", check.seen());
        }
    }
    assert_eq!(blocks("README.md", "text").len(), 1);
}

#[test]
fn a_new_crate_finds_the_compiler_by_a_way_that_others_can_mend() {
    let project = Project::empty();
    project.run(&["init", "--no-prepare"]);
    let manifest = project.read("Cargo.toml");
    let line = manifest.lines().find(|line| line.starts_with("diglot = ")).unwrap();
    let path = line.split('"').nth(1).unwrap();
    assert!(path.starts_with("../") && path.ends_with("crates/diglot"), "{manifest}");
    assert!(project.path(path).join("Cargo.toml").is_file(), "{manifest}");
    assert!(manifest.contains("{ git = "), "{manifest}");
}

#[test]
fn a_new_crate_below_a_workspace_is_told_what_the_workspace_lacks() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nmembers = []\nresolver = \"3\"\n");
    let made = project.run(&["init", "notes", "--no-prepare"]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    assert!(made.stderr.contains("adding `notes` to the `workspace.members`"), "{}", made.seen());
    project.write("Cargo.toml", "[workspace]\nmembers = [\"notes\", \"drafts\"]\nresolver = \"3\"\n");
    let named = project.run(&["init", "drafts", "--no-prepare"]);
    assert!(!named.stderr.contains("workspace"), "{}", named.seen());
}
