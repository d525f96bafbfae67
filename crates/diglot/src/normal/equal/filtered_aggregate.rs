//! An aggregate of a CASE without ELSE, and of what FILTER lets through.

use super::super::{Form, Function, Head, Names, Node};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, distinct: false, filter: None, over: None, .. } = &expr.kind else { return None };
    let Head::Call(function) = &node.head else { return None };
    let ([argument], [case], true) = (args.as_slice(), node.kids.as_slice(), function.folds_rows()) else { return None };
    let ExprKind::Case { operand: None, branches, .. } = &argument.kind else { return None };
    let ([(_, value)], [when, none]) = (branches.as_slice(), case.kids.as_slice()) else { return None };
    let (condition, then) = super::both(when, Form::When).filter(|_| none.head == Form::Null)?;
    let filter = Node::list(Form::Filter, vec![condition.clone()], condition.span);
    if *function == Function::Count && names.required(value) {
        return Some(Node::list(Head::CallOfRows(Function::Count), vec![filter], node.span));
    }
    Some(Node::list(node.head.clone(), vec![then.clone(), filter], node.span))
}
