//! What SQLite's page computes of one column and holds against a parameter: `strftime('%W', day) = :week`.

use super::reading::Computation;
use diglot::resolve::is_aggregate;
use diglot::source::Sources;
use diglot::tree::{Expr, ExprKind, SourceKind, Statement};

/// All such comparisons of a page.
pub(super) fn of(sources: &Sources, tree: &Statement) -> Vec<Computation> {
    let mut found: Vec<Computation> = Vec::new();
    for expr in tree.exprs() {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        if !matches!(op.as_str(), "=" | "<>" | "<" | "<=" | ">" | ">=" | "is" | "is not") {
            continue;
        }
        for (value, param) in [(left, right), (right, left)] {
            if let ExprKind::Param(param) = &param.bare().kind
                && let Some((column, alias)) = column(tree, value)
            {
                let text = sources.text(value.span).to_owned();
                let computation = Computation { param: param.clone(), column, alias, text };
                if !found.contains(&computation) {
                    found.push(computation);
                }
            }
        }
    }
    found
}

/// The one column of a table of which an expression is computed, row by row, and how the page calls the table.
fn column(tree: &Statement, value: &Expr) -> Option<((String, String), String)> {
    if matches!(value.kind, ExprKind::Column { .. }) {
        return None;
    }
    let mut only: Option<(_, &String)> = None;
    for inner in value.exprs() {
        match &inner.kind {
            ExprKind::Column { source, column } => match only {
                Some(known) if known != (*source, column) => return None,
                _ => only = Some((*source, column)),
            },
            ExprKind::Param(_) | ExprKind::Scalar(_) | ExprKind::Exists { .. } | ExprKind::InQuery { .. } => {
                return None;
            }
            ExprKind::Call { over: Some(_), .. } => return None,
            ExprKind::Call { name, args, .. } if is_aggregate(name, args.len()) => return None,
            _ => {}
        }
    }
    let (source, column) = only?;
    let source = tree.source(source)?;
    let SourceKind::Table(table) = &source.kind else { return None };
    Some(((table.clone(), column.clone()), source.alias.clone()))
}
