//! Whether a text of one page can be written on the other one.

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::facts::Kind;
use crate::infer::PageOf;
use crate::operations::{Sense, sense};
use crate::source::{Sources, Span};
use crate::tree::{Body, ConflictAction, Expr, ExprKind, Part, SourceKind};
use crate::types::Base;

/// Whether what stands at a place reads on the facing page as it does on its own: its words are known there, and its
/// names are those of something that is there.
pub(super) fn fits(sources: &Sources, kind: Kind, from: &PageOf<'_>, to: &PageOf<'_>, place: Span) -> bool {
    if is_denied(from, place) {
        return false;
    }
    let Some(expr) = expr_at(from, place) else { return true };
    let is_read = |inner: &Expr| match &inner.kind {
        // In the SET of an upsert a bare name is one of two rows.
        ExprKind::Column { .. } if kind == Kind::Set && to.tree.parts.iter().any(updates_on_conflict) => {
            sources.text(inner.span).contains('.') && is_there(from, to, inner)
        }
        ExprKind::Column { .. } => is_there(from, to, inner),
        ExprKind::Scalar(_) | ExprKind::InQuery { .. } | ExprKind::Exists { .. } => false,
        ExprKind::Binary { op, .. } if op == "is" || op == "is not" => to.tree.dialect == Dialect::Sqlite,
        // A flag stands beside a number on one engine and beside a truth value on the other.
        ExprKind::Binary { left, right, .. } if [left, right].iter().any(|side| is_flag_on_one(from, to, side)) => {
            [left, right].iter().all(|side| matches!(side.kind, ExprKind::Column { .. }))
        }
        // One engine drops the fraction, the other one rounds.
        ExprKind::Cast { expr, base: Some(Base::Int16 | Base::Int32 | Base::Int64), .. } => {
            !matches!(expr.base(), Some(Base::Float64 | Base::Numeric))
        }
        _ => !matches!(sense(to.tree.dialect, inner, &BTreeSet::new()), Some(Sense::Unknown(_))),
    };
    expr.exprs().into_iter().all(is_read)
}

/// Whether two places hold the same piece of a clause: a value each, or a value with its name each, a range each or none.
/// What joins a table is shown in part alone.
pub(super) fn are_alike(kind: Kind, from: (&PageOf<'_>, Span), to: (&PageOf<'_>, Span)) -> bool {
    if kind == Kind::Join {
        return false;
    }
    let is_value = |(page, place): (&PageOf<'_>, Span)| expr_at(page, place).is_some();
    let is_range = |(page, place): (&PageOf<'_>, Span)| {
        expr_at(page, place).is_some_and(|expr| matches!(expr.kind, ExprKind::Between { .. }))
    };
    is_range(from) == is_range(to) && (!matches!(kind, Kind::Set | Kind::Columns) || is_value(from) == is_value(to))
}

fn expr_at<'t>(page: &PageOf<'t>, place: Span) -> Option<&'t Expr> {
    page.tree.exprs().into_iter().find(|expr| expr.span == place)
}

/// Whether a place stands below a NOT, which decides with it what the page says.
fn is_denied(page: &PageOf<'_>, place: Span) -> bool {
    page.tree.exprs().into_iter().any(|expr| match &expr.kind {
        ExprKind::Unary { op, expr: inner } => op == "not" && inner.span.contains(place),
        _ => false,
    })
}

fn updates_on_conflict(part: &Part) -> bool {
    let Body::Insert(insert) = &part.body else { return false };
    insert.conflict.as_ref().is_some_and(|conflict| matches!(conflict.action, ConflictAction::Update { .. }))
}

/// Whether the facing page calls a source by the same name that has such a column.
fn is_there(from: &PageOf<'_>, to: &PageOf<'_>, column: &Expr) -> bool {
    let ExprKind::Column { source, column } = &column.kind else { return true };
    // What a derived table is called outside of it has another name inside, where the other page may ask for it.
    let Some(own) = from.tree.source(*source).filter(|own| matches!(own.kind, SourceKind::Table(_))) else {
        return false;
    };
    let has = |columns: &[(String, Option<crate::types::Type>)]| columns.iter().any(|(name, _)| name == column);
    to.tree.sources().into_iter().any(|other| other.alias == own.alias && has(&other.columns))
}

/// Whether a column is a truth value on one page alone.
fn is_flag_on_one(from: &PageOf<'_>, to: &PageOf<'_>, expr: &Expr) -> bool {
    let ExprKind::Column { source, column } = &expr.kind else { return false };
    let Some(own) = from.tree.source(*source) else { return false };
    let facing = to.tree.sources().into_iter().filter(|other| other.alias == own.alias);
    let mut theirs = facing.flat_map(|other| &other.columns).filter(|(name, _)| name == column);
    let is_flag = |base: Option<&Base>| base == Some(&Base::Bool);
    theirs.any(|(_, ty)| is_flag(ty.as_ref().map(|ty| &ty.base)) != is_flag(expr.base()))
}
