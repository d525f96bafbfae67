//! One JSON object for each diagnostic, for machines.

use serde::Serialize;

use super::range;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Sources;

#[derive(Serialize)]
struct Object<'a> {
    rule: &'a str,
    severity: &'a str,
    message: &'a str,
    labels: Vec<Place<'a>>,
    notes: &'a [String],
    help: &'a [String],
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
        let bytes = range(file, label);
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
    let object = Object {
        rule: diagnostic.rule,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: &diagnostic.message,
        labels: labels.collect(),
        notes: &diagnostic.notes,
        help: &diagnostic.help,
    };
    // Strings and numbers always serialise; an empty object is the honest answer if they ever did not.
    serde_json::to_string(&object).unwrap_or_else(|_| "{}".to_owned())
}
