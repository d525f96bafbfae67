//! Postgres: a pool, one statement per unit, messages between processes.
//!
//! This module names the dialect, says which errors are transient, and runs operations on connections, which
//! [`session`](super::session) opens and [`warm`](super::warm) keeps between operations.
//!
//! A connection that the server ends, or whose server takes no writes any more, is closed. What was under way on it is
//! done again on another one where it cannot have happened: a read, a transaction whose commit was not asked for, a
//! statement that the server says it has not carried out.
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

use std::sync::Arc;

use ff_core::EngineError;
use ff_core::backend::BackendTag;
use ff_core::engine_error::ContentionKind;
use ff_core::partition::{self, PartitionConfig};
use ff_core::types::{BudgetId, FlowId, QuotaPolicyId};
use sqlx::error::DatabaseError;
use sqlx::postgres::{PgConnection, PgPool};
use tokio::sync::OnceCell;
use tracing::Instrument as _;

use super::dialect::{
    Combined, Combines, Dialect, Kind, Operation, Patience, Plans, Postgres, Store, SubscriptionWords,
};
use super::fault::Step;
use super::in_steps;
use super::inspect;
use super::is_sweeping;
use super::listen::Listener;
use super::migrate::{MigrationError, pg_index_names, pg_schema_state};
use super::notify::Notifier;
use super::session::{combines, is_gone, is_refused, is_spoilt, is_uncommitted, sweeping_pool};
use super::tx::combine::{Carrier, Lines, Outputs, Uncarried, combine};
use super::tx::{Attempts, Surroundings, Unfinished, span, survey, transact};
use super::wake::{Interest, Outbox, StreamKey};
use super::warm::Warm;
use crate::column::PartitionNumber;
use crate::db::error::{Abort, transport};
use crate::metric;
use crate::model::manage::{Inspection, SchemaState};
use crate::statements::event::{EventHoldersParams, EventWritersParams};
use crate::statements::{self, Statement, pg_only};

/// A wait for somebody's row or table that took longer than it may.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// A function that the schema does not have.
const UNDEFINED_FUNCTION: &str = "42883";

/// What is said of bytes that are no cursor of an outbox.
const FOREIGN_CURSOR: &str = "stream_subscribe: cursor does not belong to the Postgres backend";

/// The number of worker registry partitions.
const WORKER_PARTITIONS: u64 = 256;

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
    const TRIES_PLAINLY: bool = false;
    const SUBSCRIBE_LEASE_HISTORY: SubscriptionWords =
        SubscriptionWords { unavailable: "pg.subscribe_lease_history", foreign_cursor: FOREIGN_CURSOR };
    const SUBSCRIBE_COMPLETION: SubscriptionWords =
        SubscriptionWords { unavailable: "pg.subscribe_completions (max(event_id))", foreign_cursor: FOREIGN_CURSOR };
    const SUBSCRIBE_SIGNAL_DELIVERY: SubscriptionWords =
        SubscriptionWords { unavailable: "pg.subscribe_signal_delivery", foreign_cursor: FOREIGN_CURSOR };
    const FLOW_MEMBERS_ONLY_IN: Option<(u16, &'static str)> = None;

    async fn run<'a, S: Statement>(
        connection: &'a mut PgConnection,
        statement: &'a S,
    ) -> Result<S::Output, sqlx::Error> {
        if !in_steps::is_spread() {
            return statement.run(connection).await;
        }
        statement.run(&mut statements::in_steps::Connection::from(connection)).await
    }

    fn is_transient(error: &sqlx::Error) -> bool {
        let code = error.as_database_error().and_then(DatabaseError::code);
        matches!(code.as_deref(), Some("40001" | "40P01" | LOCK_NOT_AVAILABLE))
    }

    /// What the JSON functions refuse: a scalar where they need an object, and the codes of SQL/JSON.
    fn is_damage(error: &sqlx::Error) -> bool {
        let code = error.as_database_error().and_then(DatabaseError::code);
        code.is_some_and(|code| code == "22023" || code.starts_with("2203"))
    }

    fn exhausted(_: sqlx::Error) -> EngineError {
        EngineError::Contention(ContentionKind::RetryExhausted)
    }

    fn flow_partition(id: &FlowId, config: &PartitionConfig) -> PartitionNumber {
        PartitionNumber::configured(partition::flow_partition(id, config).index)
    }

    fn budget_partition(id: &BudgetId, config: &PartitionConfig) -> PartitionNumber {
        PartitionNumber::configured(partition::budget_partition(id, config).index)
    }

    fn quota_partition(id: &QuotaPolicyId, config: &PartitionConfig) -> PartitionNumber {
        PartitionNumber::configured(partition::quota_partition(id, config).index)
    }

    fn counter_partitions(count: u16) -> impl Iterator<Item = PartitionNumber> + Send {
        PartitionNumber::first(count)
    }

    fn counter_partition(index: PartitionNumber) -> PartitionNumber {
        index
    }

    fn worker_partition(worker_instance_id: &str) -> PartitionNumber {
        let partition = fnv1a_64(worker_instance_id.as_bytes()) % WORKER_PARTITIONS;
        PartitionNumber::configured(u16::try_from(partition).unwrap_or_default()) // tidy: below 256
    }
}

