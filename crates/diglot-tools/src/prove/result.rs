//! The query that gives the rows of a page.

use std::collections::BTreeSet;

use diglot::tree::{Body, Expr, Query, Rows, Statement};

/// That query; none where the rows are those that a write returns, or where there are none.
pub(super) fn query(tree: &Statement) -> Option<&Query> {
    match &tree.parts.get(tree.result?)?.body {
        Body::Query(query) => Some(query),
        _ => None,
    }
}

/// The columns of its result whose expression is so, where it is put together of no other queries.
pub(super) fn columns(tree: &Statement, is_so: impl Fn(&Expr) -> bool) -> BTreeSet<usize> {
    let Some(Rows::Select(select)) = query(tree).map(|query| &query.rows) else { return BTreeSet::new() };
    let columns = select.columns.iter().enumerate();
    columns.filter(|(_, column)| is_so(&column.expr)).map(|(at, _)| at).collect()
}
