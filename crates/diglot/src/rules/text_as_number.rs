//! A text is cast to a number.
//!
//! # What it finds
//!
//! A cast of a text to a number on the Postgres page of a pair: a warning for a column, and for an empty text, which may
//! stand for a missing number; an error for a literal that is written as something else.
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
use super::look::is_integer;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Cast { expr: inner, base: Some(to), .. } = &expr.kind else { continue };
        let is_whole = is_integer(to);
        if !is_whole && !matches!(to, Base::Float64 | Base::Numeric) {
            continue;
        }
        let label = "0 on SQLite where Postgres fails";
        let text = match &inner.kind {
            ExprKind::Text(text) => Some(text.trim()),
            _ => None,
        };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let fits = if is_whole { text.parse::<i64>().is_ok() } else { text.parse::<f64>().is_ok() };
            if !fits {
                let message = format!("{}: `{text}` is written as no such number", context.name());
                let label = "its first digits on SQLite, an error on Postgres";
                let finding = Diagnostic::error(rule::TEXT_AS_NUMBER, message, expr.span, label);
                found.push(finding.help("write the number itself, on both pages"));
            }
        } else if text.is_some() || inner.base() == Some(&Base::Text) && context.column(inner).is_some() {
            let message = format!("{}: a text is cast to a number", context.name());
            let finding = Diagnostic::warning(rule::TEXT_AS_NUMBER, message, expr.span, label);
            found.push(finding.help("keep numbers in a column of numbers, or write `NULLIF(…, '')` inside the cast"));
        }
    }
}
