//! How a frame is stored: a flat JSON object of text members.
//!
//! JSON holds text only, and one of the engines no U+0000: bytes that are not such text are stored as
//! base64, and the member `encoding` says so, the same on every dialect.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ff_core::backend::{Frame, FrameKind};
use ff_core::engine_error::EngineError;
use serde_json::{Map, Value};

use super::id::reject_nul;

/// The stored form of a frame.
///
/// # Errors
/// `Validation(InvalidInput)` when the frame type or the correlation id holds U+0000.
pub(crate) fn encode(frame: &Frame) -> Result<Value, EngineError> {
    reject_nul("frame_type", &frame.frame_type)?;
    let frame_type = if frame.frame_type.is_empty() { kind_word(frame.kind) } else { &frame.frame_type };
    let (payload, encoding) = match std::str::from_utf8(&frame.bytes) {
        Ok(text) if !text.contains('\0') => (text.to_owned(), "utf8"),
        _ => (STANDARD.encode(&frame.bytes), "base64"),
    };
    let mut fields = Map::new();
    fields.insert("frame_type".to_owned(), frame_type.into());
    fields.insert("payload".to_owned(), payload.into());
    fields.insert("encoding".to_owned(), encoding.into());
    fields.insert("source".to_owned(), "worker".into());
    if let Some(correlation_id) = &frame.correlation_id {
        reject_nul("correlation_id", correlation_id)?;
        fields.insert("correlation_id".to_owned(), correlation_id.as_str().into());
    }
    Ok(Value::Object(fields))
}

/// The members of a stored frame as text; other JSON values as their JSON.
pub(crate) fn fields(stored: &Value) -> BTreeMap<String, String> {
    let Value::Object(members) = stored else {
        return BTreeMap::new();
    };
    members
        .iter()
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        })
        .collect()
}

fn kind_word(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Stdout => "stdout",
        FrameKind::Stderr => "stderr",
        FrameKind::Blob => "blob",
        _ => "event",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(bytes: &[u8]) -> BTreeMap<String, String> {
        fields(&encode(&Frame::new(bytes.to_vec(), FrameKind::Stdout)).unwrap())
    }

    #[test]
    fn text_is_stored_as_text() {
        let members = stored("Größe".as_bytes());
        assert_eq!(members["payload"], "Größe");
        assert_eq!(members["encoding"], "utf8");
        assert_eq!(members["frame_type"], "stdout");
        assert_eq!(members["source"], "worker");
        assert!(!members.contains_key("correlation_id"));
    }

    #[test]
    fn other_bytes_come_back_byte_for_byte() {
        for bytes in [&[0xff, 0x00, 0xfe, 0x61][..], b"a\0b", &[0xc3]] {
            let members = stored(bytes);
            assert_eq!(members["encoding"], "base64");
            assert_eq!(STANDARD.decode(&members["payload"]).unwrap(), bytes);
        }
    }

    #[test]
    fn the_frames_own_type_wins_over_its_kind() {
        let frame = Frame::new(Vec::new(), FrameKind::Blob).with_frame_type("log").with_correlation_id("c");
        let members = fields(&encode(&frame).unwrap());
        assert_eq!((members["frame_type"].as_str(), members["correlation_id"].as_str()), ("log", "c"));
    }

    #[test]
    fn members_that_are_not_text_read_as_their_json() {
        assert_eq!(fields(&serde_json::json!({"a": 1}))["a"], "1");
        assert!(fields(&serde_json::json!([1])).is_empty());
    }
}
