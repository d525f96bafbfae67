//! What callers give, as the columns hold it. Their numbers may exceed a column; the end of it stands for those.

use ff_core::engine_error::{EngineError, ValidationKind};
use serde_json::Value;

use super::id::reject_nul_in_json;

/// A caller's time in milliseconds.
pub(crate) fn stored_ms(ms: impl TryInto<i64>) -> i64 {
    ms.try_into().unwrap_or(i64::MAX) // tidy: a caller's time, not a row's
}

/// How many rows to ask for so that a page of `limit` knows whether there are more.
pub(crate) fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).map_or(i64::MAX, |limit| limit.saturating_add(1))
}

/// The policy of an attempt, nothing when the text is empty.
///
/// # Errors
/// `Validation(InvalidPolicyJson)` when the text is no JSON, `Validation(InvalidInput)` when it holds U+0000.
pub(crate) fn attempt_policy(text: &str) -> Result<Option<Value>, EngineError> {
    if text.is_empty() {
        return Ok(None);
    }
    let policy = serde_json::from_str(text).map_err(|error| EngineError::Validation {
        kind: ValidationKind::InvalidPolicyJson,
        detail: format!("attempt_policy_json: {error}"),
    })?;
    reject_nul_in_json("attempt_policy_json", &policy)?;
    Ok(Some(policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_a_column_is_its_end() {
        assert_eq!([stored_ms(5_u64), stored_ms(u64::MAX), stored_ms(u128::MAX)], [5, i64::MAX, i64::MAX]);
        assert_eq!([one_more(0), one_more(9)], [1, 10]);
    }
}
