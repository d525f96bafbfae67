//! A calculation has 32 bits on Postgres.
//!
//! # What it finds
//!
//! A product on the Postgres page of a pair of which every operand has 32 bits or less.
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
