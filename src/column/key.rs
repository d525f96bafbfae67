//! What rows are known by: several columns that are one value.

use uuid::Uuid;

use super::partition::PartitionNumber;

/// Where the rows of an execution are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecKey {
    /// The N of `{fp:N}`.
    pub partition_key: PartitionNumber,
    /// The id without its prefix.
    pub execution_id: Uuid,
}

impl ExecKey {
    /// The uuid as outbox rows hold it: lower case with hyphens.
    pub(crate) fn text(&self) -> String {
        self.execution_id.hyphenated().to_string()
    }
}

/// Where the row of a group is: the edges into one execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupKey {
    /// That of the flow.
    pub partition_key: PartitionNumber,
    /// The flow.
    pub flow_id: Uuid,
    /// The execution that the edges lead to.
    pub downstream_eid: Uuid,
}
