//! A sum of flags.
//!
//! # Why
//!
//! A flag is a number on SQLite, so its sum counts the rows where it holds. Postgres adds no flags: CASE makes a number of
//! each. Of a flag that may be missing ELSE would make a 0, where SQLite adds nothing.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT sum(t.flag) AS c FROM t
//! pg:     SELECT sum(CASE WHEN t.flag THEN 1 ELSE 0 END) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT sum(t.flag) AS c FROM t
//! pg:     SELECT sum(CASE WHEN t.flag THEN 0 ELSE 1 END) AS c FROM t
//! sqlite: SELECT sum(t.flag) AS c FROM t
//! pg:     SELECT sum(CASE WHEN t.flag THEN 2 ELSE 0 END) AS c FROM t
//! sqlite: SELECT sum(t.maybe > 3) AS c FROM t
//! pg:     SELECT sum(CASE WHEN t.maybe > 3 THEN 1 ELSE 0 END) AS c FROM t
//! ```

use super::super::{Form, Function, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, .. } = &expr.kind else { return None };
    let ([summed], [flag, rest @ ..]) = (args.as_slice(), node.kids.as_slice()) else { return None };
    if names.dialect() != Dialect::Sqlite || node.head != Function::Sum || flag.head == Form::Case {
        return None;
    }
    if !names.is_flag(summed) || !names.required(summed) {
        return None;
    }
    let when = Node::list(Form::When, vec![flag.clone(), Node::number("1", flag.span)], flag.span);
    let case = Node::list(Form::Case, vec![when, Node::number("0", flag.span)], flag.span);
    Some(Node { kids: [&[case], rest].concat(), ..node.clone() })
}
