//! A cast of a double to an integer on SQLite, and of its whole part on Postgres.
//!
//! # Why
//!
//! SQLite cuts off what follows the point, Postgres rounds; of what `trunc` left there is nothing to round.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CAST(t.x AS INTEGER) AS c FROM t
//! pg:     SELECT CAST(trunc(t.x) AS bigint) AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CAST(t.x AS INTEGER) AS c FROM t
//! pg:     SELECT CAST(t.x AS bigint) AS c FROM t
//! ```

use super::super::words::Target;
use super::super::{Function, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let whole = super::inside(super::inside(node, Target::IntRounded)?, Function::Trunc)?;
    Some(Node::list(Target::Int, vec![whole.clone()], node.span))
}
