//! LENGTH and OCTET_LENGTH of bytes.
//!
//! # Why
//!
//! Both count bytes. Of a text only one of them does.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT length(t.bytes) AS c FROM t
//! pg:     SELECT octet_length(t.bytes) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT length(t.name) AS c FROM t
//! pg:     SELECT octet_length(t.name) AS c FROM t
//! ```

use super::super::{Function, Names, Node};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, .. } = &expr.kind else { return None };
    let is_bytes = matches!(args.as_slice(), [only] if only.base() == Some(&Base::Bytes));
    (node.head == Function::OctetLength && is_bytes).then(|| node.with_head(Function::Length))
}
