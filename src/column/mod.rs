//! What columns hold, in types of their own, and keys of several: the generated statements take and give them. Each says
//! once how it comes from what callers hold and what they are shown.

/// The plain value of a column's type: from it, to it, and as text.
macro_rules! held {
    ($name:ident, $plain:ty) => {
        impl From<$plain> for $name {
            fn from(stored: $plain) -> Self {
                Self(stored)
            }
        }

        impl From<$name> for $plain {
            fn from(held: $name) -> Self {
                held.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

mod id;
mod key;
mod lease;
mod partition;
mod refusal;

pub(crate) use id::{ExecutionUuid, FlowUuid, LaneName};
pub(crate) use key::{ExecKey, GroupKey};
pub(crate) use lease::{StoredEpoch, StoredIndex};
pub(crate) use partition::{OutboxPartition, PartitionNumber};
pub(crate) use refusal::{corruption, invalid_input};
