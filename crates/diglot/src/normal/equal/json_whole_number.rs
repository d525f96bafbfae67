//! The whole part of a JSON number: CAST on SQLite, `trunc` of a numeric on Postgres.
//!
//! # Why
//!
//! SQLite cuts off what follows the point. Postgres refuses to read `1.5` as a bigint, but reads it as a numeric.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CAST(json_extract(t.doc, '$.n') AS INTEGER) AS c FROM t
//! pg:     SELECT trunc((t.doc->>'n')::numeric)::bigint AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CAST(json_extract(t.doc, '$.n') AS INTEGER) AS c FROM t
//! pg:     SELECT (t.doc->>'n')::numeric::bigint AS c FROM t
//! ```

use super::super::words::{Read, Target};
use super::super::{Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let number = super::inside(super::inside(node, Target::Int)?, Target::Numeric)?;
    matches!(number.head, Head::Read(Read::Text, _)).then(|| Node::list(Target::Int, vec![number.clone()], node.span))
}
