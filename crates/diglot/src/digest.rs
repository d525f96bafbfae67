//! Digests of what files say: a whole one, and the few letters by which a difference is known again.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// How many letters a seal has.
pub(crate) const SEAL: usize = 6;

/// SHA-256 in lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The letters that stand for a text.
pub(crate) fn seal(text: &str) -> String {
    digest(text.as_bytes()).chars().take(SEAL).collect()
}
