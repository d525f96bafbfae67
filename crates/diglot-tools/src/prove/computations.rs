//! What SQLite's page computes of one place and holds against another one: `strftime('%W', day) = :week`.

use super::reading::Computation;
use super::uses::Key;
use diglot::resolve::is_aggregate;
use diglot::source::{Sources, Span};
use diglot::tree::{Expr, ExprKind, SourceKind, Statement};

/// All such comparisons of a page.
pub(super) fn of(sources: &Sources, tree: &Statement) -> Vec<Computation> {
    let mut found: Vec<Computation> = Vec::new();
    for expr in tree.exprs() {
        let held: Vec<(&Expr, &Expr)> = match &expr.kind {
            ExprKind::Binary { op, left, right }
                if matches!(op.as_str(), "=" | "<>" | "<" | "<=" | ">" | ">=" | "is" | "is not") =>
            {
                vec![(&**left, &**right)]
            }
            ExprKind::Between { expr, low, high, .. } => vec![(&**expr, &**low), (&**expr, &**high)],
            _ => continue,
        };
        for (value, other) in held.into_iter().flat_map(|(left, right)| [(left, right), (right, left)]) {
            if let Some((against, (of, pieces))) = place(tree, other.bare()).zip(computed(sources, tree, value)) {
                let computation = Computation { of, against, pieces };
                if !found.contains(&computation) {
                    found.push(computation);
                }
            }
        }
    }
    found
}

/// A parameter or a column of a table by itself.
fn place(tree: &Statement, expr: &Expr) -> Option<Key> {
    match &expr.kind {
        ExprKind::Param(name) => Some(Key::Param(name.clone())),
        ExprKind::Column { source, column } => match &tree.source(*source)?.kind {
            SourceKind::Table(table) => Some(Key::Column(table.clone(), column.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// The one place of which an expression is computed, row by row, and the text around it.
fn computed(sources: &Sources, tree: &Statement, value: &Expr) -> Option<(Key, Vec<String>)> {
    if place(tree, value).is_some() {
        return None;
    }
    let mut only = None;
    let mut spans: Vec<Span> = Vec::new();
    for inner in value.exprs() {
        match &inner.kind {
            ExprKind::Column { .. } | ExprKind::Param(_) => {
                let row = if let ExprKind::Column { source, .. } = &inner.kind { Some(*source) } else { None };
                let found = (place(tree, inner)?, row);
                if *only.get_or_insert(found.clone()) != found || !value.span.contains(inner.span) {
                    return None;
                }
                spans.push(inner.span);
            }
            ExprKind::Scalar(_) | ExprKind::Exists { .. } | ExprKind::InQuery { .. } => return None,
            ExprKind::Call { over: Some(_), .. } => return None,
            ExprKind::Call { name, args, .. } if is_aggregate(name, args.len()) => return None,
            _ => {}
        }
    }
    spans.sort_by_key(|span| span.start);
    let starts = std::iter::once(value.span.start).chain(spans.iter().map(|span| span.end));
    let ends = spans.iter().map(|span| span.start).chain([value.span.end]);
    let piece = |(start, end)| sources.text(Span { start, end, ..value.span }).to_owned();
    Some((only?.0, starts.zip(ends).map(piece).collect()))
}
