//! The pages take different groups.
//!
//! # What it finds
//!
//! A conjunct of HAVING that differs or is on one page only.
//!
//! # Why it bites
//!
//! The rows differ between databases: what is tested on the one is not what runs on the other.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(having): reason` under either header.
//!
//! # Example
//!
//! ```text
//! HAVING count(*) > 1
//! ```
