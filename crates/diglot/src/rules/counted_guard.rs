//! A write is guarded by a count.
//!
//! # What it finds
//!
//! On the Postgres page of a pair: an INSERT or UPDATE under a condition that compares the number or the sum of other
//! rows of a table.
//!
//! # Why it bites
//!
//! Two sessions count at the same time, both find room, and both write. A lock in the same statement is of no use: the
//! count sees the table as it was before the lock was granted. SQLite has one writer.
//!
//! # Write instead
//!
//! A counter in a row of its own, changed by `UPDATE … SET used = used + 1 WHERE used < quota`; or a lock of the parent
//! row in an earlier statement of the transaction.
//!
//! # Example
//!
//! ```text
//! UPDATE lane SET used = used + 1 WHERE lane.name = :name AND used < quota
//! ```

use super::Context;
use super::look::{conjuncts, folds, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, Rows};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        if !matches!(part.body, Body::Insert(_) | Body::Update(_)) {
            continue;
        }
        for conjunct in conjuncts(part) {
            let ExprKind::Binary { op, left, right } = &conjunct.kind else { continue };
            if !["<", "<=", ">", ">=", "="].contains(&op.as_str()) {
                continue;
            }
            if let Some(count) = [left, right].into_iter().find(|side| counts(side)) {
                let message = format!("{}: the write is guarded by a count", context.name());
                let label = "two sessions can count before either writes";
                let finding = Diagnostic::error(rule::COUNTED_GUARD, message, count.span, label);
                let help = "keep the count in a row and change it by `SET used = used + 1 WHERE used < quota`";
                let lock = "or lock the parent row in an earlier statement, and say so: `-- allow(counted-guard): <which lock>`";
                found.push(finding.help(help).help(lock));
            }
        }
    }
}

/// A subquery that folds rows of a table into one value.
fn counts(expr: &Expr) -> bool {
    expr.exprs().into_iter().any(|expr| match &expr.kind {
        ExprKind::Scalar(query) => counts_rows(query),
        _ => false,
    })
}

fn counts_rows(query: &Query) -> bool {
    let Rows::Select(select) = &query.rows else { return false };
    !tables(query).is_empty() && select.group.is_empty() && folds(select)
}
