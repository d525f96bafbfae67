//! A JSON document is compared as a whole.

use crate::rules::Context;
use crate::rules::look::{is_comparison, selects};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, OrderKey, Rows, SourceId};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    let mut places: Vec<Span> = context.exprs.iter().flat_map(|expr| compared(context, expr)).collect();
    for part in &context.page.tree.parts {
        for select in selects(part) {
            if let Some((on, span)) = &select.distinct {
                let columns = select.columns.iter().map(|column| &column.expr);
                let items = if on.is_empty() { columns.collect() } else { on.iter().collect() };
                places.extend(decides(context, items).map(|_| *span));
            }
            places.extend(decides(context, select.group.iter().collect()));
        }
        for query in part.queries() {
            places.extend(sorts(context, &query.order));
            of_set(&query.rows, &mut places);
        }
    }
    places.sort_unstable();
    places.dedup();
    for place in places {
        let message = format!("{}: SQLite compares JSON by its letters", context.name());
        let finding = Diagnostic::error(rule::JSON_COMPARED, message, place, "Postgres compares what it says");
        found.push(finding.help("compare the member that matters, on both pages"));
    }
}

/// A document as a whole; of a member it is told where it is read, and one that is written or given says nothing of what
/// it is compared with.
fn is_document(expr: &Expr) -> bool {
    let reads = matches!(&expr.kind, ExprKind::Binary { op, .. } if op == "->" || op == "#>");
    let is_given = matches!(expr.bare().kind, ExprKind::Param(_) | ExprKind::Null | ExprKind::Text(_));
    !reads && !is_given && expr.base() == Some(&Base::Json)
}

/// Where an expression compares documents.
fn compared(context: &Context<'_>, expr: &Expr) -> Option<Span> {
    let compares = match &expr.kind {
        ExprKind::Binary { op, left, right } => is_comparison(op) && (is_document(left) || is_document(right)),
        ExprKind::Any { left, .. } | ExprKind::InQuery { expr: left, .. } => is_document(left),
        ExprKind::InList { expr: inner, list, .. } => is_document(inner) || list.iter().any(is_document),
        ExprKind::Between { expr: inner, .. } => is_document(inner),
        ExprKind::Case { operand, .. } => operand.as_deref().is_some_and(is_document),
        ExprKind::Call { name, args, distinct, order, over, .. } => {
            let whole = *distinct || name == "nullif";
            let partition = over.iter().flat_map(|window| &window.partition).collect();
            let keys = over.iter().flat_map(|window| &window.order).chain(order);
            let keys: Vec<OrderKey> = keys.cloned().collect();
            whole && args.iter().any(is_document)
                || decides(context, partition).is_some()
                || sorts(context, &keys).is_some()
        }
        _ => false,
    };
    compares.then_some(expr.span)
}

/// The document among values that are told apart, unless a key of its table stands beside it.
fn decides(context: &Context<'_>, items: Vec<&Expr>) -> Option<Span> {
    let document = items.iter().find(|item| is_document(item) && !is_beside_key(context, item, &items))?;
    Some(document.span)
}

/// The document among keys of an order, unless a key of its table stands before it.
fn sorts(context: &Context<'_>, order: &[OrderKey]) -> Option<Span> {
    let keys: Vec<&Expr> = order.iter().map(|key| &key.expr).collect();
    let mut documents = keys.iter().enumerate().filter(|(_, key)| is_document(key));
    documents.find(|(at, key)| !is_beside_key(context, key, &keys[..*at])).map(|(_, key)| key.span)
}

/// Whether among values stand all columns of a key of the table that a document comes from.
fn is_beside_key(context: &Context<'_>, document: &Expr, items: &[&Expr]) -> bool {
    let ExprKind::Column { source, .. } = &document.kind else { return false };
    let Some(table) = context.table(*source) else { return false };
    let own = |id: SourceId, name: &str| {
        items
            .iter()
            .any(|item| matches!(&item.kind, ExprKind::Column { source, column } if *source == id && column == name))
    };
    let is_there = |name: &String| own(*source, name) && table.column(name).is_some_and(|column| !column.ty.nullable);
    table.keys().any(|key| key.iter().all(is_there))
}

/// Set operations that tell rows apart, of which a column is a document.
fn of_set(rows: &Rows, places: &mut Vec<Span>) {
    let Rows::Set { all, left, right, span, .. } = rows else { return };
    if !all && holds_document(left) {
        places.push(*span);
    }
    of_set(left, places);
    of_set(right, places);
}

fn holds_document(rows: &Rows) -> bool {
    match rows {
        Rows::Select(select) => select.columns.iter().any(|column| is_document(&column.expr)),
        Rows::Values(rows, _) => rows.iter().flatten().any(is_document),
        Rows::Set { left, .. } => holds_document(left),
        Rows::Query(query) => holds_document(&query.rows),
    }
}
