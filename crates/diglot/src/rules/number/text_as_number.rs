//! A text is cast to a number.

use crate::rules::Context;
use crate::rules::look::is_integer;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Cast { expr: inner, base: Some(to), .. } = &expr.kind else { continue };
        let is_whole = is_integer(to);
        if !is_whole && !matches!(to, Base::Float64 | Base::Numeric) {
            continue;
        }
        let label = "0 on SQLite where Postgres fails";
        let text = match &inner.kind {
            ExprKind::Text(text) => Some(text.trim()),
            _ => None,
        };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let fits = if is_whole { text.parse::<i64>().is_ok() } else { text.parse::<f64>().is_ok() };
            if !fits {
                let message = format!("{}: `{text}` is written as no such number", context.name());
                let label = "its first digits on SQLite, an error on Postgres";
                let finding = Diagnostic::error(rule::TEXT_AS_NUMBER, message, expr.span, label);
                found.push(finding.help("write the number itself, on both pages"));
            }
        } else if text.is_some() || inner.base() == Some(&Base::Text) && context.column(inner).is_some() {
            let message = format!("{}: a text is cast to a number", context.name());
            let finding = Diagnostic::warning(rule::TEXT_AS_NUMBER, message, expr.span, label);
            found.push(finding.help("keep numbers in a column of numbers, or write `NULLIF(…, '')` inside the cast"));
        }
    }
}
