//! A transaction reads a row without a lock and changes it later.

use super::transaction::Step;
use crate::diagnostic::Diagnostic;
use crate::rule;

pub(in crate::rules) fn check(steps: &[&Step], found: &mut Vec<Diagnostic>) {
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

pub(in crate::rules) fn allow(rule: &str) -> String {
    format!("or, if something else keeps others out: `-- allow({rule}): <what>`")
}
