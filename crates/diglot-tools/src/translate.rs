//! Drafts the page that a statement lacks from the page that it has.
//!
//! The text is the one that is there, with its comments and its layout; only what the other dialect spells in another
//! way is written anew. What the draft then says is compared like any other page: what is found is written into the
//! draft as a comment, for somebody to decide.

mod clocks;
mod path;
mod rewrite;
mod schemas;
#[cfg(test)]
mod tests;
mod to_pg;
mod to_sqlite;

use crate::draft::{self, Draft, DraftError};
use diglot::diagnostic::{Diagnostic, Severity};
use diglot::dialect::{Both, Dialect};
use diglot::page::{AnnotationKind, RawStatement};
use diglot::pipeline::{self, ReadProject, check};
use diglot::project::Inputs;
use diglot::source::{SourceFile, Span};
use diglot::split::lexer;
use rewrite::Rewriter;

/// A draft and what is open about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The statement to add.
    pub draft: Draft,
    /// Where it belongs in a file that is there: the byte before which it stands, so that both pages keep their order.
    pub before: Option<usize>,
    /// What somebody has to decide; it stands in the draft too.
    pub open: Vec<String>,
}

/// Drafts the missing page of a statement, named `noun_verb` or `noun.noun_verb`.
///
/// # Errors
/// When there is no such statement, when it has both pages, or when the one that it has is not understood.
pub fn translate(inputs: &Inputs, name: &str) -> Result<Translation, DraftError> {
    let bare = name.rsplit_once('.').map_or(name, |(_, bare)| bare);
    let statements = pipeline::facing(inputs);
    let Some(at) = statements.iter().position(|statement| statement.name == bare) else {
        let likeness = |other: &&pipeline::Facing| strsim::osa_distance(&other.name, bare);
        let similar = statements.iter().min_by_key(likeness).filter(|other| likeness(other) <= 4);
        return Err(DraftError::Missing { name: bare.to_owned(), similar: similar.map(|other| other.name.clone()) });
    };
    let statement = &statements[at];
    let (raw, dialect) = match &statement.pages {
        Both { sqlite: Some(raw), pg: None } => (raw, Dialect::Sqlite),
        Both { sqlite: None, pg: Some(raw) } => (raw, Dialect::Pg),
        pages => {
            let raw = pages.iter().flatten().next();
            let path = raw.map_or_else(String::new, |raw| draft::path_of(inputs, raw));
            return Err(DraftError::Exists { name: bare.to_owned(), path });
        }
    };
    let project = ReadProject::read(inputs);
    let tree = project.tree(bare, dialect).ok_or_else(|| DraftError::Unread { name: bare.to_owned() })?;
    let missing = dialect.other();
    let mut rewriter = Rewriter::new(inputs, &project, &statement.noun, raw, &tree);
    schemas::named(&mut rewriter);
    let sql = match dialect {
        Dialect::Sqlite => to_pg::rewritten(rewriter),
        Dialect::Pg => to_sqlite::rewritten(rewriter),
    };
    let head = head(inputs, raw);
    let path = inputs.config.sql.page(missing, &statement.noun);
    if inputs.config.sql.common(&path).is_some() {
        return Err(DraftError::Common { name: bare.to_owned(), path, dialect: missing });
    }
    let before = before(inputs, &statements, at, &path, missing);
    let draft =
        Draft { name: bare.to_owned(), dialect: missing, path, text: text(&head, &sql.declared, &[], &sql.text) };
    let mut open = sql.open;
    open.extend(findings(inputs, &draft, before));
    let text = text(&head, &sql.declared, &open, &sql.text);
    Ok(Translation { draft: Draft { text, ..draft }, before, open })
}

/// What stands above the SQL: comments, the header, annotations. Declarations are about the page that has them.
fn head(inputs: &Inputs, raw: &RawStatement) -> Vec<String> {
    let Some(file) = inputs.sources.get(raw.header_span.file) else { return Vec::new() };
    let sql = if raw.parts.is_empty() { raw.span.end } else { raw.sql().start } as usize;
    let (header, _) = file.line_column(raw.header_span.start as usize);
    let start = file.offset(header.saturating_sub(raw.docs.len()), 1);
    let dropped = |line: Span| {
        let about = raw.annotations.iter().find(|annotation| annotation.span == line);
        about.is_some_and(|annotation| {
            matches!(
                annotation.kind,
                AnnotationKind::Both
                    | AnnotationKind::Each { .. }
                    | AnnotationKind::Diverges { .. }
                    | AnnotationKind::Only { .. }
            )
        })
    };
    let guard = raw.guard.as_ref().map(|guard| guard.span);
    let mut lines = Vec::new();
    let mut at = start;
    for line in file.text.get(start..sql).unwrap_or_default().split_inclusive('\n') {
        let trimmed = line.trim();
        let first = at + (line.len() - line.trim_start().len());
        let place = Span::new(raw.header_span.file, first..first + trimmed.len());
        if !trimmed.is_empty() && !dropped(place) && guard != Some(place) {
            lines.push(trimmed.to_owned());
        }
        at += line.len();
    }
    lines
}

