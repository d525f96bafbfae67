//! What an expression hands on as it is: columns and texts, through CTEs, CASE and COALESCE.

use super::origin::{Deep, Origin, Sources, query_outputs};
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Rows};

/// What the value of an expression may be.
#[derive(Debug, Default)]
pub(crate) struct Handed<'a> {
    /// Columns of tables.
    pub(crate) origins: Vec<Origin<'a>>,
    /// Texts, with their places.
    pub(crate) texts: Vec<(&'a str, Span)>,
    /// Whether it may be something else, NULL aside.
    pub(crate) other: bool,
}

/// How deep expressions are followed; a recursive CTE hands on what it handed on before.
const DEPTH: usize = 12;

/// Functions that give one of what they are given.
const CHOOSING: [&str; 6] = ["coalesce", "ifnull", "min", "max", "greatest", "least"];

impl<'a> Handed<'a> {
    /// What an expression hands on.
    pub(crate) fn by(sources: &Sources<'a>, expr: &'a Expr) -> Self {
        let mut handed = Self::default();
        handed.learn(sources, expr, DEPTH);
        handed
    }

    /// What the rows of a query hand on as their column of that number.
    pub(crate) fn by_rows(sources: &Sources<'a>, rows: &'a Rows, column: usize) -> Self {
        let mut handed = Self::default();
        handed.learn_rows(sources, rows, column, DEPTH);
        handed
    }

    /// What another expression hands on as well.
    pub(super) fn and(mut self, sources: &Sources<'a>, expr: &'a Expr) -> Self {
        self.learn(sources, expr, DEPTH);
        self
    }

    fn learn(&mut self, sources: &Sources<'a>, expr: &'a Expr, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            self.other = true;
            return;
        };
        let expr = match sources.deep(expr) {
            Deep::Table(origin) => {
                if !self.origins.contains(&origin) {
                    self.origins.push(origin);
                }
                return;
            }
            Deep::Expr(expr) => expr,
            Deep::Field(_) | Deep::Unknown => {
                self.other = true;
                return;
            }
        };
        match &expr.kind {
            ExprKind::Null => {}
            ExprKind::Text(text) => self.texts.push((text, expr.span)),
            ExprKind::Cast { expr, .. } => self.learn(sources, expr, depth),
            ExprKind::Case { branches, otherwise, .. } => {
                branches.iter().for_each(|(_, then)| self.learn(sources, then, depth));
                otherwise.iter().for_each(|otherwise| self.learn(sources, otherwise, depth));
            }
            ExprKind::Call { name, args, .. } if CHOOSING.contains(&name.as_str()) => {
                args.iter().for_each(|arg| self.learn(sources, arg, depth));
            }
            ExprKind::Call { name, args, .. } if name == "nullif" => {
                args.iter().take(1).for_each(|arg| self.learn(sources, arg, depth));
            }
            ExprKind::Scalar(query) => self.learn_rows(sources, &query.rows, 0, depth),
            _ => self.other = true,
        }
    }

    fn learn_rows(&mut self, sources: &Sources<'a>, rows: &'a Rows, column: usize, depth: usize) {
        match rows {
            Rows::Select(_) => match query_outputs(rows).get(column) {
                Some(output) => self.learn(sources, &output.expr, depth),
                None => self.other = true,
            },
            Rows::Values(rows, _) => {
                rows.iter().filter_map(|row| row.get(column)).for_each(|value| self.learn(sources, value, depth));
            }
            Rows::Set { left, right, .. } => {
                self.learn_rows(sources, left, column, depth);
                self.learn_rows(sources, right, column, depth);
            }
            Rows::Query(query) => self.learn_rows(sources, &query.rows, column, depth),
        }
    }
}
