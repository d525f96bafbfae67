//! A text goes into a column of numbers.
//!
//! # What it finds
//!
//! An INSERT or an assignment of a text literal to a column of numbers; as a warning when the text is a number.
//!
//! # Why it bites
//!
//! Postgres refuses a text that is no number. SQLite keeps it as it is, where a CHECK such as `n > 0` lets it pass:
//! any text is greater than any number.
//!
//! # Write instead
//!
//! A number without quotes.
//!
//! # Example
//!
//! ```text
//! INSERT INTO job (priority) VALUES (42)
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for (table, name, value) in context.stored() {
        let ExprKind::Text(text) = &value.kind else { continue };
        let Some(column) = table.column(name) else { continue };
        if !matches!(column.ty.base, Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric) {
            continue;
        }
        let message = format!("{}: a text goes into the number `{}.{name}`", context.name(), table.name);
        let help = "write the number without quotes, on both pages";
        found.push(match text.trim().parse::<f64>() {
            Ok(_) => Diagnostic::warning(rule::TEXT_INTO_NUMBER, message, value.span, "a number in quotes").help(help),
            Err(_) => {
                let label = "kept by SQLite, refused by Postgres";
                Diagnostic::error(rule::TEXT_INTO_NUMBER, message, value.span, label).help(help)
            }
        });
    }
}
