//! Claims: an execution becomes a worker's, by its place in the queue, by name, or because it resumes.
//!
//! ```text
//!   submitted/runnable, eligible, unowned --claim--> active, leased
//!   submitted/runnable, eligible, unowned --issue_claim_grant--> granted --claim_execution--> active, leased
//!   submitted/runnable, granted to anybody or not ------issue_grant_and_claim-----> active, leased
//!   suspended, resumed ---------------------------claim_from_resume_grant--------> active, leased (next epoch)
//! ```
//!
//! A claim by name starts the attempt that is named, or leases it again on its next epoch, leaves the execution's
//! pointer one past it, and uses up every claim grant of the execution.

mod by_grant;
mod by_operator;
pub(crate) mod give_back;
mod granted;
pub(crate) mod mark;
mod queue;
pub(crate) mod reclaim;
mod reseat;
mod resumed;
mod wait;

pub(crate) use by_grant::by_grant;
pub(crate) use by_operator::grant_and_claim;
pub(crate) use reseat::by_resume_grant;
pub(crate) use resumed::claim as resumed;
pub(crate) use wait::{Wanted, next_within};
