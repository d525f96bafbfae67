//! An allowed lint finds nothing.
//!
//! # What it finds
//!
//! `-- allow(rule)` where the rule has nothing to say, or names no lint.
//!
//! # Why it bites
//!
//! It would hide the next finding, which nobody judged.
//!
//! # Write instead
//!
//! Remove it. A difference between the pages is waived by `-- diverges(FACT)`, not by allow.
//!
//! # Example
//!
//! ```text
//! -- allow(shard-key): the sweep is over all partitions
//! ```
