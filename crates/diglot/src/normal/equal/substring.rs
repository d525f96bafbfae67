//! SUBSTR and SUBSTRING.
//!
//! # Why
//!
//! Both cut from a character on, counted from 1. `SUBSTRING(x FROM a FOR b)` is another way to write the same.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT substr(t.name, 2, 3) AS c FROM t
//! pg:     SELECT substring(t.name FROM 2 FOR 3) AS c FROM t
//! sqlite: SELECT substr(t.name, 1, 3) AS c FROM t
//! pg:     SELECT left(t.name, 3) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT substr(t.name, 2, 3) AS c FROM t
//! pg:     SELECT substring(t.name FROM 3 FOR 2) AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    match (&node.head, node.kids.as_slice()) {
        (Head::Call(Function::Substring), [_, _, ..]) => Some(node.with_head(Function::Substr)),
        (Head::Call(Function::Left), [text, count]) if count.head.number()?.parse::<u32>().is_ok() => {
            let kids = vec![text.clone(), Node::number("1", count.span), count.clone()];
            Some(Node::list(Function::Substr, kids, node.span))
        }
        _ => None,
    }
}
