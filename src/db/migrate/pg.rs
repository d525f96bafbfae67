//! Brings a Postgres database to the current schema.
//!
//! One process at a time: the run holds the advisory lock that sqlx's own migrator takes for the
//! database, so it also excludes the older backends. A file runs in one transaction with its ledger
//! row, except where its first line asks for a commit after each statement, because all of them
//! together would need more locks than a server with default settings has. The statements of such a
//! file can be repeated, so a run that was interrupted in the middle is continued by the next one.
//!
//! In such a file an index is made beside writers, where its table has rows (see [`super::index`]).
//!
//! Whoever waits for a table to itself keeps everybody waiting who comes for that table later. So a statement waits for a
//! moment only; then it lets those pass who came after it, and tries again until whoever is in the table has left. A
//! long read, a dump say, delays the run and nobody else.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use sqlx::migrate::{Migrate, MigrateError};
use sqlx::pool::PoolConnection;
use sqlx::{Acquire, PgConnection, PgPool, Postgres};

use super::error::MigrationError;
use super::index::make_beside_writers;
use super::index_names::IndexNames;
use super::ledger::{self, LEDGER_TABLE, POSTGRES, Step, checksum, nanoseconds_since, warn_of_unknown};
use super::patience::{MOMENT, Turns, set_patience};
use super::split::statements;
use crate::model::manage::SchemaState;

const CHECKSUMS: &str = include_str!("../../../schema/ledger/pg/checksums.txt");
const CREATE_ADDITIONS: &str = include_str!("../../../schema/ledger/pg/additions_create.sql");
const LIST_ADDITIONS: &str = include_str!("../../../schema/ledger/pg/additions_list.sql");
const RECORD_ADDITION: &str = include_str!("../../../schema/ledger/pg/addition_record.sql");
const RECORD_VERSION: &str = include_str!("../../../schema/ledger/pg/version_record.sql");
const REPARTITION: &str = include_str!("../../../schema/ledger/pg/repartition.sql");
const SPREAD: &str = include_str!("../../../schema/ledger/pg/spread.sql");
const SPREAD_POSSIBLE: &str = include_str!("../../../schema/ledger/pg/spread_possible.sql");
const SET_SHARDS: &str = include_str!("../../../schema/ledger/pg/spread_shards.sql");
const SET_PARTITIONS: &str = include_str!("../../../schema/ledger/pg/partitions_set.sql");

/// How many connections share the work of a file that allows it, besides the one with the lock.
const HELPERS: u32 = 3;

/// How long a helping connection may take to open. Without it the work goes on.
const HELPER_PATIENCE: Duration = Duration::from_secs(2);

/// How a database is brought to the current schema.
#[derive(Debug, Clone, Copy)]
pub struct MigrationOptions {
    partitions: u16,
    shards: Option<u16>,
}

/// How many partitions a table of a new database gets. Whatever a statement cannot narrow to one partition is planned and
/// locked over all of them, on every connection; with a few, several vacuums can still be at work on one table.
const USUAL: u16 = 8;

impl Default for MigrationOptions {
    /// Eight partitions, on one server.
    fn default() -> Self {
        Self { partitions: USUAL, shards: None }
    }
}

impl MigrationOptions {
    /// The number of hash partitions of each partitioned table, 1 to 256.
    ///
    /// It has an effect on a fresh database only: partitions that exist are kept, and tables that are
    /// added later get as many. Fewer make a database that is quicker to create and to plan for; rows
    /// find their partition at any number.
    ///
    /// # Errors
    ///
    /// [`MigrationError::PartitionCount`] for 0 and for numbers above 256.
    pub fn partitions(mut self, partitions: u16) -> Result<Self, MigrationError> {
        if !(1..=256).contains(&partitions) {
            return Err(MigrationError::PartitionCount(partitions));
        }
        self.partitions = partitions;
        Ok(self)
    }

