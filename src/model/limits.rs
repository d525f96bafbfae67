//! How long a text may be: one limit per field, judged before anything is written.
//!
//! A text is limited where it stands in an index: an entry of a Postgres index holds at most 2,704 bytes, and a row
//! whose text does not fit could be read and never be written. Both databases keep to that. Text that stands in no
//! index has no line here and may have any length; so has a creation's idempotency key, of which [`key_of_length`]
//! stores a digest.
//!
//! | Field | Where it stands |
//! |---|---|
//! | lane of an execution | the registry of lanes, whose ids are read back as ff-core's, and the queues |
//! | worker id | the attempts |
//! | namespace and instance id of a worker | the registry of workers, both in one entry |
//! | required capability | the executions by what they require |
//! | idempotency key of a suspension | the answers that suspensions remember |
//! | key of a report, and of a spending | the answers that budgets remember |
//! | dimension of a budget | the counters, with the ids of budget and execution |
//! | key id | the secrets |

use ff_core::engine_error::EngineError;
use ff_core::types::{LANE_ID_MAX_BYTES, LaneId};
use sha2::{Digest as _, Sha256};

use super::hex;
use super::id::{invalid_input, reject_nul};

/// The most bytes that a field may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit(usize);

/// What an entry of an index has room for beside ids, numbers and the heads of its texts.
const ENTRY: usize = 2_600;

pub(crate) const WORKER_ID: Limit = Limit(ENTRY);
pub(crate) const REQUIRED_CAPABILITY: Limit = Limit(ENTRY);
pub(crate) const SUSPENSION_KEY: Limit = Limit(ENTRY);
pub(crate) const REPORT_KEY: Limit = Limit(ENTRY);
pub(crate) const DIMENSION: Limit = Limit(ENTRY);
pub(crate) const KID: Limit = Limit(ENTRY);
const REGISTERED_WORKER: Limit = Limit(ENTRY);
const LANE: Limit = Limit(LANE_ID_MAX_BYTES);
/// How long an idempotency key and its namespace are together while both are stored as they are.
const CREATION_KEY: Limit = Limit(ENTRY);

impl Limit {
    /// Refuses text that is too long, or that no JSON column can hold, naming the field.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` with the field's name, the length and the limit.
    pub(crate) fn check(self, field: &str, text: &str) -> Result<(), EngineError> {
        reject_nul(field, text)?;
        self.check_length(field, text.len())
    }

    fn check_length(self, field: &str, bytes: usize) -> Result<(), EngineError> {
        let Self(most) = self;
        if bytes > most {
            return Err(invalid_input(format!("{field}: {bytes} bytes exceed the limit of {most}")));
        }
        Ok(())
    }
}

/// Refuses a lane that could be stored and not be read back.
///
/// # Errors
/// `Validation(InvalidInput)` when it is empty, longer than 64 bytes or not printable ASCII.
pub(crate) fn check_lane(lane: &LaneId) -> Result<(), EngineError> {
    LANE.check("lane_id", lane.as_str())?;
    LaneId::try_new(lane.as_str()).map(drop).map_err(|error| invalid_input(format!("lane_id: {error}")))
}

/// Refuses a registration's key that no index holds.
///
/// # Errors
/// `Validation(InvalidInput)` when the namespace or the instance id holds U+0000, or both are too long together.
pub(crate) fn check_registered(namespace: &str, worker_instance_id: &str) -> Result<(), EngineError> {
    reject_nul("namespace", namespace)?;
    reject_nul("worker_instance_id", worker_instance_id)?;
    REGISTERED_WORKER.check_length("namespace and worker_instance_id", namespace.len() + worker_instance_id.len())
}

/// The namespace and the idempotency key as an index holds them: a digest of both stands for the key when they are
/// too long together.
pub(crate) fn key_of_length(namespace: &str, idempotency_key: &str) -> (String, String) {
    let Limit(most) = CREATION_KEY;
    if namespace.len() + idempotency_key.len() <= most {
        return (namespace.to_owned(), idempotency_key.to_owned());
    }
    let mut digest = Sha256::new();
    digest.update(namespace.len().to_be_bytes());
    digest.update(namespace);
    digest.update(idempotency_key);
    // Only who gives this digest as a key, in no namespace, means the same.
    (String::new(), format!("sha256:{}", hex::encode(&digest.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_bytes_and_names_the_field() {
        assert!(
            Limit(4).check("field", "ééé").unwrap_err().to_string().contains("field: 6 bytes exceed the limit of 4")
        );
        assert!(Limit(4).check("field", "éé").is_ok());
        assert!(Limit(4).check("field", "\0").unwrap_err().to_string().contains("field: must not contain U+0000"));
    }

    #[test]
    fn only_long_keys_are_digested_and_each_differently() {
        assert_eq!(key_of_length("space", "key"), ("space".to_owned(), "key".to_owned()));
        let long = "x".repeat(3_000);
        let stored = [key_of_length("a", &long), key_of_length("ax", &long[1..]), key_of_length(&long, "a")];
        for (at, (namespace, key)) in stored.iter().enumerate() {
            assert_eq!((namespace.as_str(), key.len()), ("", 71));
            assert!(stored[..at].iter().all(|(_, other)| other != key));
        }
        assert_eq!(key_of_length("a", &long), stored[0]);
    }

    #[test]
    fn a_lane_reads_back() {
        assert!(check_lane(&LaneId::new("a lane")).is_ok());
        for lane in [String::new(), "a\nb".to_owned(), "x".repeat(65)] {
            assert!(check_lane(&LaneId::new(lane)).is_err());
        }
    }
}
