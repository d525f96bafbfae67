//! LIKE on SQLite and ILIKE on Postgres, of plain ASCII or under collation C.
//!
//! # Why
//!
//! LIKE of SQLite takes the letters a to z for A to Z, as ILIKE does. ILIKE does so with other letters too, unless the
//! column has the collation `C`, and reads a backslash as an escape where ESCAPE names no other: the pattern must be written
//! down, without a backslash unless ESCAPE is there, and of ASCII where the column has another collation.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'worker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name NOT LIKE 'worker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name NOT ILIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'wörker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'wörker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE '100!%' ESCAPE '!'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE '100!%' ESCAPE '!'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE '%\_a%' ESCAPE '\'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE '%\_a%' ESCAPE '\'
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE t.name GLOB 'worker*'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE lower(t.name) LIKE 'wörker%'
//! pg:     SELECT t.n AS c FROM t WHERE lower(t.name) ILIKE 'wörker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'worker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name LIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'work_r%' ESCAPE 'k'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'work_r%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE '%\_a%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE '%\_a%' ESCAPE '\'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE :pattern
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE :pattern
//! ```

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
