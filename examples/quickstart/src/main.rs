//! A tour of the backend in a few seconds: executions with capabilities and priorities, two workers, live
//! output, a failure, a crash and its recovery, and a reopened database at the end.
//!
//! ```text
//! cargo run -p quickstart                                          # an embedded SQLite file
//! cargo run -p quickstart --features postgres -- --postgres URL    # the same on a Postgres server
//! ```
//!
//! On Postgres it works in a schema-complete database that it finds or makes at URL (four partitions per
//! table when it makes one) and leaves its rows there. With `--spread SHARDS` behind it URL is the coordinator of a
//! cluster of Citus.

mod story;
mod work;

use std::sync::Arc;

use ff_backend_sql::SqliteBackend;
use ff_core::engine_backend::EngineBackend;
use story::Story;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where the executions are kept.
enum Place {
    Sqlite(std::path::PathBuf),
    Postgres(String, Option<u16>),
}

impl Place {
    async fn open(&self) -> Result<Arc<dyn EngineBackend>, Failure> {
        match self {
            Place::Sqlite(path) => {
                let path = path.to_str().ok_or("the path of the database is not UTF-8")?;
                Ok(SqliteBackend::new(path).await?)
            }
            Place::Postgres(url, shards) => open_postgres(url, *shards).await,
        }
    }
}

#[cfg(feature = "postgres")]
async fn open_postgres(url: &str, shards: Option<u16>) -> Result<Arc<dyn EngineBackend>, Failure> {
    use ff_backend_sql::{MigrationOptions, PgPool, PostgresBackend, apply_migrations_with};
    let pool = PgPool::connect(url).await?;
    let options = MigrationOptions::default();
    let options = match shards {
        Some(shards) => options.spread_over(shards)?,
        None => options.partitions(4)?,
    };
    apply_migrations_with(&pool, options).await?;
    pool.close().await;
    Ok(PostgresBackend::connect(ff_core::backend::BackendConfig::postgres(url)).await?)
}

#[cfg(not(feature = "postgres"))]
async fn open_postgres(_url: &str, _shards: Option<u16>) -> Result<Arc<dyn EngineBackend>, Failure> {
    Err("built without the feature `postgres`".into())
}

fn place() -> Result<Place, Failure> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    match given.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let path = std::env::temp_dir().join(format!("quickstart-{}.sqlite", std::process::id()));
            Ok(Place::Sqlite(path))
        }
        ["--postgres", url] => Ok(Place::Postgres(url.to_owned(), None)),
        ["--postgres", url, "--spread", shards] => Ok(Place::Postgres(url.to_owned(), Some(shards.parse()?))),
        _ => Err("usage: quickstart [--postgres URL [--spread SHARDS]]".into()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let place = place()?;
    let story = Arc::new(Story::begin());
    match &place {
        Place::Sqlite(path) => story.title(&format!("SQLite file {}", path.display())),
        Place::Postgres(..) => story.title("Postgres"),
    }

    let backend = place.open().await?;
    let tasks = work::submit(&backend, &story).await?;

    story.title("Two workers: north has no special capability, south has a gpu");
    let tail = tokio::spawn(work::watch(backend.clone(), story.clone(), tasks.training.clone()));
    let north = tokio::spawn(work::run_worker(backend.clone(), story.clone(), work::Worker::north()));
    let south = tokio::spawn(work::run_worker(backend.clone(), story.clone(), work::Worker::south()));
    north.await??;
    south.await??;
    tail.await??;

    story.title("A crash: east takes a task, dies, and its lease runs out");
    work::crash_and_recover(&backend, &story, &tasks).await?;

    story.title("Closed and opened again: everything is there");
    drop(backend);
    let backend = place.open().await?;
    work::print_table(&backend, &story, &tasks).await?;
    if let Place::Sqlite(path) = &place {
        story.note(&format!("The file stays for you to look at: {}", path.display()));
    }
    Ok(())
}
