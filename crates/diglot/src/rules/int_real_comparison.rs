//! A whole number is compared with a fraction.
//!
//! # What it finds
//!
//! A comparison of an integer column with a real column.
//!
//! # Why it bites
//!
//! SQLite compares exactly. Postgres first makes the integer a double, which has 53 bits: beyond 2^53 other numbers
//! are equal to it.
//!
//! # Write instead
//!
//! A CAST that says in which type they are compared.
//!
//! # Example
//!
//! ```text
//! WHERE CAST(n AS DOUBLE PRECISION) = x
//! ```

use super::Context;
use super::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::tree::ExprKind;
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        let are_columns = context.column(left).is_some() && context.column(right).is_some();
        let bases = (left.base(), right.base());
        let mixed = matches!(bases, (Some(Base::Int64), Some(Base::Float64)) | (Some(Base::Float64), Some(Base::Int64)));
        if is_comparison(op) && are_columns && mixed {
            let message = format!("{}: a whole number is compared with a fraction", context.name());
            let label = "exactly on SQLite, in 53 bits on Postgres";
            let finding = Diagnostic::warning("int-real-comparison", message, expr.span, label);
            found.push(finding.help("cast one side to the type that is meant, on both pages"));
        }
    }
}
