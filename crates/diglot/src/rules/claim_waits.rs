//! A claim waits for another one.
//!
//! # What it finds
//!
//! On the Postgres page of a pair: a query with ORDER BY and LIMIT that locks its rows without SKIP LOCKED.
//!
//! # Why it bites
//!
//! The second worker waits until the first has committed, finds its row taken and looks for the next: correct, and one
//! worker at a time.
//!
//! # Write instead
//!
//! `FOR UPDATE SKIP LOCKED`.
//!
//! # Example
//!
//! ```text
//! ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Part;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
