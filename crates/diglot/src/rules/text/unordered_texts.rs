//! Texts are joined in no order.

use crate::rules::Context;
use crate::rules::look::selects;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Part, Select, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let selects = selects(part);
        for expr in part.exprs().into_iter().filter(|expr| joins_as_met(expr)) {
            let around = selects.iter().filter(|select| select.span.contains(expr.span));
            let own = around.min_by_key(|select| select.span.end - select.span.start);
            if own.is_some_and(|select| is_in_order(context, part, select)) {
                continue;
            }
            let message = format!("{}: values are joined in no order", context.name());
            let finding =
                Diagnostic::warning(rule::UNORDERED_TEXTS, message, expr.span, "as each engine meets the rows");
            found.push(finding.help("write ORDER BY inside the call, behind its last argument, on both pages"));
        }
    }
}

/// Whether a call joins the values of several rows and says no order.
fn joins_as_met(expr: &Expr) -> bool {
    let ExprKind::Call { name, order, over: None, .. } = &expr.kind else { return false };
    ["string_agg", "jsonb_agg", "json_agg"].contains(&name.as_str()) && order.is_empty()
}

/// Whether a SELECT reads one query that has an order.
fn is_in_order(context: &Context<'_>, part: &Part, select: &Select) -> bool {
    let [source] = select.from.as_slice() else { return false };
    match &source.kind {
        SourceKind::Derived(query) => !query.order.is_empty(),
        SourceKind::Cte(name) => {
            let own = context.page.tree.parts.iter().filter(|other| other.statement == part.statement);
            own.filter(|other| other.name.as_ref() == Some(name))
                .any(|other| matches!(&other.body, Body::Query(query) if !query.order.is_empty()))
        }
        _ => false,
    }
}
