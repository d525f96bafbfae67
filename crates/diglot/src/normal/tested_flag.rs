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

use super::{Names, Node};
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
        let not = match op {
            "is distinct from" => "not ",
            "is not distinct from" => "",
            _ => return None,
        };
        [(left, right), (right, left)].into_iter().find_map(|((expr, node), (_, truth))| {
            let what = match truth.head.as_str() {
                "1" if truth.kids.is_empty() => "true",
                "0" if truth.kids.is_empty() => "false",
                _ => return None,
            };
            self.is_flag(expr).then(|| Node::list(format!("is {not}{what}"), vec![node.clone()], span))
        })
    }
}
