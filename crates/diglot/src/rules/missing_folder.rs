//! A folder or a file that the settings name is not there.
//!
//! # What it finds
//!
//! Places of statement files and migrations that do not exist. Nothing else is told until they do.
//!
//! # Why it bites
//!
//! A page that is not found is compared with nothing, and looks clean.
//!
//! # Write instead
//!
//! The right place under `sql` or `schema` in `diglot.toml`, or the folder, which may be empty.
//!
//! # Example
//!
//! ```text
//! sql = { sqlite = "db/sqlite/queries", pg = "db/postgres/queries" }
//! ```
