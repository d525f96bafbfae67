//! Lists of CTEs: what a statement begins with, or a prelude.

use super::Splitter;
use super::lexer::{Kind, Token};
use crate::dialect::Dialect;
use crate::page::{CteText, Prelude};
use crate::source::{FileId, Span};

/// The list that a text begins with.
pub(super) struct With {
    /// `WITH` or `WITH RECURSIVE`.
    pub(super) word: Span,
    pub(super) prelude: Prelude,
    /// Where what comes behind the list begins; none behind a bare one.
    pub(super) rest: Option<usize>,
}

impl Splitter<'_> {
    /// The list that the bytes of a part begin with.
    pub(super) fn with(&self, start: usize, end: usize) -> Option<With> {
        let inside = |token: &&Token| !token.is_comment() && start <= token.start && token.end <= end;
        let from = self.tokens.partition_point(|token| token.start < start);
        let tokens: Vec<Token> =
            self.tokens[from..].iter().take_while(|token| token.end <= end).filter(inside).copied().collect();
        read(self.text, &tokens, self.file)
    }
}

fn read(text: &str, tokens: &[Token], file: FileId) -> Option<With> {
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.start..token.end]);
    let is = |at: usize, expected: &str| word(at).eq_ignore_ascii_case(expected);
    let place = |first: usize, last: usize| Span::new(file, tokens[first].start..tokens[last].end);
    if !is(0, "with") {
        return None;
    }
    let recursive = is(1, "recursive");
    let head = usize::from(recursive);
    let mut ctes = Vec::new();
    let mut at = head + 1;
    loop {
        let name = at;
        if !matches!(tokens.get(name)?.kind, Kind::Word | Kind::Quoted) {
            return None;
        }
        at += 1;
        if is(at, "(") {
            at = closing(&word, tokens.len(), at)? + 1;
        }
        if !is(at, "as") {
            return None;
        }
        at += 1;
        at += usize::from(is(at, "not"));
        at += usize::from(is(at, "materialized"));
        if !is(at, "(") {
            return None;
        }
        let close = closing(&word, tokens.len(), at)?;
        if close == at + 1 {
            return None;
        }
        let body = place(at + 1, close - 1);
        let writes = ["insert", "update", "delete", "replace"].iter().any(|verb| is(at + 1, verb));
        ctes.push(CteText { name: folded(word(name)), span: place(name, close), body, writes });
        at = close + 1;
        if !is(at, ",") {
            break;
        }
        at += 1;
    }
    let last = ctes.last()?.span;
    let with = place(0, head);
    Some(With {
        word: with,
        prelude: Prelude { span: with.to(last), recursive, ctes },
        rest: tokens.get(at).map(|token| token.start),
    })
}

/// The bracket that closes the one there.
fn closing<'t>(word: &impl Fn(usize) -> &'t str, count: usize, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (open..count).find(|at| {
        match word(*at) {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// A name as statements compare it.
pub(super) fn folded(name: &str) -> String {
    name.trim_matches(['"', '`', '[', ']']).to_lowercase()
}

/// The names that a text reads rows from, as far as words tell.
pub(super) fn sources(text: &str, dialect: Dialect) -> Vec<String> {
    let tokens: Vec<Token> =
        super::lexer::tokens(text, dialect).into_iter().filter(|token| !token.is_comment()).collect();
    let word = |token: &Token| &text[token.start..token.end];
    let leads = |before: &Token| {
        ["from", "join", "using", "in", ","].iter().any(|lead| word(before).eq_ignore_ascii_case(lead))
    };
    // A column behind a comma has its table before it.
    let is_qualifier = |at: usize| tokens.get(at).is_some_and(|token| word(token) == ".");
    let is_name = |at: usize| matches!(tokens[at].kind, Kind::Word | Kind::Quoted) && !is_qualifier(at + 1);
    // `FOR UPDATE OF a, b` names what was named before.
    let is_locked = |at: usize| {
        let before = tokens[..at].iter().rev().map(word);
        let list = before.take_while(|word| *word == "," || word.chars().all(|c| c.is_alphanumeric() || c == '_'));
        list.take_while(|word| !word.eq_ignore_ascii_case("from")).any(|word| word.eq_ignore_ascii_case("of"))
    };
    let names = (1..tokens.len()).filter(|at| leads(&tokens[at - 1]) && is_name(*at) && !is_locked(*at));
    names.map(|at| folded(word(&tokens[at]))).collect()
}
