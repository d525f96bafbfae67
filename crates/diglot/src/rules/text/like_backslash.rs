//! A pattern of LIKE has a backslash.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(facing) = context.facing.filter(|_| context.is_sqlite_of_pair()) else { return };
    let there: Vec<&str> = facing.tree.exprs().into_iter().filter_map(without_escape).collect();
    for expr in &context.exprs {
        if let Some(pattern) = without_escape(expr).filter(|pattern| there.contains(pattern)) {
            let message = format!("{}: the backslash of '{pattern}' is read in two ways", context.name());
            let label = "itself on SQLite, an escape on Postgres";
            let finding = Diagnostic::error(rule::LIKE_BACKSLASH, message, expr.span, label);
            found.push(finding.help("write `ESCAPE '\\'` behind the pattern, on both pages"));
        }
    }
}

/// A pattern with a backslash that no ESCAPE explains.
fn without_escape(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Like { op: "like" | "ilike", pattern, escape: None, .. } => match &pattern.kind {
            ExprKind::Text(text) => text.contains('\\').then_some(text),
            _ => None,
        },
        _ => None,
    }
}
