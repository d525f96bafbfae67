//! Values of different kinds meet.

use crate::rules::Context;
use crate::rules::look::is_comparison;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// Kinds of values that no operator compares with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Number,
    Flag,
    Text,
    Bytes,
    Uuid,
    Json,
}

/// Functions whose first argument is a text.
const OF_TEXT: &str = "btrim char_length length lower lpad ltrim replace rpad rtrim substr substring trim upper";

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    let mut report = |span: Span, what: &str, help: &str| {
        let message = format!("{}: {what}", context.name());
        let label = "not the same on both engines";
        found.push(Diagnostic::error(rule::MIXED_TYPES, message, span, label).help(help.to_owned()));
    };
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if is_comparison(op) => {
                if let Some((what, help)) = clash(context, left, right) {
                    report(expr.span, &what, help);
                }
            }
            ExprKind::Binary { op, left, right }
                if op == "||" && [left, right].iter().all(|side| family(context, side) == Some(Family::Number)) =>
            {
                report(expr.span, "`||` joins two numbers", "cast them to text, on both pages");
            }
            ExprKind::Between { expr: inner, low, high, .. } => {
                if let Some((what, help)) = clash(context, inner, low).or_else(|| clash(context, inner, high)) {
                    report(expr.span, &what, help);
                }
            }
            ExprKind::InList { expr: inner, list, .. } => {
                if let Some((what, help)) = list.iter().find_map(|item| clash(context, inner, item)) {
                    report(expr.span, &what, help);
                }
            }
            ExprKind::Like { expr: inner, .. } if family(context, inner) == Some(Family::Number) => {
                report(expr.span, "LIKE looks at a number", "cast it to text, on both pages");
            }
            ExprKind::Call { name, args, .. } => {
                let Some((first, rest)) = args.split_first() else { continue };
                let is = |list: &str| list.split_whitespace().any(|listed| listed == name);
                if is(OF_TEXT) && family(context, first) == Some(Family::Number) {
                    report(expr.span, &format!("`{name}` gets a number"), "cast it to text, on both pages");
                }
                if is("coalesce greatest least nullif")
                    && let Some((what, help)) = rest.iter().find_map(|arg| clash(context, first, arg))
                {
                    report(expr.span, &what, help);
                }
            }
            ExprKind::Case { branches, otherwise, .. } => {
                let mut values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
                let Some(first) = values.next() else { continue };
                if let Some((what, help)) = values.find_map(|value| clash(context, first, value)) {
                    report(expr.span, &what, help);
                }
            }
            _ => {}
        }
    }
}

fn family(context: &Context<'_>, expr: &Expr) -> Option<Family> {
    Some(match context.holds(expr)? {
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric | Base::Float64 => Family::Number,
        Base::Bool => Family::Flag,
        Base::Text => Family::Text,
        Base::Bytes => Family::Bytes,
        Base::Uuid => Family::Uuid,
        Base::Json => Family::Json,
        _ => return None,
    })
}

/// What two values are that cannot be compared, and the way out.
fn clash(context: &Context<'_>, left: &Expr, right: &Expr) -> Option<(String, &'static str)> {
    for (literal, other) in [(left, right), (right, left)] {
        let ExprKind::Text(text) = &literal.kind else { continue };
        // Postgres reads a text literal as whatever it stands beside.
        return match family(context, other)? {
            Family::Number if text.trim().parse::<f64>().is_err() => {
                Some((format!("'{text}' stands beside a number"), "write a number, or cast the other side to text"))
            }
            // A column lends its affinity to the literal on SQLite; nothing else does.
            Family::Number if matches!(other.kind, ExprKind::Number(_) | ExprKind::Binary { .. }) => {
                Some((format!("'{text}' stands beside a number and is a text on SQLite"), "write it without quotes"))
            }
            Family::Bytes => Some((
                "a text stands beside bytes".to_owned(),
                "write x'…' on SQLite and '\\x…'::bytea on Postgres, or a parameter",
            )),
            _ => None,
        };
    }
    if [left, right].iter().any(|expr| matches!(expr.kind, ExprKind::Null)) {
        return None;
    }
    let (ours, theirs) = (family(context, left)?, family(context, right)?);
    if ours == theirs || both_param(left, right) {
        return None;
    }
    let help = match (ours, theirs) {
        (Family::Flag, Family::Number) | (Family::Number, Family::Flag) => "write `TRUE` or `FALSE`, or the flag alone",
        _ => "cast one side, on both pages, or give both columns the same type",
    };
    let word = |expr: &Expr| context.holds(expr).map_or("", Base::word);
    Some((format!("a value of type {} stands beside one of type {}", word(left), word(right)), help))
}

/// Parameters have the types that they are given.
fn both_param(left: &Expr, right: &Expr) -> bool {
    let is_param = |expr: &Expr| matches!(expr.kind, ExprKind::Param(_)) && expr.base().is_none();
    is_param(left) && is_param(right)
}
