//! Postgres's `real` keeps half of what SQLite's keeps.

use crate::rules::Context;
use crate::rules::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::{Base, is_real};

/// The whole numbers up to here, and from its negative, all have 4 bytes of their own.
const EXACT: i128 = 1 << 24;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let (what, label, help) = match &expr.kind {
            ExprKind::Cast { expr: inner, to, .. } if is_real(to) && !fits(context, inner) => (
                "Postgres keeps 4 bytes of a `real`, SQLite 8".to_owned(),
                "about 6 digits are left of it",
                "cast to `double precision` on the Postgres page",
            ),
            ExprKind::Call { name, args, .. } if name == "sum" && args.iter().all(|arg| is_narrow(context, arg)) => (
                "Postgres adds up in the 4 bytes of a `real`, SQLite in 8".to_owned(),
                "about 6 digits are left of it",
                "cast what is added up to `double precision` on the Postgres page",
            ),
            ExprKind::Binary { op, left, right }
                if ARITHMETIC.contains(&op.as_str()) && is_narrow(context, left) && is_narrow(context, right) =>
            {
                (
                    "Postgres calculates in the 4 bytes of a `real`, SQLite in 8".to_owned(),
                    "about 6 digits are left of it",
                    "cast one side to `double precision` on the Postgres page",
                )
            }
            ExprKind::Binary { op, left, right }
                if is_comparison(op)
                    && [(left, right), (right, left)].into_iter().any(|(one, other)| {
                        is_narrow(context, one) && !is_narrow(context, other) && !fits(context, other)
                    }) =>
            {
                (
                    "a `real` of 4 bytes is compared with a value that may have 8".to_owned(),
                    "0.1 in the one is not 0.1 in the other",
                    "declare the column `double precision` on Postgres, or cast the other side to `real` there",
                )
            }
            _ => continue,
        };
        let message = format!("{}: {what}", context.name());
        found.push(Diagnostic::error(rule::NARROW_REAL, message, expr.span, label).help(help));
    }
}

/// Operators that make a `real` of two.
const ARITHMETIC: [&str; 4] = ["+", "-", "*", "/"];

/// Functions that give a `real` for values that all are one.
const KEEPING: [&str; 8] = ["max", "min", "sum", "abs", "coalesce", "nullif", "greatest", "least"];

/// Whether a value is a `real` on Postgres.
fn is_narrow(context: &Context<'_>, expr: &Expr) -> bool {
    let all = |of: &mut dyn Iterator<Item = &Expr>| {
        let mut values = of.filter(|value| !matches!(value.kind, ExprKind::Null)).peekable();
        values.peek().is_some() && values.all(|value| is_narrow(context, value))
    };
    match &expr.kind {
        ExprKind::Cast { to, .. } => is_real(to),
        ExprKind::Unary { expr: inner, .. } => is_narrow(context, inner),
        ExprKind::Call { name, args, .. } if KEEPING.contains(&name.as_str()) => all(&mut args.iter()),
        ExprKind::Case { branches, otherwise, .. } => {
            all(&mut branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()))
        }
        ExprKind::Binary { op, left, right } if ARITHMETIC.contains(&op.as_str()) => {
            is_narrow(context, left) && is_narrow(context, right)
        }
        _ => context.column(expr).is_some_and(|(_, column)| is_real(&column.declared)),
    }
}

/// Whether 4 bytes hold the value as it is.
fn fits(context: &Context<'_>, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Null => true,
        #[expect(clippy::cast_possible_truncation, reason = "whether something is lost is the question")]
        ExprKind::Number(text) => text.parse::<f64>().is_ok_and(|number| f64::from(number as f32) == number),
        ExprKind::Unary { expr: inner, .. } => fits(context, inner),
        _ if matches!(expr.base(), Some(Base::Float64 | Base::Numeric)) => is_narrow(context, expr),
        _ => context.bounds(expr).is_some_and(|bounds| -EXACT <= bounds.least && bounds.most <= EXACT),
    }
}
