//! A statement on a partitioned table does not pin its shard key.

use std::collections::BTreeSet;

use crate::rules::Context;
use crate::rules::look::{bare, conjuncts};
use super::shards::{Shards, pin_of};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Body, Expr, ExprKind, OutputColumn, Part, Rows, Source, SourceId, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let key = context.config.shard_key.as_str();
    if key.is_empty() || context.page.tree.dialect != Dialect::Pg {
        return;
    }
    if let Some(shards) = Shards::of(context) {
        spread(context, &shards, found);
        return;
    }
    for part in &context.page.tree.parts {
        let partitioned: Vec<&Source> =
            part.sources().into_iter().filter(|source| is_partitioned(context, part, source, key)).collect();
        if partitioned.is_empty() {
            continue;
        }
        if asks_for_all(context, part, key) {
            continue;
        }
        let pinned = pinned(context, part, key);
        for source in partitioned.into_iter().filter(|source| !pinned.contains(&source.id)) {
            found.push(everywhere(context, source, "in all its partitions"));
        }
    }
}

/// Whether a read gives the key of each of its rows: whoever asks for it wants rows of all partitions.
fn asks_for_all(context: &Context<'_>, part: &Part, key: &str) -> bool {
    let is_result =
        context.page.tree.result.and_then(|at| context.page.tree.parts.get(at)).is_some_and(|it| it.span == part.span);
    let Body::Query(query) = &part.body else { return false };
    let Rows::Select(select) = &query.rows else { return false };
    let gives = |output: &OutputColumn| key_of(&output.expr, key).is_some();
    is_result && context.page.tree.parts.iter().all(|part| part.target().is_none()) && select.columns.iter().any(gives)
}

fn everywhere(context: &Context<'_>, source: &Source, places: &str) -> Diagnostic {
    let key = &context.config.shard_key;
    let message = format!("{}: `{}` is read {places}", context.name(), source.alias);
    let finding = Diagnostic::error(rule::SHARD_KEY, message, source.span, format!("`{key}` is not pinned"));
    let all = "or, if it is to visit all partitions: `-- allow(shard-key): <why it has no partition>`";
    finding.help(format!("add `AND {}.{key} = :{key}`, on both pages", source.alias)).help(all)
}

/// The same where an engine spreads the tables.
fn spread(context: &Context<'_>, shards: &Shards<'_, '_>, found: &mut Vec<Diagnostic>) {
    let key = shards.key();
    for part in &context.page.tree.parts {
        let inserted = match &part.body {
            Body::Insert(insert) => Some(insert),
            _ => None,
        };
        let target = inserted.map(|insert| insert.target.id);
        let sources = part.sources().into_iter().filter(|source| Some(source.id) != target && shards.is_spread(source));
        for source in sources.filter(|source| shards.pin(source).is_none()) {
            found.push(everywhere(context, source, "on all its shards"));
        }
        let Some(insert) = inserted.filter(|insert| shards.is_spread(&insert.target)) else { continue };
        let Some(values) = shards.inserted_key(insert) else {
            let message = format!("{}: rows of `{}` are inserted without `{key}`", context.name(), insert.target.alias);
            let finding = Diagnostic::error(rule::SHARD_KEY, message, insert.target.span, "no shard takes them");
            found.push(finding.help(format!("give `{key}`, on both pages")));
            continue;
        };
        let pins: Vec<_> = values.iter().map(|value| pin_of(value)).collect();
        if let Some((at, _)) = pins.iter().enumerate().find(|(_, pin)| **pin != pins[0]) {
            let message = format!("{}: rows of `{}` go to several shards", context.name(), insert.target.alias);
            let finding = Diagnostic::error(rule::SHARD_KEY, message, values[at].span, format!("another `{key}`"));
            let finding = finding.context(values[0].span, format!("the first row's `{key}`"));
            found.push(finding.help("insert the rows of each shard by themselves"));
        }
    }
}

fn is_partitioned(context: &Context<'_>, part: &Part, source: &Source, key: &str) -> bool {
    let SourceKind::Table(table) = &source.kind else { return false };
    let inserted = matches!(&part.body, Body::Insert(insert) if insert.target.id == source.id);
    let table = context.page.schema.tables.get(table);
    !inserted && table.is_some_and(|table| table.partitioned_by.iter().any(|column| column == key))
}

/// Sources whose key equals a parameter, a literal, a column of a CTE, or the key of a pinned source.
fn pinned(context: &Context<'_>, part: &Part, key: &str) -> BTreeSet<SourceId> {
    let mut pinned = BTreeSet::new();
    let mut equal = Vec::new();
    for conjunct in conjuncts(part) {
        let ExprKind::Binary { op, left, right } = &conjunct.kind else { continue };
        if op != "=" {
            continue;
        }
        for (column, value) in [(left, right), (right, left)] {
            let Some(id) = key_of(column, key) else { continue };
            match &bare(value).kind {
                ExprKind::Param(_) | ExprKind::Number(_) => {
                    pinned.insert(id);
                }
                ExprKind::Column { source, column } => match context.by_id.get(source).map(|source| &source.kind) {
                    Some(SourceKind::Table(_)) if column == key => equal.push((id, *source)),
                    Some(SourceKind::Table(_)) | None => {}
                    Some(_) => {
                        pinned.insert(id);
                    }
                },
                _ => {}
            }
        }
    }
    // Equalities pass a pin on, however many stand in between.
    for _ in 0..equal.len() {
        for (id, other) in &equal {
            if pinned.contains(other) {
                pinned.insert(*id);
            }
        }
    }
    pinned
}

fn key_of(expr: &Expr, key: &str) -> Option<SourceId> {
    match &expr.kind {
        ExprKind::Column { source, column } if column == key => Some(*source),
        _ => None,
    }
}
