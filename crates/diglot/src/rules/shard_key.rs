//! A statement on a partitioned table does not pin its shard key.
//!
//! # What it finds
//!
//! On Postgres: a SELECT, UPDATE or DELETE on a table that is partitioned by `shard_key`, without an equality of
//! that column with a parameter, a literal, or the same column of a source that is pinned. Inserts name their
//! partition by their values.
//!
//! # Why it bites
//!
//! It visits every partition, takes a lock on each, and on a distributed Postgres asks every node.
//!
//! # Write instead
//!
//! `WHERE partition_key = :partition_key`, for every partitioned table of the statement.
//!
//! # Example
//!
//! ```text
//! WHERE held.partition_key = :partition_key
//!   AND held.execution_id = :execution_id
//! ```

use std::collections::BTreeSet;

use super::Context;
use super::look::{bare, conjuncts};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::tree::{Body, Expr, ExprKind, Part, Source, SourceId, SourceKind};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let key = context.config.shard_key.as_str();
    if key.is_empty() || context.page.tree.dialect != Dialect::Pg {
        return;
    }
    for part in &context.page.tree.parts {
        let partitioned: Vec<&Source> =
            part.sources().into_iter().filter(|source| is_partitioned(context, part, source, key)).collect();
        if partitioned.is_empty() {
            continue;
        }
        let pinned = pinned(context, part, key);
        for source in partitioned.into_iter().filter(|source| !pinned.contains(&source.id)) {
            let message = format!("{}: `{}` is read in all its partitions", context.name(), source.alias);
            let finding = Diagnostic::error("shard-key", message, source.span, format!("`{key}` is not pinned"));
            let all = "or, if it is to visit all partitions: `-- allow(shard-key): <why it has no partition>`";
            found.push(finding.help(format!("add `AND {}.{key} = :{key}`, on both pages", source.alias)).help(all));
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
