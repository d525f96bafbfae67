//! From a place in an emitted text back to the place in the statement file that it came from.
//!
//! An emitted text is the statement without its comments and with numbers for parameter names. So the two
//! have the same tokens in the same order, and the n-th token of one is the n-th token of the other.

use std::ops::Range;

use diglot::dialect::Dialect;
use diglot::source::{FileId, Sources, Span};

/// A statement as it stands in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    file: FileId,
    /// Where the name stands in the header.
    name: (usize, usize),
    /// What follows the header line, up to the next header.
    body: (usize, &'a str),
}

impl<'a> Origin<'a> {
    /// Finds a statement by name in the file of its noun.
    pub(super) fn find(sources: &'a Sources, folder: &str, dialect: Dialect, noun: &str, name: &str) -> Option<Self> {
        let path = format!("{}/{}/{noun}.sql", folder.trim_end_matches('/'), dialect.word());
        let (file, source) = sources.iter().find(|(_, file)| file.path == path)?;
        let text = source.text.as_str();
        let headers: Vec<(Range<usize>, usize)> = headers(text).collect();
        let at = headers.iter().position(|(found, _)| &text[found.clone()] == name)?;
        let (found, start) = headers[at].clone();
        let end = headers.get(at + 1).map_or(text.len(), |(next, _)| next.start);
        // The next header's comment introducer is a comment on its own line, so it does not count as a token.
        Some(Self { file, name: (found.start, found.end), body: (start, &text[start..end]) })
    }

    /// The statement's name in its header.
    pub(super) fn name(&self) -> Span {
        Span::new(self.file, self.name.0..self.name.1)
    }

    /// The token that holds a byte of the emitted text.
    pub(super) fn of_emitted(&self, emitted: &str, byte: usize) -> Option<Span> {
        let number = tokens(emitted).position(|token| byte < token.end)?;
        let token = tokens(self.body.1).nth(number)?;
        Some(Span::new(self.file, self.body.0 + token.start..self.body.0 + token.end))
    }

    /// The only token that is this word, if there is exactly one.
    pub(super) fn of_word(&self, word: &str) -> Option<Span> {
        let mut found = tokens(self.body.1).filter(|token| self.body.1[token.clone()].eq_ignore_ascii_case(word));
        let token = found.next().filter(|_| found.next().is_none())?;
        Some(Span::new(self.file, self.body.0 + token.start..self.body.0 + token.end))
    }
}

/// The names in `-- name:` headers, each with the start of the line after it.
fn headers(text: &str) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let rest = line.trim_start().strip_prefix("--")?.trim_start().strip_prefix("name:")?.trim_start();
        let name = start + line.len() - rest.len();
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        Some((name..name + length, at))
    })
}

/// The tokens of a SQL text without its comments. Only what keeps the count is told apart: strings, quoted
/// names, words with numbers, parameters, casts, single characters.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let (length, counts) = piece(rest, first);
            let start = at;
            at += length.max(first.len_utf8());
            if counts {
                return Some(start..at);
            }
        }
    })
}

/// The length of the next piece, and whether it is a token.
fn piece(rest: &str, first: char) -> (usize, bool) {
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |found| from + found + end.len());
    match first {
        c if c.is_whitespace() => (c.len_utf8(), false),
        '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), false),
        '/' if rest.starts_with("/*") => (until("*/", 2), false),
        '\'' | '"' => (quoted(rest, first), true),
        ':' if rest.starts_with("::") => (2, true),
        '$' => match dollar_tag(rest) {
            Some(tag) => (until(tag, tag.len()), true),
            None => (1 + word(&rest[1..]), true),
        },
        ':' | '@' | '?' => (1 + word(&rest[1..]), true),
        c if is_word(c) => (word(rest), true),
        c => (c.len_utf8(), true),
    }
}

