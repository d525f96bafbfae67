//! Things that are lent, on SQLite by rusqlite and on Postgres by tokio-postgres: every function is written once, for
//! whoever has the statements.

/// What diglot generates from `sql/`.
pub mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

use chrono::{DateTime, Utc};
use statements::either::Connection;
use statements::{StatementError, Statements, item};
use uuid::Uuid;

/// Where a thing stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The shelf.
    pub shelf: i16,
    /// The number on it.
    pub number: i64,
}

/// Who borrows things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader(pub String);

impl From<Reader> for String {
    fn from(reader: Reader) -> Self {
        reader.0
    }
}

impl From<String> for Reader {
    fn from(name: String) -> Self {
        Self(name)
    }
}

/// Makes the tables in an empty SQLite database.
///
/// # Errors
/// When the database refuses.
pub fn prepare_sqlite(connection: &rusqlite::Connection) -> Result<(), StatementError> {
    // rusqlite keeps 16 statements of a connection prepared, if nobody asks for more.
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection.execute_batch(include_str!("../schema/sqlite/0001_lending.sql"))?)
}

/// Makes the tables anew in a schema of their own in a Postgres database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_pg(client: &tokio_postgres::Client) -> Result<(), StatementError> {
    let schema = "DROP SCHEMA IF EXISTS lending CASCADE; CREATE SCHEMA lending; SET search_path = lending";
    client.batch_execute(schema).await?;
    Ok(client.batch_execute(include_str!("../schema/pg/0001_lending.sql")).await?)
}

/// Lends as many of these things as are here, all in one transaction; gives where they stand.
///
/// # Errors
/// When the database refuses.
pub async fn lend(
    connection: &mut Connection<'_>,
    ids: &[Uuid],
    reader: &Reader,
    now: DateTime<Utc>,
) -> Result<Vec<Place>, StatementError> {
    let mut transaction = connection.begin().await?;
    let mut places = Vec::new();
    for id in ids {
        places.extend(lend_one(&mut transaction, *id, reader, now).await?);
    }
    transaction.commit().await?;
    Ok(places)
}

/// Lends a thing, if it is here.
async fn lend_one(
    db: &mut impl Statements,
    id: Uuid,
    reader: &Reader,
    now: DateTime<Utc>,
) -> Result<Option<Place>, StatementError> {
    let lend = item::ItemLendParams { id, loan: Uuid::from_u128(id.as_u128() + 1000), reader: reader.clone(), now };
    Ok(db.item_lend(&lend).await?.map(|lent| lent.place))
}
