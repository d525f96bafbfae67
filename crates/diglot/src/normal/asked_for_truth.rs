//! Conditions of which only whether they are true counts.

use super::words::Form;
use super::{Head, Node, Op, membership};

/// A condition that is asked whether it is true.
pub(crate) fn asked_for_truth(condition: Node) -> Node {
    match &condition.head {
        Head::Op(Op::And) => {
            let mut kids = all_asked_for_truth(condition.kids);
            if kids.len() == 1 { kids.remove(0) } else { Node { kids, ..condition } }
        }
        Head::Op(Op::Or) => match equal_with_nulls(&condition) {
            Some(equal) => equal,
            None => {
                let kids = condition.kids.into_iter().map(asked_for_truth).collect();
                Node { kids, ..condition }
            }
        },
        Head::Form(Form::Case) => equal_with_nulls(&condition).unwrap_or(condition),
        _ => membership::as_exists(condition),
    }
}

/// `x = y OR (x IS NULL AND y IS NULL)`, and `CASE WHEN x IS NULL THEN y IS NULL ELSE x = y END`.
fn equal_with_nulls(condition: &Node) -> Option<Node> {
    let tested = |node: &Node| match node.kids.as_slice() {
        [value] if node.head == Op::IsNull => Some(value.key()),
        _ => None,
    };
    let [one, other] = condition.kids.as_slice() else { return None };
    let (nulls, equal) = if one.head == Op::Equals { (other, one) } else { (one, other) };
    let is_pair = nulls.head == Op::And && condition.head == Op::Or
        || nulls.head == Form::When && condition.head == Form::Case && nulls.span == one.span;
    let ([first, second], [left, right]) = (nulls.kids.as_slice(), equal.kids.as_slice()) else { return None };
    let (first, second) = (tested(first)?, tested(second)?);
    let (left, right) = (left.key(), right.key());
    let is_same = (first == left && second == right) || (first == right && second == left);
    let is_plain = equal.head == Op::Equals && equal.sense.is_none();
    (is_pair && is_same && is_plain).then(|| Node::set(Op::NotDistinctFrom, equal.kids.clone(), condition.span))
}

/// Conditions of which all must be true.
pub(crate) fn all_asked_for_truth(conditions: Vec<Node>) -> Vec<Node> {
    let conditions: Vec<Node> = conditions.into_iter().map(asked_for_truth).collect();
    let is_implied = |condition: &Node| match (&condition.head, condition.kids.as_slice()) {
        (Head::Op(Op::IsNotNull), [value]) => conditions.iter().any(|other| is_never_true_of_null(other, value)),
        _ => false,
    };
    let decides: Vec<bool> = conditions.iter().map(|condition| !is_implied(condition)).collect();
    conditions.into_iter().zip(decides).filter(|(_, decides)| *decides).map(|(condition, _)| condition).collect()
}

/// Whether a condition compares a value, so that it is NULL where the value is.
fn is_never_true_of_null(condition: &Node, value: &Node) -> bool {
    let compares = [Op::Equals, Op::Differs, Op::Less, Op::LessOrEqual, Op::In];
    compares.iter().any(|op| condition.head == *op) && condition.kids.iter().any(|kid| kid.key() == value.key())
}
