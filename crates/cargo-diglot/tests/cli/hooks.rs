//! What editors, hooks and CI of other projects take up from this repository. `scripts/test-dist` installs and runs it.

use std::fs;

use serde_json::Value;

use crate::cargo_build::workspace;
use crate::project::{Project, postgres};

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The arguments of each command line that a file of hooks or of steps runs.
fn commands(path: &str) -> Vec<Vec<String>> {
    let text = read(path);
    let lines = text.lines().filter_map(|line| {
        let (key, command) = line.trim().split_once(": cargo-diglot ")?;
        ["entry", "run"].contains(&key).then(|| command.split(' ').map(str::to_owned).collect())
    });
    lines.collect()
}

#[test]
fn what_hooks_and_the_action_run_is_clean_on_a_clean_project_and_fails_on_drift() {
    let project = Project::clean();
    let commands = [commands(".pre-commit-hooks.yaml"), commands("action.yml")].concat();
    assert_eq!(commands.len(), 4, "{commands:?}");
    let code = |command: &[String]| {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if arguments[0] == "prepare" {
            arguments.extend(["--postgres", postgres()]);
        }
        project.run(&arguments).code
    };
    for command in &commands {
        assert_eq!(code(command), Some(0), "{command:?}");
    }
    project.edit("sql/pg/job.sql", "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    for command in &commands {
        assert_eq!(code(command), Some(2), "{command:?}");
    }
}

#[test]
fn a_new_project_has_the_schema_of_its_settings() {
    let project = Project::empty();
    project.run(&["init", "--no-prepare"]);
    let name = project.read("diglot.toml").lines().next().unwrap().strip_prefix("#:schema ./").unwrap().to_owned();
    assert_eq!(project.read(&name), project.run(&["schema"]).stdout);
    // Settings that were there stay as they are, and name no schema.
    let settled = Project::empty();
    settled.write("diglot.toml", "lockstep = false\n");
    settled.run(&["init", "--no-prepare"]);
    assert!(!settled.path(&name).exists());
}

#[test]
fn packages_that_are_named_have_the_version_of_the_command_line() {
    let version = env!("CARGO_PKG_VERSION");
    for file in ["editors/vscode/package.json", "editors/vscode/package-lock.json"] {
        let manifest: Value = serde_json::from_str(&read(file)).unwrap();
        assert_eq!(manifest["version"], version, "{file}");
    }
    for (page, count) in [("docs/ci.md", 5), ("docs/editors.md", 1)] {
        let text = read(page);
        let named = ["diglot-", "diglot==", "-x64-"].iter().flat_map(|name| text.split(name).skip(1));
        let named: Vec<&str> = named.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).collect();
        assert_eq!(named.len(), count, "{page}: {named:?}");
        assert!(named.iter().all(|rest| rest.starts_with(version)), "{page}: {named:?}");
    }
}
