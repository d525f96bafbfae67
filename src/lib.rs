//! Storage backend.
