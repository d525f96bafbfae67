//! LIKE on SQLite and ILIKE on Postgres, with a pattern of plain ASCII.
//!
//! # Why
//!
//! LIKE of SQLite takes the letters a to z for A to Z, as ILIKE does. ILIKE does so with other letters too, and reads a
//! backslash as an escape, so the pattern must be written down and have neither.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'worker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name NOT LIKE 'worker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name NOT ILIKE 'worker%'
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE t.name GLOB 'worker*'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'wörker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'wörker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'worker%'
//! pg:     SELECT t.n AS c FROM t WHERE t.name LIKE 'worker%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE 'work_r%' ESCAPE 'k'
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE 'work_r%'
//! sqlite: SELECT t.n AS c FROM t WHERE t.name LIKE :pattern
//! pg:     SELECT t.n AS c FROM t WHERE t.name ILIKE :pattern
//! ```

use std::collections::BTreeSet;

use super::super::{Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Like { op: "like", pattern, negated, escape: None, .. } = &expr.kind else { return None };
    let ExprKind::Text(pattern) = &pattern.kind else { return None };
    if names.dialect() != Dialect::Sqlite || !names.around.ilike.contains(pattern) {
        return None;
    }
    Some(Node { head: if *negated { "not ilike" } else { "ilike" }.to_owned(), ..node.clone() })
}

/// The patterns of plain ASCII that a page compares with ILIKE.
pub(crate) fn patterns(pg: &[&Expr]) -> BTreeSet<String> {
    let written = pg.iter().filter_map(|expr| match &expr.kind {
        ExprKind::Like { op: "ilike", pattern, escape: None, .. } => match &pattern.kind {
            ExprKind::Text(text) if text.is_ascii() && !text.contains('\\') => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    written.collect()
}
