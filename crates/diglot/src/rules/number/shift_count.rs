//! A shift may be by more bits than there are.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        if op != "<<" && op != ">>" {
            continue;
        }
        let width = if matches!(left.base(), Some(Base::Int16 | Base::Int32)) { 32 } else { 64 };
        let label = "0 on SQLite, begins anew on Postgres";
        match written(right) {
            Some(bits) if (0..width).contains(&bits) => {}
            Some(bits) => {
                let message = format!("{}: a shift by {bits} has other bits on each engine", context.name());
                let finding = Diagnostic::error(rule::SHIFT_COUNT, message, expr.span, label);
                found.push(finding.help(format!("shift by 0 to {} bits, on both pages", width - 1)));
            }
            None if is_bounded(right) || fits(context, expr, right, width) => {}
            None => {
                let message = format!("{}: the shift may be by more bits than there are", context.name());
                let finding = Diagnostic::error(rule::SHIFT_COUNT, message, expr.span, label);
                let finding = finding.help("bound the count by a CASE, on both pages");
                let setting = context.range_help(right, (0, width - 1));
                found.push(setting.into_iter().fold(finding, Diagnostic::help));
            }
        }
    }
}

/// The count, where it is written.
fn written(count: &Expr) -> Option<i64> {
    match &count.kind {
        ExprKind::Number(text) => text.parse().ok(),
        ExprKind::Unary { op, expr } if op == "-" => Some(-written(expr)?),
        ExprKind::Cast { expr, .. } => written(expr),
        _ => None,
    }
}

/// Whether it lies inside of the width, as far as is known.
fn fits(context: &Context<'_>, shift: &Expr, count: &Expr, width: i64) -> bool {
    let bounds = context.bounds_where(count, &context.held(shift));
    bounds.is_some_and(|bounds| bounds.least >= 0 && bounds.most < width.into())
}

/// A literal below the width, or the lesser of such a literal and something.
fn is_bounded(count: &Expr) -> bool {
    match &count.kind {
        ExprKind::Number(text) => text.parse::<u8>().is_ok_and(|bits| bits < 32),
        ExprKind::Call { name, args, .. } => name == "least" && args.iter().any(is_bounded),
        ExprKind::Case { otherwise: Some(otherwise), .. } => is_bounded(otherwise),
        ExprKind::Cast { expr, .. } => is_bounded(expr),
        _ => false,
    }
}
