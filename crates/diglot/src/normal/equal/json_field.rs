//! A JSON field that `[json]` of `diglot.toml` gives a type.
//!
//! # Why
//!
//! SQLite reads a JSON value in SQL's type, Postgres reads text. Where the field is declared a text they read the same;
//! where it is declared a number or a boolean SQLite reads what a cast makes of the text. So a boolean's text `true` is 1
//! there. The key of the declaration is
//! `table.column.step.step`, or `table.column.*` for every member that has no line of its own.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT json_extract(t.doc, '$.ns') AS c FROM t
//! pg:     SELECT t.doc->>'ns' AS c FROM t
//! sqlite: SELECT json_extract(t.doc, '$.deep.size') AS c FROM t
//! pg:     SELECT (t.doc->'deep'->>'size')::bigint AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc->>'$.deep.size' = 3
//! pg:     SELECT t.n AS c FROM t WHERE jsonb_extract_path_text(t.doc, 'deep', 'size')::bigint = 3
//! sqlite: SELECT json_extract(t.doc, '$.ok') AS c FROM t
//! pg:     SELECT (t.doc->>'ok')::boolean AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE NOT (t.doc->>'ok' = 1)
//! pg:     SELECT t.n AS c FROM t WHERE NOT (t.doc->>'ok' = 'true')
//! sqlite: SELECT t.n AS c FROM t WHERE json_extract(t.doc, '$.ok') = 0
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->>'ok' = 'false'
//! sqlite: SELECT json_array(json_extract(t.doc, '$.ns')) AS c FROM t
//! pg:     SELECT jsonb_build_array(t.doc->'ns') AS c FROM t
//! sqlite: WITH of AS (SELECT t.doc AS fields FROM t) SELECT json_extract(of.fields, '$.ns') AS c FROM of
//! pg:     WITH of AS (SELECT t.doc AS fields FROM t) SELECT of.fields->>'ns' AS c FROM of
//! sqlite: SELECT json_extract(s.doc, '$.ns') AS c FROM (SELECT t.doc FROM t WHERE t.n > 0 UNION ALL SELECT t.doc FROM t WHERE t.n < 0) AS s
//! pg:     SELECT s.doc->>'ns' AS c FROM (SELECT t.doc FROM t WHERE t.n > 0 UNION ALL SELECT t.doc FROM t WHERE t.n < 0) AS s
//! sqlite: WITH RECURSIVE of AS (SELECT t.n, t.doc FROM t WHERE t.n = 1 UNION ALL SELECT of.n + 1, of.doc FROM of WHERE of.n < 5) SELECT json_extract(of.doc, '$.ns') AS c FROM of
//! pg:     WITH RECURSIVE of AS (SELECT t.n, t.doc FROM t WHERE t.n = 1 UNION ALL SELECT of.n + 1, of.doc FROM of WHERE of.n < 5) SELECT of.doc->>'ns' AS c FROM of
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.ns') IS NOT NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.doc ? 'ns'
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT json_extract(t.doc, '$.other') AS c FROM t
//! pg:     SELECT t.doc->>'other' AS c FROM t
//! sqlite: SELECT json_extract(t.doc, '$.deep.size') AS c FROM t
//! pg:     SELECT t.doc->'deep'->>'size' AS c FROM t
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc->>'ok' = 'true'
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->>'ok' = 'true'
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc->>'ok' = 1
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->>'ok' <> 'true'
//! sqlite: SELECT t.n AS c FROM t WHERE t.doc->>'other' = 1
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->>'other' = 'true'
//! sqlite: SELECT json_array(json_extract(t.doc, '$.ok')) AS c FROM t
//! pg:     SELECT jsonb_build_array(t.doc->'ok') AS c FROM t
//! sqlite: WITH of AS (SELECT t.doc AS fields FROM t) SELECT json_extract(of.fields, '$.other') AS c FROM of
//! pg:     WITH of AS (SELECT t.doc AS fields FROM t) SELECT of.fields->>'other' AS c FROM of
//! sqlite: SELECT json_extract(s.doc, '$.ns') AS c FROM (SELECT t.doc FROM t WHERE t.n > 0 UNION ALL SELECT t.list FROM t WHERE t.n < 0) AS s
//! pg:     SELECT s.doc->>'ns' AS c FROM (SELECT t.doc FROM t WHERE t.n > 0 UNION ALL SELECT t.list FROM t WHERE t.n < 0) AS s
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.list, '$.ns') IS NOT NULL
//! pg:     SELECT t.n AS c FROM t WHERE t.list ? 'ns'
//! sqlite: SELECT t.n AS c FROM t WHERE json_extract(t.doc, '$.ns[0]') = 'x'
//! pg:     SELECT t.n AS c FROM t WHERE t.doc #>> '{ns,0}' = 'x'
//! sqlite: SELECT t.n AS c FROM t WHERE json_extract(t.doc, '$.0') = 'x'
//! pg:     SELECT t.n AS c FROM t WHERE t.doc ->> 0 = 'x'
//! ```

use super::super::words::Read;
use super::super::{Head, Names, Node, json};
use crate::tree::Expr;

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    let Head::Read(Read::Typed, path) = &node.head else { return None };
    let declared = match names.list_of(expr) {
        Some(document) => names.json_type(&document, "*"),
        None => names.json_type(node.kids.first()?, &path.dotted()),
    };
    Some(json::declared(json::as_text(node.clone()), declared?))
}
