//! SQLite: one writer, several readers, one process.
//!
//! Writes go to the writer's thread ([`tx::group`](super::tx)), reads to connections of their own, which
//! WAL lets work beside the writer. A database in memory has no WAL; there, reads go to the writer too,
//! so that nobody meets a locked table. This module opens connections and names what is particular.

use std::sync::OnceLock;

use ff_core::EngineError;
use ff_core::backend::BackendTag;
use ff_core::partition::PartitionConfig;
use ff_core::types::{BudgetId, FlowId, QuotaPolicyId};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection as _, SqlitePool};

use super::dialect::{Dialect, Kind, Operation, Sqlite, Store, SubscriptionWords};
use super::executor::block_on;
use super::inspect;
use super::migrate::{MigrationError, sqlite_index_names, sqlite_schema_state};
use super::opening::{Opening, primary_code};
use super::readers::Readers;
use super::tx::Surroundings;
use super::tx::group::Writer;
use super::wake::{Interest, Outbox, StreamKey};
use crate::column::PartitionNumber;
use crate::db::error::transport;
use crate::metric;
use crate::model::manage::{Inspection, SchemaState};
use crate::statements::Statement;

impl Dialect for Sqlite {
    type Connection = SqliteConnection;
    type Store = SqliteStore;

    const LABEL: &'static str = "sqlite";
    const TAG: BackendTag = BackendTag::Sqlite;
    const STAGE: &'static str = "Phase-4";
    const REPORTS_CLAIM_FOR_WORKER: bool = false;
    const REVOKED_LEASE_PREFIX: &'static str = "sqlite";
    const LIST_WORKERS_ACROSS_NAMESPACES: &'static str =
        "list_workers (cross-namespace on SQLite — pass namespace explicitly)";
    const REFUSED_RECLAIM_COUNTS: u32 = 0;
    const TRIES_PLAINLY: bool = true;
    const SUBSCRIBE_LEASE_HISTORY: SubscriptionWords = SubscriptionWords {
        unavailable: "sqlite.subscribe_lease_history",
        foreign_cursor: "invalid event_id cursor for sqlite.subscribe_lease_history",
    };
    const SUBSCRIBE_COMPLETION: SubscriptionWords = SubscriptionWords {
        unavailable: "sqlite.subscribe_completion",
        foreign_cursor: "invalid event_id cursor for sqlite.subscribe_completion",
    };
    const SUBSCRIBE_SIGNAL_DELIVERY: SubscriptionWords = SubscriptionWords {
        unavailable: "sqlite.subscribe_signal_delivery",
        foreign_cursor: "invalid event_id cursor for sqlite.subscribe_signal_delivery",
    };
    const FLOW_MEMBERS_ONLY_IN: Option<(u16, &'static str)> =
        Some((0, "execution partition mismatch under single-writer SQLite"));

    fn run<'a, S: Statement>(
        connection: &'a mut SqliteConnection,
        statement: &'a S,
    ) -> impl Future<Output = Result<S::Output, sqlx::Error>> + Send + 'a {
        statement.run(connection)
    }

    fn is_transient(error: &sqlx::Error) -> bool {
        matches!(primary_code(error), Some(5 | 6))
    }

    fn is_damage(error: &sqlx::Error) -> bool {
        error.as_database_error().is_some_and(|error| error.message().contains("malformed JSON"))
    }

    fn exhausted(last: sqlx::Error) -> EngineError {
        transport::<Self>(last)
    }

    fn flow_partition(_: &FlowId, _: &PartitionConfig) -> PartitionNumber {
        PartitionNumber::ONLY
    }

    fn budget_partition(_: &BudgetId, _: &PartitionConfig) -> PartitionNumber {
        PartitionNumber::ONLY
    }

    fn quota_partition(_: &QuotaPolicyId, _: &PartitionConfig) -> PartitionNumber {
        PartitionNumber::ONLY
    }

    fn counter_partitions(_: u16) -> impl Iterator<Item = PartitionNumber> + Send {
        PartitionNumber::first(1)
    }

    fn counter_partition(_: PartitionNumber) -> PartitionNumber {
        PartitionNumber::ONLY
    }

    fn worker_partition(_: &str) -> PartitionNumber {
        PartitionNumber::ONLY
    }
}

