//! Execution ids and where their rows are.
//!
//! An id is `{fp:N}:<uuid>`. N was fixed when the id was made and is the partition key of every row
//! that belongs to the execution; rows hold the uuid without the prefix.

use ff_core::engine_error::EngineError;
use ff_core::partition::Partition;
use ff_core::types::{AttemptId, ExecutionId};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Builder;

pub(crate) use crate::column::{ExecKey, GroupKey, corruption, invalid_input};
use crate::column::{ExecutionUuid, PartitionNumber, StoredIndex};

/// Refuses text that no JSON column can hold on every dialect, naming the field.
///
/// # Errors
/// `Validation(InvalidInput)` when the text holds U+0000.
pub(crate) fn reject_nul(field: &str, text: &str) -> Result<(), EngineError> {
    if text.contains('\0') {
        return Err(invalid_input(format!("{field}: must not contain U+0000")));
    }
    Ok(())
}

/// The same for every text in a JSON value, the names of its members included.
///
/// # Errors
/// As [`reject_nul`].
pub(crate) fn reject_nul_in_json(field: &str, value: &Value) -> Result<(), EngineError> {
    match value {
        Value::String(text) => reject_nul(field, text),
        Value::Array(items) => items.iter().try_for_each(|item| reject_nul_in_json(field, item)),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            reject_nul(field, name)?;
            reject_nul_in_json(field, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Finds the rows of an execution.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition number exceeds the column or the uuid does not parse.
pub(crate) fn exec_key(id: &ExecutionId) -> Result<ExecKey, EngineError> {
    let text = id.as_str();
    let (_, uuid) =
        text.split_once("}:").ok_or_else(|| invalid_input(format!("execution_id missing `}}:`: {text}")))?;
    let execution_id =
        ExecutionUuid::parse(uuid).map_err(|_| invalid_input(format!("execution_id UUID invalid: {text}")))?;
    Ok(ExecKey { partition_key: PartitionNumber::given(id.partition())?, execution_id })
}

/// Finds the rows of an execution in the partition that a caller names.
///
/// # Errors
/// `Validation(InvalidInput)` when a partition number exceeds the column or the uuid does not parse.
pub(crate) fn exec_key_in(partition: &Partition, id: &ExecutionId) -> Result<ExecKey, EngineError> {
    let partition_key = PartitionNumber::given(partition.index)?;
    Ok(ExecKey { partition_key, ..exec_key(id)? })
}

/// The id of an execution from its row's key.
///
/// # Errors
/// `Validation(InvalidInput)` when the partition key is negative.
pub(crate) fn execution_id(partition_key: PartitionNumber, uuid: ExecutionUuid) -> Result<ExecutionId, EngineError> {
    ExecutionId::parse(&format!("{{fp:{partition_key}}}:{uuid}"))
        .map_err(|error| invalid_input(format!("reassembling exec id: {error}")))
}

/// The id that a handle gives an attempt. It is made of the execution and the index, so that a caller who shows
/// nothing but the id says which attempt is meant, and no row has to keep it.
pub(crate) fn attempt_id(execution_id: ExecutionUuid, attempt_index: StoredIndex) -> AttemptId {
    let digest = Sha256::digest(execution_id.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    for (byte, of_index) in bytes[12..].iter_mut().zip(i32::from(attempt_index).to_be_bytes()) {
        *byte ^= of_index;
    }
    AttemptId::from_uuid(Builder::from_custom_bytes(bytes).into_uuid())
}

/// The attempt of an execution that an id means which [`attempt_id`] made; none when somebody else made the id.
pub(crate) fn attempt_index(execution_id: ExecutionUuid, id: &AttemptId) -> Option<StoredIndex> {
    let first = attempt_id(execution_id, StoredIndex::FIRST);
    let mut index = [0; 4];
    for (at, byte) in index.iter_mut().enumerate() {
        *byte = id.0.as_bytes()[12 + at] ^ first.0.as_bytes()[12 + at];
    }
    let index = StoredIndex::from(i32::from_be_bytes(index));
    (attempt_id(execution_id, index) == *id).then_some(index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn id(partition: u32) -> ExecutionId {
        ExecutionId::parse(&format!("{{fp:{partition}}}:00000000-0000-4000-8000-000000000001")).unwrap()
    }

    #[test]
    fn an_id_comes_back_from_its_key() {
        let key = exec_key(&id(7)).unwrap();
        assert_eq!(key.partition_key, PartitionNumber::from(7));
        assert_eq!(execution_id(key.partition_key, key.execution_id).unwrap(), id(7));
    }

    #[test]
    fn an_attempt_is_known_by_its_id() {
        let (execution, another) = (ExecutionUuid::from(Uuid::from_u128(7)), ExecutionUuid::from(Uuid::from_u128(8)));
        for index in [0, 1, 255, 256, i32::MAX].map(StoredIndex::from) {
            let id = attempt_id(execution, index);
            assert_eq!(attempt_index(execution, &id), Some(index));
            assert_eq!(attempt_index(another, &id), None);
        }
        assert_eq!(attempt_index(execution, &AttemptId::new()), None);
    }

    #[test]
    fn a_partition_beyond_the_column_is_refused() {
        let error = exec_key(&id(40_000)).unwrap_err().to_string();
        assert!(error.contains("exceeds i16 range"), "{error}");
    }

    #[test]
    fn a_negative_partition_makes_no_id() {
        let error = execution_id((-1).into(), ExecutionUuid::LEAST).unwrap_err().to_string();
        assert!(error.contains("reassembling exec id"), "{error}");
    }

    #[test]
    fn nul_is_found_anywhere_in_json_but_not_where_it_is_spelled_out() {
        for found in [json!("\0"), json!({"a\0": 1}), json!({"a": [{"b": "\0"}]})] {
            assert!(reject_nul_in_json("patch", &found).is_err(), "{found}");
        }
        assert!(reject_nul_in_json("patch", &json!({"a": ["\\u0000", 0, null, true]})).is_ok());
    }

    #[test]
    fn nul_is_named() {
        assert!(reject_nul("message", "a").is_ok());
        assert!(reject_nul("message", "a\0b").unwrap_err().to_string().contains("message"));
    }
}
