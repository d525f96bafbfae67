//! What applying would do.

use std::collections::BTreeSet;

use crate::Step;
use crate::database::{Database, stands_alone};
use crate::error::Error;
use crate::ledger::Applied;
use crate::split::statements;

/// The locks of this session that keep somebody waiting.
const LOCKS: &str = "SELECT DISTINCT l.relation::regclass::text || ': ' || l.mode FROM pg_locks AS l \
    WHERE l.pid = pg_backend_pid() AND l.granted AND l.locktype = 'relation' AND l.mode <> 'AccessShareLock' ORDER BY 1";
/// What others may be in.
const RELATIONS: &str = "SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')";

/// A statement that would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsed {
    /// The migration's name.
    pub step: String,
    /// The statement.
    pub statement: String,
    /// The locks that Postgres takes for it on what is there, and has not before: `job: AccessExclusiveLock`.
    pub locks: Vec<String>,
    /// Why they are not known.
    pub remark: Option<String>,
}

/// The statements that applying would run. On Postgres they are run to see their locks, and taken back: until then the locks
/// are held, so a database at work is kept waiting that long.
///
/// # Errors
///
/// [`Error::Database`] where the database cannot be asked.
pub async fn rehearse(url: &str, steps: &[Step]) -> Result<Vec<Rehearsed>, Error> {
    let mut database = Database::connect(url, false).await?;
    let done = all(&mut database, steps).await;
    database.close().await;
    done
}

async fn all(database: &mut Database, steps: &[Step]) -> Result<Vec<Rehearsed>, Error> {
    let applied = Applied::read(database).await?;
    let missing = steps.iter().filter(|step| !applied.has(step.version));
    let mut rehearsed = Vec::new();
    for step in missing {
        let of = |statement: &str| Rehearsed {
            step: step.name.clone(),
            statement: statement.to_owned(),
            locks: Vec::new(),
            remark: None,
        };
        rehearsed.extend(statements(&step.sql).into_iter().map(|place| of(&step.sql[place])));
    }
    if !database.is_sqlite() {
        let known: BTreeSet<String> = database.texts(RELATIONS).await?.into_iter().collect();
        database.begin().await?;
        let seen = locks(database, &known, &mut rehearsed).await;
        database.run("ROLLBACK").await?;
        seen?;
    }
    Ok(rehearsed)
}

async fn locks(
    database: &mut Database,
    known: &BTreeSet<String>,
    rehearsed: &mut [Rehearsed],
) -> Result<(), sqlx::Error> {
    let mut held: BTreeSet<String> = BTreeSet::new();
    for one in rehearsed {
        database.run("SAVEPOINT one").await?;
        if let Err(error) = database.run(&one.statement).await {
            let words = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
            one.remark = Some(match stands_alone(&error) {
                true => "runs outside of a transaction, and was not tried".to_owned(),
                false => format!("refused: {words}"),
            });
            database.run("ROLLBACK TO one").await?;
            continue;
        }
        let is_known = |lock: &&String| lock.split_once(": ").is_some_and(|(name, _)| known.contains(name));
        let all: BTreeSet<String> = database.texts(LOCKS).await?.into_iter().collect();
        one.locks = all.difference(&held).filter(is_known).cloned().collect();
        held = all;
    }
    Ok(())
}
