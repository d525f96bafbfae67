//! A member is set in a document that may be NULL.
//!
//! # What it finds
//!
//! On the Postgres page of a pair: `||` over a JSON column that may be NULL, assigned to that column.
//!
//! # Why it bites
//!
//! NULL with a member is NULL, on both engines: the row counts as changed, and what was to be written is lost.
//!
//! # Write instead
//!
//! `COALESCE(raw, '{}')` inside, on both pages, or NOT NULL with a default in both schemas.
//!
//! # Example
//!
//! ```text
//! SET raw = COALESCE(raw, '{}') || jsonb_build_object('owner', CAST(:owner AS text))
//! ```

use super::Context;
use super::look::bare;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
