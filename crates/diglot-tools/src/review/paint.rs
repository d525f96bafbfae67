//! SQL as coloured lines: tokens with a class, each in the line where it stands.

use diglot::dialect::Dialect;
use diglot::split::lexer::{self, Kind};

/// What a piece of SQL is, as far as its colour goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Comment,
    Text,
    Number,
    Keyword,
    Function,
    Param,
    Name,
    Symbol,
}

impl Class {
    /// The class in the style sheet; nothing for what has no colour of its own.
    pub(super) fn css(self) -> &'static str {
        match self {
            Class::Space | Class::Name | Class::Symbol => "",
            Class::Comment => "c",
            Class::Text => "s",
            Class::Number => "n",
            Class::Keyword => "k",
            Class::Function => "f",
            Class::Param => "p",
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) class: Class,
    pub(super) text: &'a str,
    /// Where it begins in the text that was painted.
    pub(super) start: usize,
}

impl Piece<'_> {
    /// Whether it says anything to an engine.
    pub(super) fn speaks(&self) -> bool {
        !matches!(self.class, Class::Space | Class::Comment)
    }

    /// The text by which pieces of two lines are the same: words are the same in either case.
    pub(super) fn word(&self) -> String {
        match self.class {
            Class::Text | Class::Comment => self.text.to_owned(),
            _ => self.text.to_lowercase(),
        }
    }
}

/// The lines of a text.
pub(super) fn lines(text: &str, dialect: Dialect) -> Vec<Vec<Piece<'_>>> {
    let mut lines = vec![Vec::new()];
    let mut push = |class: Class, start: usize, end: usize| {
        let mut at = start;
        for (index, line) in text[start..end].split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            let shown = line.strip_suffix('\r').unwrap_or(line);
            if let (Some(last), false) = (lines.last_mut(), shown.is_empty()) {
                last.push(Piece { class, text: shown, start: at });
            }
            at += line.len() + 1;
        }
    };
    let mut end = 0;
    for (class, start, stop) in classes(text, dialect) {
        push(Class::Space, end, start);
        push(class, start, stop);
        end = stop;
    }
    push(Class::Space, end, text.len());
    lines
}

/// The tokens with their classes; operators of several characters and parameters are one each.
fn classes(text: &str, dialect: Dialect) -> Vec<(Class, usize, usize)> {
    let tokens = lexer::tokens(text, dialect);
    let mut found: Vec<(Class, usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let own = &text[token.start..token.end];
        let next = tokens.get(at + 1).filter(|next| next.start == token.end);
        let joins = |kind: Kind| next.is_some_and(|next| next.kind == kind);
        let (class, end) = match token.kind {
            Kind::LineComment | Kind::BlockComment => (Class::Comment, token.end),
            Kind::Text => (Class::Text, token.end),
            Kind::Quoted => (Class::Name, token.end),
            Kind::Semicolon => (Class::Symbol, token.end),
            Kind::Word if own.starts_with(|c: char| c.is_ascii_digit()) => (Class::Number, token.end),
            Kind::Word if is_keyword(own) => (Class::Keyword, token.end),
            Kind::Word if next.is_some_and(|next| text[next.start..].starts_with('(')) => (Class::Function, token.end),
            Kind::Word => (Class::Name, token.end),
            Kind::Symbol if matches!(own, ":" | "@" | "$" | "?") && joins(Kind::Word) => {
                at += 1;
                (Class::Param, next.map_or(token.end, |next| next.end))
            }
            Kind::Symbol if is_operator(own) => {
                let mut end = token.end;
                while let Some(more) = tokens.get(at + 1).filter(|more| more.start == end) {
                    if more.kind != Kind::Symbol || !is_operator(&text[more.start..more.end]) {
                        break;
                    }
                    end = more.end;
                    at += 1;
                    if &text[token.start..end] == "::" {
                        break;
                    }
                }
                (Class::Symbol, end)
            }
            Kind::Symbol => (Class::Symbol, token.end),
        };
        found.push((class, token.start, end));
        at += 1;
    }
    found
}

fn is_operator(text: &str) -> bool {
    text.chars().all(|c| "<>=!|&#~:@-".contains(c))
}

fn is_keyword(word: &str) -> bool {
    word.len() <= 12 && KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
}

/// In the order of the alphabet.
const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "ARRAY",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COLLATE",
    "CONFLICT",
    "CROSS",
    "CURRENT",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DO",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "EXISTS",
    "FALSE",
    "FETCH",
    "FILTER",
    "FIRST",
    "FOLLOWING",
    "FOR",
    "FROM",
    "FULL",
    "GLOB",
    "GROUP",
    "HAVING",
    "IGNORE",
    "ILIKE",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCKED",
    "MATERIALIZED",
    "NATURAL",
    "NO",
    "NOT",
    "NOTHING",
    "NOWAIT",
    "NULL",
    "NULLS",
    "OF",
    "OFFSET",
    "ON",
    "ONLY",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRECEDING",
    "RANGE",
    "RECURSIVE",
    "REPLACE",
    "RETURNING",
    "RIGHT",
    "ROW",
    "ROWS",
    "SELECT",
    "SET",
    "SHARE",
    "SIMILAR",
    "SKIP",
    "SOME",
    "THEN",
    "TO",
    "TRUE",
    "UNBOUNDED",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(text: &str) -> Vec<(Class, &str)> {
        let pieces = lines(text, Dialect::Pg).into_iter().flatten();
        pieces.filter(|piece| piece.class != Class::Space).map(|piece| (piece.class, piece.text)).collect()
    }

    #[test]
    fn the_keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn a_parameter_and_a_cast_are_told_apart() {
        assert_eq!(
            painted("a->>'k' = :id::text"),
            [
                (Class::Name, "a"),
                (Class::Symbol, "->>"),
                (Class::Text, "'k'"),
                (Class::Symbol, "="),
                (Class::Param, ":id"),
                (Class::Symbol, "::"),
                (Class::Name, "text"),
            ]
        );
    }

    #[test]
    fn keywords_functions_and_numbers_have_classes_of_their_own() {
        assert_eq!(
            painted("select max(x) + 1 -- why"),
            [
                (Class::Keyword, "select"),
                (Class::Function, "max"),
                (Class::Symbol, "("),
                (Class::Name, "x"),
                (Class::Symbol, ")"),
                (Class::Symbol, "+"),
                (Class::Number, "1"),
                (Class::Comment, "-- why"),
            ]
        );
    }

    #[test]
    fn no_letter_of_a_text_is_lost() {
        for text in ["", "a\n\n  b", "/* a\nb */ c", "x\r\ny", "'a\n'", "é::ü :", "\u{0}\u{0b}$", "<->:=::@@?"] {
            for dialect in Dialect::ALL {
                let lines = lines(text, dialect);
                for piece in lines.iter().flatten() {
                    assert_eq!(&text[piece.start..piece.start + piece.text.len()], piece.text);
                }
                let back: Vec<String> =
                    lines.iter().map(|line| line.iter().map(|piece| piece.text).collect()).collect();
                assert_eq!(back.join("\n"), text.replace("\r\n", "\n"), "{text:?}");
            }
        }
    }
}
