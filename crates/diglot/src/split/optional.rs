//! Optional parts: `-- if: param` … `-- end` around whole conjuncts, and `-- order: name` … `-- end` around the orders of
//! which one is chosen.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::Kind;
use super::{Body, Splitter};
use crate::diagnostic::Diagnostic;
use crate::page::{Chooser, OptionalPart};
use crate::rule;
use crate::source::Span;

/// The most texts that the parts of one statement make, per dialect.
const MOST: usize = 64;

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
    pub(super) fn opens(&mut self, chooser: Chooser, mark: Span, owner: &str, read: &mut Body) {
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
        read.condition = Some((chooser, mark));
    }

    /// An order begins, and the one before it ends.
    pub(super) fn orders(&mut self, name: &str, mark: Span, owner: &str, read: &mut Body) {
        let is_next = read.condition.as_ref().is_some_and(|(open, _)| open.order().is_some());
        let mut known = read.optional.iter().filter(|part| part.chooser.order().is_some());
        if !is_next && let Some(first) = known.next() {
            let message = format!("{owner}: the orders of a statement stand together");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, mark, "apart from the others");
            self.torn(finding.context(first.mark, "the first one").help("put all orders under one another"), read);
            return;
        }
        if is_next {
            self.ends(mark, owner, read);
        }
        self.opens(Chooser::Order(name.to_owned()), mark, owner, read);
    }

    /// A page that begins behind a row: the condition is made of the ORDER BY, so the line stands above the statement.
    pub(super) fn page_of(&mut self, name: &str, mark: Span, owner: &str, read: &mut Body) {
        let fault = match read.optional.iter().find(|part| part.chooser.page().is_some()) {
            Some(first) => Some(("a statement has one page", Some(first.mark), "keep one `-- page:`")),
            None if read.open.is_some() || !read.parts.is_empty() => {
                Some(("a page is declared inside the statement", None, "put the line above the SQL"))
            }
            None => None,
        };
        let Some((message, first, help)) = fault else {
            read.optional.push(OptionalPart { chooser: Chooser::Page(name.to_owned()), mark, span: mark });
            return;
        };
        let finding = Diagnostic::error(rule::BAD_PAGE, format!("{owner}: {message}"), mark, "this line").help(help);
        let finding = match first {
            Some(first) => finding.context(first, "the first one"),
            None => finding,
        };
        self.torn(finding, read);
    }

    /// What is wrong with the orders of a statement as a whole.
    fn few_orders(&mut self, owner: &str, read: &mut Body) {
        let mut known: BTreeMap<&str, Span> = BTreeMap::new();
        let mut fault = None;
        for part in &read.optional {
            let Some(name) = part.chooser.order() else { continue };
            if let Some(first) = known.insert(name, part.mark) {
                let message = format!("{owner}: two orders are called `{name}`");
                let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, part.mark, "the second one");
                fault = Some(finding.context(first, "the first one").help("give one of them another name"));
            }
        }
        if let (1, Some(mark), None, false) = (known.len(), known.values().next(), &fault, read.torn) {
            let message = format!("{owner}: there is one order alone");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, *mark, "nothing to choose from");
            fault = Some(finding.help("write the next one below it, behind `-- order: NAME`, or remove both lines"));
        }
        if let Some(finding) = fault {
            self.torn(finding, read);
        }
    }

    pub(super) fn ends(&mut self, end: Span, owner: &str, read: &mut Body) {
        let Some((chooser, mark)) = read.condition.take() else {
            // After a fault the `-- end` of the faulty part is left over.
            if !read.torn {
                let message = format!("{owner}: `-- end` ends nothing");
                let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, end, "no `-- if:` before it");
                self.torn(finding.help("write `-- if: PARAM` above the condition, or remove this line"), read);
            }
            return;
        };
        let span = mark.to(end);
        if let Some(name) = chooser.order() {
            match self.not_an_order(span) {
                None => read.optional.push(OptionalPart { chooser, mark, span }),
                Some((at, label)) => {
                    let message = format!("{owner}: the order `{name}` is not one ORDER BY");
                    let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, at, label);
                    let help = "put a whole ORDER BY below `-- order:`, and LIMIT behind the `-- end` of the last one";
                    self.torn(finding.context(mark, "begins here").help(help), read);
                }
            }
            return;
        }
        match self.not_a_conjunct(span) {
            None => read.optional.push(OptionalPart { chooser, mark, span }),
            Some((at, label)) => {
                let message =
                    format!("{owner}: the optional part on `{}` is not made of whole conjuncts", chooser.name());
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
        self.few_orders(owner, read);
        let (orders, params): (BTreeSet<&Chooser>, BTreeSet<&Chooser>) =
            read.optional.iter().map(|part| &part.chooser).partition(|chooser| chooser.order().is_some());
        let texts = u32::try_from(params.len()).ok().and_then(|params| 2_usize.checked_pow(params));
        let texts = texts.map_or(usize::MAX, |texts| texts.saturating_mul(orders.len().max(1)));
        if texts > MOST
            && let Some(last) = read.optional.last()
        {
            let mark = last.mark;
            let of_orders = if orders.is_empty() { String::new() } else { format!(" for {} orders", orders.len()) };
            let message = format!("{owner}: {} parameters choose optional parts{of_orders}", params.len());
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, mark, "one too many");
            let help =
                format!("every combination is a text of its own, {MOST} at most: split the statement, or build it");
            self.torn(finding.help(help), read);
        }
    }

    fn torn(&mut self, finding: Diagnostic, read: &mut Body) {
        read.torn = true;
        self.found.push(finding);
    }

    /// The place where a part is something else than an order, and why.
    fn not_an_order(&self, part: Span) -> Option<(Span, String)> {
        let inside = |start: usize, end: usize| part.start as usize <= start && end <= part.end as usize;
        let tokens = self.tokens.iter().filter(|token| !token.is_comment() && inside(token.start, token.end));
        let words: Vec<(Span, String)> = tokens
            .map(|token| {
                (Span::new(self.file, token.start..token.end), self.text[token.start..token.end].to_lowercase())
            })
            .collect();
        let Some((first, _)) = words.first() else { return Some((part, "nothing inside".to_owned())) };
        if words[0].1 != "order" || words.get(1).is_none_or(|(_, word)| word != "by") {
            return Some((*first, "does not begin with ORDER BY".to_owned()));
        }
        let mut depth = 0_i32;
        for (place, word) in words.iter().skip(2) {
            match word.as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth < 0 || depth == 0 && FOREIGN.contains(&word.as_str()) && word != "or" {
                return Some((*place, "belongs to no order".to_owned()));
            }
        }
        (depth != 0).then(|| (*first, "a bracket is still open at its end".to_owned()))
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
