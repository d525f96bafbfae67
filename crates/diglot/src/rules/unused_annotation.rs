//! An annotation declares something that is not there.
//!
//! # What it finds
//!
//! `-- param:` or `-- column:` with a name that the statement does not have, or a field of `-- rows:` that nothing reads.
//!
//! # Why it bites
//!
//! It looks as if it typed something.
//!
//! # Write instead
//!
//! The right name, or nothing.
//!
//! # Example
//!
//! ```text
//! -- param: result bytes null
//! ```
