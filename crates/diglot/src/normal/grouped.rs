//! Whether an aggregate is one of groups, of which each has a row.

use super::Names;
use crate::tree::{Expr, Part, Query, Rows, Select};

impl Names<'_> {
    /// Whether an expression stands in the select list of a SELECT with GROUP BY.
    pub(super) fn is_of_group(&self, expr: &Expr) -> bool {
        let queries = self.statement.parts.iter().flat_map(Part::queries);
        let selects = queries.filter_map(select).filter(|select| !select.group.is_empty());
        let mut outputs = selects.flat_map(|select| &select.columns);
        outputs.any(|column| std::ptr::eq(column.expr.bare(), expr.bare()))
    }
}

fn select(query: &Query) -> Option<&Select> {
    match &query.rows {
        Rows::Select(select) => Some(select),
        Rows::Values(..) | Rows::Set { .. } | Rows::Query(_) => None,
    }
}
