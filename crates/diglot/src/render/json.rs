//! One JSON object for each diagnostic, for machines.

use serde::Serialize;

use super::range;
use crate::diagnostic::{Diagnostic, Edit};
use crate::fix;
use crate::source::Sources;

#[derive(Serialize)]
struct Object<'a> {
    rule: &'a str,
    severity: &'a str,
    message: &'a str,
    labels: Vec<Place<'a>>,
    notes: &'a [String],
    help: &'a [String],
    suggestions: Vec<Change<'a>>,
}

#[derive(Serialize)]
struct Change<'a> {
    message: &'a str,
    safe: bool,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    file: &'a str,
    byte_start: usize,
    byte_end: usize,
    replacement: String,
}

/// Lines and columns count from 1, columns in characters; bytes count from 0, the end is not included.
#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    byte_start: usize,
    byte_end: usize,
    text: &'a str,
    primary: bool,
}

/// One JSON object per diagnostic, on one line.
pub fn json(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let labels = diagnostic.labels.iter().filter_map(|label| {
        let file = sources.get(label.span.file)?;
        let bytes = range(file, label.span);
        let (line, column) = file.line_column(bytes.start);
        let (end_line, end_column) = file.line_column(bytes.end);
        Some(Place {
            file: &file.path,
            line,
            column,
            end_line,
            end_column,
            byte_start: bytes.start,
            byte_end: bytes.end,
            text: &label.text,
            primary: label.primary,
        })
    });
    let suggestions = diagnostic.suggestions.iter().map(|suggestion| Change {
        message: &suggestion.message,
        safe: suggestion.safe,
        edits: suggestion.edits.iter().filter_map(|edit| replacement(sources, edit)).collect(),
    });
    let object = Object {
        rule: diagnostic.rule,
        severity: diagnostic.severity.word(),
        message: &diagnostic.message,
        labels: labels.collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
        suggestions: suggestions.collect(),
    };
    // Strings and numbers always serialise; an empty object is the honest answer if they ever did not.
    serde_json::to_string(&object).unwrap_or_else(|_| "{}".to_owned())
}

fn replacement<'a>(sources: &'a Sources, edit: &'a Edit) -> Option<Replacement<'a>> {
    let file = sources.get(edit.span.file)?;
    let bytes = range(file, edit.span);
    let replacement = fix::written(sources, edit).text;
    Some(Replacement { file: &file.path, byte_start: bytes.start, byte_end: bytes.end, replacement })
}
