//! An optional part cannot be left out.
//!
//! # What it finds
//!
//! `-- if: param` … `-- end` that is not closed or stands inside another, that holds something else than whole
//! conjuncts, that does not use its parameter, or whose parameter is needed elsewhere too; a part that is optional on
//! one page only. The same of `-- order: name` … `-- end`: an order that is more or less than one ORDER BY, that is there
//! alone, twice or on one page only, or that stands apart from the others. More than 64 combinations in one statement.
//!
//! # Why it bites
//!
//! Every combination of parts is a text of its own, which must be sound on both pages.
//!
//! # Write instead
//!
//! The two lines around conditions that begin with AND, alike on both pages. A value that is not given leaves its
//! conditions out.
//!
//! # Example
//!
//! ```text
//!  WHERE lease.partition_key = :partition_key
//! -- if: lane
//!    AND lease.lane = :lane
//! -- end
//! ```
