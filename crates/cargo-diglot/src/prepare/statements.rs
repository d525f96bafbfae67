//! Cuts a migration into its statements, for those that must run one by one.

use std::ops::Range;

/// The tokens of a SQL text without its comments. Only what keeps the count is told apart: strings, quoted
/// names, words with numbers, parameters, casts, single characters.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
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
    use super::*;

    #[test]
    fn semicolons_in_quotes_comments_and_bodies_do_not_end_a_statement() {
        let text = "-- a;\nDO $x$ BEGIN ; END $x$; SELECT ';', \";\" /* ; */ ;\n\n; SELECT 3";
        let found: Vec<&str> = statements(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["DO $x$ BEGIN ; END $x$", "SELECT ';', \";\"", "SELECT 3"]);
    }
}
