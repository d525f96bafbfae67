//! A function that is not IMMUTABLE stands where the engine does not take it.

use crate::rules::Context;
use crate::rules::moving::{less_stable, stability};
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::engine::Stability;
use crate::rule;
use crate::tree::{Assignment, Body, ConflictAction, Expr, ExprKind, OutputColumn, Query, Source};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for part in &context.page.tree.parts {
        let finding = match &part.body {
            Body::Insert(insert) if shards.is_spread(&insert.target) => {
                let conflict = insert.conflict.as_ref().map(|conflict| (&conflict.target_filter, &conflict.action));
                conflict.and_then(|(target, action)| match action {
                    ConflictAction::Update { set, filter, .. } => {
                        let values = set.iter().map(|set| &set.value).chain(target).chain(filter);
                        first(context, values, Stability::Immutable, "in DO UPDATE")
                    }
                    ConflictAction::Nothing => None,
                })
            }
            Body::Update(update) if shards.is_spread(&update.target) => {
                write(context, &update.set, update.filter.as_ref(), &update.from, &update.returning)
            }
            Body::Delete(delete) if shards.is_spread(&delete.target) => {
                write(context, &[], delete.filter.as_ref(), &delete.using, &delete.returning)
            }
            Body::Query(query) if part.name.is_some() && writes_beside(context, part.statement) => {
                volatile_cte(context, &shards, query)
            }
            Body::Query(_) | Body::Insert(_) | Body::Update(_) | Body::Delete(_) => None,
        };
        if let Some((expr, place)) = finding {
            let word = match stability(context, expr) {
                Stability::Volatile => "VOLATILE",
                Stability::Stable | Stability::Immutable => "STABLE",
            };
            let message = format!("{}: Citus takes no {word} function {place}", context.name());
            let finding = Diagnostic::error(rule::MOVING_FUNCTION, message, expr.span, format!("is {word}"));
            found.push(finding.help("write it with IMMUTABLE functions and casts, or hand the value in"));
        }
    }
}

type Found<'e> = Option<(&'e Expr, &'static str)>;

/// The first part of these that is less stable than that.
fn first<'e>(
    context: &Context<'_>,
    exprs: impl IntoIterator<Item = &'e Expr>,
    than: Stability,
    place: &'static str,
) -> Found<'e> {
    exprs.into_iter().find_map(|expr| less_stable(context, expr, than)).map(|found| (found, place))
}

fn write<'e>(
    context: &Context<'_>,
    set: &'e [Assignment],
    filter: Option<&'e Expr>,
    from: &'e [Source],
    returning: &'e [OutputColumn],
) -> Found<'e> {
    let on = from.iter().filter_map(|source| source.join.as_ref()?.on.as_ref());
    let exprs: Vec<&Expr> = set.iter().map(|set| &set.value).chain(filter).chain(on).collect();
    first(context, exprs.iter().copied(), Stability::Stable, "in an UPDATE or DELETE")
        .or_else(|| exprs.iter().find_map(|expr| irreducible(context, expr)))
        .or_else(|| {
            let values = returning.iter().map(|column| &column.expr);
            first(context, values, Stability::Immutable, "in RETURNING")
        })
}

/// A STABLE part whose value a row decides.
fn irreducible<'e>(context: &Context<'_>, expr: &'e Expr) -> Found<'e> {
    for part in expr.exprs() {
        if is_choice(part)
            && let Some(found) = less_stable(context, part, Stability::Immutable)
        {
            return Some((found, "in CASE or COALESCE"));
        }
        if stability(context, part) == Stability::Stable && has_column(part) {
            return Some((part, "with a column inside"));
        }
    }
    None
}

fn is_choice(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Case { .. })
        || matches!(&expr.kind, ExprKind::Call { name, .. } if name == "coalesce")
}

/// Whether a column stands in an expression, outside CASE, COALESCE and subqueries, into which nobody looks.
fn has_column(expr: &Expr) -> bool {
    let all = expr.exprs();
    let hidden: Vec<_> = all.iter().filter(|part| is_choice(part) || part.subquery().is_some()).collect();
    let mut columns = all.iter().filter(|part| matches!(part.kind, ExprKind::Column { .. }));
    columns.any(|column| !hidden.iter().any(|part| part.span.contains(column.span)))
}

fn writes_beside(context: &Context<'_>, statement: usize) -> bool {
    let mut parts = context.page.tree.parts.iter().filter(|part| part.statement == statement);
    parts.any(|part| matches!(part.body, Body::Update(_) | Body::Delete(_)))
}

fn volatile_cte<'e>(context: &Context<'_>, shards: &Shards<'_, '_>, query: &'e Query) -> Found<'e> {
    let reads_shards = query.exprs().iter().any(|expr| match &expr.kind {
        ExprKind::Column { source, .. } => context.by_id.get(source).is_some_and(|source| shards.is_spread(source)),
        _ => false,
    });
    let volatile = query.exprs().into_iter().find(|expr| stability(context, expr) == Stability::Volatile);
    volatile.filter(|_| reads_shards).map(|found| (found, "in a CTE beside an UPDATE or DELETE"))
}
