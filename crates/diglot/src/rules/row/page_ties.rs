//! Rows that a page cannot tell apart.

use crate::rules::Context;
use crate::rules::look::tied;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Rows};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(behind) = &context.page.raw.behind else { return };
    let result = context.page.tree.result.and_then(|part| context.page.tree.parts.get(part));
    let Some(Body::Query(query)) = result.map(|part| &part.body) else { return };
    let Rows::Select(select) = &query.rows else { return };
    let never_null = query.order.iter().filter(|key| key.expr.is_present());
    let keys: Vec<_> = never_null.map(|key| &key.expr).collect();
    let Some(source) = tied(context, query, select, &keys) else { return };
    let message = format!("{}: rows of `{}` may be the same in all that sorts the page", context.name(), source.alias);
    let last = query.order.last().map_or(query.span, |key| key.span);
    let finding = Diagnostic::error(rule::PAGE_TIES, message, last, "no unique key ends the order");
    let help = "end ORDER BY with a key of it that is never NULL, on both pages, and give its columns in the result";
    found.push(finding.context(behind.mark, "the next page begins behind all of them").help(help));
}
