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

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    match (node.head.as_str(), node.kids.as_slice()) {
        ("substring", [_, _, ..]) => Some(Node { head: "substr".to_owned(), ..node.clone() }),
        ("left", [text, count]) if count.head.parse::<u32>().is_ok() => {
            let kids = vec![text.clone(), Node::leaf("1", count.span), count.clone()];
            Some(Node::list("substr", kids, node.span))
        }
        _ => None,
    }
}
