//! A LIMIT has no ORDER BY.
//!
//! # What it finds
//!
//! LIMIT on a query whose rows come in no order.
//!
//! # Why it bites
//!
//! Which rows come is chance, and each database has its own. A query that can only have one row needs no LIMIT.
//!
//! # Write instead
//!
//! ORDER BY with a unique last key.
//!
//! # Example
//!
//! ```text
//! ORDER BY created_at_ms, execution_id
//! LIMIT :page_size
//! ```

use super::Context;
use super::look::ordered_below;
use crate::diagnostic::Diagnostic;
use crate::normal::gives_one;
use crate::rule;
use crate::tree::{ExprKind, Query, Rows};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let tested: Vec<*const Query> = part
            .exprs()
            .into_iter()
            .filter_map(|expr| match &expr.kind {
                ExprKind::Exists { query, .. } => Some(std::ptr::from_ref::<Query>(query)),
                _ => None,
            })
            .collect();
        for query in part.queries() {
            let Some(limit) = &query.limit else { continue };
            let reads = matches!(&query.rows, Rows::Select(select) if !select.from.is_empty());
            if !reads || !query.order.is_empty() || tested.contains(&std::ptr::from_ref(query)) {
                continue;
            }
            if matches!(&query.rows, Rows::Select(select) if gives_one(&context.page.schema.tables, select)) {
                continue;
            }
            if matches!(&query.rows, Rows::Select(select) if ordered_below(context, part, select).is_some()) {
                continue;
            }
            let message = format!("{}: a LIMIT without ORDER BY takes rows by chance", context.name());
            let finding = Diagnostic::error(rule::UNORDERED_LIMIT, message, limit.span, "of rows in no order");
            found.push(finding.help("write an ORDER BY that ends with a unique key, on both pages"));
        }
    }
}
