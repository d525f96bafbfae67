//! A comment holds the beginning of another.
//!
//! # What it finds
//!
//! `/*` inside a block comment.
//!
//! # Why it bites
//!
//! SQLite ends the comment at the first `*/`; Postgres needs one for each beginning, so the text behind it is SQL to
//! one engine and comment to the other.
//!
//! # Write instead
//!
//! `--` comments.
//!
//! # Example
//!
//! ```text
//! -- the outer, and the inner
//! ```

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::split::lexer::Kind;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for word in context.tokens.iter().flatten().filter(|word| word.token.kind == Kind::BlockComment) {
        if word.text.get(2..).is_some_and(|inner| inner.contains("/*")) {
            let message = format!("{}: a comment holds the beginning of another", context.name());
            let finding = Diagnostic::error(rule::NESTED_COMMENT, message, word.span, "ends in different places");
            found.push(finding.help("write it with `--`"));
        }
    }
}
