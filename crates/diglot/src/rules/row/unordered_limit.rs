//! A LIMIT has no ORDER BY.

use crate::rules::Context;
use crate::rules::look::ordered_below;
use crate::diagnostic::Diagnostic;
use crate::normal::gives_one;
use crate::rule;
use crate::tree::{Expr, ExprKind, Query, Rows, Select};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let tested: Vec<*const Query> = part
            .exprs()
            .into_iter()
            .filter_map(|expr| match &expr.kind {
                ExprKind::Exists { query, .. } => Some(std::ptr::from_ref::<Query>(query)),
                _ => None,
            })
            .collect();
        for query in part.queries() {
            let Some(limit) = &query.limit else { continue };
            let reads = matches!(&query.rows, Rows::Select(select) if !select.from.is_empty());
            if !reads || !query.order.is_empty() || tested.contains(&std::ptr::from_ref(query)) {
                continue;
            }
            if matches!(&query.rows, Rows::Select(select) if gives_one(&context.page.schema.tables, select)) {
                continue;
            }
            if matches!(&query.rows, Rows::Select(select) if query.locks.is_empty() && gives_the_same(select)) {
                continue;
            }
            if matches!(&query.rows, Rows::Select(select) if ordered_below(context, part, select).is_some()) {
                continue;
            }
            let message = format!("{}: a LIMIT without ORDER BY takes rows by chance", context.name());
            let finding = Diagnostic::error(rule::UNORDERED_LIMIT, message, limit.span, "of rows in no order");
            found.push(finding.help("write an ORDER BY that ends with a unique key, on both pages"));
        }
    }
}

/// Whether every row says the same: nothing but values that are written, bound, or compared with such.
fn gives_the_same(select: &Select) -> bool {
    let is_value = |expr: &Expr| {
        matches!(
            expr.kind,
            ExprKind::Param(_)
                | ExprKind::Null
                | ExprKind::Bool(_)
                | ExprKind::Number(_)
                | ExprKind::Text(_)
                | ExprKind::Blob(_)
        )
    };
    let conditions: Vec<&Expr> = select.filter.iter().flat_map(Expr::conjuncts).collect();
    let is_compared = |expr: &Expr| {
        let ExprKind::Column { source, column } = &expr.kind else { return false };
        let is_it = |other: &Expr| matches!(&other.kind, ExprKind::Column { source: of, column: name } if of == source && name == column);
        conditions.iter().any(|condition| match &condition.kind {
            ExprKind::Binary { op, left, right } if op == "=" => {
                is_it(left) && is_value(right) || is_it(right) && is_value(left)
            }
            _ => false,
        })
    };
    let is_settled = |expr: &Expr| is_value(expr) || is_compared(expr);
    !select.columns.is_empty() && select.columns.iter().all(|column| is_settled(&column.expr))
}
