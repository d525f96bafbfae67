//! What rows are known by: several columns that are one value.

use super::id::{ExecutionUuid, FlowUuid};
use super::partition::PartitionNumber;

/// Where the rows of an execution are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecKey {
    /// The N of `{fp:N}`.
    pub partition_key: PartitionNumber,
    /// The id without its prefix.
    pub execution_id: ExecutionUuid,
}

impl ExecKey {
    /// The uuid as outbox rows hold it: lower case with hyphens.
    pub(crate) fn text(&self) -> String {
        self.execution_id.to_string()
    }
}

/// Where the row of a group is: the edges into one execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupKey {
    /// That of the flow.
    pub partition_key: PartitionNumber,
    /// The flow.
    pub flow_id: FlowUuid,
    /// The execution that the edges lead to.
    pub downstream_eid: ExecutionUuid,
}
