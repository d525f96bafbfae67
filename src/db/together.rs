//! What steps of flows take that Postgres may do for several callers in one statement.

use ff_core::types::ExecutionId;
use serde_json::Value;
use uuid::Uuid;

use crate::column::{ExecutionUuid, FlowUuid, PartitionNumber};
use crate::model::edge::EdgeKey;

/// An execution becomes a flow's member.
#[derive(Debug)]
pub(crate) struct Joining {
    pub(crate) partition_key: PartitionNumber,
    pub(crate) flow_id: FlowUuid,
    pub(crate) member: ExecutionUuid,
    pub(crate) execution_id: ExecutionId,
    pub(crate) now_ms: i64,
}

/// An edge becomes part of a flow's graph.
#[derive(Debug)]
pub(crate) struct Staging {
    pub(crate) key: EdgeKey,
    pub(crate) document: Value,
    /// None when it is greater than any revision can be.
    pub(crate) expected_revision: Option<i64>,
    pub(crate) now_ms: i64,
}

/// An execution begins to wait for an edge.
#[derive(Debug)]
pub(crate) struct Applying {
    pub(crate) partition_key: PartitionNumber,
    pub(crate) flow_id: FlowUuid,
    pub(crate) edge_id: Uuid,
    pub(crate) downstream_eid: ExecutionUuid,
    pub(crate) now_ms: i64,
}

/// An edge is counted whose upstream execution has ended.
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "alone it goes by its hop, and only Postgres has it go with others")
)]
#[derive(Debug)]
pub(crate) struct Hopping {
    pub(crate) partition_key: PartitionNumber,
    pub(crate) flow_id: FlowUuid,
    pub(crate) edge_id: Uuid,
    /// The completion that is followed with it.
    pub(crate) event_id: Option<i64>,
    pub(crate) now_ms: i64,
    /// Whether the upstream execution did what it was for, and rows that somebody holds are waited for.
    pub(crate) is_plain: bool,
}

/// What counting an edge with others gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// How many edges of its group have ended.
    pub(crate) ended: i64,
    /// How many completions were noted as followed.
    pub(crate) settled: u64,
}
