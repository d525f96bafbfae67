//! What the database's values mean: ids, states, handles, cursors, frames, signals, documents, what callers give.
//!
//! All conversion between stored text and enums is here. Nothing here waits, and nothing knows SQL.

pub(crate) mod attempt;
pub(crate) mod cursor;
pub(crate) mod document;
pub(crate) mod edge;
pub(crate) mod frame;
pub(crate) mod given;
pub(crate) mod handle;
pub(crate) mod hex;
pub(crate) mod id;
pub(crate) mod limits;
pub(crate) mod manage;
pub(crate) mod signal;
pub(crate) mod state;
pub(crate) mod summary;
pub(crate) mod word;
