//! ON CONFLICT names no unique key.

use std::collections::BTreeSet;

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::schema::{Index, Table};
use crate::tree::{Body, Conflict};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let (Body::Insert(insert), Some(table)) = (&part.body, context.target(part)) else { continue };
        let Some(conflict) = &insert.conflict else { continue };
        let Some(target) = &conflict.target else { continue };
        let columns: BTreeSet<&str> = target.iter().map(String::as_str).collect();
        // An expression may stand in an index in other words.
        let others = columns.iter().filter(|name| table.column(name).is_none()).count();
        let mut indexed = table.indexes.iter().filter(|index| index.unique).flat_map(Index::columns);
        let may_be_meant = others > 0 && indexed.any(|key| table.column(key).is_none());
        if table.view || may_be_meant || has_key(table, &columns) {
            continue;
        }
        let list = target.join(", ");
        let message = format!("{}: ON CONFLICT ({list}) fits no unique key of `{}`", context.name(), table.name);
        let finding = Diagnostic::error(rule::CONFLICT_TARGET, message, conflict.span, "no such key");
        found.push(match partial(table, &columns) {
            Some(index) if is_same(context, conflict, index) => continue,
            Some(index) => {
                let help = format!("write the condition of the index: `ON CONFLICT ({list}) WHERE …`");
                finding.context(index.span, "unique under a condition").help(help)
            }
            None => {
                let help = "name the columns of a primary key or of a unique constraint";
                finding.context(table.span, "its keys are declared here").help(help)
            }
        });
    }
}

fn has_key(table: &Table, columns: &BTreeSet<&str>) -> bool {
    table.keys().any(|key| key.iter().map(String::as_str).collect::<BTreeSet<_>>() == *columns)
}

/// A partial unique index over these columns.
fn partial<'t>(table: &'t Table, columns: &BTreeSet<&str>) -> Option<&'t Index> {
    table.indexes.iter().find(|index| index.unique && index.columns().collect::<BTreeSet<_>>() == *columns)
}

/// Whether a conflict target has the condition of the index. One that is not understood is taken for the same.
fn is_same(context: &Context<'_>, conflict: &Conflict, index: &Index) -> bool {
    let Some(filter) = &conflict.target_filter else { return index.predicate.is_none() };
    let words = context.tokens.iter().flatten();
    let words = words.filter(|word| !word.token.is_comment() && filter.span.contains(word.span));
    let mut text = String::new();
    let mut end = filter.span.start;
    for word in words {
        // Operators are tokens of one character each.
        if word.span.start > end {
            text.push(' ');
        }
        text.push_str(word.text);
        end = word.span.end;
    }
    crate::schema::condition(&text, context.page.tree.dialect).is_none_or(|said| Some(said) == index.predicate)
}
