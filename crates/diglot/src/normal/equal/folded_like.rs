//! LIKE on SQLite and ILIKE on Postgres, of plain ASCII or under collation C.

use std::collections::BTreeSet;

use super::super::{Head, Names, Node};
use crate::dialect::Dialect;
use crate::infer::PageOf;
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Like { op: "like", pattern, negated, escape, .. } = &expr.kind else { return None };
    let ExprKind::Text(pattern) = &pattern.kind else { return None };
    if names.dialect() != Dialect::Sqlite || !names.pair.ilike.contains(pattern) {
        return None;
    }
    Some(node.with_head(Head::Like { op: "ilike", negated: *negated, escape: escape.clone() }))
}

/// The patterns that a page of Postgres compares with ILIKE, where that takes no other letters for alike than SQLite does.
pub(crate) fn patterns(page: &PageOf<'_>) -> BTreeSet<String> {
    let exprs = page.tree.exprs();
    let compared = || {
        exprs.iter().filter_map(|expr| match &expr.kind {
            ExprKind::Like { op: "ilike", expr, pattern, escape, .. } => match &pattern.kind {
                ExprKind::Text(text) => Some((&**expr, text, escape.is_some())),
                _ => None,
            },
            _ => None,
        })
    };
    let fits = |(of, text, escapes): &(&Expr, &String, bool)| {
        (*escapes || !text.contains('\\')) && (text.is_ascii() || is_by_bytes(page, of))
    };
    let misfits: Vec<&String> = compared().filter(|it| !fits(it)).map(|(_, text, _)| text).collect();
    compared().map(|(_, text, _)| text).filter(|text| !misfits.contains(text)).cloned().collect()
}

/// Whether a text is a column that is sorted, and has its letters, by bytes.
fn is_by_bytes(page: &PageOf<'_>, expr: &Expr) -> bool {
    let ExprKind::Column { source, column } = &expr.kind else { return false };
    let table = page.tree.source(*source).and_then(|source| source.table());
    let column = table.and_then(|table| page.schema.tables.get(table)?.column(column));
    let collation = column.and_then(|column| column.collation.as_deref());
    let is_plain = |name: &str| ["c", "posix"].iter().any(|plain| name.trim_matches('"').eq_ignore_ascii_case(plain));
    collation.is_some_and(is_plain)
}
