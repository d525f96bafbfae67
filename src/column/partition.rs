//! The number of a partition.

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

held!(PartitionNumber, i16);

/// The partition of a row of an outbox, whose column is wider: what it holds beyond a partition's number ends an event,
/// not a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxPartition(i32);

impl OutboxPartition {
    /// The number of the partition.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when it is none.
    pub(crate) fn number(self) -> Result<PartitionNumber, EngineError> {
        let index = u16::try_from(self.0).map_err(|error| invalid_input(format!("partition_key: {self}: {error}")))?;
        PartitionNumber::given(index)
    }
}

held!(OutboxPartition, i32);

impl From<PartitionNumber> for OutboxPartition {
    fn from(number: PartitionNumber) -> Self {
        Self(number.0.into())
    }
}

/// Wake-ups carry numbers of any width.
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
    fn an_outbox_holds_more_than_a_number() {
        let number = PartitionNumber::from(7);
        assert_eq!(OutboxPartition::from(number).number().unwrap(), number);
        for beyond in [-1, 32_768, i32::MAX] {
            assert!(OutboxPartition::from(beyond).number().is_err(), "{beyond}");
        }
    }

    #[test]
    fn the_first_ones_begin_with_the_only_one() {
        let first: Vec<_> = PartitionNumber::first(3).map(i64::from).collect();
        assert_eq!((first, PartitionNumber::first(1).next()), (vec![0, 1, 2], Some(PartitionNumber::ONLY)));
    }
}
