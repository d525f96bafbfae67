//! Postgres: a pool, one statement per unit, messages between processes.
//!
//! This module opens connections, keeps them between operations ([`warm`](super::warm)), names the
//! dialect, and says which errors are transient.
//!
//! Every statement is planned for the values given, which reaches one partition at once and takes a
//! tenth of a millisecond or two. Left to itself the server also makes a general plan of every statement
//! on every connection to compare: over 256 partitions that takes up to a second, and the plan stays in
//! memory whether it is used or not.
//!
//! No table is kept apart from others by its checks, so the server does not read them to plan (`constraint_exclusion`).
//!
//! Bitmap scans are off: before a table has statistics the server takes a claim's index for one that finds a
//! single row, reads all that wait, and sorts them. Without bitmaps it reads the first row in the index's order.

use std::ops::Range;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use ff_core::EngineError;
use ff_core::backend::{BackendTag, PostgresConnection};
use ff_core::engine_error::ContentionKind;
use ff_core::partition::{self, PartitionConfig};
use ff_core::types::{BudgetId, FlowId, QuotaPolicyId};
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use tracing::Instrument as _;

use super::dialect::{Dialect, Store, SubscriptionWords};
use super::fault::Step;
use super::listen::Listener;
use super::notify::Notifier;
use super::tx::{Attempts, Kind, Operation, Surroundings, span, survey, transact};
use super::wake::{Interest, Outbox, StreamKey};
use super::warm::Warm;
use crate::error::{Abort, transport};
use crate::statements::event::EventWritersParams;
use crate::statements::pg_only;

/// How many prepared statements a connection keeps: more than there are.
const STATEMENT_CACHE: usize = 512;

/// How long a pooled connection may have been idle before it is asked for a sign of life.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// The setting that keeps the notify triggers quiet on a connection, and its value.
const WAKEUPS: (&str, &str) = ("ff_sql.wakeups", "after_commit");

/// What every connection is set to: see the module's text; compiling plans never pays off for point statements.
const SETTINGS: [(&str, &str); 5] = [
    WAKEUPS,
    ("plan_cache_mode", "force_custom_plan"),
    ("constraint_exclusion", "off"),
    ("enable_bitmapscan", "off"),
    ("jit", "off"),
];

/// What is said of bytes that are no cursor of an outbox.
const FOREIGN_CURSOR: &str = "stream_subscribe: cursor does not belong to the Postgres backend";

/// The number of worker registry partitions.
const WORKER_PARTITIONS: u64 = 256;

/// The server database.
#[derive(Debug, Clone, Copy)]
pub struct Postgres;

impl Dialect for Postgres {
    type Connection = PgConnection;
    type Store = PgStore;

