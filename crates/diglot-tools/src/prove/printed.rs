//! Documents that Postgres prints as text, in a form of its own. Where a project says that it parses such texts, they are
//! documents to it, and a text that is held against one is what it read before.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::result;
use diglot::config::{Config, JsonText};
use diglot::tree::{Expr, ExprKind, Statement};
use diglot::types::Base;

fn is_printed(expr: &Expr) -> bool {
    let is_document = |expr: &Expr| expr.ty.as_ref().is_some_and(|ty| ty.base == Base::Json);
    matches!(&expr.kind, ExprKind::Cast { expr, .. } if is_document(expr))
}

/// The columns of the result in which Postgres prints a document.
pub(super) fn columns(config: &Config, pg: &Statement) -> BTreeSet<usize> {
    if config.json_text == JsonText::Parsed { result::columns(pg, is_printed) } else { BTreeSet::new() }
}

/// The parameters that Postgres holds against a document that it prints.
pub(super) fn params(config: &Config, pg: &Statement) -> BTreeSet<String> {
    if config.json_text != JsonText::Parsed {
        return BTreeSet::new();
    }
    let held = |expr: &Expr| match &expr.kind {
        ExprKind::Binary { op, left, right } if matches!(op.as_str(), "=" | "<>") => match (&left.kind, &right.kind) {
            (ExprKind::Param(name), _) if is_printed(right) => Some(name.clone()),
            (_, ExprKind::Param(name)) if is_printed(left) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    pg.exprs().into_iter().filter_map(held).collect()
}

/// A document as Postgres prints one of the type `jsonb`: blanks behind colons and commas, short keys first.
pub fn printed(document: &Json) -> String {
    let listed = |items: Vec<String>| items.join(", ");
    match document {
        Json::Array(items) => format!("[{}]", listed(items.iter().map(printed).collect())),
        Json::Object(members) => {
            let mut members: Vec<(&String, &Json)> = members.iter().collect();
            members.sort_by_key(|(name, _)| (name.len(), name.as_bytes()));
            let member = |(name, value): (&String, &Json)| format!("{}: {}", Json::from(name.as_str()), printed(value));
            format!("{{{}}}", listed(members.into_iter().map(member).collect()))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::printed;

    /// As `SELECT DOCUMENT::jsonb::text` answers.
    #[test]
    fn a_document_is_printed_with_blanks_and_short_keys_first() {
        assert_eq!(printed(&json!({})), "{}");
        assert_eq!(printed(&json!([1, "a\n", null, true])), r#"[1, "a\n", null, true]"#);
        assert_eq!(printed(&json!({"bb": 1, "a": {"y": [], "x": 1.5}})), r#"{"a": {"x": 1.5, "y": []}, "bb": 1}"#);
        assert_eq!(printed(&json!({"zz": 1, "abc": 2, "b": 3})), r#"{"b": 3, "zz": 1, "abc": 2}"#);
    }
}
