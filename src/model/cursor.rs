//! Places in a stream of frames: `<ts_ms>-<seq>`.

use ff_core::contracts::StreamCursor;
use ff_core::engine_error::EngineError;

use super::id::invalid_input;

/// A place in a stream; ordered by time, then by sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FramePlace {
    /// Milliseconds since the epoch.
    pub(crate) ts_ms: i64,
    /// Counter inside one millisecond.
    pub(crate) seq: i32,
}

impl FramePlace {
    /// Before every frame.
    pub(crate) const FIRST: Self = Self { ts_ms: i64::MIN, seq: i32::MIN };
    /// After every frame.
    pub(crate) const LAST: Self = Self { ts_ms: i64::MAX, seq: i32::MAX };

    /// The id that callers see.
    pub(crate) fn text(self) -> String {
        format!("{}-{}", self.ts_ms, self.seq)
    }

    /// The place a cursor names, or the bound that `Start` and `End` stand for.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` when a concrete cursor does not parse.
    pub(crate) fn of(cursor: &StreamCursor) -> Result<Self, EngineError> {
        match cursor {
            StreamCursor::Start => Ok(Self::FIRST),
            StreamCursor::End => Ok(Self::LAST),
            StreamCursor::At(text) => Self::parse(text),
        }
    }

    /// Parses `<ms>` or `<ms>-<seq>`. A sequence number beyond the column stands for the column's bound,
    /// which keeps its order.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` naming the part that is not a number.
    pub(crate) fn parse(text: &str) -> Result<Self, EngineError> {
        let (ms, seq) = match text.split_once('-') {
            Some((ms, seq)) => (ms, Some(seq)),
            None => (text, None),
        };
        let bad = |part: &str| invalid_input(format!("bad stream cursor '{text}' ({part})"));
        let ts_ms = ms.parse().map_err(|_| bad("ms"))?;
        let seq = seq.map_or(Ok(0_i64), str::parse).map_err(|_| bad("seq"))?;
        let seq = i32::try_from(seq).unwrap_or(if seq < 0 { i32::MIN } else { i32::MAX });
        Ok(Self { ts_ms, seq })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_text() {
        let place = FramePlace { ts_ms: 1_700_000_000_000, seq: 12 };
        assert_eq!(FramePlace::parse(&place.text()).unwrap(), place);
    }

    #[test]
    fn a_time_alone_is_its_first_frame() {
        assert_eq!(FramePlace::parse("5").unwrap(), FramePlace { ts_ms: 5, seq: 0 });
    }

    #[test]
    fn a_wide_sequence_number_keeps_its_order() {
        assert_eq!(FramePlace::parse("5-99999999999").unwrap().seq, i32::MAX);
        assert_eq!(FramePlace::parse("5--99999999999").unwrap().seq, i32::MIN);
    }

    #[test]
    fn a_bad_cursor_says_which_part() {
        for (text, part) in [("x", "(ms)"), ("", "(ms)"), ("5-x", "(seq)"), ("5-", "(seq)")] {
            let error = FramePlace::parse(text).unwrap_err().to_string();
            assert!(error.ends_with(&format!("bad stream cursor '{text}' {part}")), "{error}");
        }
    }
}
