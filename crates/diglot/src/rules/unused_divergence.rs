//! A declared divergence names no difference.
//!
//! # What it finds
//!
//! `-- diverges(FACT)` where the pages agree.
//!
//! # Why it bites
//!
//! It would waive the next difference of that kind, which nobody meant.
//!
//! # Write instead
//!
//! Remove it, or name the fact that differs.
//!
//! # Example
//!
//! ```text
//! -- diverges(lock): SQLite has a single writer.
//! ```
