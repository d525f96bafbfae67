//! A comment holds the beginning of another.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::split::lexer::Kind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for word in context.tokens.iter().flatten().filter(|word| word.token.kind == Kind::BlockComment) {
        if word.text.get(2..).is_some_and(|inner| inner.contains("/*")) {
            let message = format!("{}: a comment holds the beginning of another", context.name());
            let finding = Diagnostic::error(rule::NESTED_COMMENT, message, word.span, "ends in different places");
            found.push(finding.help("write it with `--`"));
        }
    }
}
