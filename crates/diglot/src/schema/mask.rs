//! Blanks out clauses that the parser does not know and that say nothing about columns and keys.
//!
//! Spaces take their place, so every offset in the text stays what it was. A type of SQLite that several words name
//! becomes one word: any words are a type there, of which the parser knows a few.

use crate::dialect::Dialect;
use crate::split::lexer::{Kind, Token};

/// The SQL of `tokens`, from the first to the last, without such clauses.
pub(super) fn masked(text: &str, tokens: &[Token], dialect: Dialect) -> String {
    let sql: Vec<Word<'_>> = tokens
        .iter()
        .filter(|token| !token.is_comment())
        .map(|token| Word { token: *token, text: &text[token.start..token.end] })
        .collect();
    let (Some(first), Some(last)) = (sql.first(), sql.last()) else {
        return String::new();
    };
    let (start, end) = (first.token.start, last.token.end);
    let mut bytes = text.as_bytes()[start..end].to_vec();
    let words = Words { words: &sql, dialect };
    let mut i = 0;
    while i < sql.len() {
        let Some((from, to)) = words.clause(i) else {
            i += 1;
            continue;
        };
        for word in &sql[from..to] {
            bytes[word.token.start - start..word.token.end - start].fill(b' ');
        }
        i = to;
    }
    for (from, to) in words.types_of_several_words() {
        for pair in sql[from..to].windows(2) {
            bytes[pair[0].token.end - start..pair[1].token.start - start].fill(b'_');
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text[start..end].to_owned())
}

/// What a constraint of a table begins with, where a column's name may stand.
const CONSTRAINTS: [&str; 5] = ["constraint", "primary", "unique", "check", "foreign"];

/// What may follow a column's type.
const BEHIND_TYPE: [&str; 12] = [
    "constraint",
    "primary",
    "not",
    "null",
    "unique",
    "check",
    "default",
    "collate",
    "references",
    "generated",
    "as",
    "on",
];

/// Types of several words that the parser reads.
const KNOWN_TYPES: [&str; 6] = [
    "double precision",
    "character varying",
    "timestamp with time zone",
    "timestamp without time zone",
    "time with time zone",
    "time without time zone",
];

struct Word<'a> {
    token: Token,
    text: &'a str,
}

struct Words<'a> {
    words: &'a [Word<'a>],
    dialect: Dialect,
}

impl Words<'_> {
    fn is(&self, index: usize, word: &str) -> bool {
        self.words.get(index).is_some_and(|w| w.token.kind != Kind::Text && w.text.eq_ignore_ascii_case(word))
    }

    fn all(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.is(index + i, word))
    }

    /// Whether one of the first words says what kind of thing the statement makes or drops.
    fn shapes(&self, kind: &str) -> bool {
        (1..4).any(|index| self.is(index, kind))
    }

    /// The words of a clause to blank out that starts at a word.
    fn clause(&self, i: usize) -> Option<(usize, usize)> {
        let until = |end: usize| Some((i, end.min(self.words.len())));
        if self.dialect == Dialect::Sqlite {
            return if self.all(i, &["on", "conflict"]) { until(i + 3) } else { None };
        }
        let makes_rows = self.is(0, "create") && (self.shapes("table") || self.shapes("view"));
        if self.all(i, &["identity", "("]) {
            return Some((i + 1, self.group_end(i + 1)));
        }
        if self.all(i, &["on", "only"]) || (self.is(0, "drop") && self.all(i, &["index", "concurrently"])) {
            return Some((i + 1, i + 2));
        }
        if self.shapes("domain") && self.all(i, &["not", "null"]) {
            return until(i + 2);
        }
        let bounds = i > 0 && self.is(i - 1, "values");
        if makes_rows && !bounds && self.all(i, &["with", "("]) {
            return until(self.group_end(i + 1));
        }
        if makes_rows && self.is(i, "tablespace") && i > 2 {
            return until(i + 2);
        }
        if makes_rows && self.all(i, &["with", "no", "data"]) {
            return until(i + 3);
        }
        if makes_rows && self.all(i, &["with", "data"]) { until(i + 2) } else { None }
    }

    /// The first word and one past the last of each column's type that the parser would not take for one.
    fn types_of_several_words(&self) -> Vec<(usize, usize)> {
        if self.dialect != Dialect::Sqlite {
            return Vec::new();
        }
        let of_column = |name: usize| {
            let is_constraint = CONSTRAINTS.iter().any(|word| self.is(name, word));
            let is_part = |at: &usize| self.is_name(*at) && !BEHIND_TYPE.iter().any(|word| self.is(*at, word));
            let end = (name + 1..self.words.len()).find(|at| !is_part(at)).unwrap_or(self.words.len());
            let text = self.words[(name + 1).min(end)..end].iter().map(|word| word.text.to_lowercase());
            let text = text.collect::<Vec<_>>().join(" ");
            let is_known = KNOWN_TYPES.contains(&text.as_str());
            (!is_constraint && !is_known && end > name + 2).then_some((name + 1, end))
        };
        self.columns().into_iter().filter_map(of_column).collect()
    }

    /// The names of the columns that the statement declares, and what stands in such a place.
    fn columns(&self) -> Vec<usize> {
        if self.is(0, "alter") {
            let added = (1..self.words.len()).find(|at| self.is(*at, "add"));
            return added.map(|at| at + 1 + usize::from(self.is(at + 1, "column"))).into_iter().collect();
        }
        if !self.is(0, "create") || !self.shapes("table") || self.is(1, "virtual") {
            return Vec::new();
        }
        let (mut names, mut depth) = (Vec::new(), 0_usize);
        for at in 0..self.words.len() {
            match self.words[at].text {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 1 && ["(", ","].contains(&self.words[at].text) {
                names.push(at + 1);
            }
        }
        names
    }

    /// Whether a bare word stands there.
    fn is_name(&self, index: usize) -> bool {
        self.words.get(index).is_some_and(|word| word.token.kind == Kind::Word)
    }

    /// One past the bracket that closes the one at a word.
    fn group_end(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for index in open..self.words.len() {
            if self.is(index, "(") {
                depth += 1;
            } else if self.is(index, ")") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
        }
        self.words.len()
    }
}
