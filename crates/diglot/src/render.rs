//! Renderers of diagnostics: full (rustc's look), short, JSON, SARIF, GitHub's annotations.
//!
//! A renderer never panics, whatever the spans are: they are cut to the text and to whole characters.

mod full;
mod github;
mod json;
mod sarif;
mod short;
mod verdicts;

use crate::diagnostic::{Diagnostic, Label};
use crate::source::{SourceFile, Sources, Span};

pub use full::full;
pub use github::{github, known_on_github};
pub use json::json;
pub use sarif::sarif;
pub use short::short;
pub use verdicts::{Ran, with_verdicts};

/// How diagnostics look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// rustc's look without colours.
    Plain,
    /// rustc's look with ANSI colours.
    Color,
    /// One line each.
    Short,
    /// One JSON object per line.
    Json,
    /// One SARIF document for all.
    Sarif,
    /// One workflow command of GitHub's runners per line.
    Github,
}

/// All diagnostics in the order given. Full ones are separated by an empty line; the text ends with a line
/// break unless it is empty. A SARIF document is one whether or not there is a finding.
pub fn all(sources: &Sources, diagnostics: &[Diagnostic], look: Look) -> String {
    if look == Look::Sarif {
        return sarif(sources, diagnostics);
    }
    let mut text = String::new();
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        let rendered = match look {
            Look::Plain => full(sources, diagnostic, false),
            Look::Color => full(sources, diagnostic, true),
            Look::Short => short(sources, diagnostic),
            Look::Github => github(sources, diagnostic),
            Look::Json | Look::Sarif => json(sources, diagnostic),
        };
        if i > 0 && matches!(look, Look::Plain | Look::Color) {
            text.push('\n');
        }
        text.push_str(rendered.trim_end_matches('\n'));
        text.push('\n');
    }
    text
}

/// The label that decides `file:line:col`: the first primary one, else the first.
fn main_label(diagnostic: &Diagnostic) -> Option<&Label> {
    diagnostic.labels.iter().find(|label| label.primary).or(diagnostic.labels.first())
}

/// The byte range of a place, cut to the text and to whole characters.
fn range(file: &SourceFile, span: Span) -> std::ops::Range<usize> {
    let text = file.shown();
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let place = file.place(span.range());
    let start = floor(place.start);
    start..floor(place.end).max(start)
}

#[cfg(test)]
mod tests;
