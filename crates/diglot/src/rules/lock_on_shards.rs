//! Rows are locked on more than one shard.
//!
//! # What it finds
//!
//! With `distributed`, on the Postgres page: FOR UPDATE and the like in a query that reads tables that are spread without
//! pinning their keys to one value.
//!
//! # Why it bites
//!
//! Citus refuses it when it is planned: a row lock is taken on one shard alone.
//!
//! # Write instead
//!
//! Find the rows without a lock, and take each on its shard by a statement that asks again for what was found.
//!
//! # Example
//!
//! ```text
//! WHERE job.part = :part AND job.id = :id AND job.state = 'waiting' FOR UPDATE SKIP LOCKED
//! ```

use super::Context;
use super::look::branches;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Part, Source};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
