//! Texts are ordered by the rules of a language.
//!
//! # What it finds
//!
//! On the Postgres page of a pair: ORDER BY, `<` and its like, BETWEEN, `min` and `max` over a text column without
//! `COLLATE "C"`, unless `pg_collation = "C"` in `diglot.toml` says that the database itself orders by bytes. A key
//! that a condition holds to one value orders nothing, and the groups of DISTINCT ON come in no order that is seen where
//! the query stands in another one.
//!
//! # Why it bites
//!
//! SQLite compares bytes; Postgres compares by the collation of the database, where `a` comes before `B` and `_x` may
//! come after both. Pages and cursors come out differently.
//!
//! # Write instead
//!
//! `COLLATE "C"` on the column in the schema of Postgres, or in the statement.
//!
//! # Example
//!
//! ```text
//! lane_id text COLLATE "C" NOT NULL
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, OrderKey, Query, Rows, Select};
use crate::types::Base;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() || context.config.pg_collation.eq_ignore_ascii_case("c") {
        return;
    }
    let mut report = |expr: &Expr, at: Span| {
        let Some((table, column)) = context.column(expr) else { return };
        if column.ty.base != Base::Text || column.collation.is_some() {
            return;
        }
        let item = format!("{}.{}", table.name, column.name);
        let message = format!("{}: `{item}` is ordered by the rules of a language", context.name());
        let label = "by bytes on SQLite, by the collation on Postgres";
        let finding = Diagnostic::error(rule::TEXT_ORDER, message, at, label);
        let help = "write `COLLATE \"C\"` behind the column, in the schema of Postgres or here";
        let config = "or, if the database orders by bytes: `pg_collation = \"C\"` in `diglot.toml`";
        found.push(finding.help(help).help(config));
    };
    for part in &context.page.tree.parts {
        for query in part.queries() {
            let seen = matches!(&part.body, Body::Query(top) if std::ptr::eq(top, query)) || query.limit.is_some();
            let shows = |key: &&OrderKey| {
                let is_hidden = !seen && groups_by(query, &key.expr);
                !is_hidden && !is_one_value(query, &key.expr)
            };
            query.order.iter().filter(shows).for_each(|key| report(&key.expr, key.span));
        }
    }
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if ["<", "<=", ">", ">="].contains(&op.as_str()) => {
                match (&left.kind, &right.kind) {
                    (ExprKind::Collate { .. }, _) | (_, ExprKind::Collate { .. }) => {}
                    (ExprKind::Tuple(left), ExprKind::Tuple(_)) => left.iter().for_each(|item| report(item, item.span)),
                    _ if context.column(left).is_some() => report(left, expr.span),
                    _ => report(right, expr.span),
                }
            }
            ExprKind::Between { expr: inner, .. } => report(inner, expr.span),
            ExprKind::Call { name, args, order, over, .. } => {
                if let (true, [only]) = (name == "min" || name == "max", args.as_slice()) {
                    report(only, expr.span);
                }
                let keys = order.iter().chain(over.iter().flat_map(|window| &window.order));
                keys.for_each(|key| report(&key.expr, key.span));
            }
            _ => {}
        }
    }
}

fn select(query: &Query) -> Option<&Select> {
    match &query.rows {
        Rows::Select(select) => Some(select),
        _ => None,
    }
}

fn same_column(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column { source, column }, ExprKind::Column { source: other, column: name }) => {
            source == other && column == name
        }
        _ => false,
    }
}

/// Whether the condition of a query holds a column to one value.
fn is_one_value(query: &Query, key: &Expr) -> bool {
    let conjuncts = select(query).and_then(|select| select.filter.as_ref()).map_or_else(Vec::new, Expr::conjuncts);
    conjuncts.into_iter().any(|conjunct| match &conjunct.kind {
        ExprKind::Binary { op, left, right } if op == "=" => {
            let is_given = |expr: &Expr| !expr.exprs().iter().any(|e| matches!(e.kind, ExprKind::Column { .. }));
            same_column(left, key) && is_given(right) || same_column(right, key) && is_given(left)
        }
        _ => false,
    })
}

/// Whether it is one of the keys of DISTINCT ON.
fn groups_by(query: &Query, key: &Expr) -> bool {
    let keys = select(query).and_then(|select| select.distinct.as_ref());
    keys.is_some_and(|(keys, _)| keys.iter().any(|distinct| same_column(distinct, key)))
}
