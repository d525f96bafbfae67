//! Digests of what files say: a whole one, and the few letters by which a difference is known again.

use sha2::{Digest as _, Sha256};

/// How many letters a seal has.
pub(crate) const SEAL: usize = 6;

/// SHA-256 in lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// The letters that stand for a text.
pub(crate) fn seal(text: &str) -> String {
    digest(text.as_bytes()).chars().take(SEAL).collect()
}
