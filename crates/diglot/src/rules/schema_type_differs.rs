//! A column holds other values in the one schema than in the other.
//!
//! # What it finds
//!
//! Types that do not hold the same values, such as `TEXT` and `integer`; widths that both schemas name and that
//! differ; `real`, which keeps 4 bytes on Postgres; lengths that Postgres enforces or pads to and SQLite does not;
//! milliseconds in less than 64 bits; another collation.
//!
//! # Why it bites
//!
//! A value that one database stores is refused, cut off, padded or sorted elsewhere by the other.
//!
//! # Write instead
//!
//! The types that belong together: INTEGER and bigint, REAL and double precision, TEXT and text or jsonb, BLOB and
//! bytea or uuid.
//!
//! # Example
//!
//! ```text
//! -- diverges(type.usage.execution_id): text on SQLite, as it was always written
//! ```
