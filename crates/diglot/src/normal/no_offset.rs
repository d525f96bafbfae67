//! An OFFSET that skips nothing.

use crate::tree::{Expr, ExprKind, Query};

/// The offset of a query, where it may skip a row.
pub(crate) fn offset(query: &Query) -> Option<&Expr> {
    let skips = |offset: &&Expr| !matches!(&offset.kind, ExprKind::Number(text) if text == "0");
    query.offset.as_ref().filter(skips)
}
