//! A quotient of whole numbers has a fraction on Postgres alone.

use std::ptr;

use crate::rules::Context;
use crate::rules::look::is_integer;
use crate::diagnostic::Diagnostic;
use crate::infer::origin::{Deep, Sources, query_outputs};
use crate::infer::walk;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// How deep an expression is followed to what it is made of.
const DEPTH: usize = 12;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(facing) = context.facing.filter(|_| context.is_pg_of_pair()) else { return };
    let here = context.exprs.iter().filter(|expr| quotient(expr).is_some()).count();
    if here == 0 {
        return;
    }
    let there: Vec<(&Expr, &Expr)> = facing.tree.exprs().into_iter().filter_map(quotient).collect();
    let names = walk::sources(context.page.tree);
    let whole_part: Vec<&Expr> = context.exprs.iter().flat_map(|expr| of_whole_part(expr)).collect();
    let quotients = context.exprs.iter().filter_map(|expr| Some((expr, quotient(expr)?)));
    for (at, (expr, (left, right))) in quotients.enumerate() {
        let is_exact = [left, right].iter().any(|side| side.base() == Some(&Base::Numeric));
        if !is_exact || whole_part.iter().any(|other| ptr::eq(*other, *expr)) {
            continue;
        }
        let are_whole_there = |(left, right): &(&Expr, &Expr)| [left, right].iter().all(|side| is_counted(side));
        let is_dropped = match here == there.len() {
            true => there.get(at).is_some_and(are_whole_there),
            false => there.iter().any(are_whole_there),
        };
        let reader = Reader { context, names: &names };
        if is_dropped && reader.is_whole(left, DEPTH) && reader.is_whole(right, DEPTH) {
            let message = format!("{}: a quotient of whole numbers has a fraction on Postgres alone", context.name());
            let label = "7 / 2 is 3 on SQLite and 3.5 on Postgres, where the sum is numeric";
            let finding = Diagnostic::error(rule::EXACT_QUOTIENT, message, expr.span, label);
            found.push(
                finding
                    .help("for the whole part, write `CAST(… AS BIGINT)` around the sum, on both pages")
                    .help("for the fraction, write `CAST(… AS DOUBLE PRECISION)` around the sum, on both pages"),
            );
        }
    }
}

/// The sides of a division.
fn quotient(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "/" => Some((left, right)),
        _ => None,
    }
}

/// Whether SQLite has a whole number there, or what nobody knows more of.
fn is_counted(expr: &Expr) -> bool {
    expr.base().is_none_or(|base| is_integer(base) || *base == Base::Bool)
}

/// Quotients of which the whole part alone is looked at.
fn of_whole_part(expr: &Expr) -> Vec<&Expr> {
    let is_positive = |expr: &Expr| match &expr.kind {
        ExprKind::Number(text) => text.parse::<i64>().is_ok_and(|number| number > 0),
        _ => false,
    };
    match &expr.kind {
        ExprKind::Call { name, args, .. } if name == "trunc" || name == "div" => args.iter().collect(),
        ExprKind::Binary { op, left, right } if (op == ">=" || op == "<") && is_positive(right) => vec![left],
        ExprKind::Binary { op, left, right } if (op == "<=" || op == ">") && is_positive(left) => vec![right],
        _ => Vec::new(),
    }
}

struct Reader<'c, 'a> {
    context: &'c Context<'a>,
    names: &'c Sources<'a>,
}

impl<'a> Reader<'_, 'a> {
    /// Whether a value is made of whole numbers alone, whatever Postgres holds it in.
    fn is_whole(&self, expr: &'a Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if expr.base().is_some_and(is_integer) {
            return true;
        }
        let is_whole = |expr: &'a Expr| self.is_whole(expr, depth);
        match &expr.kind {
            ExprKind::Number(text) => text.parse::<i64>().is_ok(),
            ExprKind::Null => true,
            ExprKind::Param(_) => self.context.holds(expr).is_some_and(is_integer),
            ExprKind::Column { .. } => match self.names.deep(expr) {
                Deep::Expr(behind) if !ptr::eq(behind, expr) => is_whole(behind),
                _ => false,
            },
            ExprKind::Unary { expr, .. } => is_whole(expr),
            ExprKind::Binary { op, left, right } => {
                ["+", "-", "*", "/", "%"].contains(&op.as_str()) && is_whole(left) && is_whole(right)
            }
            ExprKind::Call { name, args, .. } => match name.as_str() {
                "sum" | "abs" | "min" | "max" | "coalesce" | "greatest" | "least" | "mod" => args.iter().all(is_whole),
                "nullif" => args.first().is_some_and(is_whole),
                _ => false,
            },
            ExprKind::Case { branches, otherwise, .. } => {
                branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).all(is_whole)
            }
            ExprKind::Scalar(query) => query_outputs(&query.rows).first().is_some_and(|output| is_whole(&output.expr)),
            _ => false,
        }
    }
}
