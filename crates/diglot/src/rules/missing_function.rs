//! A function is not there on this engine.
//!
//! # What it finds
//!
//! A function that only the other engine has, and functions of mathematics on the SQLite page.
//!
//! # Why it bites
//!
//! The statement fails when it is prepared. The SQLite that comes with the driver is built without `floor`, `power`,
//! `log` and their like, whatever the one on your machine has.
//!
//! # Write instead
//!
//! The counterpart, such as `group_concat` beside `string_agg` and `ifnull` beside `COALESCE`; a hash, a random
//! number or a logarithm comes from the caller.
//!
//! # Example
//!
//! ```text
//! string_agg(lane, ',' ORDER BY lane)    -- Postgres
//! group_concat(lane)                     -- SQLite, over a subquery with ORDER BY
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::resolve::knows_function;
use crate::tree::ExprKind;

/// Built into SQLite only when it is asked for.
const MATH: &str = "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi \
    pow power radians sin sinh sqrt tan tanh trunc";

/// Known as functions of one engine alone, while the other reads the name in its own way: casts such as `date(x)`,
/// and what has a rule of its own.
const IN_BOTH: &str = "date json json_array_length json_object jsonb_insert jsonb_object jsonb_set like time log pow";

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let here = context.page.tree.dialect;
    for expr in &context.exprs {
        let ExprKind::Call { name, .. } = &expr.kind else { continue };
        let is = |list: &str| list.split_whitespace().any(|listed| listed == name);
        let math = here == Dialect::Sqlite && is(MATH);
        let foreign = !knows_function(here, name) && knows_function(here.other(), name) && !is(IN_BOTH);
        if !math && !foreign {
            continue;
        }
        let message = format!("{}: {} has no function `{name}`", context.name(), here.title());
        let label = if math { "not in the SQLite of the driver" } else { "a function of the other engine" };
        let help = format!("use a function that {} has, or compute it in the caller", here.title());
        found.push(Diagnostic::error("missing-function", message, expr.span, label).help(help));
    }
}
