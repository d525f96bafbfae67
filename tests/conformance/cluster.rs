//! Tests in a database whose tables are spread over the nodes of a cluster.

use std::sync::Arc;

use ff_backend_sql::{MigrationOptions, PgPool, apply_migrations_with};
use tokio::sync::Mutex;

use super::Harness;

/// Names the database; its coordinator knows its workers.
pub(super) const URL: &str = "FF_TEST_CITUS_URL";

/// Runs a test in the database of a cluster, which is emptied before: tests come one after the other there.
pub(super) async fn run<F, T>(url: &str, test: T)
where
    T: FnOnce(Arc<Harness>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    static ALONE: Mutex<bool> = Mutex::const_new(false);
    let mut is_spread = ALONE.lock().await;
    let server = PgPool::connect(url).await.expect("the coordinator answers");
    if !*is_spread {
        let options = MigrationOptions::default().spread_over(4).expect("a number of shards");
        apply_migrations_with(&server, options).await.expect("the tables are spread");
        *is_spread = true;
    }
    sqlx::raw_sql(EMPTY).execute(&server).await.expect("the tables are emptied");
    server.close().await;
    let harness = Arc::new(Harness::open(url.to_owned()).await);
    let ended = tokio::spawn(test(harness)).await;
    if let Err(failed) = ended {
        std::panic::resume_unwind(failed.into_panic());
    }
}

/// Empties every table but those that say what the schema is, row by row: to truncate all their shards takes a second.
const EMPTY: &str = "DO $$
DECLARE held record;
BEGIN
    FOR held IN SELECT oid::regclass AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname LIKE 'ff\\_%' AND relname NOT IN ('ff_partition_config', 'ff_migration_annotation', 'ff_sql_migrations')
    LOOP
        EXECUTE format('DELETE FROM %s', held.name);
    END LOOP;
END $$";
