//! The shard key of a row is changed.

use crate::rules::Context;
use crate::rules::look::{assignments, bare};
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    for part in &context.page.tree.parts {
        let Some(target) = part.target().filter(|target| shards.is_spread(target)) else { continue };
        let itself = |value| matches!(&bare(value).kind, ExprKind::Column { column, .. } if column == shards.key());
        let set = assignments(part).iter().find(|set| set.column == shards.key() && !itself(&set.value));
        if let Some(set) = set {
            let message = format!("{}: a row of `{}` would change its shard", context.name(), target.alias);
            let finding = Diagnostic::error(rule::SHARD_KEY_SET, message, set.span, "Citus refuses it");
            found.push(finding.help("delete the row and insert it under its new key, in one transaction"));
        }
    }
}
