//! Rows are ordered by a parameter.
//!
//! # What it finds
//!
//! A parameter as a whole key of ORDER BY.
//!
//! # Why it bites
//!
//! A value is the same for every row, so there is no order at all, and no error either: a column's name in a parameter
//! is a text.
//!
//! # Write instead
//!
//! A statement for each order, or a CASE over the columns that may be asked for.
//!
//! # Example
//!
//! ```text
//! ORDER BY CASE :sort WHEN 'age' THEN created_at_ms ELSE priority END, id
//! ```

use super::Context;
use super::look::bare;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{ExprKind, Part};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for key in context.page.tree.parts.iter().flat_map(Part::queries).flat_map(|query| &query.order) {
        if matches!(bare(&key.expr).kind, ExprKind::Param(_)) {
            let message = format!("{}: ordering by a parameter orders nothing", context.name());
            let finding = Diagnostic::error(rule::ORDER_BY_PARAM, message, key.span, "the same for every row");
            found.push(finding.help("order by columns, or by a CASE over them"));
        }
    }
}
