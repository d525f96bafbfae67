//! A claim waits for another one.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Part;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        if query.limit.is_none() || query.order.is_empty() {
            continue;
        }
        if let Some(lock) = query.locks.iter().find(|lock| lock.wait.is_empty() && lock.strength.contains("update")) {
            let message = format!("{}: the claim waits for those that others are about to take", context.name());
            let label = "one worker at a time";
            let finding = Diagnostic::warning(rule::CLAIM_WAITS, message, lock.span, label);
            found.push(finding.help("write `FOR UPDATE SKIP LOCKED`, unless the row has to be this one"));
        }
    }
}
