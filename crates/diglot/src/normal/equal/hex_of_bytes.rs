//! `lower(hex(b))` and `encode(b, 'hex')`, `hex(b)` and its capitals.
//!
//! # Why
//!
//! SQLite writes upper-case digits, Postgres lower-case ones. Of NULL SQLite's hex makes an empty text, so the bytes
//! must not be NULL.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT lower(hex(t.bytes)) AS c FROM t
//! pg:     SELECT encode(t.bytes, 'hex') AS c FROM t
//! sqlite: SELECT hex(t.bytes) AS c FROM t
//! pg:     SELECT upper(encode(t.bytes, 'hex')) AS c FROM t
//! sqlite: SELECT lower(hex(t.id)) AS c FROM t
//! pg:     SELECT encode(uuid_send(t.id), 'hex') AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT hex(t.bytes) AS c FROM t
//! pg:     SELECT encode(t.bytes, 'hex') AS c FROM t
//! sqlite: SELECT lower(hex(t.maybe_bytes)) AS c FROM t
//! pg:     SELECT encode(t.maybe_bytes, 'hex') AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::{Expr, ExprKind};

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, .. } = &expr.kind else { return None };
    match (node.head.as_str(), args.as_slice(), node.kids.as_slice()) {
        ("encode", [bytes, _], [inner, how]) if how.head == "'hex'" => {
            // The bytes of an id are the id.
            let (bytes, inner) = match (&bytes.kind, super::inside(inner, "uuid_send")) {
                (ExprKind::Call { args, .. }, Some(id)) => (args.first()?, id),
                _ => (bytes, inner),
            };
            names.required(bytes).then(|| Node::list("lower-hex", vec![inner.clone()], node.span))
        }
        ("upper", [call], [digits]) => {
            let ExprKind::Call { args, .. } = &call.kind else { return None };
            let inner = super::inside(digits, "lower-hex").filter(|_| args.iter().all(|arg| names.required(arg)))?;
            Some(Node::list("hex", vec![inner.clone()], node.span))
        }
        ("lower", [call], [hex]) => {
            let ExprKind::Call { args, .. } = &call.kind else { return None };
            let inner = super::inside(hex, "hex").filter(|_| args.iter().all(|arg| names.required(arg)))?;
            Some(Node::list("lower-hex", vec![inner.clone()], node.span))
        }
        _ => None,
    }
}
