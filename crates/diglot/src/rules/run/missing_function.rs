//! A function is not there on this engine.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::engine::sqlite;
use crate::resolve::knows_function;
use crate::rule;
use crate::tree::ExprKind;

/// Known as functions of one engine alone, while the other reads the name in its own way: casts such as `date(x)`,
/// and what has a rule of its own.
const IN_BOTH: &str = "date json json_array_length json_object jsonb_insert jsonb_object jsonb_set like time log pow";

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let here = context.page.tree.dialect;
    for expr in &context.exprs {
        let ExprKind::Call { name, args, star, .. } = &expr.kind else { continue };
        let is_own = IN_BOTH.split_whitespace().any(|listed| listed == name);
        let (foreign, label) = match here {
            Dialect::Sqlite if !sqlite().has(name) => (!is_own, "not in the SQLite of the driver".to_owned()),
            Dialect::Sqlite => {
                let many = if args.len() == 1 { "1 value".to_owned() } else { format!("{} values", args.len()) };
                (!star && !sqlite().takes(name, args.len()), format!("not with {many}"))
            }
            Dialect::Pg => {
                let foreign = !knows_function(here, name) && knows_function(here.other(), name) && !is_own;
                (foreign, "a function of the other engine".to_owned())
            }
        };
        if !foreign {
            continue;
        }
        let message = format!("{}: {} has no function `{name}`", context.name(), here.title());
        let help = format!("use a function that {} has, or compute it in the caller", here.title());
        found.push(Diagnostic::error(rule::MISSING_FUNCTION, message, expr.span, label).help(help));
    }
}
