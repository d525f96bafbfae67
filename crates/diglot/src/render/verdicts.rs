//! What running both pages has shown of each pair, beside the findings.
//!
//! A pair that differs is a finding and told there. What is the same only because it was run is no finding: people see one
//! line for all of them, or a sentence for each, and machines an object or a result for each.

use serde_json::{Value, json};

use super::{Look, range, sarif};
use crate::diagnostic::Diagnostic;
use crate::evidence::{Scope, Verdict};
use crate::project::Detail;
use crate::source::{Sources, Span};

/// What is known of a pair from running it.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// `noun_verb`.
    pub name: &'a str,
    /// Where its name stands.
    pub place: Span,
    /// What running has shown.
    pub verdict: &'a Verdict,
}

/// How many pairs are named where all of them are told in one line.
const NAMED: usize = 5;

/// All findings in the order given, and what running has shown beside them: as far as people want to know it, everything
/// for machines.
pub fn with_verdicts(
    sources: &Sources,
    diagnostics: &[Diagnostic],
    ran: &[Ran<'_>],
    (look, detail): (Look, Detail),
) -> String {
    match look {
        Look::Sarif => sarif::document(sources, diagnostics, ran),
        Look::Json => {
            super::all(sources, diagnostics, look) + &ran.iter().map(|pair| object(sources, pair)).collect::<String>()
        }
        Look::Github => super::all(sources, diagnostics, look) + &super::github::ran(&folded(ran, detail)),
        Look::Plain | Look::Color => {
            let found = super::all(sources, diagnostics, look);
            let notes: String = folded(ran, detail).iter().map(|line| format!("note: {line}\n")).collect();
            let between = if found.is_empty() || notes.is_empty() { "" } else { "\n" };
            format!("{found}{between}{notes}")
        }
        Look::Short => super::all(sources, diagnostics, look),
    }
}

/// The pairs that are the same when run: one line for all, or a sentence for each.
fn folded(ran: &[Ran<'_>], detail: Detail) -> Vec<String> {
    let same: Vec<(&str, &Scope)> = ran.iter().filter_map(|pair| Some((pair.name, scope(pair)?))).collect();
    if detail == Detail::Whole {
        return same.iter().map(|(name, scope)| format!("{name}: {}", scope.sentence())).collect();
    }
    let (first, rest) = same.split_at(same.len().min(NAMED));
    let names = first.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    match (first.len(), rest.len()) {
        (0, _) => Vec::new(),
        (1, _) => vec![format!(
            "{names} is the same when run, which its texts do not say; `check --full` tells how far it was tried"
        )],
        (_, 0) => vec![format!(
            "{names} are the same when run, which their texts do not say; `check --full` tells how far each was tried"
        )],
        (_, more) => vec![format!(
            "{names} and {more} more are the same when run, which their texts do not say; `check --full` tells how far each was tried"
        )],
    }
}

pub(super) fn scope<'a>(pair: &Ran<'a>) -> Option<&'a Scope> {
    match pair.verdict {
        Verdict::Same(scope) => Some(scope),
        _ => None,
    }
}

/// One JSON object on one line; `verdict` tells it from a finding, which has a `rule`.
fn object(sources: &Sources, pair: &Ran<'_>) -> String {
    let mut object = match serde_json::to_value(pair.verdict) {
        Ok(Value::Object(object)) => object,
        _ => serde_json::Map::new(),
    };
    object.insert("statement".to_owned(), json!(pair.name));
    if let Some(scope) = scope(pair) {
        object.insert("sentence".to_owned(), json!(scope.sentence()));
        object.insert("telling".to_owned(), json!(scope.telling()));
    }
    if let Some(file) = sources.get(pair.place.file) {
        let (line, _) = file.line_column(range(file, pair.place).start);
        object.insert("file".to_owned(), json!(file.path));
        object.insert("line".to_owned(), json!(line));
    }
    format!("{}\n", Value::Object(object))
}
