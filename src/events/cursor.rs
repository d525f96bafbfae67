//! A place in an outbox as callers keep it: empty for "from now on", else a mark and the id of an event.
//!
//! Both databases and all outboxes share one form, so that rows can be moved from one to the other.

use ff_core::stream_subscribe::{StreamCursor, decode_postgres_event_cursor, encode_postgres_event_cursor};

/// The cursor of an event.
pub(super) fn at(event_id: i64) -> StreamCursor {
    encode_postgres_event_cursor(event_id)
}

/// The id of the last event that was seen; nothing for "from now on".
///
/// # Errors
/// The bytes are no cursor of this form.
pub(super) fn after(cursor: &StreamCursor) -> Result<Option<i64>, &'static str> {
    decode_postgres_event_cursor(cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_a_mark_and_eight_bytes_in_the_order_of_the_ids() {
        assert_eq!(at(258).as_bytes(), [2, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(after(&at(i64::MAX)), Ok(Some(i64::MAX)));
        assert!(at(255).as_bytes() < at(256).as_bytes());
    }

    #[test]
    fn an_empty_cursor_is_no_place() {
        assert_eq!(after(&StreamCursor::empty()), Ok(None));
    }

    #[test]
    fn foreign_bytes_are_no_cursor() {
        for bytes in [vec![2], vec![1, 0, 0, 0, 0, 0, 0, 0, 1], vec![2; 10], vec![1; 17]] {
            assert!(after(&StreamCursor::new(bytes.clone())).is_err(), "{bytes:?}");
        }
    }
}
