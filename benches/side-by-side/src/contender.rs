//! One database with one backend on it.

use std::path::PathBuf;
use std::sync::Arc;

use ff_core::backend::{BackendConfig, BackendConnection, PostgresConnection};
use ff_core::engine_backend::EngineBackend;

/// Whose code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// This repository's.
    Ours,
    /// The existing backend's.
    Theirs,
}

/// Where the data are, for loading rows past the backend.
#[derive(Debug, Clone)]
pub enum Store {
    /// A file.
    Sqlite(PathBuf),
    /// A pool on the database.
    Postgres(sqlx::PgPool),
}

/// A backend on a fresh database.
pub struct Contender {
    /// The trait object that the work is done through.
    pub backend: Arc<dyn EngineBackend>,
    /// The data.
    pub store: Store,
    _folder: Option<tempfile::TempDir>,
}

type Failure = Box<dyn std::error::Error>;

/// Opens a fresh SQLite file.
pub async fn sqlite(whose: Whose) -> Result<Contender, Failure> {
    let folder = tempfile::Builder::new().prefix("side-by-side").tempdir_in(".")?;
    let path = folder.path().join("engine.sqlite");
    let text = path.to_str().ok_or("the folder's name is not text")?;
    let backend: Arc<dyn EngineBackend> = match whose {
        Whose::Ours => ff_backend_sql::SqliteBackend::new(text).await?,
        Whose::Theirs => ff_backend_sqlite::SqliteBackend::new(text).await?,
    };
    Ok(Contender { backend, store: Store::Sqlite(path), _folder: Some(folder) })
}

/// Makes a fresh database on the server and opens it with 20 connections. The tables of ours have so many partitions.
pub async fn postgres(whose: Whose, server: &str, partitions: u16) -> Result<Contender, Failure> {
    let admin = sqlx::PgPool::connect(server).await?;
    let name = match whose {
        Whose::Ours => "bench_ours",
        Whose::Theirs => "bench_theirs",
    };
    for statement in [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&admin).await?;
    }
    let (head, query) = server.split_once('?').map_or((server, String::new()), |(h, q)| (h, format!("?{q}")));
    let base = head.rsplit_once('/').map_or(head, |(base, _)| base);
    let url = format!("{base}/{name}{query}");
    let mut connection = PostgresConnection::new(url.clone());
    connection.max_connections = 20;
    let config = BackendConfig::new(BackendConnection::Postgres(connection));
    let pool = sqlx::PgPool::connect(&url).await?;
    let backend: Arc<dyn EngineBackend> = match whose {
        Whose::Ours => {
            let options = ff_backend_sql::MigrationOptions::default().partitions(partitions)?;
            ff_backend_sql::apply_migrations_with(&pool, options).await?;
            ff_backend_sql::PostgresBackend::connect(config).await?
        }
        Whose::Theirs => {
            let theirs = ff_backend_postgres::PgPool::connect(&url).await?;
            ff_backend_postgres::apply_migrations(&theirs).await?;
            ff_backend_postgres::PostgresBackend::connect(config).await?
        }
    };
    Ok(Contender { backend, store: Store::Postgres(pool), _folder: None })
}
