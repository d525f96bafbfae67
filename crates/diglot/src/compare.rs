//! Compares the facts of two pages and binds declared divergences to what they waive.

use crate::diagnostic::Diagnostic;
use crate::infer::PageOf;

/// Compares a pair. Declarations that waive nothing are errors too.
pub(crate) fn compare(sqlite: &PageOf<'_>, pg: &PageOf<'_>) -> Vec<Diagnostic> {
    let _ = (sqlite, pg);
    Vec::new()
}
