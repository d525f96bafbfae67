//! A time of the machine's zone.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for expr in &context.exprs {
        let ExprKind::Call { name, args, .. } = &expr.kind else { continue };
        let is_local = |arg: &Expr| matches!(&arg.kind, ExprKind::Text(text) if text == "localtime");
        let (is_found, help) = match context.page.tree.dialect {
            Dialect::Sqlite => (args.iter().any(is_local), "drop `'localtime'`: the clocks of SQLite give UTC"),
            Dialect::Pg => (
                ["localtimestamp", "localtime"].contains(&name.as_str()) && !context.config.is_utc(),
                "write `now()`, or `now() AT TIME ZONE 'utc'`; or `pg_timezone = \"UTC\"` in `diglot.toml`",
            ),
        };
        if is_found {
            let message = format!("{}: a time in a zone that nobody names", context.name());
            found.push(Diagnostic::error(rule::LOCAL_TIME, message, expr.span, "local time").help(help));
        }
    }
}
