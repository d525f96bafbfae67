//! Postgres cannot tell the type of a parameter that it first sees in IS NULL.
//!
//! # What it finds
//!
//! A parameter without a declared type whose first use on the Postgres page is `IS NULL` or `IS NOT NULL`.
//!
//! # Why it bites
//!
//! The first use decides the type, and a test for NULL says nothing of it: Postgres refuses the statement. SQLite takes
//! anything.
//!
//! # Write instead
//!
//! A cast where the parameter stands first, on both pages, or `-- param: NAME TYPE null`.
//!
//! # Example
//!
//! ```text
//! WHERE (CAST(:owner AS text) IS NULL OR owner = :owner)
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
