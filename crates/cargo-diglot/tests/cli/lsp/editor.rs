//! A real editor with the server, without a screen: Neovim, where it is installed.

use std::fs;
use std::process::{Command, Stdio};

use crate::project::Project;

/// What Neovim is told to do: everything that docs/editors.md promises of it, one thing after the other. Each is waited
/// for by what is seen, and the first that does not come ends it with its name.
const SCRIPT: &str = include_str!("neovim.lua");

#[test]
fn neovim_works_with_it() {
    let is_there = Command::new("nvim").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        println!("SKIP: nvim is not installed (Debian's package is `neovim`)");
        return;
    }
    let project = Project::clean();
    project.write("diglot.toml", "");
    project.write("run.lua", SCRIPT);
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("nvim")
        .args(["--headless", "--clean", "-n", "-c", "luafile run.lua", "sql/pg/job.sql"])
        .current_dir(project.path("."))
        .env("DIGLOT_PROGRAM", env!("CARGO_BIN_EXE_cargo-diglot"))
        .env("XDG_STATE_HOME", home.path())
        .env("XDG_CACHE_HOME", home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(home.path().join("nvim/lsp.log")).unwrap_or_default();
    assert!(output.status.success() && said.contains("all of it works"), "{said}\n{log}");
}
