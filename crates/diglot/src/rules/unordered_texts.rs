//! Texts are joined in no order.
//!
//! # What it finds
//!
//! `string_agg`, `jsonb_agg` or `json_agg` on the Postgres page of a pair, without ORDER BY inside it and over anything else
//! than one query with ORDER BY.
//!
//! # Why it bites
//!
//! Each engine joins the texts as it meets the rows: SQLite by row ids or along an index, Postgres as they lie in its
//! pages, or as a hash or another worker gives them, and sorted where it makes them distinct. The same rows give another
//! text, or another array of JSON.
//!
//! # Write instead
//!
//! ORDER BY inside the call, on both pages. Before SQLite 3.44: the call over a query with that ORDER BY.
//!
//! # Example
//!
//! ```text
//! sqlite: SELECT group_concat(label, ',' ORDER BY label) AS labels FROM tag
//! pg:     SELECT string_agg(label, ',' ORDER BY label) AS labels FROM tag
//! ```

use super::Context;
use super::look::selects;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Part, Select, SourceKind};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
