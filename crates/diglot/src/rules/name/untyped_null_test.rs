//! Postgres cannot tell the type of a parameter that it first sees in IS NULL.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    let params = &context.page.tree.params;
    for expr in &context.exprs {
        let ExprKind::Is { expr: tested, what: "null", .. } = &expr.kind else { continue };
        let ExprKind::Param(name) = &tested.kind else { continue };
        let first = params.iter().filter(|param| param.name == *name).map(|param| param.span.start).min();
        // A value of a page's key is compared with its column first, all in one place.
        let of_key = context.page.raw.behind.as_ref().is_some_and(|behind| behind.may_be_null(name));
        if of_key || context.declared(name).is_some() || first != Some(tested.span.start) {
            continue;
        }
        let message = format!("{}: Postgres cannot tell the type of `:{name}`", context.name());
        let finding = Diagnostic::error(rule::UNTYPED_NULL_TEST, message, tested.span, "its first use says no type");
        let help = format!("cast it here, on both pages: `CAST(:{name} AS <type>)`");
        found.push(
            finding.help(help).help(format!("or declare it above the statement: `-- param: {name} <type> null`")),
        );
    }
}
