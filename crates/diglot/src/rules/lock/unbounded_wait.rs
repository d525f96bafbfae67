//! A sweep waits for rows that somebody else has locked.

use crate::config::{Locks, Transactions};
use crate::diagnostic::Diagnostic;
use crate::locks::Graph;
use crate::rule;

/// What it finds, with the name of the statement that each finding is about.
pub(in crate::rules) fn check(said: &Locks, transactions: &Transactions, graph: &Graph) -> Vec<(String, Diagnostic)> {
    let mut found: Vec<(String, Diagnostic)> = Vec::new();
    for (at, run) in graph.runs().iter().enumerate() {
        let waited = graph.waited(at);
        let mut locks = waited.iter().map(|lock| &run.summary.locks[*lock as usize]);
        if let Some(lock) = locks.find(|lock| lock.waits && !lock.pinned && lock.is_taken()) {
            let message = format!("{}: waits for rows of `{}` that it finds by what they hold", run.name, lock.table);
            let finding = Diagnostic::error(rule::UNBOUNDED_WAIT, message, run.place(lock), "waits for each of them");
            found.push((run.name.clone(), finding.help(INSTEAD).help(ALLOW)));
        }
    }
    // What stands in a list runs by itself only if a list says so.
    let is_listed = |name: &String| transactions.values().flatten().any(|listed| listed == name);
    let alone = graph.runs().iter().map(|run| &run.name).filter(|name| !is_listed(name));
    let alone = alone.map(|name| (name.clone(), vec![name.clone()]));
    let sweeps = transactions.iter().map(|(name, of)| (name.clone(), of.clone())).chain(alone);
    for (name, statements) in sweeps.filter(|(name, _)| said.is_sweep(name)) {
        let first = statements.iter().find_map(|statement| {
            let run = graph.runs().iter().find(|run| run.name == *statement)?;
            Some((run, run.summary.locks.first()?))
        });
        let Some((run, lock)) = first.filter(|(_, lock)| lock.waits) else { continue };
        if found.iter().any(|(known, _)| *known == run.name) {
            continue;
        }
        let message = format!("{}: the sweep {name} waits for `{}`", run.name, lock.table);
        let finding =
            Diagnostic::error(rule::UNBOUNDED_WAIT, message, run.place(lock), "waits for whoever has this row");
        found.push((run.name.clone(), finding.help(INSTEAD).help(ALLOW)));
    }
    found
}

const INSTEAD: &str = "write SKIP LOCKED, and come back to the row";
const ALLOW: &str = "or, if nobody holds such a row for long: `-- allow(unbounded-wait): <why>`";
