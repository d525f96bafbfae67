//! Rows are locked on more than one shard.
//!
//! # What it finds
//!
//! With `distributed`, on the Postgres page: FOR UPDATE and the like in a query that reads a table that is spread
//! without pinning its key, or a local table beside it.
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
use crate::config::Placement;
use crate::diagnostic::Diagnostic;
use crate::tree::Part;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        let Some(lock) = query.locks.first() else { continue };
        let mut selects = Vec::new();
        branches(&query.rows, &mut selects);
        let sources: Vec<_> = selects.into_iter().flat_map(|select| &select.from).collect();
        let spread = || sources.iter().filter(|source| shards.is_spread(source));
        let loose = spread().find(|source| shards.pin(source).is_none()).or_else(|| {
            let local = sources.iter().find(|source| shards.placement(source) == Some(Placement::Local))?;
            spread().next().map(|_| local)
        });
        if let Some(source) = loose {
            let message = format!("{}: `{}` is locked, and not on one shard", context.name(), source.alias);
            let finding = Diagnostic::error("lock-on-shards", message, lock.span, "taken on one shard alone");
            let finding = finding.context(source.span, format!("`{}` is not pinned", shards.key()));
            found.push(finding.help("find the rows without a lock, then take each on its shard by its key"));
        }
    }
}
