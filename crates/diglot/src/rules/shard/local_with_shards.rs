//! A table that is not spread meets tables that are.

use crate::rules::Context;
use super::shards::Shards;
use crate::config::Placement;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Part;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
