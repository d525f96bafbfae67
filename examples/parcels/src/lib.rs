//! Parcels that wait for their towns: every statement is written once, and SQLite and Postgres read the same file.

use sqlx::{PgConnection, SqliteConnection, raw_sql};

/// What diglot generates from `sql/`.
pub mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

use statements::either::Pool;
use statements::{Statements as _, parcel};

/// Makes the table in an empty SQLite database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_sqlite(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    raw_sql(include_str!("../schema/sqlite/0001_parcel.sql")).execute(connection).await.map(|_| ())
}

/// Makes the table anew in a schema of its own in a Postgres database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_pg(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let schema = "DROP SCHEMA IF EXISTS parcels CASCADE; CREATE SCHEMA parcels; SET search_path = parcels";
    raw_sql(schema).execute(&mut *connection).await?;
    raw_sql(include_str!("../schema/pg/0001_parcel.sql")).execute(connection).await.map(|_| ())
}

/// Loads a van for a town: the heaviest parcels that it may carry, each into one van alone. Gives how many they are.
///
/// # Errors
/// When the database refuses.
pub async fn load(pool: &Pool, town: &str, most: i64, now_ms: i64) -> Result<u64, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    let mut statements = transaction.connection();
    let next = statements.parcel_next(&parcel::ParcelNextParams { town: town.to_owned(), most }).await?;
    let ids = next.into_iter().map(|parcel| parcel.id).collect();
    let sent = statements.parcel_send(&parcel::ParcelSendParams { now_ms, ids }).await?;
    transaction.commit().await?;
    Ok(sent)
}
