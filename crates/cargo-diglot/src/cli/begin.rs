//! The arguments of the commands that begin with a folder which nobody has set up.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::Postgres;

/// Find the SQL that a folder keeps for both databases, and show the differences that matter most.
///
/// Statements and schemas are found by sqlc.yaml, or by the names of folders and files (sqlite, postgres, pg…), also in Go and
/// Rust. Each pair is compared, and pairs run on small databases, those with findings first, while there is time. Differences
/// on ordinary data come first, and those in what is stored before those in what is answered. Nothing is written into the
/// folder without --adopt.
#[derive(Debug, Args)]
pub(crate) struct Try {
    /// A folder, or the URL of a git repository, whose newest state is cloned into a temporary folder.
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) place: String,
    /// Write diglot.toml and diglot.baseline into the folder instead, so that only new differences fail from now on.
    #[arg(long)]
    pub(crate) adopt: bool,
    /// How many seconds it may take.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = value_parser!(u64).range(..=86_400))]
    pub(crate) seconds: u64,
    /// How many differences are shown.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) show: usize,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
}

/// Make a project that builds, or what a crate lacks to be one.
///
/// In an empty or a new folder: a crate with three pairs of statements about notes. In a crate: the files that it lacks.
/// In a folder that has SQL and no Cargo.toml: a diglot.toml by which SQL is compared and no Rust is generated. No file
/// that is there is changed.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder; it is made if it is not there.
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
    /// Make a crate although there is SQL and no Cargo.toml.
    #[arg(long = "crate")]
    pub(crate) make_crate: bool,
    /// Do not ask SQLite and Postgres about the statements yet.
    #[arg(long)]
    pub(crate) no_prepare: bool,
}
