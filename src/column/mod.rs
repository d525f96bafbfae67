//! What columns hold, in types of their own: the generated statements take and give them. Each says once how it comes
//! from what callers hold and what they are shown.

mod lease;
mod partition;

use ff_core::engine_error::{EngineError, ValidationKind};

pub(crate) use lease::{StoredEpoch, StoredIndex};
pub(crate) use partition::PartitionNumber;

/// `Validation(InvalidInput)` with that detail.
pub(crate) fn invalid_input(detail: impl Into<String>) -> EngineError {
    EngineError::Validation { kind: ValidationKind::InvalidInput, detail: detail.into() }
}

/// `Validation(Corruption)` with that detail.
pub(crate) fn corruption(detail: impl Into<String>) -> EngineError {
    EngineError::Validation { kind: ValidationKind::Corruption, detail: detail.into() }
}
