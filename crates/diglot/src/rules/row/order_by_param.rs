//! Rows are ordered by a parameter.

use crate::rules::Context;
use crate::rules::look::bare;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{ExprKind, Part};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for key in context.page.tree.parts.iter().flat_map(Part::queries).flat_map(|query| &query.order) {
        if matches!(bare(&key.expr).kind, ExprKind::Param(_)) {
            let message = format!("{}: ordering by a parameter orders nothing", context.name());
            let finding = Diagnostic::error(rule::ORDER_BY_PARAM, message, key.span, "the same for every row");
            found.push(finding.help("order by columns, or by a CASE over them"));
        }
    }
}
