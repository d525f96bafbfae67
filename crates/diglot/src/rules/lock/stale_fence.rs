//! A statement waits for a row and then decides by rows that it has not locked.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::locks::Graph;
use crate::rule;

/// What it finds, with the name of the statement that each finding is about.
pub(in crate::rules) fn check(graph: &Graph) -> Vec<(String, Diagnostic)> {
    let mut found = Vec::new();
    for (at, run) in graph.runs().iter().enumerate() {
        let waited: BTreeSet<u32> = graph.waited(at);
        for stale in &run.summary.stale {
            let Some(lock) = stale.waits.iter().find(|lock| waited.contains(lock)) else { continue };
            let lock = &run.summary.locks[*lock as usize];
            let table = &stale.table;
            let message =
                format!("{}: waits for `{}` and decides by `{table}`, which it does not lock", run.name, lock.table);
            let label = format!("reads `{table}` as it was before the wait");
            let finding = Diagnostic::error(rule::STALE_FENCE, message, run.at(stale.start, stale.end), label);
            let finding = finding.context(run.place(lock), "waits here");
            let help = format!("lock the row of `{table}` too, or lock `{}` in an earlier statement", lock.table);
            let allow = "or, if nobody changes it in between: `-- allow(stale-fence): <why>`";
            found.push((run.name.clone(), finding.help(help).help(allow)));
        }
    }
    found
}
