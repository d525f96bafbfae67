//! A table that is not spread meets tables that are.
//!
//! # What it finds
//!
//! With `distributed`, on the Postgres page: a statement that has to do both with tables that are spread and with one
//! that is local to the node that takes statements, or that writes a reference table.
//!
//! # Why it bites
//!
//! The shard's node does not have the local rows. The engine fetches one side and sends it to the other, or refuses the
//! statement; a reference table is written on every node.
//!
//! # Write instead
//!
//! The shard key as a column of the other table, so that it is spread as well; `[placement] lane = "reference"` in
//! `diglot.toml` for a small one that is mostly read; otherwise a statement of its own.
//!
//! # Example
//!
//! ```text
//! CREATE TABLE note (part smallint NOT NULL, id bigint NOT NULL, PRIMARY KEY (part, id));
//! ```

use super::Context;
use super::shards::Shards;
use crate::config::Placement;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Part;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for statement in shards.statements() {
        let sources = shards.sources(statement);
        let Some(spread) = sources.iter().find(|source| shards.is_spread(source)) else { continue };
        let parts = context.page.tree.parts.iter().filter(move |part| part.statement == statement);
        let targets: Vec<_> = parts.filter_map(Part::target).map(|target| target.id).collect();
        let strange = sources.iter().find_map(|source| match shards.placement(source)? {
            Placement::Local => Some((source, "is on one node alone")),
            Placement::Reference if targets.contains(&source.id) => Some((source, "is written on every node")),
            Placement::Reference | Placement::Distributed => None,
        });
        if let Some((source, label)) = strange {
            let message = format!("{}: `{}` is not where `{}` is", context.name(), source.alias, spread.alias);
            let finding = Diagnostic::error(rule::LOCAL_WITH_SHARDS, message, source.span, label);
            let finding = finding.context(spread.span, format!("is spread by `{}`", shards.key()));
            let help = format!("give `{}` the column `{}`, or a statement of its own", source.alias, shards.key());
            let allow = "or, if it is to go over several nodes: `-- allow(local-with-shards): <why>`";
            found.push(finding.help(help).help(allow));
        }
    }
}
