//! SQL stands before the first header.
//!
//! # What it finds
//!
//! Text that belongs to no statement.
//!
//! # Why it bites
//!
//! It would never run, although a reader believes that it does.
//!
//! # Write instead
//!
//! A header above it.
//!
//! # Example
//!
//! ```text
//! -- name: server_ping :one
//! SELECT 1 AS pong;
//! ```
