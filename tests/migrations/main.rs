//! What the migrator makes of fresh, old and foreign databases.
//!
//! The Postgres tests need `FF_TEST_POSTGRES_URL`, the URL of a server on which they may create databases.
//! Without it they say so and do nothing, except where `CI` is set.

use std::path::Path;

use sqlx::AssertSqlSafe;
use sqlx::migrate::{Migrate, Migration, MigrationType};

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_partitions;
#[cfg(feature = "postgres")]
mod postgres_paths;
#[cfg(feature = "postgres")]
mod postgres_queues;
#[cfg(feature = "postgres")]
mod postgres_readers;
#[cfg(feature = "sqlite")]
mod sqlite;

/// The ledger that is shared with the older backends.
const LEDGER: &str = "_sqlx_migrations";

/// The versions that leave an annotation on SQLite; Postgres has number 19 besides.
const ANNOTATED: [i64; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 20];

/// The versions of a dialect's schema files and their texts, in order.
fn schema(dialect: &str) -> Vec<(i64, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(dialect);
    let mut files: Vec<(i64, String, String)> = std::fs::read_dir(folder)
        .expect("the schema folder")
        .map(|entry| entry.expect("a folder entry").path())
        .map(|path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a file name").to_owned();
            let version = stem[..4].parse().expect("a version");
            (version, stem, std::fs::read_to_string(&path).expect("a schema file"))
        })
        .collect();
    files.sort();
    files
}

/// Applies the schema files up to a version as somebody else's migrator would: the checksums in the
/// ledger are not those that this backend writes.
async fn apply_up_to<C: Migrate>(connection: &mut C, dialect: &str, last: i64) {
    connection.ensure_migrations_table(LEDGER).await.expect("the ledger");
    for (version, stem, text) in schema(dialect).into_iter().filter(|(version, ..)| *version <= last) {
        let sql = sqlx::SqlSafeStr::into_sql_str(AssertSqlSafe(text));
        let migration = Migration::new(version, stem.into(), MigrationType::Simple, sql, false);
        connection.apply(LEDGER, &migration).await.expect("a version");
    }
}
