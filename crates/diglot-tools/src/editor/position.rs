//! Lines and UTF-16 units, as editors count them.

/// A place in a text as editors have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 0.
    pub line: u32,
    /// UTF-16 code units from the start of the line.
    pub character: u32,
}

/// The lines of a text. One ends at a line feed, a carriage return, or both.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds the lines of a text.
    pub fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let ends = |at: &usize| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts = [0].into_iter().chain((0..bytes.len()).filter(ends).map(|at| at + 1)).collect();
        Self { text, starts }
    }

    /// Where a byte stands. One inside a character counts as its start, one behind the text as its end.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        Position { line: line as u32, character: before.chars().map(char::len_utf16).sum::<usize>() as u32 }
    }

    /// The byte at a place. A place behind the end of a line is that end, one inside a character its start.
    pub fn offset(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.text.len() };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(self.text.len());
        let line = self.text[start..end].trim_end_matches(['\n', '\r']);
        let mut units = position.character as usize;
        for (at, c) in line.char_indices() {
            if units < c.len_utf16() {
                return start + at;
            }
            units -= c.len_utf16();
        }
        start + line.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_are_those_of_utf_16_and_lines_end_in_three_ways() {
        let text = "a😀é\r\nb\rc\n";
        let lines = Lines::of(text);
        let at = |piece: &str| lines.position(text.find(piece).unwrap());
        assert_eq!(at("é"), Position { line: 0, character: 3 });
        assert_eq!(at("b"), Position { line: 1, character: 0 });
        assert_eq!(at("c"), Position { line: 2, character: 0 });
        assert_eq!(lines.position(usize::MAX), Position { line: 3, character: 0 });
        // Half of a pair belongs to the character.
        assert_eq!(lines.offset(Position { line: 0, character: 2 }), 1);
        assert_eq!(lines.offset(Position { line: 0, character: 99 }), text.find('\r').unwrap());
        assert_eq!(lines.offset(Position { line: 99, character: 0 }), text.len());
    }

    proptest! {
        #[test]
        fn there_and_back(text in "[a\u{e9}\u{1f600}\r\n]{0,30}") {
            let lines = Lines::of(&text);
            for (offset, _) in text.char_indices() {
                let between = offset > 0 && text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
                if !between {
                    prop_assert_eq!(lines.offset(lines.position(offset)), offset);
                }
            }
        }
    }
}
