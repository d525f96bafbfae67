//! Decisions that need no database and no clock.

pub(crate) mod admission;
pub(crate) mod allowance;
pub(crate) mod budget;
pub(crate) mod capability;
pub(crate) mod dependency;
pub(crate) mod eligibility;
pub(crate) mod expiry;
pub(crate) mod filter;
pub(crate) mod flow_cancel;
pub(crate) mod give_back;
pub(crate) mod group;
pub(crate) mod live;
pub(crate) mod reclaim;
pub(crate) mod resume;
pub(crate) mod retention;
pub(crate) mod retry;
pub(crate) mod summary;
pub(crate) mod timeout;
