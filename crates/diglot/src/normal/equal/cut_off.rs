//! A cast of a double to an integer on SQLite, and of its whole part on Postgres.

use super::super::words::Target;
use super::super::{Function, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let whole = super::inside(super::inside(node, Target::IntRounded)?, Function::Trunc)?;
    Some(Node::list(Target::Int, vec![whole.clone()], node.span))
}
