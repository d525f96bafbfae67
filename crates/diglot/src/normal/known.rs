//! What is known of values: which ones are never NULL, and which ones are booleans.
//!
//! `max(a, b)` of SQLite is NULL as soon as one argument is, `greatest` of Postgres skips NULLs: they are the same
//! when no argument can be NULL. A flag is `= 1` on SQLite and itself, or `= TRUE`, on Postgres.

use super::{Names, Node};
use crate::dialect::Dialect;
use crate::schema::Column;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Query, SourceId, SourceKind};
use crate::types::Base;

impl Names<'_> {
    /// Whether an expression is known never to be NULL.
    pub(super) fn required(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Param(name) => !self.around.nullable.contains(name),
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Blob(_) => true,
            ExprKind::Binary { op, left, right } if ["+", "-", "*"].contains(&op.as_str()) => {
                self.required(left) && self.required(right)
            }
            ExprKind::Cast { expr, .. } => self.required(expr),
            ExprKind::Call { name, args, .. } if name == "coalesce" || name == "ifnull" => {
                args.iter().any(|arg| self.required(arg))
            }
            _ => expr.ty.as_ref().is_some_and(|ty| !ty.nullable),
        }
    }

    /// Whether there can be NULLs on both pages: a column that Postgres declares NOT NULL has none in either.
    pub(super) fn nullable(&self, expr: &Expr) -> bool {
        let declared = match &expr.kind {
            ExprKind::Column { source, column } => {
                self.pg_column(*source, column).is_none_or(|column| column.ty.nullable)
            }
            _ => true,
        };
        declared && expr.ty.as_ref().is_some_and(|ty| ty.nullable)
    }

    fn pg_column(&self, source: SourceId, column: &str) -> Option<&Column> {
        let SourceKind::Table(table) = &self.sources.get(&source)?.kind else { return None };
        self.around.pg.tables.get(table)?.column(column)
    }

    /// The greatest or least of several: three meanings.
    pub(super) fn extreme(
        &self,
        name: &str,
        args: &[Expr],
        [plain, or_null, of_known]: [&'static str; 3],
    ) -> &'static str {
        if args.iter().all(|arg| self.required(arg)) {
            plain
        } else if name == "max" || name == "min" {
            or_null
        } else {
            of_known
        }
    }

    /// Whether an expression is a column that Postgres knows as boolean.
    pub(super) fn is_flag(&self, expr: &Expr) -> bool {
        if expr.ty.as_ref().is_some_and(|ty| ty.base == Base::Bool) {
            return true;
        }
        let ExprKind::Column { source, column } = &expr.kind else { return false };
        self.pg_column(*source, column).is_some_and(|column| column.ty.base == Base::Bool)
    }

    /// `flag = 1` is the flag, `flag = 0` its opposite.
    pub(super) fn flag(&self, op: &str, left: (&Expr, &Node), right: (&Expr, &Node), span: Span) -> Option<Node> {
        for ((expr, node), (_, truth)) in [(left, right), (right, left)] {
            if !self.is_flag(expr) || !truth.kids.is_empty() || !["0", "1"].contains(&truth.head.as_str()) {
                continue;
            }
            let yes = (truth.head == "1") == (op == "=");
            return Some(if yes { Node { span, ..node.clone() } } else { Node::list("not", vec![node.clone()], span) });
        }
        None
    }

    /// The limit of a query; a negative one is none on SQLite.
    pub(crate) fn limit<'q>(&self, query: &'q Query) -> Option<&'q Expr> {
        let limit = query.limit.as_ref()?;
        let none = match (&limit.kind, self.statement.dialect) {
            (ExprKind::Unary { op, expr }, Dialect::Sqlite) => op == "-" && matches!(expr.kind, ExprKind::Number(_)),
            (ExprKind::Number(text), Dialect::Sqlite) => text.starts_with('-'),
            (ExprKind::Null, Dialect::Pg) => true,
            _ => false,
        };
        (!none).then_some(limit)
    }
}

/// `COALESCE(max(a, b), a, b)` of SQLite skips NULLs, as `greatest(a, b)` of Postgres does.
pub(super) fn without_nulls(kids: &[Node]) -> Option<Node> {
    let (first, rest) = kids.split_first()?;
    let head = match first.head.as_str() {
        "greatest or null" => "greatest of known",
        "least or null" => "least of known",
        _ => return None,
    };
    let sorted = |nodes: &[Node]| {
        let mut keys: Vec<String> = nodes.iter().map(Node::key).collect();
        keys.sort();
        keys
    };
    (sorted(&first.kids) == sorted(rest)).then(|| Node { head: head.to_owned(), ..first.clone() })
}
