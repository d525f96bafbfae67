//! A half is rounded to the even number by one engine.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Call { name, args, .. } = &expr.kind else { continue };
        let real = args.first().and_then(Expr::base) == Some(&Base::Float64);
        if name == "round" && real {
            let message = format!("{}: Postgres rounds a half to the even number", context.name());
            let finding = Diagnostic::error(rule::HALF_ROUNDED, message, expr.span, "SQLite rounds it away from zero");
            found.push(finding.help("write `round(CAST(… AS numeric))` on the Postgres page"));
        }
    }
}
