//! A number does not fit into 64 bits.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.facing.is_none() {
        return;
    }
    for expr in &context.exprs {
        if let ExprKind::Binary { op, left, right } = &expr.kind
            && let Some(number) = leaving(op, left, right)
        {
            let message = format!("{}: a calculation with {number} leaves 64 bits", context.name());
            let label = "a real number on SQLite, an error on Postgres";
            let finding = Diagnostic::error(rule::HUGE_NUMBER, message, expr.span, label);
            found.push(finding.help("compare with the number less the other operand, which does not leave them"));
        }
        let ExprKind::Number(text) = &expr.kind else { continue };
        if text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_err() {
            let message = format!("{}: the number does not fit into 64 bits", context.name());
            let finding = Diagnostic::error(rule::HUGE_NUMBER, message, expr.span, "another type on each engine");
            found.push(finding.help("write a number that fits, or keep it as bytes"));
        }
    }
}

/// The literal that takes a number above zero out of 64 bits: added, or multiplied by. A number above zero that is taken
/// from it stays inside.
fn leaving(op: &str, left: &Expr, right: &Expr) -> Option<i64> {
    let [ours, theirs] = [left, right].map(far);
    match op {
        "+" => ours.or(theirs).filter(|number| *number > 0),
        "*" => ours.or(theirs),
        "-" => theirs.filter(|number| *number < 0),
        _ => None,
    }
}

/// A literal of 64 bits that takes up half of what they hold.
fn far(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Number(text) => text.parse().ok().filter(|number| *number >= 1_i64 << 62),
        ExprKind::Unary { op, expr } if op == "-" => far(expr).map(|number| -number),
        _ => None,
    }
}
