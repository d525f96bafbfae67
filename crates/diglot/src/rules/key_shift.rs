//! A unique column is counted up or down in place.
//!
//! # What it finds
//!
//! An UPDATE that assigns a column of a key from itself, such as `pos = pos - 1`.
//!
//! # Why it bites
//!
//! Both engines check the key row by row, in an order that is the key's on SQLite and the storage's on Postgres: one
//! succeeds where the other finds a double.
//!
//! # Write instead
//!
//! Two statements by way of negative numbers, or a constraint that is DEFERRABLE on Postgres.
//!
//! # Example
//!
//! ```text
//! UPDATE item SET pos = -pos WHERE list = :list;
//! UPDATE item SET pos = -pos - 1 WHERE list = :list
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, ExprKind};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let (Body::Update(update), Some(table)) = (&part.body, context.target(part)) else { continue };
        for set in &update.set {
            let in_key = table.keys().any(|key| key.contains(&set.column));
            let own = |expr: &crate::tree::Expr| matches!(&expr.kind, ExprKind::Column { source, column } if *column == set.column && *source == update.target.id);
            let shifted = match &set.value.kind {
                ExprKind::Binary { op, left, right } => (op == "+" || op == "-") && (own(left) || own(right)),
                _ => false,
            };
            if in_key && shifted {
                let message = format!("{}: the key `{}.{}` is moved in place", context.name(), table.name, set.column);
                let label = "which row comes first decides whether it succeeds";
                let finding = Diagnostic::warning(rule::KEY_SHIFT, message, set.span, label);
                found.push(finding.help("move the rows away first, in a statement of its own"));
            }
        }
    }
}
