//! INSTR, STRPOS and POSITION.
//!
//! # Why
//!
//! All count characters from 1 and give 0 when the text is not there. POSITION names the part first.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT instr(t.name, 'x') AS c FROM t
//! pg:     SELECT strpos(t.name, 'x') AS c FROM t
//! sqlite: SELECT instr(t.name, 'x') AS c FROM t
//! pg:     SELECT position('x' IN t.name) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT instr(t.name, 'x') AS c FROM t
//! pg:     SELECT strpos('x', t.name) AS c FROM t
//! ```

use super::super::{Function, Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let [first, second] = node.kids.as_slice() else { return None };
    let kids = match &node.head {
        Head::Call(Function::Instr) => vec![first.clone(), second.clone()],
        Head::Call(Function::Position) => vec![second.clone(), first.clone()],
        _ => return None,
    };
    Some(Node::list(Function::Strpos, kids, node.span))
}
