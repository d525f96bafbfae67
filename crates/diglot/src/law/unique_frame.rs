//! The rows up to the current one, by number and by value.
//!
//! # Why
//!
//! A window that orders takes the rows up to those that its keys do not tell from the current one. Where the keys and the
//! groups hold a key of the only table, there is no other such row: `ROWS UNBOUNDED PRECEDING` takes the same.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT u.n, count(*) OVER (ORDER BY u.n ROWS UNBOUNDED PRECEDING) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, count(*) OVER (ORDER BY u.n) AS c FROM u ORDER BY u.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT u.n, count(*) OVER (ORDER BY u.name ROWS UNBOUNDED PRECEDING) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, count(*) OVER (ORDER BY u.name) AS c FROM u ORDER BY u.n
//! sqlite: SELECT u.n, count(*) OVER (ORDER BY u.n ROWS 1 PRECEDING) AS c FROM u ORDER BY u.n
//! pg:     SELECT u.n, count(*) OVER (ORDER BY u.n) AS c FROM u ORDER BY u.n
//! ```

use std::collections::BTreeSet;

use super::{Known, column_of, walk};
use crate::tree::{ExprKind, Query, Rows};

/// The rows up to the current one, by number.
const BY_NUMBER: &str = "rows between unbounded preceding and current row";

pub(super) fn apply(query: &mut Query, known: &Known<'_>) -> bool {
    let Rows::Select(select) = &mut query.rows else { return false };
    let [source] = select.from.as_slice() else { return false };
    let (Some(table), id, []) = (known.table(source), source.id, select.group.as_slice()) else { return false };
    let mut changed = false;
    for column in &mut select.columns {
        walk::expr(&mut column.expr, &mut |_| {}, &mut |inner| {
            let ExprKind::Call { over: Some(window), .. } = &mut inner.kind else { return };
            let keys = window.partition.iter().chain(window.order.iter().map(|key| &key.expr));
            let named: BTreeSet<&str> =
                keys.filter_map(column_of).filter(|(of, _)| *of == id).map(|(_, name)| name).collect();
            let is_told = |key: &Vec<String>| {
                key.iter().all(|name| named.contains(name.as_str()) && known.is_present_in_table(&table.name, name))
            };
            if window.frame == BY_NUMBER && !window.order.is_empty() && table.keys().any(is_told) {
                window.frame.clear();
                changed = true;
            }
        });
    }
    changed
}
