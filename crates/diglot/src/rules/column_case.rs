//! A column's name has capitals without quotes.
//!
//! # What it finds
//!
//! A bare alias with a capital letter in the select list or in RETURNING of a pair.
//!
//! # Why it bites
//!
//! The label of the result keeps its capitals on SQLite and loses them on Postgres; code that asks by name finds it in
//! one of them.
//!
//! # Write instead
//!
//! Small letters.
//!
//! # Example
//!
//! ```text
//! SELECT created_at_ms AS since_ms FROM job
//! ```

use super::Context;
use super::look::returning;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::split::lexer::Kind;
use crate::tree::{Body, OutputColumn, Part, Rows};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(part) = context.page.tree.result.and_then(|result| context.page.tree.parts.get(result)) else { return };
    if !context.is_sqlite_of_pair() {
        return;
    }
    for column in columns(part) {
        let last = context.tokens.iter().flatten().rfind(|word| column.span.contains(word.span));
        let Some(last) = last.filter(|word| word.token.kind == Kind::Word) else { continue };
        if last.text.eq_ignore_ascii_case(&column.name) && last.text.contains(|c: char| c.is_ascii_uppercase()) {
            let message = format!("{}: the column `{}` has capitals without quotes", context.name(), last.text);
            let label = format!("`{}` on SQLite, `{}` on Postgres", last.text, column.name);
            let finding = Diagnostic::warning(rule::COLUMN_CASE, message, last.span, label);
            found.push(finding.help(format!("write `{}`, on both pages", column.name)));
        }
    }
}

fn columns(part: &Part) -> &[OutputColumn] {
    match &part.body {
        Body::Query(query) => match &query.rows {
            Rows::Select(select) => &select.columns,
            _ => &[],
        },
        _ => returning(part),
    }
}
