//! Asks a Postgres database which schema version it has.

use ff_core::engine_error::EngineError;
use sqlx::PgPool;

use crate::db::error::map_sqlx_error;

const HIGHEST_VERSION: &str = include_str!("../../../schema/ledger/pg/version_highest.sql");

/// The code of a query on a table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// Succeeds when the database has at least schema version `required`.
///
/// The version is the highest one that `_sqlx_migrations` records as successful, and 0 where that
/// table is missing or empty. A higher one than required is a warning in the log.
///
/// # Errors
///
/// [`EngineError::Unavailable`] with `schema_version` when the version is lower; a failure of the
/// database as the error map translates it.
pub async fn check_schema_version(pool: &PgPool, required: u32) -> Result<(), EngineError> {
    let answer = sqlx::query_scalar::<_, Option<i64>>(HIGHEST_VERSION).fetch_one(pool).await;
    let version = match answer {
        Ok(Some(version)) => version,
        Ok(None) => 0,
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(UNDEFINED_TABLE) => 0,
        Err(error) => return Err(map_sqlx_error(error)),
    };
    let required = i64::from(required);
    if version < required {
        return Err(EngineError::Unavailable { op: "schema_version" });
    }
    if version > required {
        tracing::warn!(version, required, "the database's schema is newer than required");
    }
    Ok(())
}
