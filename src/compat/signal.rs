//! The secrets that sign tokens, and which errors of the server pass.

use std::sync::Arc;

use ff_core::contracts::{
    RotateWaitpointHmacSecretAllArgs, RotateWaitpointHmacSecretAllResult, SeedOutcome, SeedWaitpointHmacSecretArgs,
};
pub use ff_core::crypto::hmac::{HmacVerifyError, hmac_sign, hmac_verify};
use ff_core::engine_error::EngineError;
use sqlx::PgPool;

use crate::backend::PostgresBackend;
use crate::clock::Clock;
use crate::db::error::map_sqlx_error;
use crate::engine::secret;
use crate::open::over_pool_at;
use crate::statements::{Statements as _, secret as rows};

/// How often a transaction is tried in all.
pub const SERIALIZABLE_RETRY_BUDGET: usize = crate::db::tx::MAX_ATTEMPTS as usize;

/// Whether the server ended a transaction because of another one, so that trying again may help.
#[must_use]
pub fn is_retryable_serialization(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("40001" | "40P01"))
}

/// The key that signs now, and its secret.
///
/// # Errors
/// Those of the database.
pub async fn current_active_kid(pool: &PgPool) -> Result<Option<(String, Vec<u8>)>, EngineError> {
    let mut connection = pool.acquire().await.map_err(map_sqlx_error)?;
    let row = connection.secret_active_read().await.map_err(map_sqlx_error)?;
    Ok(row.map(|row| (row.kid, row.secret)))
}

/// The secret of a key, whether it signs or not.
///
/// # Errors
/// Those of the database.
pub async fn fetch_kid(pool: &PgPool, kid: &str) -> Result<Option<Vec<u8>>, EngineError> {
    let mut connection = pool.acquire().await.map_err(map_sqlx_error)?;
    let params = rows::SecretReadParams { kid: kid.to_owned() };
    let row = connection.secret_read(&params).await.map_err(map_sqlx_error)?;
    Ok(row.map(|row| row.secret))
}

/// As `rotate_waitpoint_hmac_secret_all` of the trait, at that time.
///
/// # Errors
/// As the method of the trait.
///
/// # Panics
/// Outside a tokio runtime.
pub async fn rotate_waitpoint_hmac_secret_all_impl(
    pool: &PgPool,
    args: RotateWaitpointHmacSecretAllArgs,
    now_ms: i64,
) -> Result<RotateWaitpointHmacSecretAllResult, EngineError> {
    secret::rotate(at(pool, now_ms).engine(), &args).await
}

/// As `seed_waitpoint_hmac_secret` of the trait, at that time.
///
/// # Errors
/// As the method of the trait.
///
/// # Panics
/// Outside a tokio runtime.
pub async fn seed_waitpoint_hmac_secret_impl(
    pool: &PgPool,
    args: SeedWaitpointHmacSecretArgs,
    now_ms: i64,
) -> Result<SeedOutcome, EngineError> {
    secret::seed(at(pool, now_ms).engine(), &args).await
}

fn at(pool: &PgPool, now_ms: i64) -> Arc<PostgresBackend> {
    over_pool_at(pool.clone(), Clock::frozen(now_ms))
}
