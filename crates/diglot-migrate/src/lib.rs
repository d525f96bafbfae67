//! Runs the migrations of SQLite or Postgres, whichever a URL names.
//!
//! A statement waits for a lock a moment only, lets those pass who came behind it, and tries again, so that a long read
//! delays a migration and nobody else. One process works at a time: on Postgres behind the lock that sqlx's migrator takes, on
//! SQLite behind the lock of whoever writes. A migration is one transaction with its line in the ledger; one that asks for
//! none (`-- no-transaction`) goes on behind the last of its statements that was done.
//!
//! The ledger is the one of sqlx (`_sqlx_migrations`). What the ledgers of refinery, goose and golang-migrate say was applied
//! is not applied again.

mod apply;
mod database;
mod error;
mod ledger;
mod rehearsal;
mod split;

pub use apply::apply;
pub use error::Error;
pub use rehearsal::{Rehearsed, rehearse};
pub use split::{statements, tokens};
pub use sqlx::migrate::Migrator;

use sqlx::migrate::{Migration, MigrationType};
use sqlx::{AssertSqlSafe, SqlSafeStr as _};

use database::Database;
use ledger::Applied;

/// How often a statement tries to get a lock, where nobody says otherwise: with the pauses between, for some ten minutes.
pub const ATTEMPTS: u32 = 300;

/// A migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The number at the front of its name.
    pub version: i64,
    /// Its name: `0001_first`.
    pub name: String,
    /// Its text.
    pub sql: String,
}

impl Step {
    /// A migration of a file: its name without `.sql`, and the part of its text that leads up.
    ///
    /// # Errors
    ///
    /// [`Error::Name`] where no whole number stands at the front of the name.
    pub fn new(name: &str, sql: &str) -> Result<Self, Error> {
        let digits = name.strip_prefix(['V', 'U']).unwrap_or(name);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let version = digits[..end].parse().map_err(|_| Error::Name { name: name.to_owned() })?;
        Ok(Self { version, name: name.to_owned(), sql: sql.to_owned() })
    }

    /// The rest of the name, as sqlx writes it down.
    fn description(&self) -> String {
        self.name.split_once('_').map_or(self.name.as_str(), |(_, rest)| rest).trim_start_matches('_').replace('_', " ")
    }

    /// The digest of its text, as sqlx makes it.
    fn checksum(&self) -> Vec<u8> {
        let sql = AssertSqlSafe(self.sql.clone()).into_sql_str();
        Migration::new(self.version, "".into(), MigrationType::Simple, sql, false).checksum.into_owned()
    }

    /// Whether its statements run one by one, outside of a transaction.
    fn runs_one_by_one(&self) -> bool {
        let asks = |line: &str| {
            let mark = line.trim().strip_prefix("--").map(|mark| mark.trim().to_lowercase()).unwrap_or_default();
            ["diglot: no-transaction", "no-transaction", "+goose no transaction"].contains(&mark.as_str())
                || mark.starts_with("migrate:up") && mark.contains("transaction:false")
                || mark.starts_with("+migrate up") && mark.contains("notransaction")
        };
        self.sql.lines().any(asks)
    }
}

/// The migrations that `sqlx::migrate!` has embedded, without the ways back.
pub fn steps(migrator: &Migrator) -> Vec<Step> {
    let up = migrator.iter().filter(|migration| migration.migration_type.is_up_migration());
    let step = |migration: &Migration| Step {
        version: migration.version,
        name: format!("{:04}_{}", migration.version, migration.description.replace(' ', "_")),
        sql: migration.sql.as_str().to_owned(),
    };
    up.map(step).collect()
}

/// What a database has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Whose ledgers it has.
    pub ledgers: Vec<&'static str>,
    /// The names of migrations that have run.
    pub applied: Vec<String>,
    /// Of these, the ones whose text has changed since.
    pub changed: Vec<String>,
    /// The names of migrations that have not run, in their order.
    pub missing: Vec<String>,
    /// Of these, the ones of which some statements have run, with their number.
    pub half: Vec<(String, usize)>,
    /// Versions that have run and that nobody knows.
    pub unknown: Vec<i64>,
}

/// Says what has run, and changes nothing.
///
/// # Errors
///
/// [`Error::Database`] where the database cannot be asked, [`Error::Dirty`] where golang-migrate left a migration half done.
pub async fn status(url: &str, steps: &[Step]) -> Result<Status, Error> {
    let mut database = Database::connect(url, false).await?;
    let applied = Applied::read(&mut database).await;
    database.close().await;
    let applied = applied?;
    let (have, lack): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| applied.has(step.version));
    let name = |step: &&Step| step.name.clone();
    let half = |step: &&Step| Some((step.name.clone(), *applied.half.get(&step.version)?));
    Ok(Status {
        applied: have.iter().map(name).collect(),
        changed: have.iter().filter(|step| applied.is_changed(step)).map(name).collect(),
        missing: lack.iter().map(name).collect(),
        half: lack.iter().filter_map(half).collect(),
        unknown: applied.versions.iter().copied().filter(|of| steps.iter().all(|step| step.version != *of)).collect(),
        ledgers: applied.ledgers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_its_version() {
        let version = |name: &str| Step::new(name, "").map(|step| (step.version, step.description())).ok();
        assert_eq!(version("0012_two_words"), Some((12, "two words".to_owned())));
        assert_eq!(version("V3__first"), Some((3, "first".to_owned())));
        assert_eq!(version("schema"), None);
    }
}
