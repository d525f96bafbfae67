//! A comparison of rows, column by column.

use super::{Form, Names, Node, Op};
use crate::source::Span;
use crate::tree::Expr;

impl Names<'_> {
    /// `=` or `<>` of rows with as many columns.
    pub(super) fn equal_rows(&self, op: &str, lefts: &[Expr], rights: &[Expr], span: Span) -> Node {
        let all = if op == "=" { Op::And } else { Op::Or };
        let columns = lefts.iter().zip(rights).map(|(left, right)| self.binary(op, left, right, span));
        let mut conditions: Vec<Node> =
            columns.flat_map(|node| if node.head == all { node.kids } else { vec![node] }).collect();
        if conditions.len() == 1 { conditions.remove(0) } else { Node::set(all, conditions, span) }
    }
}

/// `less < more`, or `<=`, of two rows as conditions on their columns.
pub(super) fn by_columns(op: &Op, less: &Node, more: &Node, span: Span) -> Option<Node> {
    let are_rows = less.head == Form::Row && more.head == Form::Row && less.kids.len() == more.kids.len();
    if !are_rows || less.kids.is_empty() || !(less.is_small() && more.is_small()) {
        return None;
    }
    let last = less.kids.len() - 1;
    let mut ways = Vec::new();
    for at in 0..=last {
        let mut conditions: Vec<Node> =
            (0..at).map(|n| Node::set(Op::Equals, vec![less.kids[n].clone(), more.kids[n].clone()], span)).collect();
        let decides = if at == last { op.clone() } else { Op::Less };
        conditions.push(Node::list(decides, vec![less.kids[at].clone(), more.kids[at].clone()], span));
        ways.push(if conditions.len() == 1 { conditions.remove(0) } else { Node::set(Op::And, conditions, span) });
    }
    Some(if ways.len() == 1 { ways.remove(0) } else { Node::set(Op::Or, ways, span) })
}
