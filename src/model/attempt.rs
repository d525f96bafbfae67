//! What a stored attempt is.

use ff_core::state::AttemptType;

/// What a stored attempt is; one that says nothing, or a word that no attempt begins with, is the first.
pub(crate) fn stored_type(word: &str) -> AttemptType {
    match word {
        "retry" => AttemptType::Retry,
        "replay" => AttemptType::Replay,
        _ => AttemptType::Initial,
    }
}
