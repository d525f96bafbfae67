//! `cargo diglot completions`: scripts by which shells complete commands and options.

use clap_complete::{Shell, generate};

use crate::cli::{Completions, declared};
use crate::failure::Failure;
use crate::{Outcome, report};

/// Completes behind `cargo diglot` too, and leaves every other command of cargo to whoever completed it before.
const BASH: &str = r#"
if [[ $(complete -p cargo 2>/dev/null) != *_cargo_or_diglot* ]]; then
    { declare -F _completion_loader && _completion_loader cargo; declare -F _comp_load && _comp_load cargo; } &>/dev/null
    _cargo_before_diglot=
    [[ $(complete -p cargo 2>/dev/null) =~ -F\ ([^ ]+) ]] && _cargo_before_diglot=${BASH_REMATCH[1]}
fi
_cargo_or_diglot() {
    if [[ ${COMP_WORDS[1]} == diglot && $COMP_CWORD -ge 2 ]]; then
        local COMP_WORDS=(cargo-diglot "${COMP_WORDS[@]:2}")
        local COMP_CWORD=$((COMP_CWORD - 1))
        _cargo_diglot cargo-diglot "$2" "$3"
    elif [[ -n $_cargo_before_diglot ]]; then
        "$_cargo_before_diglot" "$@"
    fi
}
complete -o bashdefault -o default -F _cargo_diglot cargo-diglot
complete -o bashdefault -o default -F _cargo_or_diglot cargo
"#;

/// The same for fish, which asks itself what it would say of `cargo-diglot`.
const FISH: &str = r#"
complete -c cargo -n __fish_use_subcommand -f -a diglot -d 'Compare SQL that is kept in two dialects'
complete -c cargo -n '__fish_seen_subcommand_from diglot' -f -a "(complete -C (string replace -r '^\s*cargo\s+diglot' 'cargo-diglot' -- (commandline -cp)))"
"#;

pub(crate) fn run(arguments: &Completions) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    // In scripts for bash a hyphen in the program's name is one thing in some places and another in others.
    let name = if arguments.shell == Shell::Bash { "cargo_diglot" } else { "cargo-diglot" };
    generate(arguments.shell, &mut declared(), name, &mut script);
    let behind_cargo = match arguments.shell {
        Shell::Bash => BASH,
        Shell::Fish => FISH,
        // Cargo's own completion for zsh asks a plugin's; the other shells complete no plugins.
        _ => "",
    };
    report::is_over(report::out(&format!("{}{behind_cargo}", String::from_utf8_lossy(&script))))?;
    Ok(Outcome::Clean)
}
