//! DO UPDATE does not say which conflict it means.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Body, ConflictAction};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let Body::Insert(insert) = &part.body else { continue };
        let Some(conflict) = &insert.conflict else { continue };
        let is_given = |name: &String| insert.gives(name);
        let is_taken = context.page.tree.dialect == Dialect::Sqlite;
        let is_clear = is_taken && context.target(part).is_some_and(|table| table.only_key(is_given).is_some());
        if !is_clear && conflict.target.is_none() && matches!(conflict.action, ConflictAction::Update { .. }) {
            let message = format!("{}: DO UPDATE does not say which conflict it means", context.name());
            let finding = Diagnostic::error(
                rule::ON_CONFLICT_WITHOUT_TARGET,
                message,
                conflict.span,
                "a conflict with any unique key",
            );
            found.push(finding.help("name the columns of the key: `ON CONFLICT (columns) DO UPDATE`"));
        }
    }
}
