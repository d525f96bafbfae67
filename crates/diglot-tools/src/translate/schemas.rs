//! Tables of a schema of their own: Postgres wants its name before theirs, SQLite knows none.

use super::rewrite::{Rewriter, Written};
use diglot::dialect::Dialect;
use diglot::source::Span;
use diglot::tree::SourceKind;

/// Writes every table as the other page has to name it.
pub(super) fn named(rewriter: &mut Rewriter<'_>) {
    let tree = rewriter.tree;
    for source in tree.sources() {
        let SourceKind::Table(table) = &source.kind else { continue };
        let text = rewriter.inputs.sources.text(source.span);
        let path = text.split(char::is_whitespace).next().unwrap_or_default();
        let before = path.rfind('.').map_or(0, |dot| dot + 1);
        if !path[before..].trim_matches('"').eq_ignore_ascii_case(table) {
            continue;
        }
        let within = rewriter.facing.tables.get(table).and_then(|table| table.within.as_deref());
        let wanted = match (tree.dialect, within) {
            (Dialect::Sqlite, Some(schema)) => format!("{schema}."),
            _ => String::new(),
        };
        if path[..before] != wanted {
            let start = source.span.start;
            let place = Span { start, end: start + u32::try_from(before).unwrap_or_default(), ..source.span };
            rewriter.write(place, Written::new().text(wanted));
        }
    }
}
