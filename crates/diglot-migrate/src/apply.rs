//! Applies what is missing.

use std::time::{Duration, Instant};

use crate::Step;
use crate::database::{Database, is_in_use, stands_alone};
use crate::error::Error;
use crate::ledger::Applied;
use crate::split::{statements, tokens};

/// How long those may pass who wait behind a statement, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

const IS_WHOLE: &str = "SELECT count(*) FROM _sqlx_migrations WHERE version = $1 AND success";
const IS_OPEN: &str = "SELECT count(*) FROM _sqlx_migrations WHERE version = $1 AND NOT success";
const DONE: &str = "SELECT execution_time FROM _sqlx_migrations WHERE version = $1 AND NOT success";
const COUNT: &str = "UPDATE _sqlx_migrations SET execution_time = $2 WHERE version = $1 AND NOT success";
const END: &str = "UPDATE _sqlx_migrations SET success = true WHERE version = $1";
/// Indexes of Postgres that a run which was interrupted has left: their names, and what drops them.
const INVALID: &str = "SELECT c.relname::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
    WHERE NOT i.indisvalid ORDER BY i.indexrelid";
const DROPS: &str = "SELECT format('DROP INDEX CONCURRENTLY %s', i.indexrelid::regclass) FROM pg_index AS i \
    WHERE NOT i.indisvalid ORDER BY i.indexrelid";

/// Applies every migration that a database does not have, in their order, and tells of each. Each of its statements tries so
/// often to get a lock.
///
/// # Errors
///
/// [`Error::Changed`] where a migration that has run reads otherwise, [`Error::InUse`] where somebody held a lock at every
/// attempt, [`Error::Refused`] where the database refuses one.
pub async fn apply(url: &str, steps: &[Step], attempts: u32, mut told: impl FnMut(&Step)) -> Result<usize, Error> {
    let mut database = Database::connect(url, true).await?;
    // Closing the connection gives the lock up.
    let done = all(&mut database, steps, attempts, &mut told).await;
    database.close().await;
    done
}

async fn all(
    database: &mut Database,
    steps: &[Step],
    attempts: u32,
    told: &mut impl FnMut(&Step),
) -> Result<usize, Error> {
    let entered = patiently(database, attempts, async |database: &mut Database| database.enter().await).await;
    entered.map_err(|failed| failed.of("the ledger", attempts))?;
    let applied = Applied::read(database).await?;
    if let Some(step) = steps.iter().find(|step| applied.is_changed(step)) {
        return Err(Error::Changed { name: step.name.clone() });
    }
    let mut count = 0;
    for step in steps.iter().filter(|step| !applied.has(step.version)) {
        let done = match step.runs_one_by_one() {
            true => one_by_one(database, step, attempts).await,
            false => patiently(database, attempts, async |database: &mut Database| whole(database, step).await).await,
        };
        if done.map_err(|failed| failed.of(&step.name, attempts))? {
            count += 1;
            told(step);
        }
    }
    Ok(count)
}

/// Why something was not done: somebody was in its way each time, or another reason.
enum Failed {
    InUse(sqlx::Error),
    Refused(sqlx::Error),
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Refused(error)
    }
}

impl Failed {
    fn of(self, name: &str, attempts: u32) -> Error {
        let name = name.to_owned();
        match self {
            Self::InUse(source) => Error::InUse { name, attempts, source },
            Self::Refused(source) => Error::Refused { name, source },
        }
    }
}

