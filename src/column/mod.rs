//! What columns hold, in types of their own: the generated statements take and give them. Each says once how it comes
//! from what callers hold and what they are shown.

mod key;
mod lease;
mod partition;
mod refusal;

pub(crate) use key::{ExecKey, GroupKey};
pub(crate) use lease::{StoredEpoch, StoredIndex};
pub(crate) use partition::PartitionNumber;
pub(crate) use refusal::{corruption, invalid_input};
