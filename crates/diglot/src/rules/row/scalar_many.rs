//! A subquery that stands for one value may give several.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{ExprKind, Query};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    // `= ANY (SELECT …)` and `ARRAY(SELECT …)` take all rows.
    let mut of_many: Vec<*const Query> = Vec::new();
    for expr in &context.exprs {
        let inner = match &expr.kind {
            ExprKind::Any { right, .. } => vec![&**right],
            ExprKind::Call { name, args, .. } if name == "array" => args.iter().collect(),
            _ => Vec::new(),
        };
        of_many.extend(inner.into_iter().filter_map(|expr| match &expr.kind {
            ExprKind::Scalar(query) => Some(std::ptr::from_ref::<Query>(query)),
            _ => None,
        }));
    }
    for expr in &context.exprs {
        let ExprKind::Scalar(query) = &expr.kind else { continue };
        if !of_many.contains(&std::ptr::from_ref(query)) && context.may_give_many(query) {
            let message = format!("{}: a subquery for one value may give several rows", context.name());
            let label = "some row on SQLite, an error on Postgres";
            let finding = Diagnostic::error(rule::SCALAR_MANY, message, expr.span, label);
            found.push(finding.help("write `ORDER BY … LIMIT 1` inside it, or IN, on both pages"));
        }
    }
}