    /// Spreads the tables over the nodes of a cluster of [Citus](https://www.citusdata.com), each in that many shards, 1
    /// to 256. The pool is one of the coordinator, as the superuser that made the extension in this database.
    ///
    /// A database that has rows keeps them: every table's partitions become one, whose rows then move to the shards.
    /// Nobody may be at work on it meanwhile. It has an effect once; doing it again spreads what a newer version adds.
    /// A backend that is open notices only when it is opened again.
    ///
    /// ```no_run
    /// # async fn spread(pool: &ff_backend_sql::PgPool) -> Result<(), ff_backend_sql::MigrationError> {
    /// use ff_backend_sql::{MigrationOptions, apply_migrations_with};
    ///
    /// apply_migrations_with(pool, MigrationOptions::default().spread_over(32)?).await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MigrationError::ShardCount`] for 0 and for numbers above 256.
    pub fn spread_over(mut self, shards: u16) -> Result<Self, MigrationError> {
        if !(1..=256).contains(&shards) {
            return Err(MigrationError::ShardCount(shards));
        }
        self.shards = Some(shards);
        self.partitions = 1;
        Ok(self)
    }
}

/// Applies every version that is missing, with eight partitions where there are none.
///
/// Doing it again does nothing. Constructors never call this: on a shared database the time of a
/// schema change is the operator's choice.
///
/// # Errors
///
/// See [`MigrationError`].
pub async fn apply_migrations(pool: &PgPool) -> Result<(), MigrationError> {
    apply_migrations_with(pool, MigrationOptions::default()).await
}

/// Applies every version that is missing.
///
/// Uses up to four connections of the pool, and works with one.
///
/// # Errors
///
/// See [`MigrationError`].
pub async fn apply_migrations_with(pool: &PgPool, options: MigrationOptions) -> Result<(), MigrationError> {
    let mut connection = alone(pool).await?;
    connection.ensure_migrations_table(LEDGER_TABLE).await?;
    sqlx::raw_sql(CREATE_ADDITIONS).execute(&mut *connection).await?;
    if let Some(version) = connection.dirty_version(LEDGER_TABLE).await? {
        return Err(MigrateError::Dirty(version).into());
    }
    let applied = applied(&mut connection).await?;
    warn_of_unknown(&applied, POSTGRES);
    for step in POSTGRES.iter().filter(|step| !applied.contains(&step.version())) {
        if step.is_stepwise() {
            apply_stepwise(pool, &mut connection, step, options).await?;
        } else {
            let failed = |error| MigrateError::ExecuteMigration(error, step.version());
            Work::Version(step).give_way(&mut connection).await.map_err(failed)?;
        }
    }
    if let Some(shards) = options.shards {
        spread(&mut connection, shards).await?;
    }
    connection.unlock().await?;
    Ok(())
}

/// Gives every partitioned table of a database another number of partitions, 1 to 256, with all its rows.
///
/// Databases that were made with 256 partitions, as those of the older backends, keep them: where every execution's rows
/// are found by its number, few partitions do the same work with less of the server's time and memory. Each table is
/// copied in a transaction of its own, which has that table to itself and needs its size once more on the disk; who comes
/// for it meanwhile waits. A run that ends early has moved the tables that it reached, and the next one moves the others.
///
/// ```no_run
/// # async fn fewer(pool: &ff_backend_sql::PgPool) -> Result<(), ff_backend_sql::MigrationError> {
/// ff_backend_sql::repartition(pool, 4).await
/// # }
/// ```
///
/// # Errors
///
/// [`MigrationError::PartitionCount`] for 0 and for numbers above 256; [`MigrationError::Sqlx`] where the schema is not
/// there, or the tables are spread over nodes.
pub async fn repartition(pool: &PgPool, partitions: u16) -> Result<(), MigrationError> {
    let options = MigrationOptions::default().partitions(partitions)?;
    let mut connection = alone(pool).await?;
    move_to_partitions(&mut connection, options.partitions).await?;
    connection.unlock().await?;
    Ok(())
}

/// A connection that alone changes the schema of its database.
async fn alone(pool: &PgPool) -> Result<PoolConnection<Postgres>, MigrationError> {
    let mut connection = pool.acquire().await?;
    // The lock belongs to the session. Closing the connection gives it up even when this future is
    // dropped half way.
    connection.close_on_drop();
    set_patience(&mut connection, "0").await?;
    connection.lock().await?;
    set_patience(&mut connection, MOMENT).await?;
    Ok(connection)
}

