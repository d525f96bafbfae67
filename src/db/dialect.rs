//! The two databases, and what is run on them.
//!
//! What the engine may know about the database it runs on is [`Dialect`], and nothing else.

use std::future::Future;
#[cfg(feature = "postgres")]
use std::sync::Arc;

use ff_core::EngineError;
use ff_core::backend::BackendTag;
use ff_core::partition::PartitionConfig;
use ff_core::types::{BudgetId, FlowId, QuotaPolicyId};
use futures_core::future::BoxFuture;

use super::abort::Abort;
use super::migrate::error::MigrationError;
use super::wake::{Interest, Outbox, StreamKey, Wakes};
use crate::column::PartitionNumber;
use crate::model::manage::{Inspection, SchemaState};
#[cfg(feature = "postgres")]
use crate::statements::Listed;
use crate::statements::{Statement, Statements};

/// The server database.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone, Copy)]
pub struct Postgres;

/// The embedded database.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone, Copy)]
pub struct Sqlite;

/// One of the two databases. Only [`Sqlite`] and [`Postgres`] implement it.
///
/// Operations are generic over it and ask it for names and partitions; everything else that differs is
/// in the statements or behind [`Db`](super::Db).
pub trait Dialect: Sized + Send + Sync + 'static {
    /// The driver's connection, on which the generated statements run.
    type Connection: Statements + 'static;

    /// How connections are kept, and where reads, units and transactions run.
    type Store: Store<Self>;

    /// The name in errors, in `backend_label()` and in the family of the identity.
    const LABEL: &'static str;

    /// The mark in the handles that this backend makes.
    const TAG: BackendTag;

    /// The stage word of the identity, which callers compare.
    const STAGE: &'static str;

    /// What the capability flag of `claim_for_worker` says; the method works on both.
    const REPORTS_CLAIM_FOR_WORKER: bool;

    /// The first word of a revoked lease's synthetic id, `<word>:<uuid>:<attempt>:<epoch>`.
    const REVOKED_LEASE_PREFIX: &'static str;

    /// The words of the refusal to list workers across namespaces, which callers compare.
    const LIST_WORKERS_ACROSS_NAMESPACES: &'static str;

    /// What a reclaim that was refused because of its cap adds to the count it reports: 1 on Postgres, where
    /// callers expect the refused one to be counted, 0 on SQLite.
    const REFUSED_RECLAIM_COUNTS: u32;

    /// The only partition that holds flows and their members, and the words that refuse to join an execution of
    /// another one with an edge; none where each flow's own partition holds its members.
    const FLOW_MEMBERS_ONLY_IN: Option<(u16, &'static str)>;

    /// Whether calls in one transaction that one statement makes as well are tried as that one first. Postgres has tried it
    /// with those of others, where anything goes together.
    const TRIES_PLAINLY: bool;

    /// The refusals of a subscription to lease events.
    const SUBSCRIBE_LEASE_HISTORY: SubscriptionWords;

    /// The refusals of a subscription to completions.
    const SUBSCRIBE_COMPLETION: SubscriptionWords;

    /// The refusals of a subscription to deliveries of signals.
    const SUBSCRIBE_SIGNAL_DELIVERY: SubscriptionWords;

    /// Runs a statement, in steps where the tables are spread.
    fn run<'a, S: Statement>(
        connection: &'a mut Self::Connection,
        statement: &'a S,
    ) -> impl Future<Output = Result<S::Output, sqlx::Error>> + Send + 'a;

    /// Whether the same operation may succeed when it is run again at once.
    fn is_transient(error: &sqlx::Error) -> bool;

    /// Whether the database met a stored document that is not what its column is to hold.
    fn is_damage(error: &sqlx::Error) -> bool;

    /// The answer after the last attempt failed with a transient error.
    fn exhausted(last: sqlx::Error) -> EngineError;

    /// The partition of a flow's rows.
    fn flow_partition(id: &FlowId, config: &PartitionConfig) -> PartitionNumber;

    /// The partition of a budget's rows.
    fn budget_partition(id: &BudgetId, config: &PartitionConfig) -> PartitionNumber;

    /// The partitions in which budgets or quota policies are, where the engine numbers that many.
    fn counter_partitions(count: u16) -> impl Iterator<Item = PartitionNumber> + Send;

    /// The partition of the budgets and quota policies that callers ask for under a partition number; they
    /// number those of the engine, whatever this database has.
    fn counter_partition(index: PartitionNumber) -> PartitionNumber;

    /// The partition of a quota policy's rows.
    fn quota_partition(id: &QuotaPolicyId, config: &PartitionConfig) -> PartitionNumber;

    /// The partition of a worker instance's registration.
    fn worker_partition(worker_instance_id: &str) -> PartitionNumber;
}

/// What `in_steps!` does: the statement is that of its parameters, whose name stands there for readers.
pub(crate) async fn called<D: Dialect, S: Statement>(
    connection: &mut D::Connection,
    name: &'static str,
    statement: &S,
) -> Result<S::Output, sqlx::Error> {
    debug_assert_eq!(name, S::NAME, "a statement is called by its name");
    D::run(connection, statement).await
}

