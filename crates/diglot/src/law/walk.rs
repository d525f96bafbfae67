//! A way through a tree that may change what it meets: what is inside first.

use crate::tree::{
    Body, ConflictAction, Expr, ExprKind, OrderKey, OutputColumn, Query, Rows, Select, Source, SourceKind,
};

type OnQuery<'w> = &'w mut dyn FnMut(&mut Query);
type OnExpr<'w> = &'w mut dyn FnMut(&mut Expr);

/// Every query and every expression of a part.
pub(super) fn body(body: &mut Body, on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    match body {
        Body::Query(whole) => query(whole, on_query, on_expr),
        Body::Insert(insert) => {
            query(&mut insert.rows, on_query, on_expr);
            if let Some(conflict) = &mut insert.conflict {
                maybe(conflict.target_filter.as_mut(), on_query, on_expr);
                if let ConflictAction::Update { set, filter, .. } = &mut conflict.action {
                    set.iter_mut().for_each(|assignment| expr(&mut assignment.value, on_query, on_expr));
                    maybe(filter.as_mut(), on_query, on_expr);
                }
            }
            columns(&mut insert.returning, on_query, on_expr);
        }
        Body::Update(update) => {
            update.set.iter_mut().for_each(|assignment| expr(&mut assignment.value, on_query, on_expr));
            sources(&mut update.from, on_query, on_expr);
            maybe(update.filter.as_mut(), on_query, on_expr);
            columns(&mut update.returning, on_query, on_expr);
        }
        Body::Delete(delete) => {
            sources(&mut delete.using, on_query, on_expr);
            maybe(delete.filter.as_mut(), on_query, on_expr);
            columns(&mut delete.returning, on_query, on_expr);
        }
    }
}

pub(super) fn query(whole: &mut Query, on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    whole.ctes.iter_mut().for_each(|(_, cte)| query(cte, on_query, on_expr));
    rows(&mut whole.rows, on_query, on_expr);
    order(&mut whole.order, on_query, on_expr);
    maybe(whole.limit.as_mut(), on_query, on_expr);
    maybe(whole.offset.as_mut(), on_query, on_expr);
    on_query(whole);
}

fn rows(all: &mut Rows, on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    match all {
        Rows::Select(one) => select(one, on_query, on_expr),
        Rows::Values(values, _) => values.iter_mut().flatten().for_each(|value| expr(value, on_query, on_expr)),
        Rows::Set { left, right, .. } => {
            rows(left, on_query, on_expr);
            rows(right, on_query, on_expr);
        }
        Rows::Query(inner) => query(inner, on_query, on_expr),
    }
}

fn select(one: &mut Select, on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    if let Some((keys, _)) = &mut one.distinct {
        keys.iter_mut().for_each(|key| expr(key, on_query, on_expr));
    }
    columns(&mut one.columns, on_query, on_expr);
    sources(&mut one.from, on_query, on_expr);
    maybe(one.filter.as_mut(), on_query, on_expr);
    one.group.iter_mut().for_each(|key| expr(key, on_query, on_expr));
    maybe(one.having.as_mut(), on_query, on_expr);
}

fn sources(all: &mut [Source], on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    for source in all {
        match &mut source.kind {
            SourceKind::Derived(inner) => query(inner, on_query, on_expr),
            SourceKind::Function { args, .. } => args.iter_mut().for_each(|arg| expr(arg, on_query, on_expr)),
            SourceKind::Table(_) | SourceKind::Cte(_) | SourceKind::Rows(_) | SourceKind::Excluded => {}
        }
        maybe(source.join.as_mut().and_then(|join| join.on.as_mut()), on_query, on_expr);
    }
}

fn columns(all: &mut [OutputColumn], on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    all.iter_mut().for_each(|column| expr(&mut column.expr, on_query, on_expr));
}

fn order(keys: &mut [OrderKey], on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    keys.iter_mut().for_each(|key| expr(&mut key.expr, on_query, on_expr));
}

fn maybe(one: Option<&mut Expr>, on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    if let Some(one) = one {
        expr(one, on_query, on_expr);
    }
}

/// Every query and every expression in an expression, and the expression itself.
pub(super) fn expr(one: &mut Expr, on_query: OnQuery<'_>, on_expr: OnExpr<'_>) {
    use ExprKind as K;
    match &mut one.kind {
        K::Param(_) | K::Null | K::Bool(_) | K::Number(_) | K::Text(_) | K::Blob(_) => {}
        K::Column { .. } | K::Opaque(_) => {}
        K::Unary { expr: inner, .. }
        | K::Is { expr: inner, .. }
        | K::Cast { expr: inner, .. }
        | K::Collate { expr: inner, .. } => expr(inner, on_query, on_expr),
        K::Binary { left, right, .. } | K::Any { left, right, .. } => {
            expr(left, on_query, on_expr);
            expr(right, on_query, on_expr);
        }
        K::Between { expr: inner, low, high, .. } => {
            [inner, low, high].into_iter().for_each(|value| expr(value, on_query, on_expr));
        }
        K::InList { expr: inner, list, .. } => {
            expr(inner, on_query, on_expr);
            list.iter_mut().for_each(|item| expr(item, on_query, on_expr));
        }
        K::InQuery { expr: inner, query: list, .. } => {
            expr(inner, on_query, on_expr);
            query(list, on_query, on_expr);
        }
        K::Exists { query: inner, .. } | K::Scalar(inner) => query(inner, on_query, on_expr),
        K::Like { expr: inner, pattern, .. } => {
            expr(inner, on_query, on_expr);
            expr(pattern, on_query, on_expr);
        }
        K::Call { args, order: keys, filter, over, .. } => {
            args.iter_mut().for_each(|arg| expr(arg, on_query, on_expr));
            order(keys, on_query, on_expr);
            maybe(filter.as_deref_mut(), on_query, on_expr);
            if let Some(window) = over {
                window.partition.iter_mut().for_each(|key| expr(key, on_query, on_expr));
                order(&mut window.order, on_query, on_expr);
                window.bounds.iter_mut().for_each(|bound| expr(bound, on_query, on_expr));
            }
        }
        K::Case { operand, branches, otherwise } => {
            maybe(operand.as_deref_mut(), on_query, on_expr);
            for (condition, value) in branches {
                expr(condition, on_query, on_expr);
                expr(value, on_query, on_expr);
            }
            maybe(otherwise.as_deref_mut(), on_query, on_expr);
        }
        K::Array(items) | K::Tuple(items) => items.iter_mut().for_each(|item| expr(item, on_query, on_expr)),
    }
    on_expr(one);
}
