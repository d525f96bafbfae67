//! CONCAT of texts and a chain of `||`.
//!
//! # Why
//!
//! `concat` takes NULL for an empty text, `||` gives NULL: with `COALESCE(x, '')` for what may be NULL they are the same.
//! What is no text is written in another way by each engine, so every argument must be one.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.name || '-' || COALESCE(t.note, '') AS c FROM t
//! pg:     SELECT concat(t.name, '-', t.note) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.name || '-' || t.note AS c FROM t
//! pg:     SELECT concat(t.name, '-', t.note) AS c FROM t
//! sqlite: SELECT t.name || '-' || t.flag AS c FROM t
//! pg:     SELECT concat(t.name, '-', t.flag) AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node, Op};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { name, args, .. } = &expr.kind else { return None };
    let are_texts = args.iter().all(|arg| arg.base() == Some(&Base::Text));
    if name != "concat" || node.head != Function::Concat || args.len() < 2 || !are_texts {
        return None;
    }
    let kids = args.iter().zip(&node.kids).map(|(arg, kid)| match names.required(arg) {
        true => kid.clone(),
        false => Node::list(Function::Coalesce, vec![kid.clone(), Node::leaf(Head::Text(String::new()), kid.span)], kid.span),
    });
    Some(Node::list(Op::Join, kids.collect(), node.span))
}
