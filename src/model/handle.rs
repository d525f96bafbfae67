//! Handles: what a worker holds while it runs an attempt.
//!
//! The codec is ff-core's; here is what a backend adds to it: only its own handles are accepted.

use ff_core::backend::{BackendTag, Handle, HandleKind};
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::handle_codec::{self, HandlePayload};

use super::id::{ExecKey, exec_key};
use crate::column::{StoredEpoch, StoredIndex};

/// A decoded handle and where its rows are.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// Where the execution is.
    pub(crate) key: ExecKey,
    /// The attempt's index.
    pub(crate) attempt_index: StoredIndex,
    /// The fencing counter.
    pub(crate) lease_epoch: StoredEpoch,
    /// Everything else.
    pub(crate) payload: HandlePayload,
}

impl Held {
    /// The lease's id as outbox rows hold it.
    pub(crate) fn lease_id(&self) -> String {
        self.payload.lease_id.to_string()
    }
}

/// Makes a handle.
pub(crate) fn encode(tag: BackendTag, kind: HandleKind, payload: &HandlePayload) -> Handle {
    Handle::new(tag, kind, handle_codec::encode(tag, payload))
}

/// Takes a handle apart.
///
/// # Errors
/// `Validation(HandleFromOtherBackend)` when another backend made it, `Validation(Corruption)` when its
/// bytes are malformed, `Validation(InvalidInput)` when a number in it exceeds its column.
pub(crate) fn decode(tag: BackendTag, handle: &Handle) -> Result<Held, EngineError> {
    if handle.backend != tag {
        return Err(foreign(format!("expected={tag:?} actual={:?}", handle.backend)));
    }
    let decoded = handle_codec::decode(&handle.opaque)?;
    if decoded.tag != tag {
        return Err(foreign(format!("expected={tag:?} actual={:?} (embedded tag)", decoded.tag)));
    }
    let payload = decoded.payload;
    Ok(Held {
        key: exec_key(&payload.execution_id)?,
        attempt_index: StoredIndex::in_handle(payload.attempt_index)?,
        lease_epoch: StoredEpoch::in_handle(payload.lease_epoch)?,
        payload,
    })
}

fn foreign(detail: String) -> EngineError {
    EngineError::Validation { kind: ValidationKind::HandleFromOtherBackend, detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff_core::backend::HandleOpaque;
    use ff_core::types::{AttemptId, AttemptIndex, ExecutionId, LaneId, LeaseEpoch, LeaseId, WorkerInstanceId};

    fn payload() -> HandlePayload {
        HandlePayload::new(
            ExecutionId::parse("{fp:3}:00000000-0000-4000-8000-000000000001").unwrap(),
            AttemptIndex::new(2),
            AttemptId::new(),
            LeaseId::new(),
            LeaseEpoch::new(5),
            1_000,
            LaneId::new("lane"),
            WorkerInstanceId::new("worker-1"),
        )
    }

    #[test]
    fn an_own_handle_comes_back() {
        let held = decode(BackendTag::Sqlite, &encode(BackendTag::Sqlite, HandleKind::Fresh, &payload())).unwrap();
        assert_eq!((held.key.partition_key, held.attempt_index, held.lease_epoch), (3.into(), 2.into(), 5.into()));
    }

    #[test]
    fn a_foreign_handle_is_refused_by_its_outer_tag() {
        let error =
            decode(BackendTag::Sqlite, &encode(BackendTag::Postgres, HandleKind::Fresh, &payload())).unwrap_err();
        assert_eq!(error.to_string(), "validation: HandleFromOtherBackend: expected=Sqlite actual=Postgres");
    }

    #[test]
    fn a_foreign_handle_is_refused_by_its_embedded_tag() {
        let inner = encode(BackendTag::Valkey, HandleKind::Fresh, &payload());
        let error =
            decode(BackendTag::Sqlite, &Handle::new(BackendTag::Sqlite, HandleKind::Fresh, inner.opaque)).unwrap_err();
        assert!(error.to_string().ends_with("expected=Sqlite actual=Valkey (embedded tag)"), "{error}");
    }

    #[test]
    fn malformed_bytes_are_corruption() {
        let handle = Handle::new(BackendTag::Sqlite, HandleKind::Fresh, HandleOpaque::new(Box::new([2, 1])));
        let error = decode(BackendTag::Sqlite, &handle).unwrap_err().to_string();
        assert!(error.starts_with("validation: Corruption: handle_codec: "), "{error}");
    }
}