/// What a refused subscription says, in words that callers compare.
#[derive(Debug, Clone, Copy)]
pub struct SubscriptionWords {
    /// The operation that is not available while the end of the outbox cannot be found.
    pub(crate) unavailable: &'static str,
    /// The bytes are no cursor of this backend.
    pub(crate) foreign_cursor: &'static str,
}

/// Runs operations on connections. The engine never sees it; [`Db`](super::Db) does.
pub trait Store<D: Dialect>: Send + Sync + 'static {
    /// Runs an operation to its durable end: connection, transaction, retries, wake-ups.
    fn run<O: Operation<D>>(&self, operation: O) -> impl Future<Output = Result<O::Answer, EngineError>> + Send;

    /// The same for one that may go together with others of its kind that wait at the same moment.
    #[cfg(feature = "postgres")]
    fn run_combined<O: Combined<D>>(
        self: &Arc<Self>,
        operation: O,
    ) -> impl Future<Output = Result<O::Answer, EngineError>> + Send {
        self.run(operation)
    }

    /// Makes sure that other processes' frames of a stream arrive here while the answer lives.
    fn watch_stream(&self, key: StreamKey) -> impl Future<Output = Result<Option<Interest>, EngineError>> + Send;

    /// Makes sure that other processes' rows of an outbox are told of here while the answer lives.
    fn watch_outbox(&self, outbox: Outbox) -> impl Future<Output = Result<Option<Interest>, EngineError>> + Send;

    /// Makes sure that work which other processes bring is told of here while the answer lives.
    fn watch_work(&self) -> impl Future<Output = Result<Option<Interest>, EngineError>> + Send;

    /// Names the transactions under way that write to an outbox. One that is not named and has drawn an event
    /// id before the call has ended, and a read that begins after the call sees what it committed.
    fn writers(&self, outbox: Outbox) -> impl Future<Output = Result<Vec<String>, EngineError>> + Send;

    /// Whether the tables are spread over several nodes, where no statement locks rows before their partition is known.
    fn is_spread(&self) -> impl Future<Output = Result<bool, EngineError>> + Send;

    /// Tells whoever watches how many connections there are, or how long the log is.
    fn measure(&self);

    /// Which versions of the schema the database has.
    fn schema_state(&self) -> impl Future<Output = Result<SchemaState, MigrationError>> + Send;

    /// What the database says of itself.
    fn inspect(&self) -> impl Future<Output = Result<Inspection, EngineError>> + Send;

    /// Describes the transactions under way that write to an outbox, the oldest first, to whoever has to end one.
    fn holders(&self, outbox: Outbox) -> impl Future<Output = Result<Vec<String>, EngineError>> + Send;
}

/// What an operation needs from the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads; no transaction.
    Read,
    /// Reads every partition; nothing is written.
    Survey,
    /// One call that is atomic by itself.
    Unit,
    /// Several calls in one transaction.
    Write,
}

/// How long an operation waits for rows that somebody else holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As long as the connection is set to, and then again.
    Caller,
    /// A moment, once: it is one of many, and comes again.
    Sweep,
}

/// Something to run through the door.
pub trait Operation<D: Dialect>: Send + Sync + 'static {
    /// What it answers.
    type Answer: Send + 'static;

    /// Its name in spans, logs and faults.
    fn name(&self) -> &'static str;

    /// What it needs.
    fn kind(&self) -> Kind;

    /// Whether it is one statement that takes several steps where the tables are spread.
    fn takes_steps(&self) -> bool {
        false
    }

    /// How long it waits for others.
    fn patience(&self) -> Patience;

    /// Runs it once.
    fn run<'a>(&'a self, connection: &'a mut D::Connection) -> BoxFuture<'a, Result<Self::Answer, Abort>>;

    /// Lists what to tell after the commit.
    fn wakes(&self, answer: &Self::Answer, wakes: &mut Wakes);
}

/// An operation that may go together with others of its kind.
#[cfg(feature = "postgres")]
pub trait Combined<D: Dialect>: Operation<D> {
    /// The call that it makes with others.
    type Params: Combines;

    /// The call that it makes with others.
    fn params(&self) -> &Self::Params;

    /// Its answer of what that call gave; none where it has to run alone.
    fn answered(&self, output: <Self::Params as Statement>::Output) -> Option<Self::Answer>;
}

/// When the server plans a statement.
#[cfg(feature = "postgres")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plans {
    /// At each call, for the values given: it reads tables with partitions, of which a plan for any values locks all.
    EachTime,
    /// Once per connection, as those over many rows are: it inserts into tables with partitions and reads none, so any
    /// values have the same plan.
    Once,
}

/// A call of which Postgres makes several in one statement.
#[cfg(feature = "postgres")]
pub trait Combines: Listed<Output: 'static, Group: 'static> + 'static {}

#[cfg(feature = "postgres")]
impl<P: Listed<Output: 'static, Group: 'static> + 'static> Combines for P {}
