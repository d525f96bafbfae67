//! Bytes as lower-case hexadecimal text.

/// The text of these bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|nibble| char::from_digit(nibble.into(), 16))
        .collect()
}

/// The bytes of a text of either case; nothing when it is not one.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let nibbles: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|nibble| u8::try_from(nibble).ok()))
        .collect::<Option<_>>()?;
    let pairs = nibbles.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| (pair[0] << 4) | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let bytes = [0, 1, 0x0f, 0x10, 0xa5, 0xff];
        assert_eq!(encode(&bytes), "00010f10a5ff");
        assert_eq!(decode("00010F10a5ff").as_deref(), Some(&bytes[..]));
        assert_eq!(decode(""), Some(Vec::new()));
    }

    #[test]
    fn other_text_is_nothing() {
        for text in ["0", "0g", "+1", "ä0", "００"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
