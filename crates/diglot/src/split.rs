//! First pass: a file into named statements, annotations and texts.
//!
//! Nothing is parsed as SQL here and nothing is rewritten: every span is a byte range of the file. A statement that
//! cannot be used is left out, and [`Page::broken`] keeps its name, so that later passes do not say that it is missing.

mod both;
mod bound;
pub(crate) mod built;
mod header;
pub mod lexer;
mod line;
mod optional;
mod repeated;
mod shared;
mod with;

#[cfg(test)]
mod annotation_findings;
#[cfg(test)]
mod header_findings;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(crate) use self::both::lend;
use self::header::Header;
use self::lexer::{Kind, Token};
use self::line::{Comment, Line};
pub(crate) use self::shared::compose;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{
    Annotation, AnnotationKind, Cardinality, Chooser, Guard, Lent, OptionalPart, Page, Prelude, RawPart, RawStatement,
    Use,
};
use crate::rule;
use crate::source::{Embedded, FileId, Sources, Span};

/// Who reads a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The dialect whose page it is.
    One,
    /// Both dialects: what it says is said to each, but for statements that name one dialect alone.
    Both,
}

/// Splits one statement file.
pub(crate) fn split(
    sources: &Sources,
    file: FileId,
    (dialect, readers): (Dialect, Readers),
    noun: &str,
) -> (Page, Vec<Diagnostic>) {
    let (mut page, mut found) = page_of(sources, file, (dialect, readers), noun);
    match readers {
        Readers::One if both::lends(&page) => {
            let (theirs, of_theirs) = page_of(sources, file, (dialect.other(), readers), noun);
            both::keep(&mut page, theirs, of_theirs, &mut found);
        }
        Readers::One => {}
        Readers::Both => found.extend(both::needless(&page)),
    }
    (page, found)
}

/// A file as one dialect reads it.
fn page_of(
    sources: &Sources,
    file: FileId,
    (dialect, readers): (Dialect, Readers),
    noun: &str,
) -> (Page, Vec<Diagnostic>) {
    let text = sources.file(file).text.as_str();
    let embedded = sources.file(file).embedded.as_slice();
    let tokens = tokens(sources, file, dialect);
    let page = empty(file, dialect, noun);
    let (found, names) = (Vec::new(), BTreeMap::new());
    let mut splitter = Splitter { text, file, noun, tokens: &tokens, readers, page, found, names };
    match embedded {
        [] => splitter.run(),
        embedded => splitter.embedded(embedded),
    }
    splitter.found.sort_by_key(|finding| finding.labels.first().map(|label| label.span));
    (splitter.page, splitter.found)
}

/// All tokens of a file as a dialect reads it.
pub(crate) fn tokens(sources: &Sources, file: FileId, dialect: Dialect) -> Vec<Token> {
    let text = sources.file(file).text.as_str();
    match sources.file(file).embedded.as_slice() {
        [] => lexer::tokens(text, dialect),
        // A quote that is open ends with its literal.
        all => all.iter().flat_map(|one| lexer::tokens_in(text, one.range.clone(), dialect)).collect(),
    }
}

fn empty(file: FileId, dialect: Dialect, noun: &str) -> Page {
    let (statements, shared, broken) = (Vec::new(), Vec::new(), Vec::new());
    Page { file, dialect, noun: noun.to_owned(), statements, shared, lent: Lent::default(), broken }
}

/// The tokens of each statement of a page, from the comments that touch its header to those of the next one, with the
/// token that is its header.
pub fn blocks(text: &str, dialect: Dialect, tokens: &[Token]) -> Vec<(Range<usize>, usize)> {
    let (file, noun) = (FileId(0), "");
    let page = empty(file, dialect, noun);
    let (found, names, readers) = (Vec::new(), BTreeMap::new(), Readers::One);
    let (headers, starts) = Splitter { text, file, noun, tokens, readers, page, found, names }.headers();
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    starts.iter().zip(ends).zip(headers).map(|((start, end), header)| (*start..end, header)).collect()
}

