//! `jsonb_set(doc, '{a}', '[1]')` and `json_set(doc, '$.a', json('[1]'))`.

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
