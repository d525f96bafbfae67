//! A difference is inserted into a column with a CHECK.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, ConflictAction, Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let (Body::Insert(insert), Some(table)) = (&part.body, context.target(part)) else { continue };
        let Some(ConflictAction::Update { set, excluded, .. }) = insert.conflict.as_ref().map(|c| &c.action) else {
            continue;
        };
        for set in set {
            let named = |condition: &str| {
                condition.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == set.column)
            };
            let proposed = |expr: &Expr| matches!(&expr.kind, ExprKind::Column { source, column } if source == excluded && *column == set.column);
            let adds = match &set.value.kind {
                ExprKind::Binary { op, left, right } => op == "+" && (proposed(left) || proposed(right)),
                _ => false,
            };
            if adds && table.checks.iter().any(|check| named(&check.condition)) {
                let message = format!(
                    "{}: a difference is checked as if it were `{}.{}`",
                    context.name(),
                    table.name,
                    set.column
                );
                let label = "the proposed row is checked first";
                let finding = Diagnostic::warning(rule::CHECKED_DELTA, message, set.span, label);
                found.push(finding.help("update first, and insert where nothing was updated"));
            }
        }
    }
}
