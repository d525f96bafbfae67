//! Sources of one statement are on shards of different keys.
//!
//! # What it finds
//!
//! With `distributed`, on the Postgres page: tables that are spread, each with its key pinned, but not all to the same
//! value.
//!
//! # Why it bites
//!
//! Two values of the key are two shards, mostly on two nodes. The engine runs such a statement in steps, over the node
//! that took it, or refuses it.
//!
//! # Write instead
//!
//! One statement for each key, in one transaction. Where both are always the same, one parameter.
//!
//! # Example
//!
//! ```text
//! WHERE job.part = :part AND note.part = :part
//! ```

use super::Context;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for statement in shards.statements() {
        let sources = shards.sources(statement).into_iter().filter(|source| shards.is_spread(source));
        let mut pinned = sources.filter_map(|source| Some((source, shards.pin(source)?)));
        let Some((first, pin)) = pinned.next() else { continue };
        if let Some((other, there)) = pinned.find(|(_, other)| *other != pin) {
            let message = format!("{}: `{}` is on another shard than `{}`", context.name(), other.alias, first.alias);
            let key = shards.key();
            let finding = Diagnostic::error(rule::SHARDS_DIFFER, message, other.span, format!("`{key}` is {there}"));
            let finding = finding.context(first.span, format!("`{key}` is {pin}"));
            let allow = "or, if it is to go over several nodes: `-- allow(shards-differ): <why>`";
            found.push(finding.help("write one statement for each, in one transaction").help(allow));
        }
    }
}