/// A doubled quote inside is the quote itself.
fn quoted(rest: &str, quote: char) -> usize {
    let mut from = 1;
    while let Some(found) = rest[from..].find(quote) {
        from += found + 1;
        if !rest[from..].starts_with(quote) {
            return from;
        }
        from += 1;
    }
    rest.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(rest: &str) -> usize {
    rest.find(|c| !is_word(c)).unwrap_or(rest.len())
}

/// `$$` or `$tag$` at the front.
fn dollar_tag(rest: &str) -> Option<&str> {
    let name = word(&rest[1..]);
    let digits = rest[1..].starts_with(|c: char| c.is_ascii_digit());
    (!digits && rest[1 + name..].starts_with('$')).then(|| &rest[..name + 2])
}

/// The statements of a text, separated by semicolons outside quotes and comments.
pub(super) fn statements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut end = 0;
    for token in tokens(text) {
        if &text[token.clone()] == ";" {
            found.extend(start.take().map(|start| start..end));
        } else {
            start.get_or_insert(token.start);
            end = token.end;
        }
    }
    found.extend(start.map(|start| start..end));
    found
}

#[cfg(test)]
mod tests {
    use diglot::source::SourceFile;

    use super::*;

    const PAGE: &str = "-- Reads it; not for :sale.\n-- name: lease_read :opt\n-- param: now i64\nSELECT a, -- 'note'\n  \
        b::text\n  FROM t WHERE x = :who AND y = 'it''s; :fine' AND z < :now;\n\n-- Another.\n-- name: lease_end :exec\n\
        DELETE FROM t;\n";
    const EMITTED: &str =
        "/* lease.lease_read pg */ SELECT a, b::text FROM t WHERE x = $1 AND y = 'it''s; :fine' AND z < $2";

    fn sources() -> Sources {
        let mut sources = Sources::default();
        sources.add(SourceFile::new("sql/pg/lease.sql", PAGE));
        sources
    }

    #[test]
    fn a_place_in_the_emitted_text_leads_to_the_token_it_came_from() {
        let sources = sources();
        let origin = Origin::find(&sources, "sql", Dialect::Pg, "lease", "lease_read").unwrap();
        let at = |needle: &str| {
            origin.of_emitted(EMITTED, EMITTED.find(needle).unwrap()).map(|span| sources.text(span).to_owned())
        };
        assert_eq!(at("$2").as_deref(), Some(":now"));
        assert_eq!(at("FROM").as_deref(), Some("FROM"));
        assert_eq!(at("text").as_deref(), Some("text"));
        assert_eq!(at("z <").as_deref(), Some("z"));
        assert_eq!(sources.text(origin.name()), "lease_read");
    }

    #[test]
    fn the_last_statement_of_a_file_is_found_too() {
        let sources = sources();
        let origin = Origin::find(&sources, "sql", Dialect::Pg, "lease", "lease_end").unwrap();
        assert_eq!(origin.body.1, "DELETE FROM t;\n");
        assert!(Origin::find(&sources, "sql", Dialect::Pg, "lease", "lease").is_none());
        assert!(Origin::find(&sources, "sql", Dialect::Sqlite, "lease", "lease_end").is_none());
    }

    #[test]
    fn a_word_is_a_place_only_when_it_stands_there_once() {
        let sources = sources();
        let origin = Origin::find(&sources, "sql", Dialect::Pg, "lease", "lease_read").unwrap();
        assert_eq!(origin.of_word("Z").map(|span| sources.text(span)), Some("z"));
        assert_eq!(origin.of_word("and"), None);
        assert_eq!(origin.of_word("note"), None);
    }

    #[test]
    fn semicolons_in_quotes_comments_and_bodies_do_not_end_a_statement() {
        let text = "-- a;\nDO $x$ BEGIN ; END $x$; SELECT ';', \";\" /* ; */ ;\n\n; SELECT 3";
        let found: Vec<&str> = statements(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["DO $x$ BEGIN ; END $x$", "SELECT ';', \";\"", "SELECT 3"]);
    }
}
