//! The place of an element in a list: `key` of `json_each`, and ORDINALITY.
//!
//! # Why
//!
//! `json_each` counts from 0, WITH ORDINALITY from 1. In an order of rows they are alike.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT e.key AS k, e.value AS v FROM json_each(:texts) AS e ORDER BY e.key
//! pg:     SELECT u.n - 1 AS k, u.v AS v FROM unnest(CAST(:texts AS text[])) WITH ORDINALITY AS u(v, n) ORDER BY u.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT e.key AS k, e.value AS v FROM json_each(:texts) AS e ORDER BY e.key
//! pg:     SELECT u.n AS k, u.v AS v FROM unnest(CAST(:texts AS text[])) WITH ORDINALITY AS u(v, n) ORDER BY u.n
//! ```

use super::super::words::Element;
use super::super::{Head, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let (left, right) = super::both(node, Op::Minus)?;
    let Head::Element { list, what: Element::Ordinality } = &left.head else { return None };
    let key = || Head::Element { list: list.clone(), what: Element::Key };
    right.head.is_number("1").then(|| Node::leaf(key(), node.span))
}
