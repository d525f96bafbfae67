//! A later statement of a unit reads what an earlier one wrote.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::guard;
use crate::infer::PageOf;
use crate::rule;
use crate::source::Span;
use crate::tree::{Body, ConflictAction, ExprKind, Part, SourceId, SourceKind, Statement};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let (page, Some(facing)) = (context.page, context.facing) else { return };
    if page.tree.dialect != Dialect::Sqlite {
        return;
    }
    let mut told = BTreeSet::new();
    // What a guard asks is asked before anything is written.
    let guard = page.raw.guard.as_ref().and_then(|guard| guard::query(page.tree, &guard.name));
    let select = guard.and_then(|query| guard::pinned(&page.schema.tables, query));
    let settled: Vec<Span> =
        select.into_iter().flat_map(|select| guard::settled(&page.schema.tables, select)).map(|it| it.span).collect();
    for part in &page.tree.parts {
        let written = written_before(page.tree, part.statement);
        if written.is_empty() || is_only_asked(page, part) {
            continue;
        }
        let Some(there) = facing.tree.parts.iter().find(|other| same(part, other)) else { continue };
        let snapshot = reads(facing.tree, there, &[]);
        for ((table, column), span) in reads(page.tree, part, &settled) {
            let Some((columns, at)) = written.get(&table) else { continue };
            let changed = columns.as_ref().is_none_or(|columns| columns.contains(&column));
            let Some(other) = snapshot.get(&(table.clone(), column.clone())) else { continue };
            if !changed || !told.insert((table.clone(), column.clone())) {
                continue;
            }
            let message = format!("{}: `{table}.{column}` is read after an earlier statement wrote it", context.name());
            let finding =
                Diagnostic::error(rule::UNIT_READ_AFTER_WRITE, message, span, "SQLite reads the new value here")
                    .and(*other, "Postgres reads the value from before the statement")
                    .context(*at, "written here")
                    .help("put the write last in the unit, or read the value from a CTE that both pages share")
                    .help("or, if it cannot matter: `-- allow(unit-read-after-write): <why it cannot>`");
            found.push(finding);
        }
    }
}

/// Whether a part is the guard in a statement that asks for its row and takes no value from it: it is not sent again.
fn is_only_asked(page: &PageOf<'_>, part: &Part) -> bool {
    let Some(guard) = page.raw.guard.as_ref().filter(|guard| part.name.as_ref() == Some(&guard.name)) else {
        return false;
    };
    let beside = page.tree.parts.iter().filter(|other| other.statement == part.statement);
    let named = |part: &Part| part.sources().iter().filter(|source| source.cte() == Some(guard.name.as_str())).count();
    let (asked, named) = beside
        .fold((0, 0), |(asked, all), other| (asked + guard::questions(other, &guard.name).len(), all + named(other)));
    asked == named
}

/// The columns that statements before `statement` gave new values; none named: rows were inserted.
fn written_before(tree: &Statement, statement: usize) -> BTreeMap<String, (Option<BTreeSet<String>>, Span)> {
    let mut written: BTreeMap<String, (Option<BTreeSet<String>>, Span)> = BTreeMap::new();
    for part in tree.parts.iter().filter(|part| part.statement < statement) {
        let Some(target) = part.target() else { continue };
        let SourceKind::Table(table) = &target.kind else { continue };
        let set = match &part.body {
            Body::Update(update) => Some(&update.set),
            Body::Insert(insert) => match insert.conflict.as_ref().map(|conflict| &conflict.action) {
                Some(ConflictAction::Update { set, .. }) => Some(set),
                _ => None,
            },
            Body::Query(_) | Body::Delete(_) => continue,
        };
        let columns: Option<BTreeSet<String>> = set.map(|set| set.iter().map(|set| set.column.clone()).collect());
        let entry = written.entry(table.clone()).or_insert((Some(BTreeSet::new()), target.span));
        match (&mut entry.0, columns) {
            (Some(all), Some(more)) => all.extend(more),
            (all, _) => *all = None,
        }
    }
    written
}

/// Whether two parts are each other's counterparts.
fn same(part: &Part, other: &Part) -> bool {
    let target = |part: &Part| match part.target().map(|target| target.kind.clone()) {
        Some(SourceKind::Table(table)) => Some(table),
        _ => None,
    };
    match (&part.body, &other.body) {
        (Body::Query(_), Body::Query(_)) => part.name == other.name,
        (Body::Insert(_), Body::Insert(_))
        | (Body::Update(_), Body::Update(_))
        | (Body::Delete(_), Body::Delete(_)) => target(part) == target(other),
        _ => false,
    }
}

/// The columns that a part reads from tables, other than from the rows that it writes.
fn reads(tree: &Statement, part: &Part, settled: &[Span]) -> BTreeMap<(String, String), Span> {
    let target: Option<SourceId> = part.target().map(|target| target.id);
    let mut reads = BTreeMap::new();
    let sources = tree.sources_by_id();
    for expr in part.exprs() {
        let ExprKind::Column { source, column } = &expr.kind else { continue };
        if target == Some(*source) || settled.iter().any(|place| place.contains(expr.span)) {
            continue;
        }
        if let Some(SourceKind::Table(table)) = sources.get(source).map(|source| &source.kind) {
            reads.entry((table.clone(), column.clone())).or_insert(expr.span);
        }
    }
    reads
}
