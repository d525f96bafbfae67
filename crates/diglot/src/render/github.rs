//! Workflow commands of GitHub's runners: a finding becomes an annotation at its line of a pull request.

use super::{main_label, range};
use crate::baseline;
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// `::error file=…,line=…,col=…,endLine=…,endColumn=…,title=rule::message`, with the way out in the same command.
pub fn github(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for (word, lines) in [("note", &diagnostic.notes), ("help", &diagnostic.help)] {
        lines.iter().for_each(|line| text.push_str(&format!("\n{word}: {line}")));
    }
    let mut properties = String::new();
    if let Some(label) = main_label(diagnostic)
        && let Some(file) = sources.get(label.span.file)
    {
        let bytes = range(file, label.span);
        let ((line, column), (end_line, end_column)) = (file.line_column(bytes.start), file.line_column(bytes.end));
        properties = format!(
            "file={},line={line},endLine={end_line},col={column},endColumn={end_column},",
            property(&file.path)
        );
    }
    format!("::{} {properties}title={}::{}", diagnostic.severity.word(), property(diagnostic.rule), data(&text))
}

/// One notice in the place of all findings that a baseline knows, with a line break.
pub fn known_on_github(count: usize) -> String {
    format!("::notice title=baseline::{}\n", data(&baseline::folded(count)))
}

/// Notices of what running has shown, a line each.
pub(super) fn ran(lines: &[String]) -> String {
    lines.iter().map(|line| format!("::notice title=same when run::{}\n", data(line))).collect()
}

/// A command is one line, in which a percent sign begins an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
