//! A function has the same name in both engines and another meaning.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// Functions of Postgres that take json and not jsonb.
const OF_JSON: &str = "json_array_length json_typeof json_array_elements json_array_elements_text json_object_keys json_each \
    json_each_text json_extract_path json_extract_path_text json_strip_nulls";

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for expr in &context.exprs {
        let ExprKind::Call { name, args, .. } = &expr.kind else { continue };
        if let Some((label, help)) = meaning(context, name, args) {
            let message = format!("{}: `{name}` is another function on each engine", context.name());
            found.push(Diagnostic::error(rule::SAME_NAME_FUNCTION, message, expr.span, label).help(help));
        }
    }
}

/// What the function is here, and what to write.
fn meaning(context: &Context<'_>, name: &str, args: &[Expr]) -> Option<(&'static str, String)> {
    let is = |list: &str| list.split_whitespace().any(|listed| listed == name);
    match context.page.tree.dialect {
        Dialect::Pg if name == "json_object" => {
            Some(("takes arrays on Postgres", "write `jsonb_build_object` on the Postgres page".to_owned()))
        }
        Dialect::Pg if is(OF_JSON) && args.first().is_some_and(|arg| is_jsonb(context, arg)) => {
            let help = format!("write `jsonb{}` on the Postgres page", name.trim_start_matches("json"));
            Some(("takes json, and this is jsonb", help))
        }
        Dialect::Sqlite if is("jsonb_set jsonb_insert jsonb_object") => {
            let help = format!("write `json{}` on the SQLite page", name.trim_start_matches("jsonb"));
            Some(("takes `$` paths on SQLite and gives bytes", help))
        }
        Dialect::Sqlite if name == "random" && context.facing.is_some() => {
            let help = "let the caller draw the value and hand it over as a parameter";
            Some(("an integer of 64 bits here, a fraction on Postgres", help.to_owned()))
        }
        _ => None,
    }
}

fn is_jsonb(context: &Context<'_>, expr: &Expr) -> bool {
    match context.column(expr) {
        Some((_, column)) => column.declared == "jsonb",
        None => matches!(&expr.kind, ExprKind::Cast { to, .. } if to == "jsonb") && expr.base() == Some(&Base::Json),
    }
}
