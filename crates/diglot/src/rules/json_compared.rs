//! A JSON document is compared as a whole.
//!
//! # What it finds
//!
//! `=` or `<>` with a jsonb column on the Postgres page of a pair.
//!
//! # Why it bites
//!
//! Postgres compares what the documents say, SQLite their letters: order of keys, spaces and the spelling of numbers
//! count there.
//!
//! # Write instead
//!
//! A comparison of the member that matters, or of a text that the caller builds.
//!
//! # Example
//!
//! ```text
//! WHERE json_extract(raw, '$.kind') = 'claim'    -- SQLite
//! WHERE raw ->> 'kind' = 'claim'                 -- Postgres
//! ```

use super::Context;
use super::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::tree::ExprKind;
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        let is_document = |expr| context.column(expr).is_some_and(|(_, column)| column.ty.base == Base::Json);
        if is_comparison(op) && (is_document(left) || is_document(right)) {
            let message = format!("{}: SQLite compares JSON by its letters", context.name());
            let finding = Diagnostic::error("json-compared", message, expr.span, "Postgres compares what it says");
            found.push(finding.help("compare the member that matters, on both pages"));
        }
    }
}
