//! What the database's values mean: ids, states, handles, cursors, frames, documents.
//!
//! All conversion between stored text and enums is here. Nothing here waits, and nothing knows SQL.

pub(crate) mod cursor;
pub(crate) mod document;
pub(crate) mod edge;
pub(crate) mod frame;
pub(crate) mod handle;
pub(crate) mod id;
pub(crate) mod state;
pub(crate) mod summary;
