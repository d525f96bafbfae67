//! When a trigger fires.

use super::statement::Rows;
use crate::tree::{Expr, ExprKind, Part, Statement};

/// Whether a trigger's WHEN may hold for a row, by the literals that are written into it.
pub(super) fn may_hold(condition: &Statement, rows: &Rows<'_>, event: &str) -> bool {
    let outputs = condition.parts.last().map(Part::exprs).unwrap_or_default();
    let Some(expr) = outputs.first() else { return true };
    truth(expr, rows, event) != Some(false)
}

fn truth(expr: &Expr, rows: &Rows<'_>, event: &str) -> Option<bool> {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "and" => {
            match (truth(left, rows, event), truth(right, rows, event)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            }
        }
        ExprKind::Binary { op, left, right } if op == "or" => {
            match (truth(left, rows, event), truth(right, rows, event)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            }
        }
        ExprKind::Binary { op, left, right } if op == "=" || op == "<>" => {
            let same = literal(left, rows, event)? == literal(right, rows, event)?;
            Some(same == (op == "="))
        }
        ExprKind::InList { expr, list, negated } => {
            let value = literal(expr, rows, event)?;
            let items = list.iter().map(|item| literal(item, rows, event)).collect::<Option<Vec<_>>>()?;
            Some(items.contains(&value) != *negated)
        }
        ExprKind::Tuple(items) if items.len() == 1 => truth(&items[0], rows, event),
        _ => None,
    }
}

/// The literal that an expression over the trigger's row is.
fn literal<'e>(expr: &'e Expr, rows: &Rows<'e>, event: &str) -> Option<&'e str> {
    match &expr.bare().kind {
        ExprKind::Text(text) | ExprKind::Number(text) => Some(text),
        ExprKind::Param(name) if event != "delete" => {
            let value = rows.written.get(name.strip_prefix("new__")?)?;
            match &value.bare().kind {
                ExprKind::Text(text) | ExprKind::Number(text) => Some(text),
                _ => None,
            }
        }
        _ => None,
    }
}
