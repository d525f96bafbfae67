//! A column is added NOT NULL without a default.
//!
//! # What it finds
//!
//! `ALTER TABLE … ADD COLUMN … NOT NULL` without DEFAULT, in a migration.
//!
//! # Why it bites
//!
//! Both engines take it while the table is empty, as it is in tests, and refuse it as soon as there are rows.
//!
//! # Write instead
//!
//! A DEFAULT; or a column that may be NULL, an UPDATE, and a new table with NOT NULL.
//!
//! # Example
//!
//! ```text
//! ALTER TABLE job ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
//! ```
