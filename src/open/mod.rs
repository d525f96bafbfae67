//! How a backend is opened: the public constructors of both dialects.

#[cfg(feature = "sqlite")]
mod path;
#[cfg(feature = "postgres")]
mod pg;
#[cfg(feature = "sqlite")]
mod registry;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(all(test, feature = "sqlite"))]
mod tests;

#[cfg(all(feature = "compat", feature = "postgres"))]
pub(crate) use pg::over_pool_at;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::Tuning;
