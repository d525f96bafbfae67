//! Makes an index while others write.
//!
//! A plain `CREATE INDEX` keeps the writers of its table waiting until it is made. One that is made concurrently waits for
//! them instead, and keeps nobody waiting, but not in a transaction, not for a table with partitions, and what it leaves
//! behind when it is interrupted is no index. So each partition gets its own first, and the statement itself, which has
//! nothing to read any more, makes one of them. A table without rows is left to the statement.

use sqlx::{AssertSqlSafe, PgConnection};

use super::patience::{MOMENT, set_patience};

const PARTS: &str = include_str!("../../../schema/ledger/pg/index_parts.sql");

/// Makes the index that a statement makes for every table that has rows; the statement does the rest. It can be repeated, and
/// does nothing for any other statement.
pub(super) async fn make_beside_writers(connection: &mut PgConnection, statement: &str) -> Result<(), sqlx::Error> {
    let parts: Vec<String> = sqlx::query_scalar(PARTS).bind(statement).fetch_all(&mut *connection).await?;
    if parts.is_empty() {
        return Ok(());
    }
    // It waits for transactions that are under way, and only other changes of the schema wait for it.
    set_patience(connection, "0").await?;
    let made = run_all(connection, parts).await;
    set_patience(connection, MOMENT).await?;
    made
}

/// Runs what the server has put together.
async fn run_all(connection: &mut PgConnection, parts: Vec<String>) -> Result<(), sqlx::Error> {
    for part in parts {
        sqlx::raw_sql(AssertSqlSafe(part)).execute(&mut *connection).await?;
    }
    Ok(())
}
