//! An aggregate of a CASE without ELSE, and of what FILTER lets through.
//!
//! # Why
//!
//! COUNT, SUM, MIN, MAX, AVG and TOTAL skip NULL, which is what the CASE gives for every other row. A count of what is
//! never NULL counts rows.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT count(CASE WHEN t.n > 0 THEN 1 END) AS c FROM t
//! pg:     SELECT count(*) FILTER (WHERE t.n > 0) AS c FROM t
//! sqlite: SELECT max(t.n) FILTER (WHERE t.flag = 1) AS c FROM t
//! pg:     SELECT max(CASE WHEN t.flag THEN t.n END) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT count(CASE WHEN t.n > 0 THEN 1 ELSE 0 END) AS c FROM t
//! pg:     SELECT count(*) FILTER (WHERE t.n > 0) AS c FROM t
//! sqlite: SELECT count(CASE WHEN t.n > 0 THEN t.maybe END) AS c FROM t
//! pg:     SELECT count(*) FILTER (WHERE t.n > 0) AS c FROM t
//! ```

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
