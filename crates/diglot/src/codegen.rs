//! Generates the Rust API.
