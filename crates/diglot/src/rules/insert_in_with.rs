//! An INSERT stands in WITH, or has a WITH.
//!
//! # What it finds
//!
//! With `distributed`, on the Postgres page: a statement about tables that are spread in which a CTE is an INSERT, or
//! which is an INSERT that has CTEs, and of which no steps can be made; the finding says why. `-- allow(insert-in-with)`
//! leaves it whole, also where steps could be made.
//!
//! # Why it bites
//!
//! Citus sends a whole statement to one shard only if its CTEs are SELECT, UPDATE or DELETE, and an INSERT has none.
//! Any other one it takes apart: every CTE is a query of its own, whose rows go to the node that took the statement
//! and from there to all nodes that need them.
//!
//! # Write instead
//!
//! What keeps it from taking steps in another way; or statements of their own in one transaction, each of which names its
//! shard.
//!
//! # Example
//!
//! ```text
//! INSERT INTO event (part, job_id, state) VALUES (:part, :job_id, 'done');
//! ```

use super::Context;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Body;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for statement in shards.statements().into_iter().filter(|statement| shards.spreads(*statement)) {
        let parts = || context.page.tree.parts.iter().filter(move |part| part.statement == statement);
        let with = parts().any(|part| part.name.is_some());
        let insert = parts().find_map(|part| match &part.body {
            Body::Insert(insert) if with => Some((insert, part.name.is_some())),
            _ => None,
        });
        if let Some((insert, inside)) = insert {
            let message =
                format!("{}: the INSERT of `{}` takes the statement apart", context.name(), insert.target.alias);
            let label = if inside { "no shard runs an INSERT of a CTE" } else { "no shard runs an INSERT with CTEs" };
            let finding = Diagnostic::error(rule::INSERT_IN_WITH, message, insert.target.span, label);
            let allow = "or, if Citus may take it apart: `-- allow(insert-in-with): <why>`";
            found.push(finding.help("insert in a statement of its own, in the same transaction").help(allow));
        }
    }
}
