//! `printf('%x', n)` and `to_hex(n)`.
//!
//! # Why
//!
//! Both write a whole number in base 16, lower case, without leading zeros. SQLite counts with 64 bits, so on Postgres
//! the number must be a bigint or a literal: a negative one is written by its bits. Of NULL SQLite makes `0`.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT printf('%x', t.big) AS c FROM t
//! pg:     SELECT to_hex(t.big) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT printf('%X', t.big) AS c FROM t
//! pg:     SELECT to_hex(t.big) AS c FROM t
//! sqlite: SELECT printf('%x', t.maybe) AS c FROM t
//! pg:     SELECT to_hex(t.maybe) AS c FROM t
//! ```

use super::super::{Form, Function, Head, Names, Node};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, .. } = &expr.kind else { return None };
    let wide = |number: &Expr| {
        let is_literal = matches!(number.kind, ExprKind::Number(_));
        names.required(number) && (is_literal || number.base() == Some(&Base::Int64))
    };
    match (names.dialect(), &node.head, args.as_slice(), node.kids.as_slice()) {
        (Dialect::Sqlite, Head::Call(Function::Printf | Function::Format), [_, number], [how, digits])
            if how.head.is_text("%x") && wide(number) =>
        {
            Some(Node::list(Form::HexOf64Bits, vec![digits.clone()], node.span))
        }
        (Dialect::Pg, Head::Call(Function::ToHex), [number], [digits]) if wide(number) => {
            Some(Node::list(Form::HexOf64Bits, vec![digits.clone()], node.span))
        }
        _ => None,
    }
}
