//! Takes out of the statements what `[stripped]` says that a database never gets.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::FILE as CONFIG;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::Page;
use crate::project::Inputs;
use crate::rule;
use crate::source::{FileId, Sources, Span};
use crate::split::{self, lexer};

/// A clause where it stands in a file, with its place among those of its dialect.
type Found = (usize, Span);

/// Leaves the clauses out of the statements of these pages. Gives those that it met, by dialect and place in the list.
pub(super) fn strip(inputs: &Inputs, sources: &Sources, pages: &mut [Page]) -> BTreeSet<(Dialect, usize)> {
    let mut met = BTreeSet::new();
    for dialect in Dialect::ALL {
        let clauses = clauses(inputs, dialect);
        if clauses.is_empty() {
            continue;
        }
        let mut files: BTreeMap<FileId, Vec<Found>> = BTreeMap::new();
        let statements = pages.iter_mut().filter(|page| page.dialect == dialect).flat_map(|page| &mut page.statements);
        for raw in statements {
            for place in std::iter::once(raw.span).chain(raw.shared()) {
                let known =
                    files.entry(place.file).or_insert_with(|| clauses_of(sources, place.file, dialect, &clauses));
                for (clause, span) in known.iter().filter(|(_, span)| place.contains(*span)) {
                    raw.left_out.push(*span);
                    met.insert((dialect, *clause));
                }
            }
        }
    }
    met
}

/// Reports the clauses that stand in no text.
pub(super) fn unneeded(inputs: &Inputs, met: &BTreeSet<(Dialect, usize)>) -> Vec<Diagnostic> {
    let Some((file, source)) = inputs.sources.iter().find(|(_, file)| file.path == CONFIG) else { return Vec::new() };
    let listed = Dialect::ALL.into_iter().flat_map(|dialect| {
        let clauses = inputs.config.stripped.of(dialect).iter().enumerate();
        clauses.map(move |(at, clause)| (dialect, at, clause))
    });
    let idle = listed.filter(|(dialect, at, _)| !met.contains(&(*dialect, *at)));
    let finding = |(dialect, _, clause): (Dialect, usize, &String)| {
        let start = source.text.find(clause.as_str()).unwrap_or_default();
        let message = format!("`[stripped]` names `{clause}`, which no {} page has", dialect.title());
        let span = Span::new(file, start..start + clause.len());
        let help = "write the clause as it stands in the statements, or take it out of the list";
        Diagnostic::error(rule::BAD_CONFIG, message, span, "stands nowhere").help(help)
    };
    idle.map(finding).collect()
}

/// The words of the clauses of a dialect, each with its place in the list, the longest first.
fn clauses(inputs: &Inputs, dialect: Dialect) -> Vec<(usize, Vec<String>)> {
    let words = |clause: &String| {
        let tokens = lexer::tokens(clause, dialect).into_iter();
        tokens.map(|token| clause[token.start..token.end].to_ascii_lowercase()).collect::<Vec<String>>()
    };
    let mut clauses: Vec<_> = inputs.config.stripped.of(dialect).iter().map(words).enumerate().collect();
    clauses.sort_by_key(|(_, words)| std::cmp::Reverse(words.len()));
    clauses
}

/// Where the clauses stand in a file; where one begins with another, the longer one does.
fn clauses_of(sources: &Sources, file: FileId, dialect: Dialect, clauses: &[(usize, Vec<String>)]) -> Vec<Found> {
    let text = sources.file(file).text.as_str();
    let mut tokens = split::tokens(sources, file, dialect);
    tokens.retain(|token| !token.is_comment());
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_here = |(_, words): &&(usize, Vec<String>)| {
            let here = tokens.get(at..at + words.len()).unwrap_or_default();
            !here.is_empty()
                && here.iter().zip(words).all(|(token, word)| text[token.start..token.end].eq_ignore_ascii_case(word))
        };
        match clauses.iter().find(is_here) {
            Some((clause, words)) => {
                let last = at + words.len() - 1;
                found.push((*clause, Span::new(file, tokens[at].start..tokens[last].end)));
                at = last + 1;
            }
            None => at += 1,
        }
    }
    found
}
