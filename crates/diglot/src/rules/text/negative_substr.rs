//! A position before the text means something else on each engine.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.facing.is_none() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Call { name, args, .. } = &expr.kind else { continue };
        if name != "substr" && name != "substring" {
            continue;
        }
        let start = args.get(1).is_some_and(negative);
        let from_the_end = args.len() == 2 && context.page.tree.dialect == Dialect::Sqlite;
        let length = args.get(2).is_some_and(negative);
        if (start && !from_the_end) || length {
            let message = format!("{}: a position before the text is read differently", context.name());
            let finding =
                Diagnostic::error(rule::NEGATIVE_SUBSTR, message, expr.span, "not the same text on both engines");
            found.push(
                finding.help("write `substr(x, -n)` on SQLite and `right(x, n)` on Postgres, or a positive start"),
            );
        }
    }
}

fn negative(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary { op, expr } => op == "-" && matches!(expr.kind, ExprKind::Number(_)),
        ExprKind::Number(text) => text.starts_with('-'),
        _ => false,
    }
}
