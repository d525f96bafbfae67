//! How a value that no column holds is refused.

use ff_core::engine_error::{EngineError, ValidationKind};

/// `Validation(InvalidInput)` with that detail.
pub(crate) fn invalid_input(detail: impl Into<String>) -> EngineError {
    EngineError::Validation { kind: ValidationKind::InvalidInput, detail: detail.into() }
}

/// `Validation(Corruption)` with that detail.
pub(crate) fn corruption(detail: impl Into<String>) -> EngineError {
    EngineError::Validation { kind: ValidationKind::Corruption, detail: detail.into() }
}