/// What a comment line says if it is an annotation, with or without a reason.
pub fn annotation(comment: &str) -> Option<AnnotationKind> {
    match line::read(Comment { file: FileId(0), start: 0, text: comment }, "") {
        Line::Annotation(annotation, _) => Some(annotation.kind),
        _ => None,
    }
}

/// What a header says behind `name:`; none of another comment.
pub fn header(comment: &str) -> Option<&str> {
    Comment { file: FileId(0), start: 0, text: comment }.header()
}

/// The divergences and exceptions that a schema file declares, with what is wrong about them. Its other comments are prose.
pub(crate) fn declarations(sources: &Sources, file: FileId, dialect: Dialect) -> (Vec<Annotation>, Vec<Diagnostic>) {
    let text = sources.file(file).text.as_str();
    let (mut declared, mut found) = (Vec::new(), Vec::new());
    if !text.contains("diverges") && !text.contains("allow") {
        return (declared, found);
    }
    for token in lexer::tokens(text, dialect).into_iter().filter(|token| token.kind == Kind::LineComment) {
        let comment = Comment { file, start: token.start, text: &text[token.start..token.end] };
        if !["diverges", "allow("].iter().any(|word| comment.body().starts_with(word)) {
            continue;
        }
        match line::read(comment, "schema") {
            Line::Annotation(annotation, finding) => {
                declared.push(annotation);
                found.extend(finding);
            }
            Line::Annotations(annotations) => declared.extend(annotations),
            Line::Wrong(finding) => found.push(finding),
            Line::Prose
            | Line::Returns
            | Line::If(_)
            | Line::Order(_)
            | Line::Page(_)
            | Line::End
            | Line::Use(..)
            | Line::Require(_) => {}
        }
    }
    (declared, found)
}

struct Splitter<'a> {
    text: &'a str,
    file: FileId,
    noun: &'a str,
    tokens: &'a [Token],
    readers: Readers,
    page: Page,
    found: Vec<Diagnostic>,
    names: BTreeMap<String, Span>,
}

/// What stands between a header and the next one.
#[derive(Default)]
struct Body {
    annotations: Vec<Annotation>,
    prelude: Option<Prelude>,
    uses: Vec<Use>,
    guard: Option<Guard>,
    parts: Vec<RawPart>,
    /// Annotations after the last semicolon: they belong to the statement only if another part follows.
    tail: Vec<Annotation>,
    /// The end of the last part's semicolon while no other part has begun.
    semicolon: Option<usize>,
    /// The part that is open: first and last byte so far.
    open: Option<(usize, usize)>,
    /// Where a comment begins that belongs to the text of the part that comes next.
    lead: Option<usize>,
    returns: Option<Span>,
    marked: Option<Span>,
    /// Closed optional parts.
    optional: Vec<OptionalPart>,
    /// The optional part that is open: what chooses it and its line.
    condition: Option<(Chooser, Span)>,
    /// Whether something is wrong with an optional part, so that no variant can be told.
    torn: bool,
}

