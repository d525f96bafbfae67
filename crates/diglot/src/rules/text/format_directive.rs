//! The directives of format differ.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.facing.is_none() {
        return;
    }
    for expr in &context.exprs {
        let ExprKind::Call { name, args, .. } = &expr.kind else { continue };
        let Some(ExprKind::Text(text)) = args.first().map(|arg| &arg.kind) else { continue };
        let plain = text.replace("%%", "").replace("%s", "");
        if name == "format" && plain.contains('%') {
            let message = format!("{}: the engines do not know the same directives of format", context.name());
            let finding = Diagnostic::error(rule::FORMAT_DIRECTIVE, message, expr.span, "only %s and %% are common");
            found.push(finding.help("write %s, with a cast to text where it matters, or use `||`"));
        }
    }
}
