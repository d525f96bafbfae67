//! Rows are locked on more than one shard.

use crate::rules::Context;
use crate::rules::look::branches;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Part, Source};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        let Some(lock) = query.locks.first() else { continue };
        let mut selects = Vec::new();
        branches(&query.rows, &mut selects);
        let from = selects.into_iter().flat_map(|select| &select.from);
        let spread: Vec<&Source> = from.filter(|source| shards.is_spread(source)).collect();
        let first = spread.first().and_then(|source| shards.pin(source));
        if let Some(source) = spread.iter().find(|source| first.is_none() || shards.pin(source) != first) {
            let message = format!("{}: `{}` is locked, and not on one shard", context.name(), source.alias);
            let finding = Diagnostic::error(rule::LOCK_ON_SHARDS, message, lock.span, "taken on one shard alone");
            let finding = finding.context(source.span, format!("`{}` has not one value for all", shards.key()));
            found.push(finding.help("find the rows without a lock, then take each on its shard by its key"));
        }
    }
}
