//! RETURNING reads the table that is being written.

use crate::rules::Context;
use crate::rules::look::{returning, tables};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::SourceKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
