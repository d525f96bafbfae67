//! One line for each diagnostic, as editors and `grep` like it.

use super::{main_label, range};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// `file:line:col: error[rule]: message`.
pub fn short(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let message = diagnostic.message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{}[{}]: {message}", diagnostic.severity.word(), diagnostic.rule);
    let place = main_label(diagnostic).and_then(|label| sources.get(label.span.file).map(|file| (file, label)));
    match place {
        Some((file, label)) => {
            let (row, column) = file.line_column(range(file, label.span).start);
            format!("{}:{row}:{column}: {line}", file.path)
        }
        None => line,
    }
}
