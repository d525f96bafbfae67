//! A unit repeats a CTE with another body.
//!
//! # What it finds
//!
//! A CTE of one name that differs between the statements of a SQLite unit.
//!
//! # Why it bites
//!
//! The statements of the unit then work on different rows, where Postgres has one CTE for all of them.
//!
//! # Write instead
//!
//! The same body in every statement of the unit.
//!
//! # Example
//!
//! ```text
//! WITH fence AS (SELECT …) UPDATE …; WITH fence AS (SELECT …) INSERT …
//! ```
