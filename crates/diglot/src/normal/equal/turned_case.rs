//! CASE with one branch and ELSE, and its opposite.
//!
//! # Why
//!
//! Where a condition is never NULL, what it does not let through is what its opposite lets through.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CASE WHEN t.n < 3 THEN 'few' ELSE 'many' END AS c FROM t
//! pg:     SELECT CASE WHEN t.n >= 3 THEN 'many' ELSE 'few' END AS c FROM t
//! sqlite: SELECT iif(t.maybe IS NULL, 1, 2) AS c FROM t
//! pg:     SELECT CASE WHEN t.maybe IS NULL THEN 1 ELSE 2 END AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CASE WHEN t.maybe < 3 THEN 'few' ELSE 'many' END AS c FROM t
//! pg:     SELECT CASE WHEN t.maybe >= 3 THEN 'many' ELSE 'few' END AS c FROM t
//! sqlite: SELECT CASE WHEN t.n < 3 THEN 'few' ELSE 'many' END AS c FROM t
//! pg:     SELECT CASE WHEN t.n > 3 THEN 'many' ELSE 'few' END AS c FROM t
//! ```

use super::super::{Form, Names, Node, negation};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    // A difference that is told shows what is written, and not its opposite.
    if !names.pair.is_second_look.get() {
        return None;
    }
    let condition = match &expr.kind {
        ExprKind::Case { operand: None, branches, otherwise: Some(_) } => match branches.as_slice() {
            [(condition, _)] => condition,
            _ => return None,
        },
        ExprKind::Call { args, .. } => args.first()?,
        _ => return None,
    };
    let (when, otherwise) = super::both(node, Form::Case)?;
    let (test, value) = super::both(when, Form::When)?;
    if !names.is_decided(condition) || !test.is_small() {
        return None;
    }
    let opposite = negation::negated(test.clone(), test.span);
    // Of the two, the one that comes first by its text.
    let place = |node: &Node| (node.head.is_negative(), node.key());
    if place(&opposite) >= place(test) {
        return None;
    }
    let turned = Node::list(Form::When, vec![opposite, otherwise.clone()], when.span);
    Some(Node { kids: vec![turned, value.clone()], ..node.clone() })
}
