//! Two reads of one transaction see different data.

use super::transaction::Step;
use super::unlocked_read::allow;
use crate::diagnostic::Diagnostic;
use crate::rule;

pub(in crate::rules) fn check(steps: &[&Step], found: &mut Vec<Diagnostic>) {
    if steps.iter().any(|step| !step.written.is_empty()) {
        return;
    }
    for (at, step) in steps.iter().enumerate() {
        let reads = |step: &Step, table: &String| step.unlocked.contains_key(table) || step.counted.contains(table);
        let twice = step.unlocked.keys().chain(&step.counted).find_map(|table| {
            let first = steps[..at].iter().find(|earlier| reads(earlier, table))?;
            Some((table, first))
        });
        if let Some((table, first)) = twice {
            let message = format!("{}: `{table}` is read a second time in the transaction", step.name);
            let label = "may see what was committed in between";
            let finding = Diagnostic::error(rule::TORN_READ, message, step.span, label);
            let help = "read both in one statement, or begin the transaction as REPEATABLE READ";
            found.push(finding.context(first.span, "read first here").help(help).help(allow(rule::TORN_READ.name)));
        }
    }
}
