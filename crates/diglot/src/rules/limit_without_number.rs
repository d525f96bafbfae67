//! A LIMIT may be something else than a number.
//!
//! # What it finds
//!
//! A LIMIT or OFFSET by a parameter that is declared nullable, or of another type than an integer.
//!
//! # Why it bites
//!
//! For NULL Postgres takes no limit and SQLite reports a wrong type; a text is converted by SQLite and refused by
//! Postgres.
//!
//! # Write instead
//!
//! A parameter that is never NULL; for no limit, a number that is large enough.
//!
//! # Example
//!
//! ```text
//! -- param: page_size i64
//! ```

use super::Context;
use super::look::is_integer;
use crate::diagnostic::Diagnostic;
use crate::tree::{ExprKind, Part};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        for value in [&query.limit, &query.offset].into_iter().flatten() {
            let ExprKind::Param(name) = &value.kind else { continue };
            let declared = context.declared(name);
            if declared.is_some_and(|ty| ty.nullable || !is_integer(&ty.base)) {
                let message = format!("{}: `:{name}` may be something else than a number", context.name());
                let finding = Diagnostic::error("limit-without-number", message, value.span, "limits the rows");
                found.push(finding.help(format!("declare it as one: `-- param: {name} i64`")));
            }
        }
    }
}
