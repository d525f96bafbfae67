//! A statement waits for a row and then decides by rows that it has not locked.
//!
//! # What it finds
//!
//! On the Postgres page: a statement that locks rows and waits for them, whose conditions read a table of which it locks
//! no row. Not in a statement whose rows an earlier one of every transaction that `diglot.toml` lists it in has locked. What
//! only gives a value, in SET or through a LEFT JOIN, is no condition.
//!
//! # Why it bites
//!
//! A statement sees the tables as they were when it began. Behind the wait Postgres reads the locked row anew and asks
//! the conditions again, but all other rows are still those of before: a permission that was withdrawn while the statement
//! waited is still there for it. SQLite has one writer.
//!
//! # Write instead
//!
//! Lock the other row too (`FOR UPDATE OF job, permit`), or lock the first row in a statement of its own: the next one of
//! the transaction sees what was committed before the lock was given. Where the other rows do not change, or a change does
//! no harm, `-- allow(stale-fence): why`.
//!
//! # Example
//!
//! ```text
//! SELECT job.id FROM job JOIN permit ON permit.job_id = job.id
//!  WHERE job.id = :id AND permit.permit_id = :permit_id FOR UPDATE OF job, permit
//! ```

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::locks::Graph;
use crate::rule;

/// What it finds, with the name of the statement that each finding is about.
pub(super) fn check(graph: &Graph) -> Vec<(String, Diagnostic)> {
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
