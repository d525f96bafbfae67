//! The arguments by which commands find a Postgres server.

use clap::Args;

/// The Postgres server that a command asks.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Postgres {
    /// A running Postgres server on which scratch databases may be made. Without it a throwaway server is started.
    #[arg(long = "postgres", value_name = "URL")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) bring: Bring,
}

/// Whether a server may be fetched.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Bring {
    /// If no Postgres server is installed, fetch the programs of one, once: with npm (24 MB) or pip (14 MB) from their
    /// registries, into diglot/postgres in your cache folder (for root: in /var/cache). Later commands find it there.
    #[arg(long)]
    pub(crate) bring_postgres: bool,
}
