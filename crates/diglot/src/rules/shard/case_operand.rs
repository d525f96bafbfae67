//! A CASE has an operand where the coordinator writes the statement anew.

use crate::rules::Context;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, OutputColumn, Rows};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for part in &context.page.tree.parts {
        if goes_as_it_is(context, part.statement) {
            continue;
        }
        let exprs: Vec<&Expr> = match &part.body {
            Body::Insert(insert) if shards.is_spread(&insert.target) => {
                let rows = match &insert.rows.rows {
                    Rows::Values(rows, _) => rows.as_slice(),
                    Rows::Select(_) | Rows::Set { .. } | Rows::Query(_) => &[],
                };
                let conflict = insert.conflict.as_ref().map(|conflict| (&conflict.target_filter, &conflict.action));
                let (target, set, filter) = match conflict {
                    Some((target, ConflictAction::Update { set, filter, .. })) => {
                        (target.as_ref(), set.as_slice(), filter.as_ref())
                    }
                    Some((_, ConflictAction::Nothing)) | None => (None, &[][..], None),
                };
                let updates = set.iter().map(|set| &set.value).chain(target).chain(filter);
                rows.iter().flatten().chain(updates).chain(returned(&insert.returning)).collect()
            }
            Body::Update(update) if shards.is_spread(&update.target) => {
                let values = update.set.iter().map(|set| &set.value).chain(&update.filter);
                values.chain(returned(&update.returning)).collect()
            }
            Body::Delete(delete) if shards.is_spread(&delete.target) => {
                delete.filter.iter().chain(returned(&delete.returning)).collect()
            }
            Body::Query(_) | Body::Insert(_) | Body::Update(_) | Body::Delete(_) => continue,
        };
        if let Some(case) = exprs.into_iter().find_map(with_operand) {
            let message = format!("{}: Citus takes no CASE with an operand here", context.name());
            let finding =
                Diagnostic::error(rule::CASE_OPERAND, message, case.span, "compared with a boolean on the shard");
            found.push(finding.help("write the conditions in full: `CASE WHEN x = 'a' THEN … END`"));
        }
    }
}

fn returned(columns: &[OutputColumn]) -> impl Iterator<Item = &Expr> {
    columns.iter().map(|column| &column.expr)
}

/// The first CASE with an operand, outside subqueries.
fn with_operand(expr: &Expr) -> Option<&Expr> {
    let all = expr.exprs();
    let hidden: Vec<_> = all.iter().filter(|part| part.subquery().is_some()).map(|part| part.span).collect();
    let is_case = |part: &Expr| matches!(part.kind, ExprKind::Case { operand: Some(_), .. });
    all.iter().find(|part| is_case(part) && !hidden.iter().any(|span| span.contains(part.span))).copied()
}

/// Whether a statement has CTEs and none of its parts is an INSERT.
fn goes_as_it_is(context: &Context<'_>, statement: usize) -> bool {
    let parts = || context.page.tree.parts.iter().filter(|part| part.statement == statement);
    parts().any(|part| part.name.is_some()) && !parts().any(|part| matches!(part.body, Body::Insert(_)))
}
