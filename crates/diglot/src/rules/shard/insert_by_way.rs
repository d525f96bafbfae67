//! Rows of INSERT … SELECT go by way of another node.

use crate::rules::Context;
use crate::rules::look::bare;
use crate::rules::moving::is_volatile;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::engine::Stability;
use crate::rule;
use crate::schema::{Column, Fill};
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, Insert, Rows, SourceId};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for part in &context.page.tree.parts {
        let Body::Insert(insert) = &part.body else { continue };
        // With a CTE anywhere the statement is taken apart in any case.
        let with =
            context.page.tree.parts.iter().any(|other| other.statement == part.statement && other.name.is_some());
        if with || !shards.spreads(part.statement) {
            continue;
        }
        let why = match &insert.rows.rows {
            Rows::Values(rows, _) => rows.iter().flatten().find_map(subquery),
            Rows::Select(_) | Rows::Set { .. } | Rows::Query(_) => way(context, &shards, insert),
        };
        if let Some((span, label)) = why {
            let message = format!("{}: rows of `{}` go by way of another node", context.name(), insert.target.alias);
            let finding = Diagnostic::error(rule::INSERT_BY_WAY, message, span, label);
            let help = format!("write VALUES, or `{}` of the table that is read", shards.key());
            let allow = "or, if it may go by way of another node: `-- allow(insert-by-way): <why>`";
            found.push(finding.help(help).help(allow));
        }
    }
}

/// A subquery among values, which Citus refuses.
fn subquery(value: &Expr) -> Option<(Span, String)> {
    let query = value.exprs().into_iter().find(|expr| expr.subquery().is_some())?;
    Some((query.span, "no VALUES with a subquery".to_owned()))
}

/// Why the shard's node cannot run it.
fn way(context: &Context<'_>, shards: &Shards<'_, '_>, insert: &Insert) -> Option<(Span, String)> {
    let query = &insert.rows;
    let Rows::Select(select) = &query.rows else { return Some((query.span, "a set operation".to_owned())) };
    if !shards.is_spread(&insert.target) {
        return Some((insert.target.span, "is not spread".to_owned()));
    }
    let spread: Vec<SourceId> =
        select.from.iter().filter(|source| shards.is_spread(source)).map(|source| source.id).collect();
    if let Some(value) = shards.inserted_key(insert).and_then(|values| values.first().copied()) {
        let plain = matches!(&bare(value).kind, ExprKind::Column { source, column } if spread.contains(source) && column == shards.key());
        if !plain {
            return Some((value.span, format!("is not `{}` of a table that is spread", shards.key())));
        }
    }
    let named = |name: &str| insert.gives(name);
    let table = context.page.schema.tables.get(insert.target.table()?)?;
    if let Some(column) = table.columns.iter().find(|column| !named(&column.name) && is_drawn(context, column)) {
        return Some((
            insert.target.span,
            format!("`{}` is given before, on the node that took the statement", column.name),
        ));
    }
    let volatile = query.exprs().into_iter().find(|expr| is_volatile(context, expr))?;
    Some((volatile.span, "is VOLATILE".to_owned()))
}

/// Whether a column is filled with another value for each row.
fn is_drawn(context: &Context<'_>, column: &Column) -> bool {
    match &column.fill {
        Fill::Numbered => true,
        Fill::Value(text) => {
            let name = text.split('(').next().filter(|name| text.len() > name.len());
            let stability = |name: &str| context.majors.stability(|catalog| catalog.stability(name, &[]));
            name.is_some_and(|name| stability(name) == Stability::Volatile)
        }
        Fill::Nothing | Fill::RowId | Fill::Computed(_) => false,
    }
}
