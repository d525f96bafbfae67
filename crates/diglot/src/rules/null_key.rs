//! NULL goes into a key.
//!
//! # What it finds
//!
//! An INSERT of NULL into a column of the primary key.
//!
//! # Why it bites
//!
//! SQLite makes a row id of it in one kind of table and stores NULL in another; Postgres refuses it.
//!
//! # Write instead
//!
//! The column left out where the database numbers rows, a value otherwise.
//!
//! # Example
//!
//! ```text
//! INSERT INTO event (kind) VALUES (:kind)
//! ```

use super::Context;
use super::look::inserted;
use crate::diagnostic::Diagnostic;
use crate::tree::ExprKind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let Some(table) = context.target(part) else { continue };
        for (column, value) in inserted(part) {
            if matches!(value.kind, ExprKind::Null) && table.primary_key.iter().any(|key| key == column) {
                let message = format!("{}: NULL goes into the key `{}.{column}`", context.name(), table.name);
                let finding = Diagnostic::error("null-key", message, value.span, "refused by Postgres alone");
                found.push(finding.help("leave the column out, or give a value"));
            }
        }
    }
}
