//! Decisions that need no database and no clock.

pub(crate) mod group;
pub(crate) mod live;
pub(crate) mod reclaim;
pub(crate) mod retry;
