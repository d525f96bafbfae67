//! A row is asked for its state and locked for its key alone.

use crate::rules::Context;
use crate::rules::look::{asked, branches, split};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Lock, Query, Source};

/// The lock that keeps a key alone.
pub(in crate::rules) const KEY_ALONE: &str = "key share";

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for query in context.page.tree.parts.iter().flat_map(|part| part.queries()) {
        for lock in query.locks.iter().filter(|lock| lock.strength == KEY_ALONE) {
            let Some((table, column)) = asked_beside_key(context, query, lock) else { continue };
            let message = format!("{}: `{table}.{column}` is asked for and may change under the lock", context.name());
            let finding = Diagnostic::warning(rule::WEAK_LOCK, message, lock.span, "keeps the key alone");
            found.push(finding.help("write FOR SHARE, which lets nobody change the row before the transaction ends"));
        }
    }
}

/// A column beside the key for which conditions ask of what a lock takes.
fn asked_beside_key(context: &Context<'_>, query: &Query, lock: &Lock) -> Option<(String, String)> {
    let mut selects = Vec::new();
    branches(&query.rows, &mut selects);
    let is_locked = |source: &&Source| lock.of.is_empty() || lock.of.contains(&source.alias);
    selects.into_iter().find_map(|select| {
        let mut conditions = Vec::new();
        split(select.filter.as_ref(), &mut conditions);
        select.from.iter().filter(is_locked).find_map(|source| {
            let table = context.table(source.id)?;
            let is_beside = |column: &&str| !table.keys().any(|key| key.iter().any(|name| name == column));
            let column = asked(conditions.iter().copied(), source.id).find(is_beside)?;
            Some((table.name.clone(), column.to_owned()))
        })
    })
}
