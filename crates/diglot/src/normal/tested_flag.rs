//! A condition that is asked whether it is true.
//!
//! # Why
//!
//! A condition is 1, 0 or NULL on SQLite: `IS 1` is IS TRUE, `IS NOT 1` is IS NOT TRUE, and so for 0 and FALSE.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE (t.maybe > 0) IS NOT 1
//! pg:     SELECT t.n AS c FROM t WHERE (t.maybe > 0) IS NOT TRUE
//! sqlite: SELECT t.n AS c FROM t WHERE (t.maybe > 0) IS 0
//! pg:     SELECT t.n AS c FROM t WHERE (t.maybe > 0) IS FALSE
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE (t.maybe > 0) IS NOT 1
//! pg:     SELECT t.n AS c FROM t WHERE (t.maybe > 0) IS FALSE
//! ```

use super::{Names, Node, Op};
use crate::source::Span;
use crate::tree::Expr;

impl Names<'_> {
    /// `IS [NOT] DISTINCT FROM` a truth value.
    pub(super) fn tested_flag(
        &self,
        op: &str,
        left: (&Expr, &Node),
        right: (&Expr, &Node),
        span: Span,
    ) -> Option<Node> {
        [(left, right), (right, left)].into_iter().find_map(|((expr, node), (_, truth))| {
            let tested = match (op, truth.head.number()?) {
                ("is not distinct from", "1") => Op::IsTrue,
                ("is not distinct from", "0") => Op::IsFalse,
                ("is distinct from", "1") => Op::IsNotTrue,
                ("is distinct from", "0") => Op::IsNotFalse,
                _ => return None,
            };
            self.is_flag(expr).then(|| Node::list(tested, vec![node.clone()], span))
        })
    }
}
