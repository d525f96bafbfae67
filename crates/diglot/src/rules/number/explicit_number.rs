//! A value goes into a column that the database numbers.

use crate::rules::Context;
use crate::rules::look::inserted;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::schema::Fill;
use crate::tree::ExprKind;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Some(table) = context.target(part) else { continue };
        for (name, value) in inserted(part) {
            let numbered = table.column(name).is_some_and(|column| column.fill == Fill::Numbered);
            // DEFAULT asks for the next number.
            let is_given = !matches!(&value.kind, ExprKind::Null | ExprKind::Opaque(_));
            if numbered && is_given {
                let message = format!("{}: `{}.{name}` is numbered by the database", context.name(), table.name);
                let label = "the sequence of Postgres does not know of it";
                let finding = Diagnostic::error(rule::EXPLICIT_NUMBER, message, value.span, label);
                found.push(finding.help("leave the column out of the INSERT, on both pages"));
                break;
            }
        }
    }
}
