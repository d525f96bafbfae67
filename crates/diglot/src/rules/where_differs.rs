//! The pages take different rows.
//!
//! # What it finds
//!
//! A conjunct of WHERE, or of an inner join's ON, that differs or is on one page only. The order of conjuncts and
//! operands does not count.
//!
//! # Why it bites
//!
//! A missing fence lets a stale worker write; `<` for `<=` moves a deadline.
//!
//! # Write instead
//!
//! The same on both pages. If the difference is meant: `-- diverges(where): reason` under either header.
//!
//! # Example
//!
//! ```text
//! WHERE lease_epoch = :lease_epoch
//! ```
