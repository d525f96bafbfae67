//! The command line of diglot: `cargo diglot try`, `check`, `baseline`, `prepare`, `prove`, `verify`, `plans`, `locks`, `review`,
//! `init`, `new`, `translate`, `explain`, `rules`, `mutate`, `catalog`, `with-postgres`, `lsp`, `mcp`, `schema` and `completions`.
//!
//! This crate does what the compiler does not: it reads folders, talks to the real engines, starts a
//! throwaway Postgres server and prints in colour. What a finding is and how one looks is the business of
//! the crate `diglot`. There is one file per subcommand; [`postgres`] is of use to tests as well.

mod baseline;
mod catalog;
mod changed;
mod check;
mod cli;
mod completions;
mod explain;
mod extract;
mod failure;
mod host;
mod init;
mod interrupt;
mod layout;
mod locks;
mod lsp;
mod markdown;
mod mcp;
mod migrate;
mod mutate;
mod new;
mod overview;
mod plans;
pub mod postgres;
mod prepare;
mod prove;
mod report;
mod review;
mod revision;
mod translate;
mod trying;
mod values;
mod verify;
mod watch;
mod with_postgres;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use diglot::config;
use tokio::runtime::Runtime;

pub use failure::Failure;

/// How a command ended, when it did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to complain about: exit code 0.
    Clean,
    /// Findings were printed: exit code 2.
    Findings,
    /// Somebody else's exit code is passed on.
    Exit(u8),
}

/// Runs the command line and says with which code to exit: 0 clean, 2 findings, 1 when the tool itself
/// failed. `arguments` starts with the program's name, and may go on with `diglot`, as Cargo has it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match cli::parse(arguments) {
        Ok(command) => command,
        Err(error) => {
            // The terminal may be gone; there is nobody left to tell.
            error.print().ok();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    let outcome = match command {
        cli::Command::Check(arguments) => check::run(&arguments),
        cli::Command::Extract(arguments) => extract::run(&arguments),
        cli::Command::Baseline(arguments) => baseline::run(&arguments),
        cli::Command::Prepare(arguments) => prepare::run(&arguments),
        cli::Command::Review(arguments) => review::run(&arguments),
        cli::Command::Try(arguments) => trying::run(&arguments),
        cli::Command::Init(arguments) => init::run(&arguments),
        cli::Command::New(arguments) => new::run(&arguments),
        cli::Command::Translate(arguments) => translate::run(&arguments),
        cli::Command::Plans(arguments) => plans::run(&arguments),
        cli::Command::Prove(arguments) => prove::run(&arguments),
        cli::Command::Verify(arguments) => verify::run(&arguments),
        cli::Command::Migrate(arguments) => migrate::run(&arguments),
        cli::Command::Locks(arguments) => locks::run(&arguments),
        cli::Command::Explain(arguments) => explain::run(&arguments),
        cli::Command::Rules => explain::rules(),
        cli::Command::Mutate(arguments) => mutate::run(&arguments),
        cli::Command::Catalog(arguments) => catalog::run(&arguments),
        cli::Command::WithPostgres(arguments) => with_postgres::run(&arguments),
        cli::Command::Lsp => lsp::run(),
        cli::Command::Mcp(arguments) => mcp::run(&arguments),
        cli::Command::Schema => report::out(config::SCHEMA).map(|()| Outcome::Clean),
        cli::Command::Completions(arguments) => completions::run(&arguments),
    };
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(2),
        Ok(Outcome::Exit(code)) => ExitCode::from(code),
        Err(failure) => {
            report::failure(&failure);
            ExitCode::from(failure.code())
        }
    }
}

/// The runtime for the commands that wait for engines, children and signals.
fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::io("start a runtime"))
}
