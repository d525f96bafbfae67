//! RETURNING reads the table that is being written.
//!
//! # What it finds
//!
//! A subquery in RETURNING that reads the target of the write.
//!
//! # Why it bites
//!
//! SQLite reads the table after the write, Postgres as it was before the statement.
//!
//! # Write instead
//!
//! A separate statement that reads afterwards, or an expression over the returned row.
//!
//! # Example
//!
//! ```text
//! RETURNING n
//! ```

use super::Context;
use super::look::{returning, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::SourceKind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let Some(SourceKind::Table(target)) = part.target().map(|target| &target.kind) else { continue };
        for expr in returning(part).iter().flat_map(|column| column.expr.exprs()) {
            let reads = expr.subquery().is_some_and(|query| tables(query).iter().any(|(name, _)| name == target));
            if reads && context.facing.is_some() {
                let message = format!("{}: RETURNING reads the table that is being written", context.name());
                let label = "after the write on SQLite, before it on Postgres";
                let finding = Diagnostic::error(rule::RETURNING_READS_TARGET, message, expr.span, label);
                found.push(finding.help("read it in a statement of its own"));
            }
        }
    }
}
