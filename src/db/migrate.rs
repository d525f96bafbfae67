//! Brings a database to the current schema.
//!
//! The schema is the list of files in `schema/sqlite` and `schema/pg`, embedded here. Versions below
//! 1000 are shared with the older backends and recorded where those look, in `_sqlx_migrations`, with
//! the checksums that those expect; so either side opens what the other made. Versions from 1001 on
//! are additions of this backend and recorded in `ff_sql_migrations` alone.
//!
//! A version recorded as successful counts as applied whatever its checksum, and a version that is not
//! known here is left alone. What is missing is applied in ascending order. There is no way down.
//!
//! This module changes the schema and its two ledgers only. When it runs is the constructor's concern
//! for SQLite and the operator's for Postgres.

pub(super) mod error;
#[cfg(feature = "postgres")]
mod index;
mod index_names;
mod ledger;
#[cfg(feature = "postgres")]
mod patience;
#[cfg(feature = "postgres")]
mod pg;
#[cfg(feature = "postgres")]
mod split;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod version;

pub use error::MigrationError;
pub(crate) use index_names::IndexNames;
#[cfg(feature = "postgres")]
pub use pg::{MigrationOptions, apply_migrations, apply_migrations_with, repartition};
#[cfg(feature = "postgres")]
pub(crate) use pg::{index_names as pg_index_names, schema_state as pg_schema_state};
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::{apply_sqlite, index_names as sqlite_index_names, schema_state as sqlite_schema_state};
#[cfg(feature = "postgres")]
pub use version::check_schema_version;
