//! A time of the machine's zone.
//!
//! # What it finds
//!
//! `'localtime'` in a function of dates on SQLite, `LOCALTIMESTAMP` and `LOCALTIME` on Postgres.
//!
//! # Why it bites
//!
//! The one is a time in the zone of the machine, the other in that of the session, and neither says which. Written down,
//! such a time is another one for every reader; one hour of the year comes twice.
//!
//! # Write instead
//!
//! UTC on both pages: the functions without `'localtime'`, and `now()`, or `now() AT TIME ZONE 'utc'` for a column
//! without a zone. Where every session of Postgres is in UTC, `pg_timezone = "UTC"` in `diglot.toml` says so.
//!
//! # Example
//!
//! ```text
//! UPDATE job SET done_at = datetime('now')
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
