//! Optional parts: `-- if: param` … `-- end` around whole conjuncts.

use std::collections::BTreeSet;

use super::lexer::Kind;
use super::{Body, Splitter};
use crate::diagnostic::Diagnostic;
use crate::page::OptionalPart;
use crate::rule;
use crate::source::Span;

/// The most parameters that choose parts of one statement: sixteen texts per dialect.
const MOST: usize = 4;

/// Words that end a condition, or that make it no conjunct, where they stand in no brackets.
const FOREIGN: [&str; 16] = [
    "select",
    "from",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "union",
    "except",
    "intersect",
    "returning",
    "set",
    "values",
    "join",
    "or",
];

impl Splitter<'_> {
    pub(super) fn opens(&mut self, param: String, mark: Span, owner: &str, read: &mut Body) {
        if let Some((_, first)) = &read.condition {
            let first = *first;
            let message = format!("{owner}: an optional part begins inside another");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, mark, "the inner one");
            self.torn(finding.context(first, "the outer one").help("close the outer one first: `-- end`"), read);
            return;
        }
        if read.open.is_none() {
            let message = format!("{owner}: an optional part begins before the statement");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, mark, "no condition stands here");
            self.torn(finding.help("put it right above the condition that it is about"), read);
            return;
        }
        read.condition = Some((param, mark));
    }

    pub(super) fn ends(&mut self, end: Span, owner: &str, read: &mut Body) {
        let Some((param, mark)) = read.condition.take() else {
            // After a fault the `-- end` of the faulty part is left over.
            if !read.torn {
                let message = format!("{owner}: `-- end` ends nothing");
                let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, end, "no `-- if:` before it");
                self.torn(finding.help("write `-- if: PARAM` above the condition, or remove this line"), read);
            }
            return;
        };
        let span = mark.to(end);
        match self.not_a_conjunct(span) {
            None => read.optional.push(OptionalPart { param, mark, span }),
            Some((at, label)) => {
                let message = format!("{owner}: the optional part on `{param}` is not made of whole conjuncts");
                let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, at, label);
                let help =
                    "put `-- if:` and `-- end` around conditions that begin with AND, such as `AND lane = :lane`";
                self.torn(finding.context(mark, "begins here").help(help), read);
            }
        }
    }

    /// Reports the part that is open where a statement ends.
    pub(super) fn left_open(&mut self, owner: &str, read: &mut Body) {
        if let Some((_, mark)) = read.condition.take() {
            let message = format!("{owner}: an optional part is not closed");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, mark, "begins here");
            self.torn(finding.help("write `-- end` on a line below its condition"), read);
        }
    }

    pub(super) fn too_many(&mut self, owner: &str, read: &mut Body) {
        let params: BTreeSet<&str> = read.optional.iter().map(|part| part.param.as_str()).collect();
        if params.len() > MOST
            && let Some(last) = read.optional.last()
        {
            let (count, mark) = (params.len(), last.mark);
            let message = format!("{owner}: {count} parameters choose optional parts");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, mark, "one too many");
            let help = format!("keep {MOST} at most, or split the statement: every combination is a text of its own");
            self.torn(finding.help(help), read);
        }
    }

    fn torn(&mut self, finding: Diagnostic, read: &mut Body) {
        read.torn = true;
        self.found.push(finding);
    }

    /// The place where a part is something else than conjuncts, and why.
    fn not_a_conjunct(&self, part: Span) -> Option<(Span, String)> {
        let inside = |start: usize, end: usize| part.start as usize <= start && end <= part.end as usize;
        let tokens: Vec<_> =
            self.tokens.iter().filter(|token| !token.is_comment() && inside(token.start, token.end)).collect();
        let text = |index: usize| tokens.get(index).map_or("", |token| &self.text[token.start..token.end]);
        let word = |index: usize| match tokens.get(index).map(|token| token.kind) {
            Some(Kind::Word) => text(index).to_ascii_lowercase(),
            _ => String::new(),
        };
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return Some((part, "nothing inside".to_owned()));
        };
        let place = |token: &super::Token| Span::new(self.file, token.start..token.end);
        let leads = ["and", "where", "having"].contains(&word(0).as_str());
        if !leads && word(tokens.len() - 1) != "and" {
            return Some((place(first), "does not begin with AND".to_owned()));
        }
        if leads && word(tokens.len() - 1) == "and" {
            return Some((place(last), "begins and ends with AND".to_owned()));
        }
        let mut depth = 0_i32;
        for (index, token) in tokens.iter().enumerate() {
            match text(index) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            let after_distinct = index > 0 && word(index - 1) == "distinct";
            let foreign = index > 0 && depth == 0 && FOREIGN.contains(&word(index).as_str()) && !after_distinct;
            if depth < 0 || foreign {
                return Some((place(token), "belongs to no conjunct; brackets around it may help".to_owned()));
            }
        }
        (depth != 0).then(|| (place(last), "a bracket is still open here".to_owned()))
    }
}