fn text(head: &[String], declared: &[String], open: &[String], sql: &str) -> String {
    let mut text = String::new();
    for line in head.iter().chain(declared) {
        text.push_str(line);
        text.push('\n');
    }
    for line in open {
        text.push_str(&format!("-- decide: {line}\n"));
    }
    text + sql + ";\n"
}

/// Before the statement that follows it on the page that has it: the byte where that one begins with its comments.
fn before(inputs: &Inputs, statements: &[pipeline::Facing], at: usize, path: &str, missing: Dialect) -> Option<usize> {
    let (file, source) = inputs.sources.iter().find(|(_, file)| file.path == path)?;
    let own = statements[at].pages.iter().flatten().next()?;
    let mut following: Vec<_> = statements
        .iter()
        .filter_map(|other| {
            let here = other.pages[missing.other()].as_ref()?;
            let there = other.pages[missing].as_ref().filter(|there| there.header_span.file == file)?;
            let follows =
                here.header_span.file == own.header_span.file && here.header_span.start > own.header_span.start;
            follows.then_some((here.header_span.start, there))
        })
        .collect();
    following.sort_by_key(|(start, _)| *start);
    let (_, next) = following.first()?;
    let (header, _) = source.line_column(next.header_span.start as usize);
    Some(source.offset(header.saturating_sub(next.docs.len()), 1))
}

/// The file's text with the draft in its place.
pub fn placed(old: &str, draft: &Draft, before: Option<usize>) -> String {
    match before.filter(|at| old.is_char_boundary(*at)) {
        Some(at) => format!("{}{}\n{}", &old[..at], draft.text, &old[at..]),
        None if old.trim().is_empty() => draft.text.clone(),
        None => format!("{}\n\n{}", old.trim_end(), draft.text),
    }
}

/// What is found in a draft, one line each.
fn findings(inputs: &Inputs, draft: &Draft, before: Option<usize>) -> Vec<String> {
    let mut inputs = inputs.clone();
    inputs.check_answers = false;
    let old = inputs.sources.iter().find(|(_, file)| file.path == draft.path);
    let old = old.map(|(id, file)| (id, file.text.clone()));
    let text = placed(old.as_ref().map_or("", |(_, text)| text), draft, before);
    let file = SourceFile::new(draft.path.as_str(), text);
    match old {
        Some((id, _)) => inputs.sources.replace(id, file),
        None => {
            inputs.sources.add(file);
        }
    }
    let compiled = check(&inputs);
    let spans: Vec<Span> = pipeline::facing(&inputs)
        .into_iter()
        .filter(|statement| statement.name == draft.name)
        .flat_map(|statement| statement.pages.into_iter().flatten().map(|raw| raw.span))
        .collect();
    let is_about = |finding: &&Diagnostic| {
        finding.labels.iter().any(|label| {
            label.primary
                && spans.iter().any(|span| {
                    span.file == label.span.file && span.start <= label.span.start && label.span.start < span.end
                })
        })
    };
    let mut open: Vec<String> = Vec::new();
    // What a warning tells is so on the page that is there, too.
    let errors = compiled.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
    for finding in errors.filter(is_about) {
        let message = finding.message.strip_prefix(&format!("{}: ", draft.name)).unwrap_or(&finding.message);
        let line = one_line(&format!("{}: {message}", finding.rule));
        if !open.contains(&line) {
            open.push(line);
        }
    }
    open
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first word token of that spelling in a range of a text.
fn word_in(text: &str, range: std::ops::Range<usize>, word: &str, dialect: Dialect) -> Option<(usize, usize)> {
    let piece = text.get(range.clone())?;
    let tokens = lexer::tokens(piece, dialect).into_iter();
    let mut found = tokens
        .filter(|token| token.kind == lexer::Kind::Word && piece[token.start..token.end].eq_ignore_ascii_case(word));
    found.next().map(|token| (range.start + token.start, range.start + token.end))
}
