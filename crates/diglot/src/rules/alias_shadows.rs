//! An alias has the name of a column that is grouped by.
//!
//! # What it finds
//!
//! GROUP BY a column whose name is also the alias of another expression of the select list.
//!
//! # Why it bites
//!
//! Both engines group by the column and not by the expression that the reader sees under that name.
//!
//! # Write instead
//!
//! Another alias, or the expression in GROUP BY.
//!
//! # Example
//!
//! ```text
//! SELECT lower(state) AS folded, count(*) FROM job GROUP BY lower(state)
//! ```

use super::Context;
use super::look::selects;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    for select in context.page.tree.parts.iter().flat_map(selects) {
        for key in &select.group {
            let ExprKind::Column { source, column } = &key.kind else { continue };
            let shadow = select.columns.iter().find(|output| {
                let is_it = matches!(&output.expr.kind, ExprKind::Column { source: other, column: name } if other == source && name == column);
                output.name == *column && !is_it
            });
            if let Some(output) = shadow {
                let message = format!("{}: `{column}` is a column and an alias", context.name());
                let finding = Diagnostic::warning(rule::ALIAS_SHADOWS, message, key.span, "the column is grouped by");
                found.push(finding.context(output.span, "not this").help("give the expression another alias"));
            }
        }
    }
}
