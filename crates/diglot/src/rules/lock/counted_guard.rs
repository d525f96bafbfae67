//! A write is guarded by a count.

use crate::rules::Context;
use crate::rules::look::{conjuncts, folds, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, Rows};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
