//! A column's name has capitals without quotes.

use crate::rules::Context;
use crate::rules::look::returning;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::split::lexer::Kind;
use crate::tree::{Body, OutputColumn, Part, Rows};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
