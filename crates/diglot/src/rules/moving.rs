//! How long expressions give the same, as Postgres says of its functions and a migration of its own.

use super::Context;
use super::name::refused_types::types;
use crate::engine::{Stability, UNKNOWN};
use crate::tree::{Expr, ExprKind};

/// What an expression itself is, the ones inside it aside.
pub(super) fn stability(context: &Context<'_>, expr: &Expr) -> Stability {
    let of = |expr: &Expr| types(context, expr).and_then(|types| types.first().copied()).unwrap_or(UNKNOWN);
    match &expr.kind {
        ExprKind::Call { name, args, .. } => {
            if let Some(own) = context.page.schema.functions.get(name) {
                return own.stability;
            }
            if CLOCKS.contains(&name.as_str()) {
                return Stability::Stable;
            }
            let arguments: Vec<_> = args.iter().map(of).collect();
            context.majors.stability(|catalog| catalog.stability(name, &arguments))
        }
        // What is joined to a text is cast to text, whatever the operator says of itself.
        ExprKind::Binary { op, left, right } if op == "||" && is_text(of(left)) != is_text(of(right)) => {
            let other = if is_text(of(left)) { of(right) } else { of(left) };
            context.majors.stability(|catalog| catalog.stability_of_cast(other, "text"))
        }
        ExprKind::Binary { op, left, right } => {
            let operands = [of(left), of(right)];
            context.majors.stability(|catalog| catalog.stability_of_operator(op, &operands))
        }
        ExprKind::Cast { expr: inner, .. } => {
            let (from, to) = (of(inner), of(expr));
            context.majors.stability(|catalog| catalog.stability_of_cast(from, to))
        }
        _ => Stability::Immutable,
    }
}

fn is_text(name: &str) -> bool {
    ["text", "varchar", "bpchar", "name"].contains(&name)
}

/// Words of SQL that read the clock or the session.
const CLOCKS: [&str; 10] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
];

/// The first part of an expression that is less stable than that.
pub(super) fn less_stable<'e>(context: &Context<'_>, expr: &'e Expr, than: Stability) -> Option<&'e Expr> {
    expr.exprs().into_iter().find(|part| stability(context, part) > than)
}

/// Whether an expression itself is VOLATILE.
pub(super) fn is_volatile(context: &Context<'_>, expr: &Expr) -> bool {
    stability(context, expr) == Stability::Volatile
}
