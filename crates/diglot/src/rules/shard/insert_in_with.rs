//! An INSERT stands in WITH, or has a WITH.

use crate::rules::Context;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Body;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
