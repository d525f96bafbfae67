//! The beginning of a text, by its length and by a function.
//!
//! # Why
//!
//! `starts_with(x, p)` of Postgres asks whether as many letters of x as p has are p, which is what
//! `substr(x, 1, length(p)) = p` asks.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE substr(t.name, 1, length(:start)) = :start
//! pg:     SELECT t.n AS c FROM t WHERE starts_with(t.name, :start)
//! sqlite: SELECT t.n AS c FROM t WHERE substr(t.name, 1, length(t.note)) = t.note
//! pg:     SELECT t.n AS c FROM t WHERE left(t.name, length(t.note)) = t.note
//! sqlite: SELECT t.n AS c FROM t WHERE substr(t.name, 1, 3) = 'jé/'
//! pg:     SELECT t.n AS c FROM t WHERE starts_with(t.name, 'jé/')
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE substr(t.name, 2, length(:start)) = :start
//! pg:     SELECT t.n AS c FROM t WHERE starts_with(t.name, :start)
//! sqlite: SELECT t.n AS c FROM t WHERE substr(t.name, 1, 3) = 'jo/x'
//! pg:     SELECT t.n AS c FROM t WHERE starts_with(t.name, 'jo/x')
//! sqlite: SELECT t.n AS c FROM t WHERE substr(t.name, 1, length(:start)) = :other
//! pg:     SELECT t.n AS c FROM t WHERE starts_with(t.name, :start)
//! ```

use super::super::{Form, Function, Head, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    if let Some((text, start)) = super::both(node, Function::StartsWith) {
        return Some(Node::list(Form::StartsWith, vec![text.clone(), start.clone()], node.span));
    }
    let (left, right) = super::both(node, Op::Equals)?;
    let of = |part: &Node, start: &Node| {
        let length = match (&part.head, part.kids.as_slice()) {
            (Head::Call(Function::Substr), [_, one, length]) if one.head.is_number("1") => length,
            (Head::Call(Function::Left), [_, length]) => length,
            _ => return None,
        };
        let is_as_long = |number: &str, start: &str| number.parse() == Ok(start.chars().count());
        let is_its = match super::inside(length, Function::Length) {
            Some(of) => of.key() == start.key(),
            None => is_as_long(length.head.number()?, start.head.text()?),
        };
        let text = part.kids.first().filter(|_| is_its)?;
        Some(Node::list(Form::StartsWith, vec![text.clone(), start.clone()], node.span))
    };
    of(left, right).or_else(|| of(right, left))
}
