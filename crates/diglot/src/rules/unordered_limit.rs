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
use crate::diagnostic::Diagnostic;
use crate::normal::gives_one;
use crate::rule;
use crate::tree::{Body, ExprKind, Part, Query, Rows, Select, SourceKind};

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
            if matches!(&query.rows, Rows::Select(select) if keeps_an_order(context, part, select)) {
                continue;
            }
            let message = format!("{}: a LIMIT without ORDER BY takes rows by chance", context.name());
            let finding = Diagnostic::error(rule::UNORDERED_LIMIT, message, limit.span, "of rows in no order");
            found.push(finding.help("write an ORDER BY that ends with a unique key, on both pages"));
        }
    }
}

/// Whether a SELECT passes over the rows of one ordered query, each once: both engines then keep that order.
fn keeps_an_order(context: &Context<'_>, part: &Part, select: &Select) -> bool {
    let [source] = select.from.as_slice() else { return false };
    let query = match &source.kind {
        SourceKind::Derived(query) => Some(&**query),
        SourceKind::Cte(name) => {
            let own = context.page.tree.parts.iter().filter(|other| other.statement == part.statement);
            own.filter(|other| other.name.as_ref() == Some(name)).find_map(|other| match &other.body {
                Body::Query(query) => Some(query),
                _ => None,
            })
        }
        _ => None,
    };
    let is_plain = select.distinct.is_none() && select.group.is_empty() && select.having.is_none();
    is_plain && query.is_some_and(|query| !query.order.is_empty())
}
