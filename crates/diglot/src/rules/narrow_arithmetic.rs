//! A calculation has 32 bits on Postgres.
//!
//! # What it finds
//!
//! A product on the Postgres page of a pair of which every operand has 32 bits or less; a calculation with two literals of
//! 32 bits whose result has more.
//!
//! # Why it bites
//!
//! Postgres calculates in the type of the operands and fails beyond two thousand million, even if the result goes into
//! a bigint. SQLite calculates and stores in 64 bits.
//!
//! # Write instead
//!
//! A bigint column for what counts, or measures time or size; otherwise a cast of one operand.
//!
//! # Example
//!
//! ```text
//! CAST(ttl_s AS BIGINT) * 1000
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        if let Some(value) = of_literals(op, left, right)
            && i32::try_from(value).is_err()
        {
            let message = format!("{}: {value} does not fit into the 32 bits of its literals", context.name());
            let finding = Diagnostic::error("narrow-arithmetic", message, expr.span, "fails where SQLite goes on");
            found.push(finding.help("write the number itself, on both pages"));
            continue;
        }
        let column = context.column(left).is_some() || context.column(right).is_some();
        if op == "*" && is_narrow(left) && is_narrow(right) && column {
            let message = format!("{}: the product has 32 bits on Postgres", context.name());
            let label = "fails where SQLite goes on";
            let finding = Diagnostic::error("narrow-arithmetic", message, expr.span, label);
            found.push(finding.help("cast one operand: `CAST(… AS BIGINT)`, on both pages"));
        }
    }
}

fn is_few_bits(base: &Base) -> bool {
    matches!(base, Base::Int16 | Base::Int32)
}

fn is_narrow(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Number(text) => text.parse::<i32>().is_ok(),
        _ => expr.ty.as_ref().is_some_and(|ty| is_few_bits(&ty.base)),
    }
}

/// The result of a calculation with two literals that have 32 bits each.
fn of_literals(op: &str, left: &Expr, right: &Expr) -> Option<i64> {
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Number(text) => text.parse::<i32>().ok().map(i64::from),
        _ => None,
    };
    let (left, right) = (number(left)?, number(right)?);
    match op {
        "+" => Some(left + right),
        "-" => Some(left - right),
        "*" => Some(left * right),
        _ => None,
    }
}
