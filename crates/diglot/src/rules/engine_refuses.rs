//! A real engine refuses a statement or a migration.
//!
//! # What it finds
//!
//! What SQLite or Postgres itself said against a text when `cargo diglot prepare` had it described and
//! explained: a conflict target that no index serves, a function that does not exist, types without a
//! comparison.
//!
//! # Why it bites
//!
//! The statement would fail at run time, every time.
//!
//! # Write instead
//!
//! What the engine asks for; its own words stand in the finding.
//!
//! # Example
//!
//! ```text
//! INSERT INTO job (id, lane) VALUES (:id, :lane) ON CONFLICT (id) DO NOTHING
//! ```
