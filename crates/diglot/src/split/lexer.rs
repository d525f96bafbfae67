//! A lexer that knows just enough of both dialects to tell SQL from quoted text and from comments.
//!
//! It is used for statement files and for migrations. It does not know keywords or operators; what SQL
//! means is the parser's business.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::dialect::Dialect;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `-- …`, without the line's end.
    LineComment,
    /// `/* … */`.
    BlockComment,
    /// A text literal: `'…'`, `E'…'`, `$tag$…$tag$`.
    Text,
    /// A quoted identifier.
    Quoted,
    /// A bare word or a number.
    Word,
    /// `;`.
    Semicolon,
    /// Any other single character.
    Symbol,
}

/// A token: a byte range of the text. White space is between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Whether a literal or a comment has its closing mark.
    pub closed: bool,
}

impl Token {
    /// Whether it is a comment of either kind.
    pub fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }
}

/// Whether a comment belongs to the text for the driver: a hint for a planner (`/*+ … */`), or a mark for a template
/// that a program fills in before it sends the text (`/* TEMPLATE: name */`, `/* TEMPLATE_BEGIN: name */`).
pub(crate) fn is_kept(comment: &str) -> bool {
    comment.strip_prefix("/*").is_some_and(|inner| inner.starts_with('+') || inner.trim_start().starts_with("TEMPLATE"))
}

/// All tokens of a text. A quote that would swallow a `-- name:` line was forgotten to be closed: it ends
/// before that line, so that one missing mark does not hide every statement behind it.
pub fn tokens(text: &str, dialect: Dialect) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), text, dialect, at: 0 };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    let mut tokens = Vec::with_capacity(text.len() / 4);
    tokens.extend(std::iter::from_fn(|| lexer.next()));
    tokens
}

/// The numbers of the parameters that a text of SQLite has.
pub(crate) fn numbers(text: &str) -> BTreeSet<usize> {
    let tokens = tokens(text, Dialect::Sqlite);
    let number = |pair: &[Token]| {
        let is_mark = pair[0].end == pair[1].start && text.get(pair[0].start..pair[0].end) == Some("?");
        is_mark.then(|| text.get(pair[1].start..pair[1].end)?.parse().ok()).flatten()
    };
    tokens.windows(2).filter_map(number).collect()
}

/// The tokens of a part of a text, at their places in the whole.
pub(super) fn tokens_in(text: &str, part: Range<usize>, dialect: Dialect) -> impl Iterator<Item = Token> {
    let start = part.start;
    let own = tokens(text.get(part).unwrap_or_default(), dialect).into_iter();
    own.map(move |token| Token { start: token.start + start, end: token.end + start, ..token })
}

struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    dialect: Dialect,
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<Token> {
        self.skip_while(SPACE);
        let start = self.at;
        let first = self.peek(0)?;
        let (kind, closed) = match first {
            b'-' if self.peek(1) == Some(b'-') => (Kind::LineComment, self.line_comment()),
            b'/' if self.peek(1) == Some(b'*') => (Kind::BlockComment, self.block_comment()),
            b';' => (Kind::Semicolon, self.skip(1)),
            b'\'' => (Kind::Text, self.quoted(1, b'\'', false)),
            b'E' | b'e' if self.dialect == Dialect::Pg && self.peek(1) == Some(b'\'') => {
                (Kind::Text, self.quoted(2, b'\'', true))
            }
            b'"' => (Kind::Quoted, self.quoted(1, b'"', false)),
            b'`' if self.dialect == Dialect::Sqlite => (Kind::Quoted, self.quoted(1, b'`', false)),
            b'[' if self.dialect == Dialect::Sqlite => (Kind::Quoted, self.quoted(1, b']', false)),
            b'$' if self.dialect == Dialect::Pg => match self.dollar_tag() {
                Some(length) => (Kind::Text, self.dollar_quoted(length)),
                None => (Kind::Symbol, self.skip(1)),
            },
            b if is_word(b) => (Kind::Word, self.word()),
            _ => (Kind::Symbol, self.skip(1)),
        };
        Some(Token { kind, start, end: self.at, closed })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip(&mut self, bytes: usize) -> bool {
        self.at = (self.at + bytes).min(self.bytes.len());
        true
    }

    fn skip_while(&mut self, kinds: u8) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|b| BYTES[usize::from(*b)] & kinds == 0).unwrap_or(rest.len());
    }

    fn word(&mut self) -> bool {
        self.skip_while(WORD | DOLLAR);
        true
    }

    fn line_comment(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at += line.trim_end().len();
        true
    }

    /// Postgres nests block comments, SQLite does not.
    fn block_comment(&mut self) -> bool {
        let start = self.at;
        self.at += 2;
        let mut depth = 1;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (Some(b'*'), Some(b'/')) => {
                    self.at += 2;
                    depth -= 1;
                    if depth == 0 {
                        return self.unless_over_header(start, 2);
                    }
                }
                (Some(b'/'), Some(b'*')) if self.dialect == Dialect::Pg => {
                    self.at += 2;
                    depth += 1;
                }
                _ => self.at += 1,
            }
        }
        self.give_up(start)
    }

    fn quoted(&mut self, open: usize, mark: u8, backslash: bool) -> bool {
        let start = self.at;
        self.at += open;
        while let Some(byte) = self.peek(0) {
            if backslash && byte == b'\\' {
                self.at = (self.at + 2).min(self.bytes.len());
            } else if byte != mark {
                self.at += 1;
            } else if self.peek(1) == Some(mark) && mark != b']' {
                self.at += 2;
            } else {
                self.at += 1;
                return self.unless_over_header(start, open);
            }
        }
        self.give_up(start)
    }

    /// The length of `$tag$` when one stands here.
    fn dollar_tag(&self) -> Option<usize> {
        let rest = &self.bytes[self.at + 1..];
        let length = rest.iter().position(|b| !is_word(*b))?;
        let tag = &rest[..length];
        let is_tag = rest[length] == b'$' && !tag.first().is_some_and(u8::is_ascii_digit);
        is_tag.then_some(length + 2)
    }

    fn dollar_quoted(&mut self, tag: usize) -> bool {
        let start = self.at;
        let mark = &self.text[start..start + tag];
        match self.text[start + tag..].find(mark) {
            Some(length) => {
                self.at = start + tag + length + tag;
                self.unless_over_header(start, tag)
            }
            None => self.give_up(start),
        }
    }

    /// The token that began at `start` found its closing mark; it counts unless a header lies inside.
    fn unless_over_header(&mut self, start: usize, open: usize) -> bool {
        match header_after(self.text, start + open, self.at) {
            Some(header) => {
                self.at = start + self.text[start..header].trim_end().len();
                false
            }
            None => true,
        }
    }

    /// No closing mark: the token ends before the next header, at the latest with the text.
    fn give_up(&mut self, start: usize) -> bool {
        let end = header_after(self.text, start, self.text.len()).unwrap_or(self.text.len());
        self.at = start + self.text[start..end].trim_end().len();
        false
    }
}

