//! Time per call at different numbers of executions: what grows with them, and what does not.
//!
//! `scripts/scale` runs it on both databases. It loads executions by generated SQL over all partitions (four
//! fifths of them completed with their attempts, events and streams, one in ten waiting, one in ten a member of
//! one of ten flows), measures every operation, loads more, and measures again. The numbers are medians, so that
//! a checkpoint on the way does not count, and the last column is the largest number over the smallest.

mod load;
mod work;

use std::fmt::Write as _;
use std::sync::Arc;

use ff_backend_sql::testing::Clock;
use ff_backend_sql::{FullScannerConfig, PostgresBackend, PostgresConnection, SqliteBackend};
use ff_core::backend::{BackendConfig, BackendConnection};
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::partition::PartitionConfig;
use sqlx::AssertSqlSafe;

/// Anything that ends the run.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The numbers of executions.
const SIZES: [u64; 3] = [1_000, 100_000, 1_000_000];

/// How much an operation may take at the largest number, compared with the smallest.
const LIMIT: f64 = 1.5;

/// One database.
pub(crate) enum Store {
    Sqlite(Arc<SqliteBackend>),
    Postgres(Arc<PostgresBackend>),
}

impl Store {
    fn backend(&self) -> Arc<dyn EngineBackend> {
        match self {
            Self::Sqlite(backend) => backend.clone(),
            Self::Postgres(backend) => backend.clone(),
        }
    }

    async fn sweep(&self, name: &str) -> Result<(), EngineError> {
        let config = FullScannerConfig::default();
        match self {
            Self::Sqlite(backend) => backend.sweep_for_test(name, &config).await.map(drop),
            Self::Postgres(backend) => backend.sweep_for_test(name, &config).await.map(drop),
        }
    }

    /// Runs generated statements on one connection.
    async fn execute(&self, statements: Vec<String>) -> Result<(), sqlx::Error> {
        let text = |statement| sqlx::raw_sql(AssertSqlSafe(statement));
        match self {
            Self::Sqlite(backend) => {
                let mut connection = backend.pool_for_test().acquire().await?;
                for statement in statements {
                    text(statement).execute(&mut *connection).await?;
                }
            }
            Self::Postgres(backend) => {
                let mut connection = backend.pool().acquire().await?;
                for statement in statements {
                    text(statement).execute(&mut *connection).await?;
                }
            }
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let most = std::env::var("FF_SCALE_MOST").ok().map_or(Ok(u64::MAX), |most| most.parse())?;
    let sizes: Vec<u64> = SIZES.into_iter().filter(|size| *size <= most).collect();
    let folder = tempfile::Builder::new().prefix("scale").tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let path = folder.path().join("flow.db").display().to_string();
    measure("SQLite", &Store::Sqlite(SqliteBackend::new(&path).await?), &sizes).await?;
    match std::env::var("FF_TEST_POSTGRES_URL") {
        Ok(url) => measure("Postgres", &Store::Postgres(fresh_postgres(&url).await?), &sizes).await,
        Err(_) => Err("FF_TEST_POSTGRES_URL is not set: run scripts/scale".into()),
    }
}

/// Makes the schema with all 256 partitions in the server's own database, which nobody used before.
async fn fresh_postgres(url: &str) -> Result<Arc<PostgresBackend>, Failure> {
    let pool = ff_backend_sql::PgPool::connect(url).await?;
    ff_backend_sql::apply_migrations(&pool).await?;
    pool.close().await;
    let config = BackendConfig::new(BackendConnection::Postgres(PostgresConnection::new(url)));
    Ok(PostgresBackend::connect_with_clock(config, PartitionConfig::default(), Clock::system()).await?)
}

/// Loads, measures, and prints a table.
async fn measure(name: &str, store: &Store, sizes: &[u64]) -> Result<(), Failure> {
    let flows = work::create_flows(&*store.backend()).await?;
    let mut table: Vec<(&'static str, Vec<f64>)> = Vec::new();
    let mut loaded = 0;
    for size in sizes {
        let begun = std::time::Instant::now();
        store.execute(load::statements(store, loaded, *size, &flows)).await?;
        loaded = *size;
        eprintln!("{name}: {size} executions, loaded in {} s", begun.elapsed().as_secs());
        let measured = work::measure(store, loaded, &flows).await?;
        for (at, (operation, ms)) in measured.into_iter().enumerate() {
            match table.get_mut(at) {
                Some(row) => row.1.push(ms),
                None => table.push((operation, vec![ms])),
            }
        }
    }
    println!("{}", page(name, sizes, &table));
    Ok(())
}

fn page(name: &str, sizes: &[u64], table: &[(&'static str, Vec<f64>)]) -> String {
    let heads: Vec<String> = sizes.iter().map(|size| format!("{size} rows")).collect();
    let mut page = format!(
        "| {name}, ms per call | {} | growth |\n|---|{}---:|\n",
        heads.join(" | "),
        "---:|".repeat(sizes.len())
    );
    for (operation, times) in table {
        let cells: Vec<String> = times.iter().map(|ms| format!("{ms:.3}")).collect();
        let (first, last) = (times.first().copied().unwrap_or(1.0), times.last().copied().unwrap_or(1.0));
        let growth = last / first;
        let verdict = if growth > LIMIT { " **too much**" } else { "" };
        let _ = writeln!(page, "| {operation} | {} | {growth:.2}{verdict} |", cells.join(" | "));
    }
    page
}
