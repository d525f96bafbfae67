//! A calculation has 32 bits on Postgres.

use crate::rules::Context;
use crate::rules::look::Bounds;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// By how much a column may be counted at a time without a word: it takes sixty thousand steps to leave it.
const SMALL_STEP: i128 = 32_768;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let Some((base, word)) = narrow_result(context, expr) else { continue };
        let bounds = context.bounds_where(expr, &context.held(expr));
        let exact = bounds.filter(|own| own.least == own.most);
        let fits = bounds.zip(Bounds::of_type(&base)).is_some_and(|(own, bits)| own.fit(bits));
        if fits || exact.is_none() && is_step(expr) {
            continue;
        }
        let bits = if base == Base::Int16 { 16 } else { 32 };
        let label = "fails where SQLite goes on";
        let finding = match exact {
            Some(Bounds { least, .. }) => {
                let message = format!("{}: {least} does not fit into the {bits} bits of its literals", context.name());
                let finding = Diagnostic::error(rule::NARROW_ARITHMETIC, message, expr.span, label);
                finding.help("write the number itself, on both pages")
            }
            None => {
                let message = format!("{}: the {word} has {bits} bits on Postgres", context.name());
                let finding = Diagnostic::error(rule::NARROW_ARITHMETIC, message, expr.span, label);
                let finding = finding.help("cast one operand: `CAST(… AS BIGINT)`, on both pages");
                let most = if bits == 16 { 100 } else { 10_000 };
                context.range_help(expr, (0, most)).into_iter().fold(finding, Diagnostic::help)
            }
        };
        found.push(finding);
    }
    for (table, name, value) in context.stored() {
        let Some(bits) = table.column(name).and_then(|column| Bounds::of_type(&column.ty.base)) else { continue };
        let Some(own) = context.bounds(value) else { continue };
        if own.least > bits.most || own.most < bits.least {
            let message = format!("{}: `{}.{name}` does not hold such a number", context.name(), table.name);
            let label = "fails where SQLite goes on";
            let finding = Diagnostic::error(rule::NARROW_ARITHMETIC, message, value.span, label);
            found.push(finding.help("make the column a bigint on Postgres, or write a number that it holds"));
        }
    }
}

/// The type in which Postgres makes a result, if it has 32 bits or less, and what the result is.
fn narrow_result(context: &Context<'_>, expr: &Expr) -> Option<(Base, &'static str)> {
    match &expr.kind {
        ExprKind::Binary { op, left, right } => {
            let word = match op.as_str() {
                "+" => "sum",
                "-" => "difference",
                "*" => "product",
                "<<" => return Some((narrow(context, left)?, "shift")),
                _ => return None,
            };
            let (left, right) = (narrow(context, left)?, narrow(context, right)?);
            Some((if left == right { left } else { Base::Int32 }, word))
        }
        // What is written is no calculation.
        ExprKind::Unary { op, expr: inner } if op == "-" && !matches!(inner.kind, ExprKind::Number(_)) => {
            Some((narrow(context, inner)?, "negative number"))
        }
        _ => None,
    }
}

fn narrow(context: &Context<'_>, expr: &Expr) -> Option<Base> {
    match &expr.kind {
        // Postgres is told the type that the generated function gives it.
        ExprKind::Param(name) => {
            let param = context.params.iter().find(|param| param.name == *name);
            param.map(|param| &param.ty.base).filter(|base| matches!(base, Base::Int16 | Base::Int32)).cloned()
        }
        ExprKind::Number(text) => text.parse::<i32>().ok().map(|_| Base::Int32),
        ExprKind::Unary { op, expr } if op == "-" => narrow(context, expr),
        _ => expr.base().filter(|base| matches!(base, Base::Int16 | Base::Int32)).cloned(),
    }
}

/// Whether what is stored or given is counted by a small literal, or only turned round.
fn is_step(expr: &Expr) -> bool {
    let is_stored = |expr: &Expr| !matches!(expr.bare().kind, ExprKind::Binary { .. } | ExprKind::Unary { .. });
    let is_small = |expr: &Expr| match &expr.kind {
        ExprKind::Number(text) => text.parse::<i128>().is_ok_and(|number| number <= SMALL_STEP),
        _ => false,
    };
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
            is_stored(left) && is_small(right) || is_small(left) && is_stored(right)
        }
        ExprKind::Unary { expr, .. } => is_stored(expr),
        _ => false,
    }
}
