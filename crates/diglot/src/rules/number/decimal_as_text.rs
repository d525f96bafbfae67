//! The digits of a decimal are ordered or calculated with on SQLite.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Part};
use crate::types::{Base, Form};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    let mut report = |expr: &Expr, at: Span| {
        if expr.base().and_then(Base::stored).is_some_and(|stored| stored.form == Form::Digits) {
            let message =
                format!("{}: SQLite takes the digits of a decimal for a text, or for a double", context.name());
            let finding = Diagnostic::error(rule::DECIMAL_AS_TEXT, message, at, "digits of a decimal");
            let help = "calculate in Rust, or hold a whole number of the smallest unit, as `bigint`, in both schemas";
            found.push(finding.help(help).help("or cast to a double on both pages, where that is exact enough"));
        }
    };
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        query.order.iter().for_each(|key| report(&key.expr, key.span));
    }
    const INFIX: [&str; 9] = ["<", "<=", ">", ">=", "+", "-", "*", "/", "%"];
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if INFIX.contains(&op.as_str()) => {
                report(left, expr.span);
                report(right, expr.span);
            }
            ExprKind::Between { expr: inner, .. } => report(inner, expr.span),
            ExprKind::Call { name, args, .. } if ["min", "max", "sum", "avg", "total"].contains(&name.as_str()) => {
                args.iter().for_each(|arg| report(arg, expr.span));
            }
            _ => {}
        }
    }
}
