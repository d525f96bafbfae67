//! A number is made from the greatest one so far.

use crate::rules::Context;
use crate::rules::look::{folds, inserted, tables};
use crate::diagnostic::Diagnostic;
use crate::resolve::is_aggregate_call;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Rows};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let (Body::Insert(insert), Some(table)) = (&part.body, context.target(part)) else { continue };
        let from_itself = tables(&insert.rows).iter().any(|(name, _)| *name == table.name);
        for (column, value) in inserted(part) {
            let direct = from_itself && is_aggregate_call(value) && adds(value);
            let through = value.exprs().into_iter().any(|expr| match &expr.kind {
                ExprKind::Scalar(query) => {
                    let Rows::Select(select) = &query.rows else { return false };
                    let is_one = select.group.is_empty() && folds(select);
                    let inside = select.columns.iter().any(|c| adds(&c.expr));
                    is_one && (adds(value) || inside) && tables(query).iter().any(|(name, _)| *name == table.name)
                }
                _ => false,
            });
            if direct || through {
                let message = format!("{}: `{}.{column}` is made from the greatest so far", context.name(), table.name);
                let label = "two sessions see the same one";
                let finding = Diagnostic::error(rule::NEXT_NUMBER, message, value.span, label);
                found.push(
                    finding.help("let the database number the rows, or count up a row of its own with RETURNING"),
                );
            }
        }
    }
}

/// `… + 1`, with COALESCE around or inside.
fn adds(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op, .. } => op == "+",
        ExprKind::Call { args, .. } => args.iter().any(adds),
        ExprKind::Cast { expr, .. } => adds(expr),
        _ => false,
    }
}
