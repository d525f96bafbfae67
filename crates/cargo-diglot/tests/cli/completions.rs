//! `cargo diglot completions`, in the shells themselves where they are installed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::project::Project;

/// What a shell prints for a script; none where it is not installed.
fn run(project: &Project, shell: &str, arguments: &[&str], script: &str) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-diglot")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let command = Command::new(shell)
        .args(arguments)
        .arg(script)
        .current_dir(project.path("."))
        .env("PATH", path)
        .env("HOME", project.path("."))
        .stdin(Stdio::null())
        .output();
    match command {
        Ok(output) => Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()),
        Err(_) => {
            println!("SKIP: {shell} is not installed");
            None
        }
    }
}

#[test]
fn bash_completes_both_forms_and_leaves_other_commands_of_cargo_alone() {
    let project = Project::unprepared();
    let script = r#"
        _before() { COMPREPLY=(before); }
        complete -F _before cargo
        source <(cargo-diglot diglot completions bash)
        source <(cargo-diglot diglot completions bash)
        try() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            local function=_cargo_or_diglot
            [[ $1 == cargo-diglot ]] && function=_cargo_diglot
            $function "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            echo "$*: ${COMPREPLY[*]}"
        }
        try cargo-diglot che
        try cargo diglot che
        try cargo diglot check --form
        try cargo diglot check --format s
        try cargo bu
        complete -p cargo
    "#;
    let Some(said) = run(&project, "bash", &["--norc", "-c"], script) else { return };
    for line in [
        "cargo-diglot che: check",
        "cargo diglot che: check",
        "cargo diglot check --form: --format",
        "cargo diglot check --format s: short sarif",
        "cargo bu: before",
        "-F _cargo_or_diglot cargo",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
}

#[test]
fn fish_completes_both_forms() {
    let project = Project::unprepared();
    let script = "cargo-diglot diglot completions fish | source; complete -C 'cargo-diglot che'; echo; \
                  complete -C 'cargo diglot che'; echo; complete -C 'cargo diglot check --format s'";
    let Some(said) = run(&project, "fish", &["--no-config", "-c"], script) else { return };
    assert_eq!(said.lines().filter(|line| line.split('\t').next() == Some("check")).count(), 2, "{said}");
    assert!(said.contains("sarif"), "{said}");
}

#[test]
fn zsh_takes_the_function_that_cargo_s_own_completion_asks_for() {
    let project = Project::unprepared();
    let script = "autoload -U compinit; compinit -u -D; source <(cargo-diglot diglot completions zsh); \
                  print $+functions[_cargo-diglot] $_comps[cargo-diglot]";
    let Some(said) = run(&project, "zsh", &["-f", "-c"], script) else { return };
    assert_eq!(said.trim(), "1 _cargo-diglot");
}

#[test]
fn every_shell_gets_a_script_and_others_are_refused() {
    let project = Project::unprepared();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ended = project.run(&["completions", shell]);
        assert!(ended.code == Some(0) && ended.stdout.contains("with-postgres"), "{shell}: {}", ended.seen());
    }
    assert_eq!(project.run(&["completions", "tcsh"]).code, Some(1));
}
