//! Questions about the type of a JSON value: `json_type` and `jsonb_typeof`.
//!
//! # Why
//!
//! The engines have other words: `integer` and `real` are `number` on Postgres, `text` is `string`, `true` and `false`
//! are `boolean`. A value equals JSON's `true` when its type is `true`. Both give NULL where there is no such value.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.n') IN ('integer', 'real')
//! pg:     SELECT t.n AS c FROM t WHERE jsonb_typeof(t.doc->'n') = 'number'
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.done') = 'true'
//! pg:     SELECT t.n AS c FROM t WHERE t.doc->'done' = 'true'::jsonb
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT t.n AS c FROM t WHERE json_type(t.doc, '$.n') = 'integer'
//! pg:     SELECT t.n AS c FROM t WHERE jsonb_typeof(t.doc->'n') = 'number'
//! sqlite: SELECT json_type(t.doc, '$.n') AS c FROM t
//! pg:     SELECT jsonb_typeof(t.doc->'n') AS c FROM t
//! ```

use super::super::{Names, Node};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    match (node.head.as_str(), node.kids.as_slice()) {
        // Whether there is a value at all is asked alike.
        ("is null" | "is not null", [kind]) if kind.head.starts_with("json-typeof ") => {
            let head = kind.head.replacen("json-typeof", "json-type", 1);
            Some(Node { kids: vec![Node { head, ..kind.clone() }], ..node.clone() })
        }
        ("=" | "<>", [left, right]) => {
            asked(left, std::slice::from_ref(right), node.head == "=", node)
                .or_else(|| asked(right, std::slice::from_ref(left), node.head == "=", node))
        }
        ("in" | "not in", [kind, items]) if items.head == "items" => asked(kind, &items.kids, node.head == "in", node),
        _ => None,
    }
}

/// Whether a value has one of some types, by SQLite's words.
fn asked(kind: &Node, words: &[Node], yes: bool, whole: &Node) -> Option<Node> {
    let mut types: Vec<&str> = Vec::new();
    let path = if let Some(path) = kind.head.strip_prefix("json-typeof ") {
        for word in words {
            types.extend(match super::literal(word)? {
                "number" => &["integer", "real"][..],
                "string" => &["text"],
                "boolean" => &["false", "true"],
                "null" => &["null"],
                "object" => &["object"],
                "array" => &["array"],
                _ => return None,
            });
        }
        path
    } else if let Some(path) = kind.head.strip_prefix("json-type ") {
        for word in words {
            types.push(super::literal(word)?);
        }
        path
    } else {
        let path = kind.head.strip_prefix("json-value ")?;
        for word in words {
            let text = super::literal(super::inside(word, "cast json")?)?;
            types.push(["true", "false", "null"].into_iter().find(|known| *known == text)?);
        }
        path
    };
    types.sort_unstable();
    types.dedup();
    let word = if yes { "json-is" } else { "json-is-not" };
    Some(Node::list(format!("{word} {path} {}", types.join(" or ")), kind.kids.clone(), whole.span))
}
