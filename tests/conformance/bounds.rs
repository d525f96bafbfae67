//! What bounds every table: what `docs/retention.md` says of it, and how many rows there are.

use std::collections::BTreeMap;

use crate::harness::{Harness, Tables};

/// All sweeps.
pub(crate) const SWEEPS: [&str; 20] = [
    "attempt_timeout",
    "budget_reconciler",
    "budget_reset",
    "cancel_reconciler",
    "delayed_promoter",
    "dependency",
    "edge_cancel_dispatcher",
    "edge_cancel_reconciler",
    "execution_deadline",
    "flow_projector",
    "grant_expiry",
    "growth",
    "index_reconciler",
    "lease_expiry",
    "pending_wp_expiry",
    "quota_reconciler",
    "retention_trimmer",
    "suspension_timeout",
    "unblock",
    "worker_registry_ttl_sweep",
];

/// What becomes of the rows of a table when nothing lives any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// They are all forgotten.
    Goes,
    /// As `Goes`, but the work of the test does not always leave some.
    Passes,
    /// They belong to what callers and operators set up.
    Stays,
}

/// The tables that the page lists.
pub(crate) fn listed() -> BTreeMap<String, Fate> {
    let page = include_str!("../../docs/retention.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let tables = rows.map(|row| {
        let (table, rest) = row.split_once('`').expect("a name");
        let fate = match rest.split('|').nth(1).expect("a second column").trim() {
            "goes" => Fate::Goes,
            "passes" => Fate::Passes,
            "stays" => Fate::Stays,
            other => panic!("{table}: {other}"),
        };
        (table.to_owned(), fate)
    });
    tables.collect()
}

/// How many rows each table of the catalogue has.
pub(crate) async fn sizes(h: &Harness) -> BTreeMap<String, i64> {
    let catalogue = match h.tables() {
        Tables::Sqlite(..) => "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        Tables::Postgres(_) => {
            "SELECT CAST(c.relname AS text) FROM pg_class AS c
              WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
                AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)"
        }
    };
    let mut sizes = BTreeMap::new();
    for table in h.texts(catalogue).await {
        let count = h.number(&format!("SELECT count(*) FROM {table}")).await;
        sizes.insert(table, count);
    }
    sizes
}
