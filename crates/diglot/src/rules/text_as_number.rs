//! A text is cast to a number.
//!
//! # What it finds
//!
//! A cast of a text literal, or of a text column, to a number on the Postgres page of a pair.
//!
//! # Why it bites
//!
//! SQLite takes the digits at the beginning and gives 0 where there are none; Postgres refuses a text that is not a
//! number as a whole, and an empty one.
//!
//! # Write instead
//!
//! A column that holds numbers; `CAST(NULLIF(x, '') AS BIGINT)` where an empty text is meant to be none.
//!
//! # Example
//!
//! ```text
//! CAST(NULLIF(attempt_text, '') AS BIGINT)
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
        let ExprKind::Cast { expr: inner, base: to, .. } = &expr.kind else { continue };
        let number = matches!(to, Some(Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric));
        if number && may_be_no_number(context, inner) {
            let message = format!("{}: a text is cast to a number", context.name());
            let label = "0 on SQLite where Postgres fails";
            let finding = Diagnostic::warning("text-as-number", message, expr.span, label);
            found.push(finding.help("keep numbers in a column of numbers, or write `NULLIF(…, '')` inside the cast"));
        }
    }
}

fn may_be_no_number(context: &Context<'_>, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Text(text) => text.trim().parse::<f64>().is_err(),
        _ => expr.base() == Some(&Base::Text) && context.column(expr).is_some(),
    }
}
