//! A row lock of a statement that writes.

use super::Names;
use crate::tree::{Lock, Part, Statement};

/// Whether the last statement of a page that is sent writes: what only joins rows that others returned is not.
pub fn ends_with_write(page: &Statement) -> bool {
    let returns = |name: &str| {
        let mut writes = page.parts.iter().filter(|part| part.target().is_some());
        writes.any(|part| part.name.as_deref() == Some(name))
    };
    let is_joined = |part: &&Part| {
        let sources = part.sources();
        !sources.is_empty() && sources.iter().all(|source| source.cte().is_some_and(returns))
    };
    let last = page.parts.iter().filter(|part| !is_joined(part)).map(|part| part.statement).max();
    page.parts.iter().any(|part| Some(part.statement) == last && part.target().is_some())
}

/// How many row locks of a page a writer would hold anyway.
pub(crate) fn row_locks(page: &Statement) -> usize {
    let queries = page.parts.iter().flat_map(|part| part.queries());
    queries.flat_map(|query| &query.locks).filter(|lock| gives_way(lock)).count()
}

fn gives_way(lock: &Lock) -> bool {
    lock.wait != "nowait"
}

impl Names<'_> {
    /// Whether a lock asks for no more than what the write lock of the SQLite page gives.
    pub(crate) fn is_held_anyway(&self, lock: &Lock) -> bool {
        self.pair.under_write_lock && gives_way(lock)
    }
}
