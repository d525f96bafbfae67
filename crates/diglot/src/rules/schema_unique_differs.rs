//! A unique key is in one schema only.
//!
//! # What it finds
//!
//! UNIQUE on one side only, where no key of the other says so of some of its columns already, or NULLs that are equal on
//! one side only (NULLS NOT DISTINCT).
//!
//! # Why it bites
//!
//! The one database stores twice what the other refuses; ON CONFLICT has no key to meet.
//!
//! # Write instead
//!
//! The same key in both schemas, over columns that are NOT NULL.
//!
//! # Example
//!
//! ```text
//! UNIQUE (lane, key)
//! ```
