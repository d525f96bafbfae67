//! What a review shows: every statement, or those that changed since another state.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{self, Elsewhere, Entry, State};
use super::{Plans, Request, Version};
use diglot::config::Locks;
use diglot::dialect::Dialect;
use diglot::locks::Graph;
use diglot::project::Stats;
use diglot::source::Sources;

/// What happened to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Added,
    Removed,
    /// Its text changed.
    Edited,
    /// Its text is the same, and something else is said of it now.
    Judged,
}

impl Change {
    pub(super) fn word(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Edited => "changed",
            Change::Judged => "judged anew",
        }
    }
}

/// A statement to show.
pub(super) struct Item<'a> {
    /// As it is now, or as it was when it is gone.
    pub(super) entry: Entry<'a>,
    /// As it was, if it was there and is there still.
    pub(super) before: Option<Entry<'a>>,
    pub(super) change: Option<Change>,
}

/// What the review is compared with.
pub(super) struct Since<'a> {
    pub(super) revision: &'a str,
    /// Statements that are not shown.
    pub(super) unchanged: usize,
    /// Files beside the statements' that are not the same, with what happened to them.
    pub(super) files: Vec<(String, &'static str)>,
}

/// All that a review shows.
pub(super) struct Book<'a> {
    pub(super) title: &'a str,
    pub(super) stats: Stats,
    /// How many statements of the whole project stand how, in the order of [`State::ALL`].
    pub(super) states: [usize; 6],
    pub(super) findings: usize,
    /// How many findings the baseline knows.
    pub(super) known: usize,
    pub(super) items: Vec<Item<'a>>,
    pub(super) sources: &'a Sources,
    pub(super) elsewhere: Elsewhere<'a>,
    pub(super) since: Option<Since<'a>>,
    pub(super) plans: &'a Plans,
    pub(super) locks: &'a Graph,
    /// What the project says about locks.
    pub(super) said: Option<&'a Locks>,
}

pub(super) fn book<'a>(request: &Request<'a>) -> Book<'a> {
    let (entries, elsewhere) = entry::entries(&request.now);
    let states = State::ALL.map(|state| entries.iter().filter(|entry| entry.state == state).count());
    let all = |entry| Item { entry, before: None, change: None };
    let (items, since) = match request.before {
        None => (entries.into_iter().map(all).collect(), None),
        Some((revision, before)) => {
            let count = entries.len();
            let old = entry::entries(&before).0;
            let statements = entries.iter().chain(&old).flat_map(Entry::files).collect();
            let files = files(&before, &request.now, &statements);
            let items = changed(entries, old);
            let shown = items.iter().filter(|item| item.change != Some(Change::Removed)).count();
            (items, Some(Since { revision, unchanged: count - shown, files }))
        }
    };
    Book {
        title: request.title,
        stats: request.now.compiled.stats,
        states,
        findings: request.now.compiled.diagnostics.len(),
        known: request.now.compiled.known.len(),
        items,
        sources: &request.now.inputs.sources,
        elsewhere,
        since,
        plans: request.plans,
        locks: &request.now.compiled.locks,
        said: request.now.inputs.config.locks.as_ref(),
    }
}

fn changed<'a>(now: Vec<Entry<'a>>, before: Vec<Entry<'a>>) -> Vec<Item<'a>> {
    let mut before: BTreeMap<String, Entry<'a>> = before.into_iter().map(|entry| (entry.anchor(), entry)).collect();
    let mut items = Vec::new();
    for entry in now {
        let old = before.remove(&entry.anchor());
        let change = match &old {
            None => Some(Change::Added),
            Some(old) => change(old, &entry),
        };
        if change.is_some() {
            items.push(Item { entry, before: old, change });
        }
    }
    let removed = |entry| Item { entry, before: None, change: Some(Change::Removed) };
    items.extend(before.into_values().map(removed));
    items.sort_by(|a, b| a.entry.noun.cmp(&b.entry.noun));
    items
}

fn change(before: &Entry<'_>, now: &Entry<'_>) -> Option<Change> {
    if Dialect::ALL.into_iter().any(|page| before.written(page) != now.written(page)) || before.docs != now.docs {
        return Some(Change::Edited);
    }
    let told = |entry: &Entry<'_>| -> Vec<(&'static str, String)> {
        entry.findings.iter().map(|finding| (finding.rule, finding.message.clone())).collect()
    };
    let same = before.state == now.state
        && before.counts() == now.counts()
        && before.signature == now.signature
        && told(before) == told(now);
    (!same).then_some(Change::Judged)
}

/// Files without statements, such as migrations and settings, that are not the same in both versions.
fn files(before: &Version<'_>, now: &Version<'_>, statements: &BTreeSet<String>) -> Vec<(String, &'static str)> {
    let of = |version: &Version<'_>| -> BTreeMap<String, String> {
        let others = version.inputs.sources.iter().filter(|(_, file)| !statements.contains(&file.path));
        others.map(|(_, file)| (file.path.clone(), file.text.clone())).collect()
    };
    let (before, now) = (of(before), of(now));
    let mut files = Vec::new();
    for (path, text) in &now {
        match before.get(path) {
            None => files.push((path.clone(), "added")),
            Some(old) if old != text => files.push((path.clone(), "changed")),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    files.extend(gone.map(|path| (path.clone(), "removed")));
    files
}
