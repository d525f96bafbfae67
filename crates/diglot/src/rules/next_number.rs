//! A number is made from the greatest one so far.
//!
//! # What it finds
//!
//! On the Postgres page of a pair: an INSERT of `max(n) + 1` over its own table, or of a count of its rows.
//!
//! # Why it bites
//!
//! Two sessions see the same greatest number and insert the same next one: a double, or an error where the column is a
//! key. SQLite has one writer.
//!
//! # Write instead
//!
//! A numbered column, or a counter row that `UPDATE … RETURNING` counts up.
//!
//! # Example
//!
//! ```text
//! UPDATE counter SET last = last + 1 WHERE stream = :stream RETURNING last
//! ```

use super::Context;
use super::look::{folds, inserted, tables};
use crate::diagnostic::Diagnostic;
use crate::resolve::is_aggregate_call;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Rows};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
