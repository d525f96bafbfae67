//! Brings a database to the current schema.
//!
//! The schema is the list of files in `schema/sqlite` and `schema/pg`, embedded here. Versions below
//! 1000 are shared with the older backends and recorded where those look, in `_sqlx_migrations`, with
//! the checksums that those expect; so either side opens what the other made. Versions from 1001 on
//! are additions of this backend and recorded in `ff_sql_migrations` alone.
//!
//! A version recorded as successful counts as applied whatever its checksum, and a version that is not
//! known here is left alone. What is missing is applied in ascending order. There is no way down.
//!
//! This module changes the schema and its two ledgers only. When it runs is the constructor's concern
//! for SQLite and the operator's for Postgres.

mod ledger;
#[cfg(feature = "postgres")]
mod pg;
#[cfg(feature = "postgres")]
mod split;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod version;

use sqlx::migrate::MigrateError;

#[cfg(feature = "postgres")]
pub use pg::{MigrationOptions, apply_migrations, apply_migrations_with};
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::apply_sqlite;
#[cfg(feature = "postgres")]
pub use version::check_schema_version;

/// Why a database could not be brought to the current schema.
///
/// Whatever was applied before the failure stays applied and recorded; running again continues there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrationError {
    /// The ledger could not be read, or a version could not be applied.
    ///
    /// [`MigrateError::ExecuteMigration`] names the version that failed, [`MigrateError::Dirty`] the
    /// version that `_sqlx_migrations` marks as half applied, which somebody must repair by hand.
    #[error("schema migration failed: {0}")]
    Sqlx(#[from] MigrateError),

    /// The number of partitions asked for is not one of 1 to 256.
    #[error("a table can have 1 to 256 partitions, not {0}")]
    PartitionCount(u16),

    /// The number of shards asked for is not one of 1 to 256.
    #[error("a table can be spread over 1 to 256 shards, not {0}")]
    ShardCount(u16),

    /// The tables cannot be spread, because the database does not have the extension Citus.
    #[error("the tables cannot be spread: this database does not have the extension; run CREATE EXTENSION citus in it")]
    CitusMissing,
}

impl From<sqlx::Error> for MigrationError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sqlx(error.into())
    }
}

/// The ledger that the older backends know.
const LEDGER_TABLE: &str = "_sqlx_migrations";

/// What the ledger calls the execution time.
fn nanoseconds_since(start: std::time::Instant) -> i64 {
    i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX) // tidy: 292 years
}

/// Says in the log that the database has versions which this build does not know.
///
/// They are those of a newer build, which promises that its additions do not get in the way.
fn warn_of_unknown(applied: &[i64], known: &[ledger::Step]) {
    let is_known = |version: &i64| known.iter().any(|step| step.version() == *version);
    let unknown: Vec<i64> = applied.iter().copied().filter(|version| !is_known(version)).collect();
    if !unknown.is_empty() {
        tracing::warn!(?unknown, "the database has schema versions of a newer backend");
    }
}