/// The 64-bit FNV-1a hash, which is the same in every build.
fn fnv1a_64(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// The connections to one database, and what carries wake-ups to and from it.
pub struct PgStore {
    pool: PgPool,
    /// The queues of what goes together.
    lines: Lines,
    /// Whether anything does; otherwise every operation runs alone.
    combines: bool,
    warm: Warm,
    /// The one connection of the sweeps. They look at every partition of every table, and what the server knows of these, and
    /// plans for all of them, stays in its memory for as long as the connection lasts: some 100 MB. None over a pool that
    /// somebody else made.
    sweeping: Option<Warm>,
    /// Whether the tables are spread over several nodes, once a server has said it.
    spread: OnceCell<bool>,
    listener: Arc<Listener>,
    around: Surroundings,
}

impl PgStore {
    /// Uses a pool. Needs a tokio runtime, on which its tasks live until the store is dropped.
    pub(crate) fn new(pool: PgPool, around: Surroundings) -> Self {
        let listener = Arc::new(Listener::spawn(pool.clone(), around.channels.clone()));
        let combines = combines(&pool);
        Self {
            sweeping: sweeping_pool(&pool).map(Warm::new),
            warm: Warm::new(pool.clone()),
            lines: Lines::default(),
            combines,
            spread: OnceCell::new(),
            listener,
            pool,
            around,
        }
    }

    /// The pool.
    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// The pool of the sweeps' own connection, if they have one.
    pub(crate) fn sweeping_pool(&self) -> Option<&PgPool> {
        self.sweeping.as_ref().map(Warm::pool)
    }
}

/// The way out for wake-ups of a pool whose connections keep the notify triggers quiet.
pub(crate) fn courier(pool: &PgPool) -> Arc<Notifier> {
    Arc::new(Notifier::spawn(pool.clone()))
}

/// How a run of an operation ended.
struct Run<T> {
    ended: Result<T, Abort>,
    /// Whether the connection was lost and nothing happened, so that another one may do it.
    may_go_elsewhere: bool,
}

impl PgStore {
    async fn once<O: Operation<Postgres>>(&self, operation: &O) -> Run<O::Answer> {
        let warm = self.connections();
        let mut connection = match warm.take(Plans::EachTime).await {
            Ok(connection) => connection,
            Err(error) => return Run { ended: Err(error.into()), may_go_elsewhere: false },
        };
        let ended = match connection.get() {
            Ok(connection) if self.spread.get() == Some(&true) => {
                in_steps::spread(self.run_on(connection, operation)).await
            }
            Ok(connection) => self.run_on(connection, operation).await,
            Err(error) => Err(error.into()),
        };
        match ended {
            Ok(answer) => {
                connection.keep();
                Run { ended: Ok(answer), may_go_elsewhere: false }
            }
            Err(Unfinished { abort: Abort::Driver(error), is_committing }) if is_gone(&error) => {
                drop(connection);
                warm.distrust();
                let is_undone = match operation.kind() {
                    Kind::Read | Kind::Survey => true,
                    Kind::Unit if operation.patience() == Patience::Caller => is_refused(&error),
                    Kind::Unit | Kind::Write => !is_committing || is_uncommitted(&error),
                };
                Run { ended: Err(Abort::Driver(error)), may_go_elsewhere: is_undone }
            }
            Err(Unfinished { abort, .. }) => {
                // Dropped, a connection is closed, also when nobody waits for the answer any more.
                if !matches!(&abort, Abort::Driver(error) if is_spoilt(error)) {
                    connection.keep();
                }
                Run { ended: Err(abort), may_go_elsewhere: false }
            }
        }
    }

    /// The connections that this task's operations run on. Who has closed the pool wants nothing swept any more.
    fn connections(&self) -> &Warm {
        match &self.sweeping {
            Some(theirs) if is_sweeping() && !self.pool.is_closed() => theirs,
            _ => &self.warm,
        }
    }

    async fn run_on<O: Operation<Postgres>>(
        &self,
        connection: &mut PgConnection,
        operation: &O,
    ) -> Result<O::Answer, Unfinished> {
        let faults = &self.around.faults;
        match (operation.kind(), operation.patience()) {
            (Kind::Write, _) | (Kind::Unit, Patience::Sweep) => transact(faults, connection, operation).await,
            (Kind::Unit, Patience::Caller) if in_steps::is_spread() && operation.takes_steps() => {
                transact(faults, connection, operation).await
            }
            // Citus plans what goes to several shards for its values alone.
            (Kind::Survey, _) if self.spread.get() != Some(&true) => Ok(survey(faults, connection, operation).await?),
            (Kind::Read | Kind::Survey, _) | (Kind::Unit, Patience::Caller) => {
                faults.pass(Step::Run, operation.name()).await?;
                Ok(faults.watch(operation.name(), operation.run(connection)).await?)
            }
        }
    }
}

impl Carrier for PgStore {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    fn around(&self) -> &Surroundings {
        &self.around
    }

    async fn run_many<P: Combines>(&self, name: &'static str, members: &[&P]) -> Result<Outputs<P>, Uncarried> {
        let mut connection = self.warm.take(Plans::Once).await.map_err(Uncarried::Failed)?;
        let faults = &self.around.faults;
        let ran = async {
            faults.pass(Step::Run, name).await?;
            let connection = connection.get()?;
            faults.watch(name, P::run_list(members, connection)).await
        };
        match ran.await {
            Ok(answers) => {
                connection.keep();
                Ok(answers)
            }
            Err(error) => {
                if is_gone(&error) {
                    self.warm.distrust();
                } else if !is_spoilt(&error) {
                    connection.keep();
                }
                Err(if is_refused(&error) { Uncarried::Undone } else { Uncarried::Failed(error) })
            }
        }
    }
}

impl PgStore {
    /// A database whose schema is older than the question is on one node.
    async fn ask_whether_spread(&self) -> Result<bool, sqlx::Error> {
        let mut connection = self.warm.take(Plans::EachTime).await?;
        let answer = pg_only::server_is_spread(connection.get()?).await;
        let answer = match answer {
            Ok(row) => row.is_spread,
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(UNDEFINED_FUNCTION) => false,
            Err(error) => return Err(error),
        };
        connection.keep();
        Ok(answer)
    }
}

/// Whether a sweep's wait for somebody's row is over.
fn is_held(ended: &Abort) -> bool {
    let Abort::Driver(error) = ended else { return false };
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

impl Store<Postgres> for PgStore {
    async fn run_combined<O: Combined<Postgres>>(self: &Arc<Self>, operation: O) -> Result<O::Answer, EngineError> {
        // A sweep's goes on the sweeps' connection.
        if self.combines && !is_sweeping() && !self.is_spread().await? {
            return combine(self, operation).await;
        }
        self.run(operation).await
    }

    async fn run<O: Operation<Postgres>>(&self, operation: O) -> Result<O::Answer, EngineError> {
        let span = span::<Postgres>(operation.name(), operation.kind(), operation.patience());
        let mut attempts = Attempts::new();
        if matches!(operation.kind(), Kind::Survey | Kind::Write) || operation.takes_steps() {
            self.is_spread().await?;
        }
        loop {
            let run = self.once(&operation).instrument(span.clone()).await;
            if run.may_go_elsewhere && attempts.goes_on().await {
                continue;
            }
            if operation.patience() == Patience::Sweep && run.ended.as_ref().is_err_and(is_held) {
                return Err(EngineError::Contention(ContentionKind::RetryExhausted));
            }
            if let Some(answer) = attempts.judge::<Postgres, O>(&self.around, &operation, run.ended).await {
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

    async fn watch_work(&self) -> Result<Option<Interest>, EngineError> {
        let interest = self.listener.work().await.map_err(transport::<Postgres>)?;
        Ok(Some(Arc::new(interest)))
    }

    fn measure(&self) {
        metric::connected(self.pool.size(), self.pool.num_idle());
    }

    async fn writers(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        let params = EventWritersParams { outbox: outbox.table().to_owned() };
        let asked = async {
            let mut connection = self.warm.take(Plans::EachTime).await?;
            let rows = pg_only::event_writers(connection.get()?, &params).await?;
            connection.keep();
            Ok::<_, sqlx::Error>(rows)
        };
        let rows = asked.await.map_err(transport::<Postgres>)?;
        Ok(rows.into_iter().map(|row| row.transaction_name).collect())
    }

    async fn is_spread(&self) -> Result<bool, EngineError> {
        let mut attempts = Attempts::new();
        loop {
            match self.spread.get_or_try_init(|| self.ask_whether_spread()).await {
                Ok(is_spread) => return Ok(*is_spread),
                Err(error) if is_gone(&error) && attempts.goes_on().await => self.warm.distrust(),
                Err(error) => return Err(transport::<Postgres>(error)),
            }
        }
    }

    async fn schema_state(&self) -> Result<SchemaState, MigrationError> {
        let mut connection = self.pool.acquire().await?;
        pg_schema_state(&mut connection).await
    }

    async fn inspect(&self) -> Result<Inspection, EngineError> {
        let asked = async {
            let mut connection = self.warm.take(Plans::EachTime).await?;
            let said = inspect::postgres(connection.get()?, pg_index_names()).await?;
            connection.keep();
            Ok::<_, sqlx::Error>(said)
        };
        asked.await.map_err(transport::<Postgres>)
    }

    async fn holders(&self, outbox: Outbox) -> Result<Vec<String>, EngineError> {
        let params = EventHoldersParams { outbox: outbox.table().to_owned() };
        let asked = async {
            let mut connection = self.warm.take(Plans::EachTime).await?;
            let rows = pg_only::event_holders(connection.get()?, &params).await?;
            connection.keep();
            Ok::<_, sqlx::Error>(rows)
        };
        let rows = asked.await.map_err(transport::<Postgres>)?;
        Ok(rows.into_iter().map(|row| row.holder).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_partitions_are_those_of_existing_registrations() {
        assert_eq!(fnv1a_64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a_64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Postgres::worker_partition("a"), 0x8c.into());
    }

    #[test]
    fn an_error_without_a_server_behind_it_is_not_transient() {
        assert!(!Postgres::is_transient(&sqlx::Error::PoolTimedOut));
    }
}
