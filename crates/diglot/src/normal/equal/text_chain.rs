//! A chain of `||`, in brackets or not.

use super::super::{Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    if node.head != Op::Join || node.kids.iter().all(|kid| kid.head != Op::Join) {
        return None;
    }
    let flat = |kid: &Node| if kid.head == Op::Join { kid.kids.clone() } else { vec![kid.clone()] };
    Some(Node { kids: node.kids.iter().flat_map(flat).collect(), ..node.clone() })
}
