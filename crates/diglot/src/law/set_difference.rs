//! EXCEPT and INTERSECT, and NOT EXISTS and EXISTS.
//!
//! # Why
//!
//! EXCEPT gives the rows of its left side that the right side does not have, each once. Where the left side has a key of
//! its table among its columns, its rows are different anyway; where no column can be NULL, rows are compared by `=`.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT u.n AS n FROM u EXCEPT SELECT t.n FROM t WHERE t.big > 3 ORDER BY n
//! pg:     SELECT u.n AS n FROM u WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.big > 3 AND t.n = u.n) ORDER BY u.n
//! sqlite: SELECT u.n AS n FROM u INTERSECT SELECT t.n FROM t ORDER BY n
//! pg:     SELECT u.n AS n FROM u WHERE u.n IN (SELECT t.n FROM t) ORDER BY u.n
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT u.name AS n FROM u EXCEPT SELECT t.name FROM t ORDER BY n
//! pg:     SELECT u.name AS n FROM u WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.name = u.name) ORDER BY u.name
//! sqlite: SELECT u.n AS n FROM u EXCEPT SELECT t.maybe FROM t ORDER BY n
//! pg:     SELECT u.n AS n FROM u WHERE u.n NOT IN (SELECT t.maybe FROM t) ORDER BY u.n
//! ```

use super::{Known, all_of, column_of, conditions, equal, exists, is_row_by_row};
use crate::tree::{Query, Rows, Select};

pub(super) fn apply(query: &mut Query, known: &Known<'_>) -> bool {
    let Rows::Set { op, all: false, left, right, .. } = &query.rows else { return false };
    let (Rows::Select(left), Rows::Select(right)) = (left.as_ref(), right.as_ref()) else { return false };
    let negated = match *op {
        "except" => true,
        "intersect" => false,
        _ => return false,
    };
    let present = |select: &Select| select.columns.iter().all(|column| known.is_present(&column.expr));
    let is_plain = is_row_by_row(left) && is_row_by_row(right) && present(left) && present(right);
    if !is_plain || !has_key(left, known) || right.from.is_empty() || left.columns.len() != right.columns.len() {
        return false;
    }
    let mut inside = conditions(right.filter.clone());
    for source in right.from.iter().skip(1) {
        // An outer join is more than its condition.
        let Some(join) = &source.join else { return false };
        if !matches!(join.kind, crate::tree::JoinKind::Inner | crate::tree::JoinKind::Cross) {
            return false;
        }
    }
    for (ours, theirs) in left.columns.iter().zip(&right.columns) {
        inside.push(equal(theirs.expr.clone(), ours.expr.clone(), theirs.span));
    }
    let mut select = left.as_ref().clone();
    let mut filter = conditions(select.filter.take());
    filter.push(exists(right.from.clone(), inside, negated, right.span));
    select.filter = all_of(filter);
    query.rows = Rows::Select(Box::new(select));
    true
}

/// Whether a key of the only table of a SELECT is among its columns.
fn has_key(select: &Select, known: &Known<'_>) -> bool {
    let [source] = select.from.as_slice() else { return false };
    let Some(table) = known.table(source) else { return false };
    let shown = |name: &String| {
        let is_it = |of: (crate::tree::SourceId, &str)| of == (source.id, name.as_str());
        select.columns.iter().any(|column| column_of(&column.expr).is_some_and(is_it))
    };
    table.keys().any(|key| key.iter().all(shown))
}
