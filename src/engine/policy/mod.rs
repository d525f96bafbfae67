//! Decisions that need no database and no clock.

pub(crate) mod live;
pub(crate) mod retry;
