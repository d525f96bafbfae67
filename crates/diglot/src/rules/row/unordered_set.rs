//! A set operation gives its rows in no order.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::page::Cardinality;
use crate::rule;
use crate::tree::{Body, Rows};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let tree = context.page.tree;
    let many = matches!(tree.cardinality, Cardinality::Many | Cardinality::Stream);
    let Some(part) = tree.result.and_then(|result| tree.parts.get(result)).filter(|_| many) else { return };
    let Body::Query(query) = &part.body else { return };
    if let (Rows::Set { op, all: false, span, .. }, true, true) =
        (&query.rows, query.order.is_empty(), context.is_sqlite_of_pair())
    {
        let message = format!("{}: the rows of {} come in no order", context.name(), op.to_uppercase());
        let label = "sorted on SQLite, hashed on Postgres";
        let finding = Diagnostic::warning(rule::UNORDERED_SET, message, *span, label);
        found.push(finding.help("write an ORDER BY behind the last branch, on both pages"));
    }
}
