//! The place of NULL in an order, said by a key of its own.

use super::Names;
use crate::tree::{ExprKind, OrderKey};

impl Names<'_> {
    /// Whether a key asks for NULL what the next key orders by: then, whether NULLs come first.
    pub(super) fn null_place(&self, key: &OrderKey, next: Option<&OrderKey>) -> Option<bool> {
        let ExprKind::Is { expr, what: "null", negated } = &key.expr.kind else { return None };
        let is_about = self.expr(expr).key() == self.expr(&next?.expr).key();
        is_about.then_some(key.desc != *negated)
    }
}
