//! A LIMIT may be something else than a number of rows.

use crate::rules::Context;
use crate::rules::look::is_integer;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind, Part};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for query in context.page.tree.parts.iter().flat_map(Part::queries) {
        for value in [&query.limit, &query.offset].into_iter().flatten() {
            found.extend(no_count(context, value));
            let ExprKind::Param(name) = &value.bare().kind else { continue };
            let declared = context.declared(name);
            if declared.is_some_and(|ty| ty.nullable || !is_integer(&ty.base)) {
                let message = format!("{}: `:{name}` may be something else than a number", context.name());
                let finding = Diagnostic::error(rule::LIMIT_WITHOUT_NUMBER, message, value.span, "limits the rows");
                found.push(finding.help(format!("declare it as one: `-- param: {name} i64`")));
            }
        }
    }
}

/// What is wrong with a number of rows that is or may be none.
fn no_count(context: &Context<'_>, value: &Expr) -> Option<Diagnostic> {
    context.facing?;
    if let ExprKind::Number(text) = &value.kind
        && text.parse::<i64>().is_err()
    {
        let message = format!("{}: {text} is no number of rows", context.name());
        let finding = Diagnostic::error(rule::LIMIT_WITHOUT_NUMBER, message, value.span, "an error on SQLite");
        return Some(finding.help("write a whole number, on both pages"));
    }
    let bounds = context.bounds(value).filter(|bounds| context.is_pg_of_pair() && bounds.least < 0)?;
    let label = "all rows on SQLite, an error on Postgres";
    let name = context.name();
    let finding = match &value.bare().kind {
        ExprKind::Param(param) => {
            let message = format!("{name}: `:{param}` may be negative");
            let is_declared = context.config.prove.range(name, param).is_some();
            let finding = match (is_declared, context.config.generate.enabled) {
                (true, _) => Diagnostic::error(rule::LIMIT_WITHOUT_NUMBER, message, value.span, label),
                (false, true) => return None,
                (false, false) => Diagnostic::warning(rule::LIMIT_WITHOUT_NUMBER, message, value.span, label),
            };
            finding.help(format!(
                "say in `diglot.toml`, below `[prove.ranges]`, that it cannot be: `\"*.{param}\" = [0, 1000]`"
            ))
        }
        _ if bounds.most < 0 => {
            let message = format!("{name}: a negative number of rows");
            Diagnostic::error(rule::LIMIT_WITHOUT_NUMBER, message, value.span, label)
        }
        _ => {
            let message = format!("{name}: the number of rows may be negative");
            let finding = Diagnostic::error(rule::LIMIT_WITHOUT_NUMBER, message, value.span, label);
            finding.help("write `greatest(…, 0)` on Postgres and `max(…, 0)` on SQLite")
        }
    };
    Some(finding)
}
