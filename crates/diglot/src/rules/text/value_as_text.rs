//! A flag or a fraction is written as a text.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let written: Vec<&Expr> = match &expr.kind {
            ExprKind::Cast { expr: inner, base: Some(Base::Text), .. } => vec![inner],
            ExprKind::Binary { op, left, right } if op == "||" && expr.base() == Some(&Base::Text) => {
                vec![left, right]
            }
            ExprKind::Call { name, args, .. } if ["concat", "concat_ws", "format"].contains(&name.as_str()) => {
                args.iter().collect()
            }
            _ => continue,
        };
        for value in written {
            let what = match context.holds(value) {
                Some(Base::Bool) => "a flag",
                Some(Base::Float64 | Base::Numeric) => "a fraction",
                _ => continue,
            };
            let message = format!("{}: {what} is written as a text", context.name());
            let finding = Diagnostic::error(rule::VALUE_AS_TEXT, message, value.span, "written in two ways");
            found.push(finding.help("write the text by a CASE, or give the value itself"));
        }
    }
}