impl<'a> Splitter<'a> {
    fn run(&mut self) {
        let (headers, starts) = self.headers();
        if headers.is_empty() && self.tokens.iter().any(|token| !token.is_comment()) {
            self.nameless();
            return;
        }
        let first = starts.first().copied().unwrap_or(self.tokens.len());
        self.preamble(first);
        for (i, header) in headers.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(self.tokens.len());
            match self.part_at(*header) {
                Some(name) => self.shared(name, starts[i], *header, end),
                None => self.statement(starts[i], *header, end),
            }
        }
    }

    /// Where statements and shared parts begin, and for each the first of its tokens.
    fn headers(&self) -> (Vec<usize>, Vec<usize>) {
        let headers: Vec<usize> = (0..self.tokens.len()).filter(|i| self.begins(*i)).collect();
        let starts = headers.iter().map(|header| self.block_start(*header)).collect();
        (headers, starts)
    }

    /// Whether a statement or a shared part begins with a token.
    fn begins(&self, index: usize) -> bool {
        self.header_at(index).is_some() || self.part_at(index).is_some()
    }

    /// The name of the shared part that begins there.
    fn part_at(&self, index: usize) -> Option<&'a str> {
        let token = self.tokens[index];
        if token.kind == Kind::LineComment && self.starts_line(token) { self.comment(token).part() } else { None }
    }

    fn comment(&self, token: Token) -> Comment<'a> {
        Comment { file: self.file, start: token.start, text: &self.text[token.start..token.end] }
    }

    /// Whether nothing but white space stands before the token in its line.
    fn starts_line(&self, token: Token) -> bool {
        let before = &self.text[..token.start];
        let line = before.rsplit('\n').next().unwrap_or(before);
        line.trim_start_matches('\u{feff}').trim().is_empty()
    }

    fn header_at(&self, index: usize) -> Option<&'a str> {
        let token = self.tokens[index];
        if !token.is_comment() {
            return None;
        }
        let line = self.text[token.end..].split('\n').next().unwrap_or_default();
        let alone = token.kind == Kind::LineComment || line.trim().is_empty();
        if alone && self.starts_line(token) { self.comment(token).header() } else { None }
    }

    /// The first of the comment lines that touch the header from above.
    fn block_start(&self, header: usize) -> usize {
        let mut start = header;
        while let Some(above) = start.checked_sub(1) {
            let token = self.tokens[above];
            let between = &self.text[token.end..self.tokens[start].start];
            let touches = between.matches('\n').count() == 1;
            let is_line = token.kind == Kind::LineComment && self.starts_line(token);
            if !is_line || !touches || self.begins(above) {
                break;
            }
            start = above;
        }
        start
    }

    /// What stands before the first header: comments at most.
    fn preamble(&mut self, end: usize) {
        let tokens = &self.tokens[..end];
        for token in tokens.iter().filter(|t| t.is_comment()) {
            if !self.disguised_header(*token) {
                self.stray(*token);
            }
        }
        let mut sql = tokens.iter().filter(|t| !t.is_comment());
        if let Some(first) = sql.next() {
            let end = sql.next_back().unwrap_or(first).end;
            let message = format!("{}: SQL before the first header", self.noun);
            let span = Span::new(self.file, first.start..end);
            let finding = Diagnostic::error(rule::SQL_BEFORE_NAME, message, span, "belongs to no statement");
            self.found.push(finding.help("write a header above it: `-- name: noun_verb :one`"));
        }
        self.unterminated(self.noun, tokens);
    }

    /// An annotation that stands where no statement can own it.
    fn stray(&mut self, token: Token) {
        if token.kind != Kind::LineComment {
            return;
        }
        let comment = self.comment(token);
        if let Line::Annotation(..)
        | Line::Annotations(_)
        | Line::Returns
        | Line::If(_)
        | Line::Order(_)
        | Line::Page(_)
        | Line::End
        | Line::Use(..)
        | Line::Require(_)
        | Line::Wrong(_) = line::read(comment, self.noun)
        {
            self.stray_at(comment.span());
        }
    }

    fn stray_at(&mut self, span: Span) {
        let message = format!("{}: an annotation that belongs to no statement", self.noun);
        let finding = Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, span, "between two statements");
        self.found.push(finding.help("move it next to the header of its statement, with no blank line between"));
    }

    /// Whether a comment is a header that is not read as one: behind SQL in a line, or in a block comment.
    fn disguised_header(&mut self, token: Token) -> bool {
        let comment = self.comment(token);
        let inner = comment.text.trim_start_matches("/*").trim_start_matches("--").trim_start();
        let Some(body) = inner.strip_prefix("name").and_then(|rest| rest.trim_start().strip_prefix(':')) else {
            return false;
        };
        let disguised = !self.starts_line(token) || token.kind == Kind::BlockComment;
        if disguised {
            let body = body.trim_end_matches("*/").trim();
            let message = format!("{}: a header must be a `--` comment on a line of its own", self.noun);
            let finding = Diagnostic::error(rule::BAD_HEADER, message, comment.span(), "not read as a header");
            self.found.push(finding.help(format!("put `-- name: {body}` on its own line")));
        }
        disguised
    }

    fn unterminated(&mut self, owner: &str, tokens: &[Token]) -> bool {
        let open = tokens.iter().filter(|t| !t.closed);
        let before = self.found.len();
        for token in open {
            let (what, mark) = match (token.kind, self.text.as_bytes()[token.start]) {
                (Kind::BlockComment, _) => ("block comment", "*/".to_owned()),
                (Kind::Quoted, b'[') => ("quoted name", "]".to_owned()),
                (Kind::Quoted, mark) => ("quoted name", char::from(mark).to_string()),
                (_, b'$') => {
                    let tag = self.text[token.start + 1..].split('$').next().unwrap_or_default();
                    ("dollar-quoted text", format!("${tag}$"))
                }
                _ => ("text", "'".to_owned()),
            };
            let line = self.text[token.start..token.end].lines().next().unwrap_or_default();
            let span = Span::new(self.file, token.start..token.start + line.len());
            let message = format!("{owner}: a {what} is not closed");
            let finding = Diagnostic::error(rule::UNTERMINATED, message, span, "opened here");
            self.found.push(finding.help(format!("close it with `{mark}`")));
        }
        self.found.len() > before
    }

    fn statement(&mut self, start: usize, header_index: usize, end: usize) {
        let comment = self.comment(self.tokens[header_index]);
        let body = comment.header().unwrap_or_default();
        let header = header::read(comment, body, self.noun, &mut self.found);
        let owner = header.as_ref().map_or(self.noun, |header| header.name.as_str()).to_owned();
        let mut read = Body::default();
        let docs = self.above(start, header_index, &owner, &mut read);
        self.body(header, comment.span(), docs, &self.tokens[header_index + 1..end], read);
    }

    /// A file without a header is one statement, which the file names.
    fn nameless(&mut self) {
        let Some(first) = self.tokens.iter().find(|token| !token.is_comment()) else { return };
        let place = Span::new(self.file, first.start..first.end);
        let name = header::sound_name(self.noun, self.noun);
        let header = Header { name, name_span: place, cardinality: None, cardinality_span: place };
        self.body(Some(header), place, Vec::new(), self.tokens, Body::default());
    }

    /// Statements that stand in another language, which names them.
    fn embedded(&mut self, all: &[Embedded]) {
        for one in all {
            let place = Span::new(self.file, one.place.clone());
            let name = header::sound_name(&one.name, self.noun);
            if !one.holes.is_empty() {
                let whole = self.text.get(one.range.clone()).unwrap_or_default();
                self.found.push(built::finding(self.file, whole, &name, one));
                self.page.broken.push(name);
                continue;
            }
            self.found.extend(one.conditions.iter().map(|one| built::conditions(self.file, &name, one)));
            let inside = |token: &&Token| one.range.contains(&token.start);
            let start = self.tokens.partition_point(|token| token.start < one.range.start);
            let end = start + self.tokens[start..].iter().take_while(inside).count();
            let header = Header { name, name_span: place, cardinality: None, cardinality_span: place };
            self.body(Some(header), place, Vec::new(), &self.tokens[start..end], Body::default());
        }
    }

    /// Reads what stands below a header, or in a literal.
    fn body(&mut self, header: Option<Header>, place: Span, docs: Vec<String>, tokens: &[Token], mut read: Body) {
        let owner = header.as_ref().map_or(self.noun, |header| header.name.as_str()).to_owned();
        let before = self.found.len();
        for token in tokens {
            self.token(*token, &owner, &mut read);
        }
        self.close(&owner, &mut read);
        if self.is_for_the_other(&read.annotations) {
            // The other dialect reads it, and tells what is wrong with it.
            self.found.truncate(before);
            return;
        }
        let unterminated = self.unterminated(&owner, tokens);
        for annotation in std::mem::take(&mut read.tail) {
            self.stray_at(annotation.span);
        }
        if let Some(span) = read.returns {
            self.misplaced_returns(&owner, span);
        }
        self.repeated(&owner, &read.annotations);
        self.rows(&owner, &read.annotations);
        let Some(header) = header else {
            return;
        };
        if read.parts.is_empty() {
            let message = format!("{owner}: the statement has no SQL");
            let finding = Diagnostic::error(rule::EMPTY_STATEMENT, message, place, "nothing below this header");
            self.found.push(finding.help("write the SQL below the header, or remove the header"));
        }
        self.too_many(&owner, &mut read);
        if unterminated || read.parts.is_empty() || read.torn {
            self.page.broken.push(header.name);
            return;
        }
        self.keep(header, place, docs, read);
    }

    /// Whether a statement of a file that both dialects read is meant for the other one alone.
    fn is_for_the_other(&self, annotations: &[Annotation]) -> bool {
        let names_other = |said: &Annotation| matches!(said.kind, AnnotationKind::Only { dialect, .. } if dialect != self.page.dialect);
        self.readers == Readers::Both && annotations.iter().any(names_other)
    }

    /// Reads the comment lines above the header; gives the documentation.
    fn above(&mut self, start: usize, header: usize, owner: &str, read: &mut Body) -> Vec<String> {
        let mut docs = Vec::new();
        for token in &self.tokens[start..header] {
            let comment = self.comment(*token);
            match line::read(comment, owner) {
                Line::Prose => {
                    let text = comment.text.trim_start_matches('-');
                    docs.push(text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned());
                }
                other => self.note(other, comment, owner, read),
            }
        }
        while docs.first().is_some_and(String::is_empty) {
            docs.remove(0);
        }
        while docs.last().is_some_and(String::is_empty) {
            docs.pop();
        }
        docs
    }

    /// Takes a comment's annotation in.
    fn note(&mut self, line: Line, comment: Comment<'_>, owner: &str, read: &mut Body) {
        match line {
            Line::Prose => {}
            Line::Wrong(finding) => self.found.push(finding),
            Line::If(param) => self.opens(Chooser::Parameter(param), comment.span(), owner, read),
            Line::Order(name) => self.orders(&name, comment.span(), owner, read),
            Line::Page(name) => self.page_of(&name, comment.span(), owner, read),
            Line::End => self.ends(comment.span(), owner, read),
            Line::Use(name, arguments) => read.uses.push(Use { name, arguments, span: comment.span() }),
            Line::Require(name) => self.requires(name, comment.span(), owner, read),
            Line::Returns if read.open.is_some() => self.misplaced_returns(owner, comment.span()),
            Line::Returns => match read.marked {
                Some(first) => {
                    let message =
                        format!("{owner}: two statements of the unit are marked as the one that returns rows");
                    let finding = Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, comment.span(), "second mark");
                    self.found.push(finding.context(first, "first mark").help("keep one `-- returns`"));
                }
                None => {
                    read.marked = Some(comment.span());
                    read.returns = Some(comment.span());
                }
            },
            Line::Annotations(annotations) => {
                for annotation in annotations {
                    self.note(Line::Annotation(annotation, None), comment, owner, read);
                }
            }
            Line::Annotation(annotation, finding) => {
                self.found.extend(finding);
                let same_line = read.semicolon.is_some_and(|end| !self.text[end..comment.start].contains('\n'));
                let after_last = read.semicolon.is_some() && !same_line;
                if after_last { read.tail.push(annotation) } else { read.annotations.push(annotation) }
            }
        }
    }

    fn token(&mut self, token: Token, owner: &str, read: &mut Body) {
        match token.kind {
            Kind::LineComment | Kind::BlockComment if self.disguised_header(token) => {}
            Kind::BlockComment if lexer::is_kept(&self.text[token.start..token.end]) => match &mut read.open {
                Some((_, end)) => *end = token.end,
                None => read.lead = read.lead.or(Some(token.start)),
            },
            Kind::BlockComment => {}
            Kind::LineComment => {
                let comment = self.comment(token);
                let line = line::read(comment, owner);
                self.note(line, comment, owner, read);
            }
            Kind::Semicolon => {
                if read.open.is_some() {
                    read.semicolon = Some(token.end);
                }
                self.close(owner, read);
            }
            _ => {
                let start = read.open.map_or(read.lead.take().unwrap_or(token.start), |(start, _)| start);
                read.open = Some((start, token.end));
                read.semicolon = None;
                read.annotations.append(&mut read.tail);
            }
        }
    }

    /// Ends the open part, if there is one.
    fn close(&mut self, owner: &str, read: &mut Body) {
        self.left_open(owner, read);
        if let Some((start, end)) = read.open.take() {
            let list = self.with(start, end);
            let (start, list) = match list {
                Some(list) if self.stands_alone(&list, read) => {
                    self.prelude(owner, list.prelude, list.rest.is_some(), read);
                    let Some(rest) = list.rest else { return };
                    (rest, None)
                }
                list => (start, list),
            };
            let returns = read.returns.take().is_some();
            let part = RawPart::new(Span::new(self.file, start..end), list.map(|list| list.word));
            read.parts.push(RawPart { returns, ..part });
        }
    }

    fn misplaced_returns(&mut self, owner: &str, span: Span) {
        let message = format!("{owner}: `-- returns` marks no statement");
        let finding = Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, span, "no statement starts below this line");
        self.found.push(finding.help("put it on the line above the statement of the unit that returns rows"));
    }

    /// Adds a sound statement to the page, unless its name is taken.
    fn keep(&mut self, header: Header, header_span: Span, docs: Vec<String>, read: Body) {
        if let Some(first) = self.names.get(&header.name) {
            let message = format!("{}: two statements of this file have this name", header.name);
            let finding =
                Diagnostic::error(rule::DUPLICATE_NAME, message, header.name_span, "second statement of this name");
            self.found
                .push(finding.context(*first, "first statement of this name").help("give one of them another name"));
            return;
        }
        self.names.insert(header.name.clone(), header.name_span);
        let end = read.parts.last().map_or(header_span, |part| part.span);
        let cardinality = header.cardinality.unwrap_or_else(|| self.guess(&read.parts));
        self.page.statements.push(RawStatement {
            name: header.name,
            name_span: header.name_span,
            header_span,
            cardinality,
            cardinality_span: header.cardinality_span,
            docs,
            annotations: read.annotations,
            prelude: read.prelude,
            uses: read.uses,
            bound: Vec::new(),
            guard: read.guard,
            parts: read.parts,
            optional: read.optional,
            left_out: Vec::new(),
            behind: None,
            nullable: BTreeSet::new(),
            span: header_span.to(end),
        });
    }

    /// The cardinality of a statement whose header does not say it, so that no further finding follows.
    fn guess(&self, parts: &[RawPart]) -> Cardinality {
        let gives_rows = parts.iter().any(|part| {
            let text = self.text.get(part.span.range()).unwrap_or_default().to_lowercase();
            let first = text.split_whitespace().next().unwrap_or_default();
            text.contains("returning") || first == "select" || first == "values"
        });
        if gives_rows { Cardinality::Many } else { Cardinality::Exec }
    }
}
