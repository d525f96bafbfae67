//! A value goes into a column that the database numbers.
//!
//! # What it finds
//!
//! An INSERT that names a serial or identity column, on the Postgres page of a pair.
//!
//! # Why it bites
//!
//! AUTOINCREMENT takes notice of the given number and goes on behind it. A sequence does not: it comes to that number
//! later and the INSERT fails; a column GENERATED ALWAYS refuses the value at once.
//!
//! # Write instead
//!
//! The column left out. After a restore, `setval` on Postgres.
//!
//! # Example
//!
//! ```text
//! INSERT INTO event (kind) VALUES (:kind) RETURNING event_id
//! ```

use super::Context;
use super::look::inserted;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::schema::Fill;
use crate::tree::ExprKind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Some(table) = context.target(part) else { continue };
        for (name, value) in inserted(part) {
            let numbered = table.column(name).is_some_and(|column| column.fill == Fill::Numbered);
            // DEFAULT asks for the next number.
            let is_given = !matches!(&value.kind, ExprKind::Null | ExprKind::Opaque(_));
            if numbered && is_given {
                let message = format!("{}: `{}.{name}` is numbered by the database", context.name(), table.name);
                let label = "the sequence of Postgres does not know of it";
                let finding = Diagnostic::error(rule::EXPLICIT_NUMBER, message, value.span, label);
                found.push(finding.help("leave the column out of the INSERT, on both pages"));
                break;
            }
        }
    }
}