    const LABEL: &'static str = "postgres";
    const TAG: BackendTag = BackendTag::Postgres;
    const STAGE: &'static str = "E-shipped";
    const REPORTS_CLAIM_FOR_WORKER: bool = true;
    const REVOKED_LEASE_PREFIX: &'static str = "pg";
    const LIST_WORKERS_ACROSS_NAMESPACES: &'static str =
        "list_workers (cross-namespace on Postgres — pass namespace explicitly)";
    const REFUSED_RECLAIM_COUNTS: u32 = 1;
    const SUBSCRIBE_LEASE_HISTORY: SubscriptionWords =
        SubscriptionWords { unavailable: "pg.subscribe_lease_history", foreign_cursor: FOREIGN_CURSOR };
    const SUBSCRIBE_COMPLETION: SubscriptionWords =
        SubscriptionWords { unavailable: "pg.subscribe_completions (max(event_id))", foreign_cursor: FOREIGN_CURSOR };
    const SUBSCRIBE_SIGNAL_DELIVERY: SubscriptionWords =
        SubscriptionWords { unavailable: "pg.subscribe_signal_delivery", foreign_cursor: FOREIGN_CURSOR };
    const FLOW_MEMBERS_ONLY_IN: Option<(u16, &'static str)> = None;

    fn is_transient(error: &sqlx::Error) -> bool {
        let code = error.as_database_error().and_then(DatabaseError::code);
        matches!(code.as_deref(), Some("40001" | "40P01" | "55P03"))
    }

    /// What the JSON functions refuse: a scalar where they need an object, and the codes of SQL/JSON.
    fn is_damage(error: &sqlx::Error) -> bool {
        let code = error.as_database_error().and_then(DatabaseError::code);
        code.is_some_and(|code| code == "22023" || code.starts_with("2203"))
    }

    fn exhausted(_: sqlx::Error) -> EngineError {
        EngineError::Contention(ContentionKind::RetryExhausted)
    }

    fn flow_partition(id: &FlowId, config: &PartitionConfig) -> i16 {
        stored(partition::flow_partition(id, config).index)
    }

    fn budget_partition(id: &BudgetId, config: &PartitionConfig) -> i16 {
        stored(partition::budget_partition(id, config).index)
    }

    fn quota_partition(id: &QuotaPolicyId, config: &PartitionConfig) -> i16 {
        stored(partition::quota_partition(id, config).index)
    }

    fn counter_partitions(count: u16) -> Range<i16> {
        0..stored(count)
    }

    fn counter_partition(index: i16) -> i16 {
        index
    }

    fn worker_partition(worker_instance_id: &str) -> i16 {
        let partition = fnv1a_64(worker_instance_id.as_bytes()) % WORKER_PARTITIONS;
        i16::try_from(partition).unwrap_or_default() // tidy: below 256
    }
}

/// A partition number as the tables hold it. Their column ends at 32,767; there are 256 partitions.
fn stored(index: u16) -> i16 {
    i16::try_from(index).unwrap_or(i16::MAX) // tidy: a number from the configuration
}

/// The 64-bit FNV-1a hash, which is the same in every build.
fn fnv1a_64(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// Opens a pool whose connections leave wake-ups to this process.
///
/// # Errors
/// The driver's error when the URL cannot be read or the server cannot be reached.
pub(crate) async fn open_pool(config: &PostgresConnection) -> Result<PgPool, sqlx::Error> {
    let options = PgConnectOptions::from_str(&config.url)?
        .statement_cache_capacity(STATEMENT_CACHE)
        .options(SETTINGS)
        .disable_statement_logging();
    PgPoolOptions::new()
        .max_connections(config.max_connections)
        .min_connections(config.min_connections)
        .acquire_timeout(config.acquire_timeout)
        .test_before_acquire(false)
        .before_acquire(|connection, about| {
            Box::pin(async move {
                if about.idle_for > TRUSTED_IDLE && connection.ping().await.is_err() {
                    return Ok(false);
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await
}

/// The connections to one database, and what carries wake-ups to and from it.
pub struct PgStore {
    pool: PgPool,
    warm: Warm,
    listener: Arc<Listener>,
    around: Surroundings,
}

impl PgStore {
    /// Uses a pool. Needs a tokio runtime, on which its tasks live until the store is dropped.
    pub(crate) fn new(pool: PgPool, around: Surroundings) -> Self {
        let listener = Arc::new(Listener::spawn(pool.clone(), around.channels.clone()));
        Self { warm: Warm::new(pool.clone()), listener, pool, around }
    }

    /// The pool.
    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }
}

/// The way out for wake-ups of a pool whose connections keep the notify triggers quiet.
pub(crate) fn courier(pool: &PgPool) -> Arc<Notifier> {
    Arc::new(Notifier::spawn(pool.clone()))
}

impl PgStore {
    async fn once<O: Operation<Postgres>>(&self, operation: &O) -> Result<O::Answer, Abort> {
        let mut connection = self.warm.take().await?;
        let ended = match operation.kind() {
            Kind::Write => transact(&self.around.faults, connection.get()?, operation).await,
            Kind::Survey => survey(&self.around.faults, connection.get()?, operation).await,
            Kind::Read | Kind::Unit => {
                self.around.faults.check(Step::Run, operation.name())?;
                self.around.faults.watch(operation.name(), operation.run(connection.get()?)).await
            }
        };
        // A connection whose server answered, with rows or with an error, is good for the next operation.
        // Any other is closed, also when nobody waits for the answer any more.
        if matches!(&ended, Ok(_) | Err(Abort::Engine(_) | Abort::Driver(sqlx::Error::Database(_)))) {
            connection.keep();
        }
        ended
    }
}

impl Store<Postgres> for PgStore {
    async fn run<O: Operation<Postgres>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        let span = span::<Postgres>(operation.name(), operation.kind());
        let mut attempts = Attempts::new();
        loop {
            let ended = self.once(&operation).instrument(span.clone()).await;
            if let Some(answer) = attempts.judge::<Postgres, O>(&self.around, &operation, ended).await {
                return answer;
            }
        }
    }

    async fn watch_stream(&self, key: StreamKey) -> Result<Option<Interest>, EngineError> {
        let interest = self.listener.stream(key).await.map_err(transport::<Postgres>)?;
        Ok(Some(Arc::new(interest)))
    }

    async fn watch_outbox(&self, outbox: Outbox) -> Result<Option<Interest>, EngineError> {
        let interest = self.listener.outbox(outbox).await.map_err(transport::<Postgres>)?;
        Ok(interest.map(|interest| Arc::new(interest) as Interest))
    }

    async fn writers(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        let params = EventWritersParams { outbox: outbox.table().to_owned() };
        let asked = async {
            let mut connection = self.warm.take().await?;
            let rows = pg_only::event_writers(connection.get()?, &params).await?;
            connection.keep();
            Ok::<_, sqlx::Error>(rows)
        };
        let rows = asked.await.map_err(transport::<Postgres>)?;
        Ok(rows.into_iter().map(|row| row.transaction_name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_partitions_are_those_of_existing_registrations() {
        assert_eq!(fnv1a_64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a_64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Postgres::worker_partition("a"), 0x8c);
    }

    #[test]
    fn an_error_without_a_server_behind_it_is_not_transient() {
        assert!(!Postgres::is_transient(&sqlx::Error::PoolTimedOut));
    }
}
