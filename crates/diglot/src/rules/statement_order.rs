//! The pages have their statements in different orders.
//!
//! # What it finds
//!
//! The first place where the two files name different statements.
//!
//! # Why it bites
//!
//! Pages are reviewed side by side; one that is sorted differently hides what is missing.
//!
//! # Write instead
//!
//! The same order on both pages.
//!
//! # Example
//!
//! ```text
//! -- name: lease_claim :opt
//! ```
