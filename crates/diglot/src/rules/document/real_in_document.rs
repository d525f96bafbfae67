//! A fraction is written into a document.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// How many digits SQLite writes of a number.
const DIGITS: usize = 15;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(facing) = context.facing else { return };
    let own = fractions(context, context.page.tree.dialect, &context.exprs);
    // What both pages write is told once.
    if context.is_pg_of_pair() && !fractions(context, Dialect::Sqlite, &facing.tree.exprs()).is_empty() {
        return;
    }
    for value in own {
        let message = format!("{}: a number with a fraction is written into a document", context.name());
        let label = "15 digits on SQLite, all of them on Postgres";
        let finding = Diagnostic::error(rule::REAL_IN_DOCUMENT, message, value.span, label);
        found.push(finding.help("write a whole number of a smaller unit, or a text that the caller has made"));
    }
}

/// The numbers with a fraction that a page writes into documents.
fn fractions<'t>(context: &Context<'_>, dialect: Dialect, exprs: &[&'t Expr]) -> Vec<&'t Expr> {
    let written = exprs.iter().flat_map(|expr| match &expr.kind {
        ExprKind::Call { name, args, .. } => values(dialect, name, args),
        _ => Vec::new(),
    });
    written.filter(|value| is_fraction(context, value)).collect()
}

fn is_fraction(context: &Context<'_>, value: &Expr) -> bool {
    let is_written = match &value.bare().kind {
        ExprKind::Number(text) => text.bytes().filter(u8::is_ascii_digit).count() <= DIGITS,
        _ => false,
    };
    !is_written && context.holds(value) == Some(&Base::Float64)
}

/// What a call puts into a document.
fn values<'t>(dialect: Dialect, name: &str, args: &'t [Expr]) -> Vec<&'t Expr> {
    // Names and paths hold no numbers with a fraction.
    let skipped = match (dialect, name) {
        (Dialect::Sqlite, "json_set" | "json_insert" | "json_replace") => 1,
        (Dialect::Sqlite, "json_object" | "json_array" | "json_quote" | "json_group_array" | "json_group_object") => 0,
        (Dialect::Pg, "to_json" | "to_jsonb" | "json_agg" | "jsonb_agg" | "json_object_agg" | "jsonb_object_agg") => 0,
        (Dialect::Pg, "json_build_object" | "jsonb_build_object" | "json_build_array" | "jsonb_build_array") => 0,
        _ => return Vec::new(),
    };
    args.iter().skip(skipped).collect()
}
