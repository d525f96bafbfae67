//! A member is set in a document that may be NULL.

use crate::rules::Context;
use crate::rules::look::bare;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for (table, name, value) in context.stored() {
        let lost = changed(value).filter(|document| {
            let own = matches!(&document.kind, ExprKind::Column { column, .. } if column == name);
            own && document.ty.as_ref().is_some_and(|ty| ty.base == Base::Json && ty.nullable)
        });
        if let Some(document) = lost {
            let message = format!("{}: `{}.{name}` may be NULL when a member is set", context.name(), table.name);
            let label = "NULL stays NULL, and the member is lost";
            let finding = Diagnostic::warning(rule::NULL_DOCUMENT, message, document.span, label);
            found.push(finding.help(format!("write `COALESCE({name}, '{{}}')`, on both pages")));
        }
    }
}

/// The document to which an expression adds members.
fn changed(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Binary { op, left, .. } = &bare(expr).kind else { return None };
    let document = (op == "||").then_some(left)?;
    changed(document).or_else(|| Some(bare(document)))
}
