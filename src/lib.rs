//! The storage backend of the FlowFabric durable execution engine on SQLite and Postgres.
//!
//! [`SqliteBackend`] is for development and for programs that want no server; [`PostgresBackend`] is for
//! production. Both are one implementation of [`EngineBackend`](ff_core::engine_backend::EngineBackend),
//! written once over statements that a compiler has compared pairwise, so they answer alike.
//!
//! ```no_run
//! # async fn open() -> Result<(), Box<dyn std::error::Error>> {
//! // Development: a file, or ":memory:". The environment must have FF_DEV_MODE=1.
//! # #[cfg(feature = "sqlite")]
//! let backend = ff_backend_sql::SqliteBackend::new("flow.db").await?;
//!
//! // Production: bring the schema up to date once, then connect.
//! # #[cfg(feature = "postgres")] {
//! use ff_core::backend::BackendConfig;
//! let url = "postgres://localhost/flow";
//! ff_backend_sql::apply_migrations(&ff_backend_sql::PgPool::connect(url).await?).await?;
//! let backend = ff_backend_sql::PostgresBackend::connect(BackendConfig::postgres(url)).await?;
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! | Room | What is there |
//! |---|---|
//! | `open` | the constructors |
//! | `backend` | the trait's table of methods, one delegation each |
//! | `engine` | the operations, generic over the dialect |
//! | `db` | connections, the one door to transactions, wake-ups, migrations |
//! | `events` | subscriptions to what happened |
//! | `sweep` | periodic work |
//! | `metric` | what is measured |
//! | `model` | ids, states, handles, documents |
//! | `statements` | the generated statements |
//! | `compat` | the module paths of the crate `ff-backend-postgres` |
//!
//! A program that used one of the two existing backends changes one line of its `Cargo.toml`: see
//! `docs/migration.md` and the feature `compat`.

mod backend;
mod clock;
mod column;
#[macro_use]
mod db;
#[cfg(all(feature = "compat", feature = "postgres"))]
mod compat;
mod engine;
mod events;
mod metric;
mod model;
mod open;
mod statements;
mod sweep;

#[cfg(feature = "sqlite")]
pub mod retry;

#[cfg(feature = "postgres")]
pub mod listener {
    //! Live messages about streams, from any process on one Postgres database.

    pub use crate::db::listen::{COMPLETION_CHANNEL, StreamEventId, StreamNotifier, channel_name};
}

pub mod manage {
    //! What whoever looks after a database asks for and is told: see [`Manage`].

    pub use crate::backend::manage::Manage;
    pub use crate::model::manage::{
        ExecutionFilter, Inspection, ListedExecution, ListedPage, ListedState, Pause, PauseTarget, QueueCount,
        SchemaState, StateCount, TableSize, UnknownState,
    };
}

#[doc(hidden)]
pub mod pubsub {
    //! What a subscription of this process is told.

    pub use crate::db::OutboxEvent;
}

#[doc(hidden)]
pub mod testing;

pub use backend::Backend;
#[cfg(feature = "postgres")]
pub use backend::PostgresBackend;
#[cfg(feature = "sqlite")]
pub use backend::SqliteBackend;
#[cfg(all(feature = "compat", feature = "postgres"))]
pub use compat::{budget, completion, dispatch, reconcilers, scheduler, signal, version, worker_registry};
#[cfg(feature = "postgres")]
pub use db::Postgres;
#[cfg(feature = "sqlite")]
pub use db::Sqlite;
#[cfg(feature = "postgres")]
pub use db::error::{CertificateRefused, PostgresTransportError, SessionsShared, map_sqlx_error};
pub use db::migrate::MigrationError;
#[cfg(feature = "postgres")]
pub use db::migrate::{MigrationOptions, apply_migrations, apply_migrations_with, check_schema_version, repartition};
#[cfg(feature = "postgres")]
pub use events::PostgresCompletionStream;
pub use events::Subscription;
#[cfg(feature = "postgres")]
pub use ff_core::backend::PostgresConnection;
#[cfg(feature = "postgres")]
pub use listener::{COMPLETION_CHANNEL, StreamNotifier};
#[cfg(feature = "sqlite")]
pub use retry::{IsRetryableBusy, MAX_ATTEMPTS, is_retryable_sqlite_busy, retry_serializable};
#[cfg(feature = "postgres")]
pub use sqlx::PgPool;
#[cfg(feature = "postgres")]
pub use sweep::PostgresScannerConfig;
#[cfg(feature = "sqlite")]
pub use sweep::SqliteScannerConfig;
pub use sweep::{FullScannerConfig, ScannerHandle};

/// The sweeps of a backend on the embedded database.
#[cfg(feature = "sqlite")]
pub type SqliteScannerHandle = ScannerHandle;

/// The sweeps of a backend on the server database.
#[cfg(feature = "postgres")]
pub type PostgresScannerHandle = ScannerHandle;
