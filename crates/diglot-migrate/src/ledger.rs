//! What was applied, as the ledgers say that are there.

use std::collections::{BTreeMap, BTreeSet};

use crate::Step;
use crate::database::Database;
use crate::error::Error;

/// The ledger in which runs are written down. It is the one of sqlx, whose migrator can go on from it.
pub(crate) const TABLE: &str = "_sqlx_migrations";

const WHOLE: &str = "SELECT version FROM _sqlx_migrations WHERE success ORDER BY version";
const OPEN: &str = "SELECT version FROM _sqlx_migrations WHERE NOT success ORDER BY version";
const DONE: &str = "SELECT execution_time FROM _sqlx_migrations WHERE NOT success ORDER BY version";
const REFINERY: &str = "SELECT CAST(version AS bigint) FROM refinery_schema_history";
/// A version that was taken back has a later line.
const GOOSE: &str = "SELECT CAST(version_id AS bigint) FROM goose_db_version AS g WHERE is_applied AND version_id > 0 \
    AND id = (SELECT max(id) FROM goose_db_version AS o WHERE o.version_id = g.version_id)";
const GOLANG: &str = "SELECT CAST(version AS bigint) FROM schema_migrations";
const GOLANG_DIRTY: &str = "SELECT CAST(version AS bigint) FROM schema_migrations WHERE dirty";

/// What was applied.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Whose ledgers there are.
    pub(crate) ledgers: Vec<&'static str>,
    pub(crate) versions: BTreeSet<i64>,
    /// Up to which version all were, where the ledger has one line.
    up_to: Option<i64>,
    /// The digests of what was applied.
    checksums: BTreeMap<i64, Vec<u8>>,
    /// How many statements of a version were done that runs outside of a transaction.
    pub(crate) half: BTreeMap<i64, usize>,
}

impl Applied {
    pub(crate) async fn read(database: &mut Database) -> Result<Self, Error> {
        let mut applied = Self::default();
        if database.has_column(TABLE, "success").await? {
            applied.ledgers.push("sqlx");
            applied.own(database).await?;
        }
        if database.has_column("refinery_schema_history", "version").await? {
            applied.ledgers.push("refinery");
            applied.versions.extend(database.numbers(REFINERY, &[]).await?);
        }
        if database.has_column("goose_db_version", "is_applied").await? {
            applied.ledgers.push("goose");
            applied.versions.extend(database.numbers(GOOSE, &[]).await?);
        }
        if database.has_column("schema_migrations", "dirty").await? {
            applied.ledgers.push("golang-migrate");
            if let Some(version) = database.numbers(GOLANG_DIRTY, &[]).await?.first() {
                return Err(Error::Dirty { ledger: "golang-migrate", version: *version });
            }
            applied.up_to = database.numbers(GOLANG, &[]).await?.into_iter().max();
        }
        Ok(applied)
    }

    async fn own(&mut self, database: &mut Database) -> Result<(), sqlx::Error> {
        let all = database.numbers(WHOLE, &[]).await?;
        self.checksums = all.iter().copied().zip(database.digests().await?).collect();
        self.versions.extend(all);
        let open = database.numbers(OPEN, &[]).await?;
        let done = database.numbers(DONE, &[]).await?.into_iter().map(|done| usize::try_from(done).unwrap_or(0));
        self.half = open.into_iter().zip(done).collect();
        Ok(())
    }

    pub(crate) fn has(&self, version: i64) -> bool {
        self.versions.contains(&version) || self.up_to.is_some_and(|last| version <= last)
    }

    /// Whether a step that was applied reads otherwise.
    pub(crate) fn is_changed(&self, step: &Step) -> bool {
        self.checksums.get(&step.version).is_some_and(|known| *known != step.checksum())
    }
}
