//! A row is inserted because another is not there.

use crate::rules::Context;
use crate::rules::look::{conjuncts, split, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, Query, Rows, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let (Body::Insert(insert), Some(table)) = (&part.body, context.target(part)) else { continue };
        if insert.conflict.is_some() {
            continue;
        }
        for conjunct in conjuncts(part) {
            let Some(query) = absent(conjunct) else { continue };
            let reads = tables(query).iter().any(|(name, _)| *name == table.name);
            let compared = compared(context, query);
            if reads && !table.keys().any(|key| key.iter().all(|column| compared.contains(&column.as_str()))) {
                let message = format!("{}: `{}` gets a row because none was seen", context.name(), table.name);
                let label = "two sessions can look before either inserts";
                let finding = Diagnostic::error(rule::ABSENCE_GUARD, message, conjunct.span, label);
                found.push(finding.help("declare a unique key and write ON CONFLICT DO NOTHING, on both pages"));
            }
        }
    }
}

/// The query of NOT EXISTS.
fn absent(expr: &Expr) -> Option<&Query> {
    match &expr.kind {
        ExprKind::Exists { query, negated: true } => Some(query),
        ExprKind::Unary { op, expr } if op == "not" => match &expr.kind {
            ExprKind::Exists { query, negated: false } => Some(query),
            _ => None,
        },
        _ => None,
    }
}

/// The columns of tables that a query demands to be equal to something.
fn compared<'q>(context: &Context<'_>, query: &'q Query) -> Vec<&'q str> {
    let Rows::Select(select) = &query.rows else { return Vec::new() };
    let mut conditions = Vec::new();
    split(select.filter.as_ref(), &mut conditions);
    let sides = conditions.into_iter().filter_map(|condition| match &condition.kind {
        ExprKind::Binary { op, left, right } if op == "=" => Some([&**left, &**right]),
        _ => None,
    });
    sides
        .flatten()
        .filter_map(|side| match &side.kind {
            ExprKind::Column { source, column } => {
                let is_table =
                    matches!(context.by_id.get(source).map(|source| &source.kind), Some(SourceKind::Table(_)));
                is_table.then_some(column.as_str())
            }
            _ => None,
        })
        .collect()
}
