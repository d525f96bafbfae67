//! Just enough of Go and Rust to tell literals from code and comments.

use std::ops::Range;

/// A language whose literals may hold SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Go,
    Rust,
}

impl Language {
    /// The language of a file, by its ending.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "go" => Some(Self::Go),
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }

    /// The word before a function's name.
    pub(super) fn functions(self) -> &'static str {
        match self {
            Self::Go => "func",
            Self::Rust => "fn",
        }
    }

    /// Whether a word stands before the name of something that is given a value.
    pub(super) fn declares(self, word: &str) -> bool {
        match self {
            Self::Go => ["const", "var"].contains(&word),
            Self::Rust => ["const", "static", "let"].contains(&word),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Text,
    Symbol,
}

/// A piece of code that is no comment.
#[derive(Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub(super) range: Range<usize>,
    /// Of a text, what stands between its quotes.
    pub(super) inner: Range<usize>,
    /// Whether nothing in it is escaped.
    pub(super) is_raw: bool,
}

/// All tokens of a file.
pub(super) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            c if c.is_whitespace() => c.len_utf8(),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest, language),
            _ => {
                let token = token(rest, first, language, at);
                let length = token.range.len();
                tokens.push(token);
                length
            }
        };
        at += length.max(1);
    }
    tokens
}

fn token(rest: &str, first: char, language: Language, at: usize) -> Token {
    let text = |open: usize, close: Option<usize>, length: usize, is_raw: bool| Token {
        kind: Kind::Text,
        range: at..at + length,
        // A text that is not closed goes on to the end.
        inner: at + open..at + length - close.unwrap_or(0),
        is_raw,
    };
    let plain = |kind: Kind, length: usize| Token { kind, range: at..at + length, inner: at..at, is_raw: true };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        '"' => match quoted(rest, '"') {
            Some(length) => text(1, Some(1), length, false),
            None => text(1, None, rest.len(), false),
        },
        '`' if language == Language::Go => match rest[1..].find('`') {
            Some(end) => text(1, Some(1), end + 2, true),
            None => text(1, None, rest.len(), true),
        },
        '\'' => plain(Kind::Symbol, character(rest)),
        'r' | 'b' if language == Language::Rust && raw(rest).is_some() => {
            let (open, close, length) = raw(rest).unwrap_or((1, None, 1));
            text(open, close, length, true)
        }
        c if is_word(c) => plain(Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
        ':' if rest.starts_with(":=") => plain(Kind::Symbol, 2),
        // They give no value.
        '=' if rest.starts_with("==") || rest.starts_with("=>") => plain(Kind::Symbol, 2),
        ':' if rest.starts_with("::") => plain(Kind::Symbol, 2),
        c => plain(Kind::Symbol, c.len_utf8()),
    }
}

/// A raw text of Rust: how long its opening, its closing and the whole are.
fn raw(rest: &str) -> Option<(usize, Option<usize>, usize)> {
    let marks = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let before = rest.len() - marks.len();
    let hashes = marks.len() - marks.trim_start_matches('#').len();
    let body = marks[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let open = before + hashes + 1;
    Some(match body.find(&close) {
        Some(end) => (open, Some(close.len()), open + end + close.len()),
        None => (open, None, rest.len()),
    })
}

/// The length of a text with escapes, if it is closed.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a character in quotes, or of a lifetime of Rust.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), _) => quoted(rest, '\'').unwrap_or(1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1 + rest[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len() - 1),
    }
}

/// The length of a block comment, which may hold others in Rust.
fn comment(rest: &str, language: Language) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") && (depth == 0 || language == Language::Rust) {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// A text without its escapes, in as many bytes: what takes more than one byte to write is filled up with blanks. The
/// blank of a quote stands outside of what is quoted.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut open = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some(quote @ ('"' | '\'' | '`')) if open == Some(quote) => {
                open = None;
                plain.extend([quote, ' ']);
            }
            Some(quote @ ('"' | '\'' | '`')) => {
                open = open.or(Some(quote));
                plain.extend([' ', quote]);
            }
            Some('\\') => plain.push_str(" \\"),
            // A line of SQL ends, and a comment with it; or a line of the source goes on.
            Some('n' | '\n') => plain.push_str(" \n"),
            Some(c) => plain.extend(std::iter::repeat_n(' ', 1 + c.len_utf8())),
            None => plain.push(' '),
        }
    }
    plain
}
