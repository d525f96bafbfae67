//! The number of a partition.

use std::fmt;

use ff_core::engine_error::EngineError;

use super::refusal::invalid_input;

/// The partition of rows, with which the key of each begins: the N of `{fp:N}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionNumber(i16);

impl PartitionNumber {
    /// The only one of a database that has no partitions.
    pub(crate) const ONLY: Self = Self(0);

    /// The least that a column holds: a page that begins behind it is the first one.
    pub(crate) const LEAST: Self = Self(i16::MIN);

    /// A number that a caller gives.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` above 32767, the bound of the column.
    pub(crate) fn given(index: u16) -> Result<Self, EngineError> {
        let refused = |_| invalid_input(format!("partition index {index} exceeds i16 range (max 32767)"));
        i16::try_from(index).map(Self).map_err(refused)
    }

    /// A number of the configuration, which has 256 partitions; one that exceeds the column is its end.
    pub(crate) fn configured(index: u16) -> Self {
        Self(i16::try_from(index).unwrap_or(i16::MAX)) // tidy: a number from the configuration
    }

    /// The first ones, that many.
    pub(crate) fn first(count: u16) -> impl Iterator<Item = Self> + Send {
        (0..Self::configured(count).0).map(Self)
    }
}

impl fmt::Display for PartitionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i16> for PartitionNumber {
    fn from(stored: i16) -> Self {
        Self(stored)
    }
}

impl From<PartitionNumber> for i16 {
    fn from(number: PartitionNumber) -> Self {
        number.0
    }
}

/// Outboxes have a wider column.
impl From<PartitionNumber> for i32 {
    fn from(number: PartitionNumber) -> Self {
        number.0.into()
    }
}

/// Lists of numbers are lists of the widest.
impl From<PartitionNumber> for i64 {
    fn from(number: PartitionNumber) -> Self {
        number.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_the_column_is_refused_or_its_end() {
        assert!(PartitionNumber::given(32_768).unwrap_err().to_string().contains("exceeds i16 range"));
        assert_eq!(PartitionNumber::given(32_767).unwrap(), PartitionNumber::from(i16::MAX));
        assert_eq!(PartitionNumber::configured(u16::MAX), PartitionNumber::from(i16::MAX));
    }

    #[test]
    fn the_first_ones_begin_with_the_only_one() {
        let first: Vec<_> = PartitionNumber::first(3).map(i64::from).collect();
        assert_eq!((first, PartitionNumber::first(1).next()), (vec![0, 1, 2], Some(PartitionNumber::ONLY)));
    }
}
