//! A store of jobs whose statements take lists of rows: one call writes, changes, reads or deletes as many as there are.

use sqlx::{PgConnection, SqliteConnection, raw_sql};

/// What diglot generates from the pages below `sql/`.
pub mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

/// What a hold is known by: `[keys.hold]` in `diglot.toml` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldKey {
    /// The part that it is in.
    pub part: i16,
    /// Its word, which no other hold of that part has.
    pub word: String,
}

/// Makes the tables in an empty SQLite database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_sqlite(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    raw_sql(include_str!("../schema/sqlite/0001_all.sql")).execute(connection).await.map(|_| ())
}

/// Makes the tables anew in a schema of their own in a Postgres database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_pg(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let schema = "DROP SCHEMA IF EXISTS bulk CASCADE; CREATE SCHEMA bulk; SET search_path = bulk";
    raw_sql(schema).execute(&mut *connection).await?;
    raw_sql(include_str!("../schema/pg/0001_all.sql")).execute(connection).await.map(|_| ())
}
