//! Why a migration fails.

use sqlx::migrate::MigrateError;

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
