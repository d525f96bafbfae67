//! Rows that are counted by a sum of ones.

use super::super::{Form, Function, Head, Names, Node};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let coalesced = super::both(node, Function::Coalesce).filter(|(_, none)| none.head.is_number("0"));
    let (sum, call) = match (coalesced, &expr.kind) {
        (Some((sum, _)), ExprKind::Call { args, .. }) => (sum, args.first()?.bare()),
        // A group has a row, so that no sum of it is missing.
        (None, ExprKind::Call { filter: None, .. }) if node.head == Function::Sum && names.is_of_group(expr) => (node, expr),
        _ => return None,
    };
    let ExprKind::Call { args, filter, over: None, distinct: false, .. } = &call.kind else { return None };
    let summed = args.first()?.bare();
    if coalesced.is_none() && !names.required(summed) {
        return None;
    }
    let condition = match sum.kids.as_slice() {
        _ if sum.head != Function::Sum => return None,
        [one, filter] if one.head.is_number("1") && filter.head == Form::Filter => filter.kids.first()?.clone(),
        [_] if filter.is_some() => return None,
        [case] if case.head == Form::Case => match case.kids.as_slice() {
            [when, zero] if zero.head.is_number("0") => branch(when, "1")?.clone(),
            // The opposite counts what ELSE gives, if there is no third way.
            [when, one] if one.head.is_number("1") && is_two_way(names, summed) => {
                let condition = branch(when, "0")?;
                super::super::negation::negated(condition.clone(), condition.span)
            }
            _ => return None,
        },
        [flag] => names.is_flag(summed).then(|| flag.clone())?,
        _ => return None,
    };
    let filter = Node::list(Form::Filter, vec![condition], sum.span);
    Some(Node::list(Head::CallOfRows(Function::Count), vec![filter], node.span))
}

/// The condition under which a branch gives that number.
fn branch<'n>(when: &'n Node, number: &str) -> Option<&'n Node> {
    super::both(when, Form::When).filter(|(_, value)| value.head.is_number(number)).map(|(condition, _)| condition)
}

/// Whether the condition of a CASE with one branch is true or false.
fn is_two_way(names: &Names<'_>, case: &Expr) -> bool {
    match &case.kind {
        ExprKind::Case { operand: None, branches, .. } => {
            matches!(branches.as_slice(), [(condition, _)] if names.required(condition))
        }
        ExprKind::Call { args, .. } => args.first().is_some_and(|condition| names.required(condition)),
        _ => false,
    }
}
