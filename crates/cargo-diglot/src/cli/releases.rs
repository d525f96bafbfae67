//! The arguments of the commands for releases and their migrations.

use clap::{Args, ValueEnum};

use super::{Format, Postgres, Project};

/// Say whether programs of an older release can go on while the migrations of now have run, and the other way round.
///
/// The files of the release are read from git, offline, and compiled as they were. Its statements run on small databases of
/// its own tables, before and behind the migrations that it does not have, and so do the statements of now: what a database
/// refuses there, or answers otherwise, is told with its rows. Exits with 2 when a program of the older release cannot go
/// on; that a program of now cannot run on the older tables is a warning.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) project: Project,
    /// The older release: a revision of the git repository.
    #[arg(long, value_name = "REV")]
    pub(crate) since: String,
    /// How findings look.
    #[arg(long, value_enum, default_value_t = Format::Full)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
}

/// Run the project's migrations on a database, or say what would run.
///
/// A statement waits for a lock a moment only, lets those pass who came behind it, and tries again. A migration is one
/// transaction with its line in the ledger; one that begins with `-- no-transaction` goes on behind the last of its statements
/// that was done. The ledger is that of sqlx; what refinery, goose or golang-migrate have applied is not applied again.
#[derive(Debug, Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    pub(crate) project: Project,
    /// What to do.
    #[arg(value_enum)]
    pub(crate) action: MigrateAction,
    /// The database: `sqlite:FILE` or `postgres://…`.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// How often a statement tries to get a lock.
    #[arg(long, value_name = "N", default_value_t = diglot_migrate::ATTEMPTS)]
    pub(crate) attempts: u32,
}

/// What `migrate` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MigrateAction {
    /// Apply what is missing.
    Apply,
    /// Say what has run and what is missing; exit with 2 when something is.
    Status,
    /// Print the statements that would run, on Postgres with the locks that they take, which are held until all are tried.
    DryRun,
}
