//! How a backend is opened: the public constructors of both dialects.

#[cfg(feature = "sqlite")]
mod path;
#[cfg(feature = "postgres")]
mod pg;
#[cfg(feature = "sqlite")]
mod registry;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "postgres")]
pub use pg::{budget_reset_scan_tick, upsert_policy_for_test};
