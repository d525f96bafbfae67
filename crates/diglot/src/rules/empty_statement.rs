//! A header has no SQL below it.
//!
//! # What it finds
//!
//! A `-- name:` line that is followed by the next header or by the end of the file.
//!
//! # Why it bites
//!
//! A function without a text cannot be generated, and its facing statement would face nothing.
//!
//! # Write instead
//!
//! The SQL, or no header.
//!
//! # Example
//!
//! ```text
//! -- name: server_ping :one
//! SELECT 1 AS pong;
//! ```
