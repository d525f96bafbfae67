//! NOT in front of a condition, and inside it.

use super::{Head, Node, Op, membership};
use crate::source::Span;

/// The opposite of a condition.
pub(super) fn negated(node: Node, span: Span) -> Node {
    if let Some(opposite) = membership::opposite(&node) {
        return opposite;
    }
    let flipped = match &node.head {
        Head::Op(Op::IsNull) => Op::IsNotNull,
        Head::Op(Op::IsNotNull) => Op::IsNull,
        Head::Op(Op::IsTrue) => Op::IsNotTrue,
        Head::Op(Op::IsNotTrue) => Op::IsTrue,
        Head::Op(Op::IsFalse) => Op::IsNotFalse,
        Head::Op(Op::IsNotFalse) => Op::IsFalse,
        Head::Op(Op::DistinctFrom) => Op::NotDistinctFrom,
        Head::Op(Op::NotDistinctFrom) => Op::DistinctFrom,
        Head::Op(Op::Exists) => Op::NotExists,
        Head::Op(Op::NotExists) => Op::Exists,
        Head::Op(Op::Equals) => Op::Differs,
        Head::Op(Op::Differs) => Op::Equals,
        Head::Op(Op::In) => Op::NotIn,
        Head::Op(Op::NotIn) => Op::In,
        Head::Op(Op::Not) => return node.kids.into_iter().next().unwrap_or_else(|| Node::leaf(Op::Not, span)),
        Head::Op(Op::Less | Op::LessOrEqual) => {
            let op = if node.head == Op::Less { Op::LessOrEqual } else { Op::Less };
            let mut kids = node.kids;
            kids.reverse();
            return Node::list(op, kids, span);
        }
        Head::Op(Op::And | Op::Or) => {
            let op = if node.head == Op::And { Op::Or } else { Op::And };
            let kids = node.kids.into_iter().map(|kid| {
                let span = kid.span;
                negated(kid, span)
            });
            return Node::set(op, kids.collect(), span);
        }
        _ => return Node::list(Op::Not, vec![node], span),
    };
    Node { head: flipped.into(), span, ..node }
}
