//! A transaction reads a row without a lock and changes it later.
//!
//! # What it finds
//!
//! On the Postgres page, among statements that `-- transaction: NAME` puts into one transaction: a SELECT without FOR
//! UPDATE from a table that a later UPDATE changes without asking for a changed column again, or from which a later
//! DELETE takes rows without asking again for what the SELECT chose them by; and a count of rows of a table behind a
//! write to it.
//!
//! # Why it bites
//!
//! Two sessions read the same row, and both write what they made of it: an update is lost, or a job has two workers. A
//! lease that was due when it was read has been renewed when it is deleted. A count does not see what another session
//! has written and not yet committed: of two last ones, neither is the last. SQLite has one writer.
//!
//! # Write instead
//!
//! FOR UPDATE in the SELECT; a fence in the UPDATE (`AND epoch = :epoch`); one statement that does both; for a count, a
//! lock of the parent row first.
//!
//! # Example
//!
//! ```text
//! -- transaction: job_take
//! SELECT id, epoch FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
//! ```

use super::transaction::Step;
use crate::diagnostic::Diagnostic;
use crate::rule;

pub(super) fn check(steps: &[&Step], found: &mut Vec<Diagnostic>) {
    for (at, step) in steps.iter().enumerate() {
        let (before, after) = (&steps[..at], &steps[at + 1..]);
        for (table, by) in &step.unlocked {
            let is_blind = |later: &&&Step| {
                let deletes = later.deleted.get(table).is_some_and(|again| !by.is_subset(again));
                later.unfenced.contains(table) || deletes
            };
            let Some(write) = after.iter().find(is_blind) else { continue };
            let message = format!("{}: `{table}` is read without a lock and changed later", step.name);
            let finding =
                Diagnostic::error(rule::UNLOCKED_READ, message, step.span, "another session may read the same row");
            let help = "write FOR UPDATE here, or let the UPDATE or DELETE ask again for what was read";
            found.push(finding.context(write.span, "changed here").help(help).help(allow(rule::UNLOCKED_READ.name)));
        }
        for table in &step.counted {
            let Some(write) = before.iter().find(|earlier| earlier.written.contains(table)) else { continue };
            let message = format!("{}: rows of `{table}` are counted behind a write to it", step.name);
            let label = "what others have written is not counted before they commit";
            let finding = Diagnostic::error(rule::UNLOCKED_READ, message, step.span, label);
            let help = "lock the parent row in an earlier statement of the transaction";
            found.push(finding.context(write.span, "written here").help(help).help(allow(rule::UNLOCKED_READ.name)));
        }
    }
}

pub(super) fn allow(rule: &str) -> String {
    format!("or, if something else keeps others out: `-- allow({rule}): <what>`")
}
