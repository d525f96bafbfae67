//! What a worker offers and what an execution requires.

use std::collections::BTreeSet;

use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::policy::{CAPS_MAX_BYTES, CAPS_MAX_TOKENS};

/// Refuses capabilities that are too many, too long, or not separable by commas.
///
/// # Errors
/// `Validation(InvalidCapabilities)`.
pub(crate) fn check(offered: &BTreeSet<String>) -> Result<(), EngineError> {
    let bytes = offered.iter().map(|token| token.len() + 1).sum::<usize>().saturating_sub(1);
    if offered.len() > CAPS_MAX_TOKENS || bytes > CAPS_MAX_BYTES {
        return Err(invalid(format!("{} tokens in {bytes} bytes exceed the bounds", offered.len())));
    }
    let bad =
        |token: &&String| token.is_empty() || token.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control());
    match offered.iter().find(bad) {
        Some(token) => Err(invalid(format!("{token:?} is empty or has a comma, white space or a control character"))),
        None => Ok(()),
    }
}

fn invalid(detail: String) -> EngineError {
    EngineError::Validation {
        kind: ValidationKind::InvalidCapabilities,
        detail: format!("worker_capabilities: {detail}"),
    }
}

/// Which of the required capabilities, given with commas, are not offered: sorted, with commas. Nothing when all are.
pub(crate) fn missing(required: &str, offered: &BTreeSet<String>) -> Option<String> {
    let required: BTreeSet<&str> = required.split(',').filter(|token| !token.is_empty()).collect();
    let missing: Vec<_> = required.into_iter().filter(|token| !offered.contains(*token)).collect();
    (!missing.is_empty()).then(|| missing.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tokens: &[&str]) -> BTreeSet<String> {
        tokens.iter().map(|token| (*token).to_owned()).collect()
    }

    #[test]
    fn what_is_missing_is_sorted() {
        assert_eq!(missing("z,gpu,a", &set(&["gpu"])).as_deref(), Some("a,z"));
        assert_eq!(missing("gpu,,", &set(&["gpu", "more"])), None);
        assert_eq!(missing("", &set(&[])), None);
    }

    #[test]
    fn tokens_that_no_list_can_hold_are_refused() {
        for token in ["", "a,b", "a b", "a\n", "a\0"] {
            assert!(check(&set(&[token])).is_err(), "{token:?}");
        }
        assert!(check(&set(&["gpu", "région"])).is_ok());
    }

    #[test]
    fn too_many_or_too_long_is_refused() {
        let many: BTreeSet<String> = (0..=CAPS_MAX_TOKENS).map(|n| n.to_string()).collect();
        assert!(check(&many).is_err());
        assert!(check(&set(&["x".repeat(CAPS_MAX_BYTES).as_str()])).is_ok());
        assert!(check(&set(&["x".repeat(CAPS_MAX_BYTES + 1).as_str()])).is_err());
    }
}
