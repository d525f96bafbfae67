//! Words of an enum are put in an order.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Part};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    let mut report = |expr: &Expr, at: Span| {
        if let Some(Base::Enum(words)) = expr.base()
            && !words.words.is_sorted()
        {
            let message = format!("{}: the words of `{}` are ordered as they are declared", context.name(), words.name);
            let finding =
                Diagnostic::error(rule::ENUM_ORDER, message, at, "by letters on SQLite, as declared on Postgres");
            let help = "write `::text COLLATE \"C\"` behind it, or CASE with a number for each word on both pages";
            found.push(finding.help(help));
        }
    };
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        query.order.iter().for_each(|key| report(&key.expr, key.span));
    }
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if ["<", "<=", ">", ">="].contains(&op.as_str()) => {
                report(if matches!(left.base(), Some(Base::Enum(_))) { left } else { right }, expr.span);
            }
            ExprKind::Between { expr: inner, .. } => report(inner, expr.span),
            ExprKind::Call { name, args, .. } if ["min", "max", "greatest", "least"].contains(&name.as_str()) => {
                args.iter().for_each(|arg| report(arg, expr.span));
            }
            _ => {}
        }
    }
}
