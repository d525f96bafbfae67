//! LENGTH and OCTET_LENGTH of bytes.

use super::super::{Function, Names, Node};
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn step(_: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let ExprKind::Call { args, .. } = &expr.kind else { return None };
    let is_bytes = matches!(args.as_slice(), [only] if only.base() == Some(&Base::Bytes));
    (node.head == Function::OctetLength && is_bytes).then(|| node.with_head(Function::Length))
}
