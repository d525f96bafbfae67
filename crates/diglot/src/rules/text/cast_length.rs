//! A cast has a length.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Cast { to, .. } = &expr.kind else { continue };
        if to.contains("char") && to.contains('(') {
            let message = format!("{}: the cast cuts the text off on Postgres", context.name());
            let finding = Diagnostic::error(rule::CAST_LENGTH, message, expr.span, "SQLite ignores the length");
            found.push(finding.help("write `substr(…, 1, n)`, on both pages"));
        }
    }
}
