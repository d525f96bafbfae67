//! `jsonb_set(doc, '{a}', '[1]')` and `json_set(doc, '$.a', json('[1]'))`.
//!
//! # Why
//!
//! Postgres reads a literal that is set into a document as JSON: `'5'` is a number, `'"a"'` a text, `'[1]'` an array and
//! `'null'` JSON's own null. SQLite sets a text as the text that it is, and a document where `json()` is around it.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT json_set(t.doc, '$.a', 5) AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', '5') AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a', 'x') AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', '"x"') AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a', json('[1]')) AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', '[1]') AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a', json('null')) AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', 'null') AS c FROM t
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT json_set(t.doc, '$.a', '5') AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', '5') AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a', '[1]') AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', '[1]') AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a', 'null') AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', 'null') AS c FROM t
//! sqlite: SELECT json_set(t.doc, '$.a', json('[1]')) AS c FROM t
//! pg:     SELECT jsonb_set(t.doc, '{a}', '[2]') AS c FROM t
//! ```

use super::{Names, Node, json};
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, Type};

/// What a literal puts into a document; none where it is no literal.
pub(super) fn value(names: &Names<'_>, value: &Expr) -> Option<Node> {
    let ExprKind::Text(text) = &value.bare().kind else { return None };
    let is_cast = !matches!(value.kind, ExprKind::Text(_));
    let written = match serde_json::from_str(text) {
        Ok(serde_json::Value::Bool(yes)) => Some((ExprKind::Bool(yes), Base::Bool)),
        Ok(serde_json::Value::Number(number)) => {
            number.as_i64().map(|whole| (ExprKind::Number(whole.to_string()), Base::Int64))
        }
        Ok(serde_json::Value::String(inner)) => Some((ExprKind::Text(inner), Base::Text)),
        _ => None,
    };
    match written {
        Some((kind, base)) => {
            let written = Expr { kind, ty: Some(Type::required(base)), span: value.span };
            Some(json::value_of(names, &written))
        }
        // A cast says for itself what it makes of a text.
        None => (!is_cast).then(|| json::json(names.expr(value))),
    }
}