/// The connections to one database.
pub struct SqliteStore {
    writer: Writer,
    readers: Option<Readers>,
    pool: OnceLock<SqlitePool>,
    /// What keeps a database in memory alive while other connections come and go.
    sentinel: Option<SqliteConnection>,
    opening: Opening,
}

impl SqliteStore {
    /// Starts the writer. `first` is the connection that made the database: it stays where nothing else would
    /// keep the data, and is closed where the writer's own has taken its place.
    pub(crate) async fn new(
        opening: Opening,
        first: SqliteConnection,
        around: Surroundings,
    ) -> Result<Self, sqlx::Error> {
        let writer = Writer::start(opening.clone(), around.clone()).await?;
        let (readers, sentinel) = if opening.is_in_memory() {
            (None, Some(first))
        } else {
            first.close().await?;
            (Some(Readers::new(opening.clone(), around)), None)
        };
        Ok(Self { writer, readers, pool: OnceLock::new(), sentinel, opening })
    }

    /// A pool of further connections for whoever looks at the tables by hand; made when first asked for.
    pub(crate) fn pool(&self) -> &SqlitePool {
        self.pool.get_or_init(|| self.opening.pool())
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.writer.stop();
        self.readers = None;
        if let Some(Err(error)) = self.sentinel.take().map(|sentinel| block_on(sentinel.close())) {
            tracing::warn!(%error, "the database in memory did not close cleanly");
        }
    }
}

impl Store<Sqlite> for SqliteStore {
    async fn run<O: Operation<Sqlite>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        match (&self.readers, operation.kind()) {
            (Some(readers), Kind::Read | Kind::Survey) => {
                let answer = readers.run(operation).await;
                if let Some(log) = self.writer.log() {
                    log.reached().await?;
                }
                answer
            }
            _ => self.writer.run(operation).await,
        }
    }

    async fn watch_stream(&self, _: StreamKey) -> Result<Option<Interest>, EngineError> {
        Ok(None)
    }

    async fn watch_outbox(&self, _: Outbox) -> Result<Option<Interest>, EngineError> {
        Ok(None)
    }

    /// Who waits is in this process; other processes bring their work without a word.
    async fn watch_work(&self) -> Result<Option<Interest>, EngineError> {
        Ok(None)
    }

    fn measure(&self) {
        if let Some(bytes) = self.opening.log_bytes() {
            metric::logged(bytes);
        }
    }

    /// Never: a database is one file.
    async fn is_spread(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    async fn schema_state(&self) -> Result<SchemaState, MigrationError> {
        let mut connection = self.opening.reader().await?;
        let state = sqlite_schema_state(&mut connection).await;
        connection.close().await?;
        state
    }

    async fn inspect(&self) -> Result<Inspection, EngineError> {
        let asked = async {
            let mut connection = self.opening.reader().await?;
            let said = inspect::sqlite(&mut connection, sqlite_index_names(), self.opening.log_bytes()).await;
            connection.close().await?;
            said
        };
        asked.await.map_err(transport::<Sqlite>)
    }

    /// Nobody: with a single writer, rows appear in the order of their ids.
    async fn writers(&self, _: Outbox) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    /// As [`writers`](Store::writers).
    async fn holders(&self, _: Outbox) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::error::{coded, shared};

    #[test]
    fn busy_and_locked_are_transient_with_any_extended_code() {
        for code in ["5", "6", "261", "517", "773", "262", "518"] {
            assert!(Sqlite::is_transient(&coded(code)), "{code}");
        }
        for code in ["11", "13", "21", "266", "2067", "x"] {
            assert!(!Sqlite::is_transient(&coded(code)), "{code}");
        }
        assert!(!Sqlite::is_transient(&sqlx::Error::PoolTimedOut));
    }

    #[test]
    fn a_shared_error_is_judged_and_reads_like_the_first() {
        let first = coded("5");
        let second = shared(&first);
        assert!(Sqlite::is_transient(&second));
        assert_eq!(second.to_string(), first.to_string());
    }
}
