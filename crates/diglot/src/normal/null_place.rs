//! The place of NULL in an order, said by a key of its own.
//!
//! # Why
//!
//! `ORDER BY x IS NULL, x` has what is not NULL first, which is `x NULLS LAST`; with DESC behind the question, or with
//! IS NOT NULL, the NULLs come first.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.name AS c FROM t ORDER BY t.maybe IS NULL, t.maybe, t.id
//! pg:     SELECT t.name AS c FROM t ORDER BY t.maybe NULLS LAST, t.id
//! sqlite: SELECT t.name AS c FROM t ORDER BY t.maybe DESC NULLS LAST, t.id
//! pg:     SELECT t.name AS c FROM t ORDER BY t.maybe IS NULL, t.maybe DESC, t.id
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.name AS c FROM t ORDER BY t.maybe IS NULL, t.maybe, t.id
//! pg:     SELECT t.name AS c FROM t ORDER BY t.maybe NULLS FIRST, t.id
//! sqlite: SELECT t.name AS c FROM t ORDER BY t.maybe IS NULL, t.n, t.id
//! pg:     SELECT t.name AS c FROM t ORDER BY t.maybe NULLS LAST, t.id
//! ```

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
