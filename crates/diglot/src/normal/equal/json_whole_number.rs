//! The whole part of a JSON number: CAST on SQLite, `trunc` of a numeric on Postgres.
//!
//! # Why
//!
//! SQLite cuts off what follows the point. Postgres refuses to read `1.5` as a bigint, but reads it as a numeric. So the
//! member must be declared a number: of `abc` SQLite makes 0.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CAST(json_extract(t.doc, '$.share') AS INTEGER) AS c FROM t
//! pg:     SELECT trunc((t.doc->>'share')::numeric)::bigint AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.hits') AS INTEGER) AS c FROM t
//! pg:     SELECT trunc((t.doc->>'hits')::numeric)::bigint AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.hits') AS TEXT) AS c FROM t
//! pg:     SELECT t.doc->>'hits' AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.hits') AS REAL) AS c FROM t
//! pg:     SELECT (t.doc->>'hits')::double precision AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.spelled') AS INTEGER) AS c FROM t
//! pg:     SELECT (t.doc->>'spelled')::bigint AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.spelled') AS TEXT) AS c FROM t
//! pg:     SELECT t.doc->>'spelled' AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT CAST(json_extract(t.doc, '$.share') AS INTEGER) AS c FROM t
//! pg:     SELECT (t.doc->>'share')::numeric::bigint AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.share') AS INTEGER) AS c FROM t
//! pg:     SELECT (t.doc->>'share')::bigint AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.share') AS TEXT) AS c FROM t
//! pg:     SELECT t.doc->>'share' AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.any') AS INTEGER) AS c FROM t
//! pg:     SELECT trunc((t.doc->>'any')::numeric)::bigint AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.any') AS INTEGER) AS c FROM t
//! pg:     SELECT (t.doc->>'any')::bigint AS c FROM t
//! sqlite: SELECT json_extract(t.doc, '$.spelled') AS c FROM t
//! pg:     SELECT t.doc->>'spelled' AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.any') AS TEXT) AS c FROM t
//! pg:     SELECT t.doc->>'any' AS c FROM t
//! sqlite: SELECT CAST(json_extract(t.doc, '$.ns') AS INTEGER) AS c FROM t
//! pg:     SELECT (t.doc->>'ns')::bigint AS c FROM t
//! ```

use super::super::words::{Read, Target};
use super::super::{Head, Names, Node};
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    let number = super::inside(super::inside(node, Target::Int)?, Target::Numeric)?;
    let (Head::Read(Read::Text, path), [document]) = (&number.head, number.kids.as_slice()) else { return None };
    let is_whole = names.json_type(document, &path.dotted()) == Some("i64")
        || names.spelled_number(number) == Some(Target::Int);
    is_whole.then(|| Node::list(Target::Int, vec![number.clone()], node.span))
}