/// The start of the first line in `from..to` that is a `-- name:` header.
fn header_after(text: &str, from: usize, to: usize) -> Option<usize> {
    let window = text.get(from..to)?;
    window.match_indices('\n').find_map(|(newline, _)| {
        let line = &window[newline + 1..];
        let comment = line.trim_start_matches([' ', '\t']);
        let body = comment.strip_prefix("--")?.trim_start_matches([' ', '\t']);
        let colon = body.strip_prefix("name")?.trim_start_matches([' ', '\t']);
        colon.starts_with(':').then(|| from + newline + 1 + (line.len() - comment.len()))
    })
}

fn is_word(byte: u8) -> bool {
    BYTES[usize::from(byte)] & WORD != 0
}

const SPACE: u8 = 1;
const WORD: u8 = 2;
const DOLLAR: u8 = 4;

/// What each byte may be part of: every text is cut into tokens several times, and one look is quicker than several.
const BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut at = 0;
    while at < bytes.len() {
        let byte = at as u8;
        bytes[at] = match byte {
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => SPACE,
            b'$' => DOLLAR,
            b'_' | 0x80.. => WORD,
            _ if byte.is_ascii_alphanumeric() => WORD,
            _ => 0,
        };
        at += 1;
    }
    bytes
};

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, dialect: Dialect) -> Vec<(Kind, &str)> {
        tokens(text, dialect).iter().map(|t| (t.kind, &text[t.start..t.end])).collect()
    }

    #[test]
    fn a_semicolon_in_quotes_or_comments_separates_nothing() {
        let text = "a ';' \"x;\"\"y\" -- ;\n/* ; */ 'it''s;' ;";
        for dialect in Dialect::ALL {
            let semicolons = kinds(text, dialect).iter().filter(|(k, _)| *k == Kind::Semicolon).count();
            assert_eq!(semicolons, 1, "{dialect}");
        }
    }

    #[test]
    fn dollar_quotes_and_escapes_belong_to_postgres_alone() {
        assert_eq!(
            kinds(r"E'a\';' $x$ ; $$ $x$ $1 b$c$", Dialect::Pg),
            [
                (Kind::Text, r"E'a\';'"),
                (Kind::Text, "$x$ ; $$ $x$"),
                (Kind::Symbol, "$"),
                (Kind::Word, "1"),
                (Kind::Word, "b$c$"),
            ]
        );
        assert_eq!(kinds(r"'a\' ;", Dialect::Sqlite), [(Kind::Text, r"'a\'"), (Kind::Semicolon, ";")]);
    }

    #[test]
    fn block_comments_nest_on_postgres_alone() {
        let text = "/* a /* b */ ; */";
        assert_eq!(kinds(text, Dialect::Pg).len(), 1);
        assert_eq!(kinds(text, Dialect::Sqlite)[0], (Kind::BlockComment, "/* a /* b */"));
    }

    #[test]
    fn brackets_and_backticks_quote_on_sqlite_alone() {
        assert_eq!(kinds("[a;b] `c;d`", Dialect::Sqlite), [(Kind::Quoted, "[a;b]"), (Kind::Quoted, "`c;d`")]);
        assert_eq!(kinds("a[1]", Dialect::Pg).len(), 4);
    }

    #[test]
    fn an_open_quote_ends_before_the_next_header() {
        let text = "SELECT 'a\n\n-- name: b :one\nSELECT 'x';";
        let tokens = tokens(text, Dialect::Pg);
        assert!(!tokens[1].closed);
        assert_eq!(&text[tokens[2].start..tokens[2].end], "-- name: b :one");
    }

    #[test]
    fn no_byte_sequence_makes_the_lexer_leave_the_text() {
        for text in
            ["", "'", "E'\\", "$", "$a", "$a$", "/*", "--", "é$ü$é", "\u{feff}", "\u{feff}a", "'\\", "[", "\u{0b};"]
        {
            for dialect in Dialect::ALL {
                let mut end = 0;
                for token in tokens(text, dialect) {
                    assert!(
                        token.start >= end && token.end > token.start && text.get(token.start..token.end).is_some()
                    );
                    end = token.end;
                }
            }
        }
    }
}
