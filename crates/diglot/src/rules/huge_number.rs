//! A number does not fit into 64 bits.
//!
//! # What it finds
//!
//! An integer literal beyond 64 bits on a page of a pair, and one in a calculation that takes up half of what 64 bits
//! hold.
//!
//! # Why it bites
//!
//! SQLite reads it as a real number and loses digits, Postgres as numeric, which no bigint column takes. Where a sum
//! leaves 64 bits, SQLite goes on with a real number and Postgres fails.
//!
//! # Write instead
//!
//! A number that fits, or bytes.
//!
//! # Example
//!
//! ```text
//! 9223372036854775807
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::tree::{Expr, ExprKind};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.facing.is_none() {
        return;
    }
    for expr in &context.exprs {
        if let ExprKind::Binary { op, left, right } = &expr.kind
            && ["+", "-", "*"].contains(&op.as_str())
            && let Some(number) = [left, right].into_iter().find_map(|side| far(side))
        {
            let message = format!("{}: a calculation with {number} leaves 64 bits", context.name());
            let label = "a real number on SQLite, an error on Postgres";
            let finding = Diagnostic::error("huge-number", message, expr.span, label);
            found.push(finding.help("compare with the number instead, or cast to a type that holds the result"));
        }
        let ExprKind::Number(text) = &expr.kind else { continue };
        if text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_err() {
            let message = format!("{}: the number does not fit into 64 bits", context.name());
            let finding = Diagnostic::error("huge-number", message, expr.span, "another type on each engine");
            found.push(finding.help("write a number that fits, or keep it as bytes"));
        }
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
