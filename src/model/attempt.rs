//! An attempt's index and its lease's epoch: as rows hold them, and as callers count them.

use ff_core::engine_error::EngineError;
use ff_core::state::AttemptType;
use ff_core::types::{AttemptIndex, LeaseEpoch};

use super::id::{corruption, invalid_input};

/// A caller's index as rows hold it.
///
/// # Errors
/// `Validation(InvalidInput)` when it exceeds the narrower of the two columns, that of Postgres, which both databases
/// keep to.
pub(crate) fn stored_index(index: AttemptIndex) -> Result<i32, EngineError> {
    let bound = i32::MAX;
    i32::try_from(index.0)
        .map_err(|_| invalid_input(format!("attempt index {} exceeds i32 range (max {bound})", index.0)))
}

/// The same of an attempt that another one may follow, whose index must fit as well.
///
/// # Errors
/// `Validation(InvalidInput)` that names the field.
pub(crate) fn index_before_next(field: &str, index: AttemptIndex) -> Result<i32, EngineError> {
    match i32::try_from(index.0) {
        Ok(index) if index < i32::MAX => Ok(index),
        _ => Err(invalid_input(format!("{field} {index} exceeds PG i32 column bound"))),
    }
}

/// The index in a handle as rows hold it.
///
/// # Errors
/// `Validation(InvalidInput)` when it exceeds the column.
pub(crate) fn index_in_handle(index: AttemptIndex) -> Result<i32, EngineError> {
    let index = index.0;
    i32::try_from(index).map_err(|_| invalid_input(format!("attempt_index {index} exceeds the column's range")))
}

/// A row's index as ff-core counts it.
///
/// # Errors
/// `Validation(Corruption)` when it is negative.
pub(crate) fn attempt_number(stored: i32) -> Result<u32, EngineError> {
    u32::try_from(stored).map_err(|_| corruption(format!("attempt_index is negative: {stored}")))
}

/// A row's index as callers see it; a negative one reads as 0.
pub(crate) fn shown_index(stored: i32) -> AttemptIndex {
    AttemptIndex::new(stored.max(0).unsigned_abs())
}

/// What a stored attempt is; one that says nothing, or a word that no attempt begins with, is the first.
pub(crate) fn stored_type(word: &str) -> AttemptType {
    match word {
        "retry" => AttemptType::Retry,
        "replay" => AttemptType::Replay,
        _ => AttemptType::Initial,
    }
}

/// The epoch in a handle as rows hold it.
///
/// # Errors
/// `Validation(InvalidInput)` when it exceeds the column.
pub(crate) fn stored_epoch(epoch: LeaseEpoch) -> Result<i64, EngineError> {
    let epoch = epoch.0;
    i64::try_from(epoch).map_err(|_| invalid_input(format!("lease_epoch {epoch} exceeds the column's range")))
}

/// The epoch of a fence as rows hold it; one that exceeds the column is the end of it, which no attempt reaches.
pub(crate) fn fence_epoch(epoch: LeaseEpoch) -> i64 {
    i64::try_from(epoch.0).unwrap_or(i64::MAX)
}

/// A row's epoch as callers see it; a negative one reads as 0.
pub(crate) fn shown_epoch(stored: i64) -> LeaseEpoch {
    LeaseEpoch::new(stored.max(0).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_column_cannot_hold_is_refused_by_its_name() {
        let (last, beyond) = (AttemptIndex::new(i32::MAX.unsigned_abs()), AttemptIndex::new(u32::MAX));
        assert_eq!(stored_index(last).ok(), Some(i32::MAX));
        for error in [stored_index(beyond), index_before_next("attempt_index", last), index_in_handle(beyond)] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("attempt") && error.contains("exceeds"), "{error}");
        }
        assert!(stored_epoch(LeaseEpoch::new(u64::MAX)).unwrap_err().to_string().contains("lease_epoch"));
        assert_eq!(fence_epoch(LeaseEpoch::new(u64::MAX)), i64::MAX);
    }

    #[test]
    fn what_no_attempt_has_is_not_hidden_where_a_handle_is_made() {
        assert!(attempt_number(-1).is_err());
        assert_eq!((shown_index(-1), shown_epoch(-1)), (AttemptIndex::new(0), LeaseEpoch::new(0)));
    }
}