/// Moves what is not in that many partitions.
async fn move_to_partitions(connection: &mut PgConnection, partitions: u16) -> Result<(), sqlx::Error> {
    set_partitions(connection, partitions.to_string()).await?;
    Work::Statement(REPARTITION).give_way(connection).await?;
    set_partitions(connection, String::new()).await
}

/// Spreads the tables over the nodes of a cluster, as far as they are not.
async fn spread(connection: &mut PgConnection, shards: u16) -> Result<(), MigrationError> {
    if !sqlx::query_scalar::<_, bool>(SPREAD_POSSIBLE).fetch_one(&mut *connection).await? {
        return Err(MigrationError::CitusMissing);
    }
    move_to_partitions(connection, 1).await?;
    sqlx::query(SET_SHARDS).bind(shards.to_string()).execute(&mut *connection).await?;
    for statement in statements(SPREAD) {
        Work::Statement(statement).give_way(connection).await?;
    }
    Ok(())
}

/// Which versions the database has.
///
/// # Errors
///
/// See [`MigrationError`].
pub(crate) async fn schema_state(connection: &mut PgConnection) -> Result<SchemaState, MigrationError> {
    let shared = connection.list_applied_migrations(LEDGER_TABLE).await.map_err(MigrationError::from);
    let shared = ledger::read_if_there(shared)?.into_iter().map(|row| row.version);
    let own = sqlx::query_scalar(LIST_ADDITIONS).fetch_all(connection).await.map_err(MigrationError::from);
    let applied: Vec<i64> = shared.chain(ledger::read_if_there(own)?).collect();
    Ok(ledger::schema_state(&applied, POSTGRES))
}

/// The indexes that a database with all versions has.
pub(crate) fn index_names() -> IndexNames {
    IndexNames::of(POSTGRES)
}

/// The versions that both ledgers have.
async fn applied(connection: &mut PgConnection) -> Result<Vec<i64>, MigrationError> {
    let shared = connection.list_applied_migrations(LEDGER_TABLE).await?;
    let own: Vec<i64> = sqlx::query_scalar(LIST_ADDITIONS).fetch_all(connection).await?;
    Ok(shared.into_iter().map(|row| row.version).chain(own).collect())
}

