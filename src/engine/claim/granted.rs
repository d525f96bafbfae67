//! What every claim has in its hands once a lease was taken.

use ff_core::backend::{Handle, HandleKind};
use ff_core::engine_error::EngineError;
use ff_core::handle_codec::HandlePayload;
use ff_core::types::{AttemptId, AttemptIndex, LaneId, LeaseId, WorkerInstanceId};

use crate::column::{StoredEpoch, StoredIndex};
use crate::db::Dialect;
use crate::engine::claim::give_back::Took;
use crate::engine::policy::give_back::Before;
use crate::model::handle;
use crate::model::id::{ExecKey, execution_id};

/// What a handle is made of once a lease was taken.
pub(crate) struct Granted {
    pub(crate) kind: HandleKind,
    pub(crate) attempt_index: StoredIndex,
    pub(crate) attempt_id: AttemptId,
    pub(crate) lease_id: LeaseId,
    pub(crate) lease_epoch: StoredEpoch,
    pub(crate) lease_ttl_ms: u64,
    pub(crate) lane_id: LaneId,
    pub(crate) worker_instance_id: WorkerInstanceId,
}

impl Granted {
    /// What was taken from there, for the case that nobody takes the handle.
    pub(crate) fn took(&self, key: ExecKey, before: Before) -> Took {
        let (attempt_index, lease_epoch, lease_id) = (self.attempt_index, self.lease_epoch, self.lease_id.clone());
        Took::Lease { key, attempt_index, lease_epoch, lease_id, lease_ttl_ms: self.lease_ttl_ms, before }
    }

    /// The handle.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when the row's key makes no id, `Validation(Corruption)` when its attempt
    /// index is negative. A negative epoch reads as 0.
    pub(crate) fn handle<D: Dialect>(self, key: ExecKey) -> Result<Handle, EngineError> {
        let payload = HandlePayload::new(
            execution_id(key.partition_key, key.execution_id)?,
            AttemptIndex::new(self.attempt_index.number()?),
            self.attempt_id,
            self.lease_id,
            self.lease_epoch.shown(),
            self.lease_ttl_ms,
            self.lane_id,
            self.worker_instance_id,
        );
        Ok(handle::encode(D::TAG, self.kind, &payload))
    }
}
