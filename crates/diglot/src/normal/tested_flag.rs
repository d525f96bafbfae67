//! A condition that is asked whether it is true.

use super::{Names, Node, Op, negation};
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
            self.is_flag(expr).then(|| self.tested(tested, expr, node, span))
        })
    }

    /// What asks a value whether it is true or false: a flag that is never NULL says so itself.
    pub(super) fn tested(&self, test: Op, expr: &Expr, node: &Node, span: Span) -> Node {
        let is_decided = self.is_flag(expr) && self.required(expr);
        match test {
            Op::IsTrue | Op::IsNotFalse if is_decided => Node { span, ..node.clone() },
            Op::IsFalse | Op::IsNotTrue if is_decided => negation::negated(node.clone(), span),
            test => Node::list(test, vec![node.clone()], span),
        }
    }
}