/// What is tried until nobody is in its way.
#[derive(Clone, Copy)]
enum Work {
    /// A version and its ledger row, both or neither.
    Version(&'static Step),
    /// A statement that can be repeated.
    Statement(&'static str),
}

impl Work {
    async fn run(self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        match self {
            Self::Version(step) => apply(connection, step).await,
            Self::Statement(statement) => {
                make_beside_writers(connection, statement).await?;
                sqlx::raw_sql(statement).execute(connection).await.map(drop)
            }
        }
    }

    /// Runs it, and gives way to others as often as somebody is in its way.
    async fn give_way(self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let mut turns = Turns::new();
        loop {
            match self.run(&mut *connection).await {
                Ok(()) => return Ok(()),
                Err(error) => turns.next(error).await?,
            }
        }
    }
}

async fn apply(connection: &mut PgConnection, step: &Step) -> Result<(), sqlx::Error> {
    let start = Instant::now();
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql(step.sql).execute(&mut *transaction).await?;
    record(&mut transaction, step, start).await?;
    transaction.commit().await
}

/// Applies one version statement by statement and records it at the end.
async fn apply_stepwise(
    pool: &PgPool,
    connection: &mut PgConnection,
    step: &Step,
    options: MigrationOptions,
) -> Result<(), MigrationError> {
    let failed = |error| MigrateError::ExecuteMigration(error, step.version());
    let start = Instant::now();
    for group in groups(statements(step.sql)) {
        if let [statement] = group[..] {
            Work::Statement(statement).give_way(connection).await.map_err(failed)?;
        } else {
            share(pool, connection, group, options).await.map_err(failed)?;
        }
    }
    record(connection, step, start).await.map_err(failed)?;
    Ok(())
}

/// Adjacent DO blocks form one group, whose members do not depend on one another; every other
/// statement stands alone.
fn groups(statements: Vec<&'static str>) -> Vec<Vec<&'static str>> {
    let independent = |statement: &str| statement.starts_with("DO ");
    let mut groups: Vec<Vec<&'static str>> = Vec::new();
    for statement in statements {
        match groups.last_mut() {
            Some(group) if independent(statement) && group.iter().all(|s| independent(s)) => {
                group.push(statement);
            }
            _ => groups.push(vec![statement]),
        }
    }
    groups
}

/// Runs independent statements on this connection and as many others as the pool can spare.
async fn share(
    pool: &PgPool,
    connection: &mut PgConnection,
    statements: Vec<&'static str>,
    options: MigrationOptions,
) -> Result<(), sqlx::Error> {
    let mut helpers = helpers(pool).await;
    for helper in &mut helpers {
        helper.close_on_drop();
        set_patience(helper, MOMENT).await?;
    }
    let queue = Mutex::new(statements.into_iter());
    let workers = helpers.iter_mut().map(|helper| &mut **helper).chain([connection]);
    let results = join_all(workers.map(|worker| drain(worker, &queue, options))).await;
    results.into_iter().collect()
}

/// Connections that the pool has to spare right now.
async fn helpers(pool: &PgPool) -> Vec<PoolConnection<Postgres>> {
    let idle = u32::try_from(pool.num_idle()).unwrap_or(u32::MAX); // tidy: a pool counts in u32
    let busy = pool.size().saturating_sub(idle);
    let spare = pool.options().get_max_connections().saturating_sub(busy);
    let opening = (0..spare.min(HELPERS)).map(|_| tokio::time::timeout(HELPER_PATIENCE, pool.acquire()));
    join_all(opening).await.into_iter().filter_map(|opened| opened.ok()?.ok()).collect()
}

/// Takes statements from the queue until it is empty or one fails.
async fn drain(
    connection: &mut PgConnection,
    queue: &Mutex<std::vec::IntoIter<&'static str>>,
    options: MigrationOptions,
) -> Result<(), sqlx::Error> {
    set_partitions(connection, options.partitions.to_string()).await?;
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next(); // tidy: a lock
        let Some(statement) = next else { break };
        Work::Statement(statement).give_way(connection).await?;
    }
    set_partitions(connection, String::new()).await
}

/// Tells the session how many partitions a table gets; an empty text takes it back.
async fn set_partitions(connection: &mut PgConnection, text: String) -> Result<(), sqlx::Error> {
    sqlx::query(SET_PARTITIONS).bind(text).execute(connection).await?;
    Ok(())
}

/// Writes the ledger row of a version.
async fn record(connection: &mut PgConnection, step: &Step, start: Instant) -> Result<(), sqlx::Error> {
    let query = if step.is_addition() {
        sqlx::query(RECORD_ADDITION).bind(step.version()).bind(step.stem)
    } else {
        sqlx::query(RECORD_VERSION)
            .bind(step.version())
            .bind(step.description())
            .bind(checksum(CHECKSUMS, step.version()))
            .bind(nanoseconds_since(start))
    };
    query.execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_do_blocks_are_one_group() {
        let found = groups(vec!["ALTER a", "ALTER b", "DO 1", "DO 2", "DROP c"]);
        assert_eq!(found, [vec!["ALTER a"], vec!["ALTER b"], vec!["DO 1", "DO 2"], vec!["DROP c"]]);
    }

    #[test]
    fn a_number_of_partitions_outside_1_to_256_is_refused() {
        for wrong in [0, 257] {
            let refused = MigrationOptions::default().partitions(wrong);
            assert!(matches!(refused, Err(MigrationError::PartitionCount(n)) if n == wrong));
        }
        assert!(MigrationOptions::default().partitions(256).is_ok());
    }

    #[test]
    fn a_number_of_shards_outside_1_to_256_is_refused() {
        for wrong in [0, 257] {
            let refused = MigrationOptions::default().spread_over(wrong);
            assert!(matches!(refused, Err(MigrationError::ShardCount(n)) if n == wrong));
        }
        assert!(MigrationOptions::default().spread_over(32).is_ok());
    }
}
