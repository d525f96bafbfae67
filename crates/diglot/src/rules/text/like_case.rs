//! LIKE takes small letters for capitals on one engine.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(facing) = context.facing.filter(|_| context.is_sqlite_of_pair()) else { return };
    let there = facing.tree.exprs();
    let patterns: Vec<(&Expr, Option<&str>)> = there.into_iter().filter_map(pattern).collect();
    for expr in context.exprs.iter().filter(|expr| tells_letters(expr)) {
        let Some((_, written)) = pattern(expr) else { continue };
        let Some((other, _)) = patterns.iter().find(|(_, other)| *other == written) else { continue };
        let message = format!("{}: LIKE takes capitals for small letters on SQLite alone", context.name());
        let finding = Diagnostic::error(rule::LIKE_CASE, message, expr.span, "on SQLite 'A' is like 'a'");
        let finding = finding.and(other.span, "on Postgres 'A' is not like 'a'");
        found.push(
            finding
                .help("write GLOB on SQLite, with `*` for `%`, or ILIKE on Postgres")
                .help("or compare what was made small: `lower(…) LIKE lower(…)`, on both pages"),
        );
    }
}

/// LIKE, with its pattern where that is written.
fn pattern(expr: &Expr) -> Option<(&Expr, Option<&str>)> {
    match &expr.kind {
        ExprKind::Like { op: "like", pattern, .. } => match &pattern.kind {
            ExprKind::Text(text) => Some((expr, Some(text))),
            _ => Some((expr, None)),
        },
        _ => None,
    }
}

/// Whether letters are compared that may be capitals on one side and small on the other.
fn tells_letters(expr: &Expr) -> bool {
    let ExprKind::Like { expr: text, pattern, .. } = &expr.kind else { return false };
    let has = |is: fn(&char) -> bool| match &pattern.kind {
        ExprKind::Text(written) => written.chars().any(|letter| is(&letter)),
        _ => true,
    };
    let both = |function: &str| text.calls(function) && pattern.calls(function);
    let small = text.calls("lower") && !has(char::is_ascii_uppercase);
    let capital = text.calls("upper") && !has(char::is_ascii_lowercase);
    has(char::is_ascii_alphabetic) && !(both("lower") || both("upper") || small || capital)
}
