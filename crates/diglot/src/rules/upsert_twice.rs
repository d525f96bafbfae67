//! An upsert names one key twice.
//!
//! # What it finds
//!
//! Two rows of VALUES with the same values for the target of ON CONFLICT DO UPDATE.
//!
//! # Why it bites
//!
//! Postgres refuses to change a row a second time in one statement. SQLite applies both.
//!
//! # Write instead
//!
//! One row for each key, or one statement after the other.
//!
//! # Example
//!
//! ```text
//! VALUES ('a', 1), ('b', 2) ON CONFLICT (k) DO UPDATE SET n = excluded.n
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, Rows};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Body::Insert(insert) = &part.body else { continue };
        let (Rows::Values(rows, _), Some(conflict)) = (&insert.rows.rows, &insert.conflict) else { continue };
        let (ConflictAction::Update { .. }, Some(target)) = (&conflict.action, &conflict.target) else { continue };
        let place = |name: &String| insert.columns.iter().position(|(column, _)| column == name);
        let Some(places) = target.iter().map(place).collect::<Option<Vec<_>>>() else { continue };
        let mut seen = Vec::new();
        for row in rows {
            let values: Option<Vec<&Expr>> = places.iter().map(|at| row.get(*at)).collect();
            let Some(values) = values.filter(|values| !values.is_empty()) else { continue };
            let Some(key) = values.iter().map(|value| fixed(&value.kind)).collect::<Option<Vec<_>>>() else { continue };
            if seen.contains(&key) {
                let message = format!("{}: two rows of the upsert have one key", context.name());
                let finding = Diagnostic::error(rule::UPSERT_TWICE, message, values[0].span, "the same key again");
                found.push(finding.help("write one row for each key, on both pages"));
            }
            seen.push(key);
        }
    }
}

/// What a value is that is the same wherever it stands.
fn fixed(kind: &ExprKind) -> Option<(&'static str, &str)> {
    match kind {
        ExprKind::Number(text) => Some(("number", text)),
        ExprKind::Text(text) => Some(("text", text)),
        ExprKind::Param(name) => Some(("parameter", name)),
        _ => None,
    }
}
