//! CONCAT of texts and a chain of `||`.

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
