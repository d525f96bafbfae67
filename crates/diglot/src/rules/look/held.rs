//! The conditions that hold where an expression is looked at.

use super::super::Context;
use crate::resolve::is_aggregate_call;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, Part, Query, Rows, Select, SourceKind};

impl<'a> Context<'a> {
    /// Those of the branch of a CASE in which it stands, and the WHERE of the rows for which it is made.
    pub(in crate::rules) fn held(&self, expr: &Expr) -> Vec<&'a Expr> {
        let mut found = self.by_case(expr);
        for part in &self.page.tree.parts {
            self.by_part(part, expr, &mut found);
        }
        // The query of a scalar gives its value for the rows that its own conditions leave.
        for scalar in &self.exprs {
            if let ExprKind::Scalar(query) = &scalar.kind {
                by_rows(&query.rows, expr, &mut found);
            }
        }
        found
    }

    /// Aggregates are made before any branch is chosen.
    fn by_case(&self, expr: &Expr) -> Vec<&'a Expr> {
        let mut found = Vec::new();
        for case in &self.exprs {
            let ExprKind::Case { operand: None, branches, .. } = &case.kind else { continue };
            for (when, then) in branches.iter().filter(|(_, then)| !is_aggregate_call(then)) {
                if is_in(then, expr) {
                    found.extend(when.conjuncts());
                }
            }
        }
        found
    }

    /// What a query gives is made of rows that its conditions have left. Of a query whose columns others ask for that is
    /// not sure: Postgres may ask first what stands around it.
    fn by_part(&self, part: &'a Part, expr: &Expr, found: &mut Vec<&'a Expr>) {
        match &part.body {
            Body::Query(query) if part.name.is_none() => by_query(query, expr, found),
            Body::Query(_) => {}
            Body::Insert(insert) => {
                by_rows(&insert.rows.rows, expr, found);
                let action = insert.conflict.as_ref().map(|conflict| &conflict.action);
                if let Some(ConflictAction::Update { set, filter, .. }) = action
                    && set.iter().any(|set| is_in(&set.value, expr))
                {
                    left_by(filter.as_ref(), expr, found);
                }
            }
            Body::Update(update) => {
                // RETURNING shows what has been written since.
                if update.set.iter().any(|set| is_in(&set.value, expr)) {
                    left_by(update.filter.as_ref(), expr, found);
                }
            }
            Body::Delete(delete) => {
                if delete.returning.iter().any(|column| is_in(&column.expr, expr)) {
                    left_by(delete.filter.as_ref(), expr, found);
                }
            }
        }
    }
}

fn by_query<'t>(query: &'t Query, expr: &Expr, found: &mut Vec<&'t Expr>) {
    by_rows(&query.rows, expr, found);
    if let Rows::Select(select) = &query.rows
        && query.order.iter().any(|key| is_in(&key.expr, expr))
    {
        by_select(select, expr, found);
    }
}

fn by_rows<'t>(rows: &'t Rows, expr: &Expr, found: &mut Vec<&'t Expr>) {
    match rows {
        Rows::Select(select) => {
            let made = select.columns.iter().map(|column| &column.expr).chain(&select.having);
            if made.chain(&select.group).any(|made| is_in(made, expr)) {
                by_select(select, expr, found);
            }
        }
        Rows::Set { left, right, .. } => {
            by_rows(left, expr, found);
            by_rows(right, expr, found);
        }
        Rows::Query(query) => by_query(query, expr, found),
        Rows::Values(..) => {}
    }
}

fn by_select<'t>(select: &'t Select, expr: &Expr, found: &mut Vec<&'t Expr>) {
    // The conditions of a table in FROM are asked together with those around it.
    if !select.from.iter().any(|source| matches!(source.kind, SourceKind::Derived(_))) {
        left_by(select.filter.as_ref(), expr, found);
    }
}

/// What a filter says of columns. Postgres calculates what stands between parameters before it looks at any row.
fn left_by<'t>(filter: Option<&'t Expr>, expr: &Expr, found: &mut Vec<&'t Expr>) {
    let params: Vec<&str> = expr.exprs().into_iter().filter_map(name).collect();
    let conditions = filter.into_iter().flat_map(Expr::conjuncts);
    found.extend(
        conditions
            .filter(|condition| !condition.exprs().into_iter().filter_map(name).any(|param| params.contains(&param))),
    );
}

/// The name of a parameter.
fn name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Param(name) => Some(name),
        _ => None,
    }
}

/// Whether an expression is a part of another one.
fn is_in(whole: &Expr, expr: &Expr) -> bool {
    whole.exprs().into_iter().any(|inner| std::ptr::eq(inner, expr))
}
