//! Sources of one statement are on shards of different keys.

use crate::rules::Context;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
