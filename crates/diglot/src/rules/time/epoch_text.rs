//! A time in text is compared with a number.

use crate::rules::Context;
use crate::rules::look::{is_comparison, is_integer};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Expr, ExprKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    // Beside a column that holds seconds it is a time of that form.
    let is_time = |expr: &Expr| expr.base().is_some_and(|base| base.stored().is_some());
    let is_number = |expr: &Expr| context.holds(expr).is_some_and(is_integer) && !is_time(expr);
    for expr in &context.exprs {
        let pairs: Vec<(&Expr, &Expr)> = match &expr.kind {
            ExprKind::Binary { op, left, right } if is_comparison(op) => vec![(&**left, &**right), (&**right, &**left)],
            ExprKind::Between { expr, low, high, .. } => vec![(&**low, &**expr), (&**high, &**expr)],
            _ => continue,
        };
        let is_clock = |expr: &Expr| matches!(&expr.kind, ExprKind::Call { name, .. } if name == "strftime");
        if let Some((clock, _)) = pairs.into_iter().find(|(clock, other)| is_clock(clock) && is_number(other)) {
            let message = format!("{}: a time in text is compared with a number", context.name());
            let finding = Diagnostic::warning(rule::EPOCH_TEXT, message, clock.span, "a text");
            found.push(finding.help("write `unixepoch(…)`, which is a number"));
        }
    }
}
