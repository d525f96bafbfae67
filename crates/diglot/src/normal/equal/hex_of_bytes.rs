//! `lower(hex(b))` and `encode(b, 'hex')`, `hex(b)` and its capitals.

use super::super::{Form, Function, Head, Names, Node};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, .. } = &expr.kind else { return None };
    match (&node.head, args.as_slice(), node.kids.as_slice()) {
        (Head::Call(Function::Encode), [bytes, _], [inner, how]) if how.head.is_text("hex") => {
            // The bytes of an id are the id.
            let (bytes, inner) = match (&bytes.kind, super::inside(inner, Function::UuidSend)) {
                (ExprKind::Call { args, .. }, Some(id)) => (args.first()?, id),
                _ => (bytes, inner),
            };
            names.required(bytes).then(|| Node::list(Form::LowerHex, vec![inner.clone()], node.span))
        }
        (Head::Call(Function::Upper), [call], [digits]) => {
            let ExprKind::Call { args, .. } = &call.kind else { return None };
            let inner = super::inside(digits, Form::LowerHex).filter(|_| args.iter().all(|arg| names.required(arg)))?;
            Some(Node::list(Function::Hex, vec![inner.clone()], node.span))
        }
        (Head::Call(Function::Lower), [call], [hex]) => {
            let ExprKind::Call { args, .. } = &call.kind else { return None };
            let inner = super::inside(hex, Function::Hex).filter(|_| args.iter().all(|arg| names.required(arg)))?;
            Some(Node::list(Form::LowerHex, vec![inner.clone()], node.span))
        }
        _ => None,
    }
}
