//! A unique column is counted up or down in place.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let (Body::Update(update), Some(table)) = (&part.body, context.target(part)) else { continue };
        for set in &update.set {
            let in_key = table.keys().any(|key| key.contains(&set.column));
            let own = |expr: &crate::tree::Expr| matches!(&expr.kind, ExprKind::Column { source, column } if *column == set.column && *source == update.target.id);
            let shifted = match &set.value.kind {
                ExprKind::Binary { op, left, right } => (op == "+" || op == "-") && (own(left) || own(right)),
                _ => false,
            };
            if in_key && shifted {
                let message = format!("{}: the key `{}.{}` is moved in place", context.name(), table.name, set.column);
                let label = "which row comes first decides whether it succeeds";
                let finding = Diagnostic::warning(rule::KEY_SHIFT, message, set.span, label);
                found.push(finding.help("move the rows away first, in a statement of its own"));
            }
        }
    }
}
