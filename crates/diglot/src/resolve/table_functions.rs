//! The columns of functions in FROM.

use super::scope::Columns;
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, Type};

/// The columns of a function's rows and whether these are all. A function that gives plain values names its
/// column after the alias.
pub(super) fn columns(dialect: Dialect, name: &str, args: &[Expr], alias: Option<&str>) -> (Columns, bool) {
    let own = alias.unwrap_or(name).to_owned();
    let one = |ty: Option<Type>| (vec![(own.clone(), ty)], true);
    let first = args.first().and_then(|arg| arg.ty.as_ref()).map(|ty| ty.base.clone());
    match (dialect, name) {
        (Dialect::Sqlite, "json_each" | "json_tree") => (json_each(), true),
        (Dialect::Sqlite, "generate_series") => (vec![required("value", Base::Int64)], true),
        (Dialect::Pg, "unnest") if args.len() > 1 => {
            (args.iter().map(|arg| ("unnest".to_owned(), element(arg, true))).collect(), true)
        }
        (Dialect::Pg, "unnest") => one(args.first().and_then(|arg| element(arg, false))),
        (Dialect::Pg, "generate_series") => one(first.map(Type::required)),
        (Dialect::Pg, "generate_subscripts") => one(Some(Type::required(Base::Int32))),
        (Dialect::Pg, "jsonb_array_elements" | "json_array_elements") => (vec![required("value", Base::Json)], true),
        (Dialect::Pg, "jsonb_array_elements_text" | "json_array_elements_text") => {
            (vec![optional("value", Base::Text)], true)
        }
        (Dialect::Pg, "jsonb_each" | "json_each") => {
            (vec![required("key", Base::Text), required("value", Base::Json)], true)
        }
        (Dialect::Pg, "jsonb_each_text" | "json_each_text") => {
            (vec![required("key", Base::Text), optional("value", Base::Text)], true)
        }
        (Dialect::Pg, "jsonb_object_keys" | "json_object_keys" | "regexp_split_to_table" | "string_to_table") => {
            one(Some(Type::required(Base::Text)))
        }
        (Dialect::Pg, _) => (vec![(own, None)], false),
        (Dialect::Sqlite, _) => (Vec::new(), false),
    }
}

/// `value`, `atom` and `key` hold what the JSON holds, so they have no type of their own.
fn json_each() -> Columns {
    vec![
        ("key".to_owned(), None),
        ("value".to_owned(), None),
        required("type", Base::Text),
        ("atom".to_owned(), None),
        required("id", Base::Int64),
        optional("parent", Base::Int64),
        required("fullkey", Base::Text),
        required("path", Base::Text),
    ]
}

fn required(name: &str, base: Base) -> (String, Option<Type>) {
    (name.to_owned(), Some(Type::required(base)))
}

fn optional(name: &str, base: Base) -> (String, Option<Type>) {
    (name.to_owned(), Some(Type::optional(base)))
}

/// The elements of an array. Those of a parameter are never NULL, unless a longer array beside it pads it.
fn element(array: &Expr, padded: bool) -> Option<Type> {
    let base = match array.ty.as_ref()?.base {
        Base::TextArray => Base::Text,
        Base::Int64Array => Base::Int64,
        Base::UuidArray => Base::Uuid,
        _ => return None,
    };
    Some(Type { base, nullable: padded || !is_param(array) })
}

fn is_param(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Param(_) => true,
        ExprKind::Cast { expr, .. } => is_param(expr),
        ExprKind::Array(items) => items.iter().all(Expr::is_present),
        _ => false,
    }
}
