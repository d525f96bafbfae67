//! The tables that a pair touches: those that are filled, and those that are looked at afterwards.

use std::collections::BTreeSet;

use super::reading::replaces;
use super::tables::{Table, Tables};
use diglot::dialect::Both;
use diglot::tree::{Body, SourceKind, Statement};

/// The tables to fill, parents first, and the tables to look at.
pub(super) fn touched(tables: &Tables<'_>, trees: &Both<Statement>) -> (Vec<Table>, Vec<Table>) {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut next: Vec<String> = Vec::new();
    let mut written: BTreeSet<String> = BTreeSet::new();
    for tree in trees {
        for source in tree.sources() {
            if let SourceKind::Table(name) = &source.kind {
                next.push(name.clone());
            }
        }
        let targets = tree.parts.iter().filter_map(|part| part.target());
        written.extend(targets.filter_map(|target| match &target.kind {
            SourceKind::Table(name) => Some(name.clone()),
            _ => None,
        }));
    }
    while let Some(name) = next.pop() {
        if !names.insert(name.clone()) {
            continue;
        }
        if tables.is_view(&name) {
            next.extend(tables.behind(&name).cloned());
        }
        let parents = tables.shared(&name).into_iter().flat_map(|table| table.foreign).map(|key| key.table);
        next.extend(parents);
    }
    let mut changed = written.clone();
    let mut next: Vec<String> = written.into_iter().collect();
    while let Some(name) = next.pop() {
        for other in tables.behind(&name) {
            if changed.insert(other.clone()) {
                next.push(other.clone());
            }
        }
    }
    let (refer, follow) = referring(tables, trees);
    for name in refer {
        if names.insert(name.clone()) {
            let parents = tables.shared(&name).into_iter().flat_map(|table| table.foreign).map(|key| key.table);
            names.extend(parents);
        }
    }
    changed.extend(follow);
    let filled = names.iter().filter(|name| !tables.is_view(name)).filter_map(|name| tables.shared(name)).collect();
    (parents_first(filled), changed.iter().filter_map(|name| tables.shared(name)).collect())
}

/// Some tables: those to fill, parents first, and those to look at, which may change with them.
pub(super) fn around(tables: &Tables<'_>, is_asked: impl Fn(&str) -> bool) -> (Vec<Table>, Vec<Table>) {
    let all = tables.all();
    let refers = |from: &Table, to: &BTreeSet<&str>| from.foreign.iter().any(|key| to.contains(key.table.as_str()));
    let mut changed: BTreeSet<&str> =
        all.iter().map(|table| table.name.as_str()).filter(|name| is_asked(name)).collect();
    while let Some(next) = all.iter().find(|table| !changed.contains(table.name.as_str()) && refers(table, &changed)) {
        changed.insert(&next.name);
    }
    let mut filled = changed.clone();
    let parent = |filled: &BTreeSet<&str>| {
        let of = all.iter().filter(|table| filled.contains(table.name.as_str()));
        let mut parents = of.flat_map(|table| &table.foreign).map(|key| key.table.as_str());
        parents.find(|name| !filled.contains(name) && all.iter().any(|table| table.name == *name))
    };
    while let Some(next) = parent(&filled) {
        filled.insert(all.iter().find(|table| table.name == next).map_or("", |table| table.name.as_str()));
    }
    let of = |names: &BTreeSet<&str>| all.iter().filter(|table| names.contains(table.name.as_str())).cloned().collect();
    (parents_first(of(&filled)), of(&changed))
}

fn parents_first(mut tables: Vec<Table>) -> Vec<Table> {
    let mut sorted: Vec<Table> = Vec::new();
    while !tables.is_empty() {
        let waits = |table: &Table| {
            let other = |name: &str| name != table.name && tables.iter().any(|other| other.name == name);
            table.foreign.iter().any(|key| other(&key.table))
        };
        // Tables that refer to each other come as they stand.
        let at = tables.iter().position(|table| !waits(table)).unwrap_or(0);
        sorted.push(tables.remove(at));
    }
    sorted
}

/// The tables that refer to rows which go or get other keys, and those of them whose rows change with these.
fn referring(tables: &Tables<'_>, trees: &Both<Statement>) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut refer, mut follow) = (BTreeSet::new(), BTreeSet::new());
    let mut next: Vec<(String, Loss)> = Vec::new();
    for part in trees.iter().flat_map(|tree| &tree.parts) {
        let Some(name) = part.target().and_then(|target| target.table()) else { continue };
        match &part.body {
            body if matches!(body, Body::Delete(_)) || replaces(body) => next.push((name.to_owned(), Loss::Row)),
            Body::Update(update) => {
                let set = update.set.iter().map(|assignment| assignment.column.clone()).collect();
                next.push((name.to_owned(), Loss::Values(set)));
            }
            _ => {}
        }
    }
    while let Some((name, loss)) = next.pop() {
        for (other, key) in tables.referring(&name) {
            let action = match &loss {
                Loss::Row => &key.on_delete,
                Loss::Values(set)
                    if tables
                        .shared(&name)
                        .is_some_and(|table| table.referred(&key).iter().any(|it| set.contains(it))) =>
                {
                    &key.on_update
                }
                Loss::Values(_) => continue,
            };
            refer.insert(other.clone());
            let is_changed = matches!(action.as_str(), "cascade" | "set null" | "set default");
            if is_changed && follow.insert(other.clone()) {
                let is_lost = action == "cascade" && matches!(loss, Loss::Row);
                next.push((
                    other,
                    if is_lost { Loss::Row } else { Loss::Values(key.columns.iter().cloned().collect()) },
                ));
            }
        }
    }
    (refer, follow)
}

/// What goes of a row.
enum Loss {
    Row,
    Values(BTreeSet<String>),
}