/// Does something, and lets others pass as often as they are in its way.
async fn patiently<T>(
    database: &mut Database,
    attempts: u32,
    work: impl AsyncFn(&mut Database) -> Result<T, sqlx::Error>,
) -> Result<T, Failed> {
    let mut pause = FIRST_PAUSE;
    let mut tried = 0;
    loop {
        match work(&mut *database).await {
            Err(error) if is_in_use(&error) => {
                tried += 1;
                if tried >= attempts {
                    return Err(Failed::InUse(error));
                }
                tokio::time::sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
            done => return Ok(done?),
        }
    }
}

/// A migration and its line in the ledger, both or neither; whether another process was not faster.
async fn whole(database: &mut Database, step: &Step) -> Result<bool, sqlx::Error> {
    let start = Instant::now();
    database.begin().await?;
    let done = match database.numbers(IS_WHOLE, &[step.version]).await {
        Ok(found) if found != [0] => Ok(false),
        Ok(_) => match database.run(&step.sql).await {
            Ok(()) => {
                let taken = i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX);
                database.write_line(step, true, taken).await.map(|()| true)
            }
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    database.end(done).await
}

/// A migration outside of a transaction. While it is not whole its line counts the statements that were done.
async fn one_by_one(database: &mut Database, step: &Step, attempts: u32) -> Result<bool, Failed> {
    let version = step.version;
    patiently(database, attempts, async |database: &mut Database| database.write_line(step, false, 0).await).await?;
    for (at, unit) in units(&step.sql).iter().enumerate() {
        // A setting counts for the session, and each session needs it.
        if is_setting(unit) {
            database.run(unit).await?;
            continue;
        }
        patiently(database, attempts, async |database: &mut Database| unit_done(database, version, at, unit).await)
            .await?;
    }
    patiently(database, attempts, async |database: &mut Database| ended(database, version).await).await
}

/// Writes down that a migration is whole; whether another process was not faster.
async fn ended(database: &mut Database, version: i64) -> Result<bool, sqlx::Error> {
    database.begin().await?;
    let done = match database.numbers(IS_OPEN, &[version]).await {
        Ok(open) => database.write(END, &[version]).await.map(|()| open != [0]),
        Err(error) => Err(error),
    };
    database.end(done).await
}

/// A statement and that it was done, both or neither where the engine lets it be in a transaction.
async fn unit_done(database: &mut Database, version: i64, at: usize, unit: &str) -> Result<(), sqlx::Error> {
    let count = [version, i64::try_from(at + 1).unwrap_or(i64::MAX)];
    database.begin().await?;
    let done = match is_open(database, version, at).await {
        Ok(false) => return database.end(Ok(())).await,
        Ok(true) => match database.run(unit).await {
            Ok(()) => database.write(COUNT, &count).await,
            refused => refused,
        },
        Err(error) => Err(error),
    };
    match database.end(done).await {
        Err(error) if stands_alone(&error) => alone(database, unit).await?,
        done => return done,
    }
    database.write(COUNT, &count).await
}

/// Whether a statement has not been done.
async fn is_open(database: &mut Database, version: i64, at: usize) -> Result<bool, sqlx::Error> {
    let done = database.numbers(DONE, &[version]).await?;
    Ok(done.first().is_some_and(|done| usize::try_from(*done).is_ok_and(|done| done <= at)))
}

/// A statement outside of a transaction. It waits for those who are at work, and keeps nobody waiting.
async fn alone(database: &mut Database, unit: &str) -> Result<(), sqlx::Error> {
    if !database.is_sqlite() {
        let named: Vec<String> = tokens(unit).map(|place| unit[place].trim_matches('"').to_owned()).collect();
        let invalid = database.texts(INVALID).await?;
        for (name, drop) in invalid.iter().zip(database.texts(DROPS).await?) {
            if named.contains(name) {
                database.run(&drop).await?;
            }
        }
    }
    database.patience(None).await?;
    let done = database.run(unit).await;
    database.patience_again().await?;
    done
}

/// The statements of a text; those between BEGIN and COMMIT are one, without these two.
fn units(sql: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let mut together: Option<String> = None;
    for place in statements(sql) {
        let statement = &sql[place];
        let word = first_word(statement);
        match together.as_mut() {
            None if word == "begin" => together = Some(String::new()),
            None => units.push(statement.to_owned()),
            Some(_) if word == "commit" || word == "end" => units.extend(together.take()),
            Some(open) => open.extend([statement, ";\n"]),
        }
    }
    units.extend(together);
    units
}

fn is_setting(unit: &str) -> bool {
    matches!(first_word(unit).as_str(), "pragma" | "set")
}

fn first_word(statement: &str) -> String {
    tokens(statement).next().map(|place| statement[place].to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_begin_and_commit_is_done_together() {
        let sql = "PRAGMA foreign_keys = OFF;\nBEGIN;\nDROP TABLE a;\nALTER TABLE b RENAME TO a;\nCOMMIT;\nVACUUM;";
        let units = units(sql);
        assert_eq!(units, ["PRAGMA foreign_keys = OFF", "DROP TABLE a;\nALTER TABLE b RENAME TO a;\n", "VACUUM"]);
        assert!(is_setting(&units[0]) && !is_setting(&units[1]));
    }
}
