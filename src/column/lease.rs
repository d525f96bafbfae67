//! An attempt's index and its lease's epoch: as rows hold them, and as callers count them.

use ff_core::engine_error::EngineError;
use ff_core::types::{AttemptIndex, LeaseEpoch};

use super::refusal::{corruption, invalid_input};

/// The index of an attempt, as rows hold it. Both databases keep to the narrower of their two columns, that of Postgres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredIndex(i32);

impl StoredIndex {
    /// That of the first attempt.
    pub(crate) const FIRST: Self = Self(0);

    /// A caller's index.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when it exceeds the column.
    pub(crate) fn given(index: AttemptIndex) -> Result<Self, EngineError> {
        let bound = i32::MAX;
        let refused = |_| invalid_input(format!("attempt index {} exceeds i32 range (max {bound})", index.0));
        i32::try_from(index.0).map(Self).map_err(refused)
    }

    /// The same of an attempt that another one may follow, whose index must fit as well.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` that names the field.
    pub(crate) fn before_next(field: &str, index: AttemptIndex) -> Result<Self, EngineError> {
        match i32::try_from(index.0) {
            Ok(index) if index < i32::MAX => Ok(Self(index)),
            _ => Err(invalid_input(format!("{field} {index} exceeds PG i32 column bound"))),
        }
    }

    /// The index in a handle.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when it exceeds the column.
    pub(crate) fn in_handle(index: AttemptIndex) -> Result<Self, EngineError> {
        let refused = |_| invalid_input(format!("attempt_index {} exceeds the column's range", index.0));
        i32::try_from(index.0).map(Self).map_err(refused)
    }

    /// As ff-core counts it.
    ///
    /// # Errors
    /// `Validation(Corruption)` when it is negative.
    pub(crate) fn number(self) -> Result<u32, EngineError> {
        u32::try_from(self.0).map_err(|_| corruption(format!("attempt_index is negative: {self}")))
    }

    /// As callers see it; a negative one reads as 0.
    pub(crate) fn shown(self) -> AttemptIndex {
        AttemptIndex::new(self.0.max(0).unsigned_abs())
    }

    /// That of the attempt that follows; none behind the last one of the column.
    pub(crate) fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }

    /// The same, or the last one of the column itself.
    pub(crate) fn next_or_last(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The epoch of a lease, as rows hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredEpoch(i64);

impl StoredEpoch {
    /// What an attempt has that nobody leased yet.
    pub(crate) const NONE: Self = Self(0);

    /// That of an attempt's first lease.
    pub(crate) const FIRST: Self = Self(1);

    /// The epoch in a handle.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when it exceeds the column.
    pub(crate) fn in_handle(epoch: LeaseEpoch) -> Result<Self, EngineError> {
        let refused = |_| invalid_input(format!("lease_epoch {} exceeds the column's range", epoch.0));
        i64::try_from(epoch.0).map(Self).map_err(refused)
    }

    /// The epoch of a fence; one that exceeds the column is the end of it, which no attempt reaches.
    pub(crate) fn of_fence(epoch: LeaseEpoch) -> Self {
        Self(i64::try_from(epoch.0).unwrap_or(i64::MAX))
    }

    /// As callers see it; a negative one reads as 0.
    pub(crate) fn shown(self) -> LeaseEpoch {
        LeaseEpoch::new(self.0.max(0).unsigned_abs())
    }

    /// That of the lease that follows; the last one of the column is its own.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

held!(StoredIndex, i32);
held!(StoredEpoch, i64);

/// For what counts attempts.
impl From<StoredIndex> for i64 {
    fn from(index: StoredIndex) -> Self {
        index.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_column_cannot_hold_is_refused_by_its_name() {
        let (last, beyond) = (AttemptIndex::new(i32::MAX.unsigned_abs()), AttemptIndex::new(u32::MAX));
        assert_eq!(StoredIndex::given(last).ok(), Some(i32::MAX.into()));
        let refused = [
            StoredIndex::given(beyond),
            StoredIndex::before_next("attempt_index", last),
            StoredIndex::in_handle(beyond),
        ];
        for error in refused {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("attempt") && error.contains("exceeds"), "{error}");
        }
        assert!(StoredEpoch::in_handle(LeaseEpoch::new(u64::MAX)).unwrap_err().to_string().contains("lease_epoch"));
        assert_eq!(StoredEpoch::of_fence(LeaseEpoch::new(u64::MAX)), i64::MAX.into());
    }

    #[test]
    fn what_no_attempt_has_is_not_hidden_where_a_handle_is_made() {
        let (index, epoch) = (StoredIndex::from(-1), StoredEpoch::from(-1));
        assert!(index.number().is_err());
        assert_eq!((index.shown(), epoch.shown()), (AttemptIndex::new(0), LeaseEpoch::new(0)));
    }

    #[test]
    fn nothing_follows_the_last_one_of_a_column() {
        let (index, epoch) = (StoredIndex::from(i32::MAX), StoredEpoch::from(i64::MAX));
        assert_eq!((index.next(), index.next_or_last(), epoch.next()), (None, index, epoch));
        assert_eq!(StoredIndex::FIRST.next(), Some(StoredIndex::from(1)));
        assert_eq!(StoredEpoch::NONE.next(), StoredEpoch::FIRST);
    }
}
