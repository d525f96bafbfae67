//! What a unit requires does not guard it.

use std::collections::BTreeSet;

use crate::rules::Context;
use crate::rules::look::stored;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::guard;
use crate::normal::asks;
use crate::page::{Cardinality, Guard};
use crate::rule;
use crate::source::Span;
use crate::tree::{Body, Part, Query, Select};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(guard) = &context.page.raw.guard else { return };
    let mut tell = |what: String, place: Span, label: &str, help: &str| {
        let finding =
            Diagnostic::error(rule::BAD_GUARD, format!("{}: {what}", context.name()), place, label.to_owned());
        found.push(finding.help(help.to_owned()));
    };
    if context.page.tree.dialect == Dialect::Pg {
        let help = "delete the line: the statements of the page ask for the CTE, which is read once";
        tell("Postgres runs a unit as one statement".to_owned(), guard.span, "asks by itself", help);
        return;
    }
    if context.page.raw.parts.len() < 2 {
        if !context.page.raw.span.contains(guard.span) {
            // A shared part guards the units that use it, and other statements ask for it anyway.
            return;
        }
        let help = "delete the line: one statement asks for itself";
        tell("a statement that is no unit has nothing to guard".to_owned(), guard.span, "not needed", help);
        return;
    }
    if context.page.raw.cardinality == Cardinality::Stream {
        let help = "write `:many`: whether there are rows is known before the first one";
        tell("a stream cannot end at a guard".to_owned(), guard.span, "on a stream", help);
    }
    // That there is no such CTE was told when the page was read.
    let Some(query) = guard::query(context.page.tree, &guard.name) else { return };
    let Some(select) = guard::pinned(&context.page.schema.tables, query) else {
        let help = "select columns alone, and give a whole key of every table by parameters or by the other tables";
        tell(format!("`{}` does not pin its rows", guard.name), query.span, "may find other rows later", help);
        return;
    };
    for part in context.page.tree.parts.iter().filter(|part| part.target().is_some() && !asks(part, &guard.name)) {
        let help = format!("add `AND EXISTS (SELECT 1 FROM {})`", guard.name);
        tell(format!("a statement does not ask for `{}`", guard.name), part.span, "runs under the guard alone", &help);
    }
    if let Some((reads, writes)) = moved(context, guard, select) {
        let message = format!("{}: `{}` is read when its row may be gone", context.name(), guard.name);
        let finding = Diagnostic::error(rule::BAD_GUARD, message, reads, "found by its key again");
        found.push(finding.context(writes, "taken away here").help("put this statement before that one"));
    }
    if let Some(facing) = context.facing
        && !guard::query(facing.tree, &guard.name).is_some_and(locks_all)
    {
        let place = guard::query(facing.tree, &guard.name).map_or(facing.raw.name_span, |query| query.span);
        let message = format!("{}: the Postgres page does not lock the rows of `{}`", context.name(), guard.name);
        let finding = Diagnostic::error(rule::BAD_GUARD, message, guard.span, "asked once, under the writer's lock");
        let label = "others may change them between question and write";
        found.push(finding.and(place, label).help("write FOR UPDATE in the CTE of that name"));
    }
}

/// A statement that takes values from the guard, and one before it that deletes the row or changes its key.
fn moved(context: &Context<'_>, guard: &Guard, select: &Select) -> Option<(Span, Span)> {
    let tables: BTreeSet<&str> = select.from.iter().filter_map(|source| source.table()).collect();
    let moves = |part: &&Part| {
        let Some(table) = context.target(part).filter(|table| tables.contains(table.name.as_str())) else {
            return false;
        };
        let is_key = |column: &str| table.keys().flatten().any(|key| key == column);
        match &part.body {
            Body::Delete(_) => true,
            Body::Update(_) => stored(part).iter().any(|(column, _)| is_key(column)),
            Body::Insert(_) | Body::Query(_) => false,
        }
    };
    let parts = &context.page.tree.parts;
    let first = parts.iter().find(moves)?;
    let asked = |part: &Part| guard::questions(part, &guard.name).len();
    let named = |part: &Part| part.sources().iter().filter(|source| source.cte() == Some(guard.name.as_str())).count();
    let later = parts.iter().filter(|part| part.statement > first.statement && is_statement(part));
    let reads = later.into_iter().find(|part| named(part) > asked(part))?;
    Some((reads.span, first.span))
}

/// Whether a part is no CTE on SQLite.
fn is_statement(part: &Part) -> bool {
    part.name.is_none() || part.target().is_some()
}

/// Whether a query locks the rows of all of its tables.
fn locks_all(query: &Query) -> bool {
    let crate::tree::Rows::Select(select) = &query.rows else { return false };
    select.from.iter().all(|source| {
        query
            .locks
            .iter()
            .any(|lock| lock.strength.ends_with("update") && (lock.of.is_empty() || lock.of.contains(&source.alias)))
    })
}
