//! A function of the schema works on tables that are spread.

use crate::rules::Context;
use super::shards::Shards;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::split::lexer;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(shards) = Shards::of(context) else { return };
    let schema = &context.page.schema;
    for expr in &context.exprs {
        let ExprKind::Call { name, .. } = &expr.kind else { continue };
        let Some(body) = schema.functions.get(name).and_then(|function| function.body.as_deref()) else { continue };
        let words = lexer::tokens(body, Dialect::Pg);
        let mut words = words.iter().filter_map(|token| body.get(token.start..token.end));
        let Some(table) =
            words.find_map(|word| schema.tables.get(&word.to_lowercase()).filter(|t| shards.spreads_table(t)))
        else {
            continue;
        };
        let message = format!("{}: `{name}` works on `{}` by itself", context.name(), table.name);
        let finding = Diagnostic::error(rule::FUNCTION_ON_SHARDS, message, expr.span, "Citus does not look into it");
        let allow = "or, where it is sure to run where its rows are: `-- allow(function-on-shards): <why>`";
        found.push(finding.help("say in the statement what the function does").help(allow));
    }
}
