//! Statements of programs that find each other by what they say, where names alone do not tell.
//!
//! Of a function with several statements that do the same to the same table, the count in the name tells nothing: another
//! statement before them moves it. And `persist_event` on one page is `write_event` on the other.

use std::collections::{BTreeMap, BTreeSet};

use super::neutral;
use crate::dialect::{Both, Dialect};
use crate::extract;
use crate::page::Page;
use crate::source::Sources;

/// A statement of a program.
struct Said {
    /// Its page, and its place there.
    at: (usize, usize),
    name: String,
    deed: String,
    /// The words of its text without numbers.
    words: BTreeMap<String, usize>,
}

/// What two statements have in common, in hundredths.
type Likeness = usize;

/// Statements whose functions share a word face each other from here on.
const NEAR: Likeness = 60;
/// The same where the functions have nothing in common.
const SAME: Likeness = 90;

/// Gives statements of the Postgres pages the names of those of the SQLite pages that say the same.
pub(super) fn face(sources: &Sources, pages: &mut [Page]) {
    let all = said(sources, pages);
    let counted = groups(&all);
    for (stem, group) in &counted {
        let facing = matched(&group.sqlite, &group.pg, &|_, _, _| true);
        let is_as_named = facing.iter().all(|(own, other)| own.name == other.name);
        if !is_as_named {
            give(pages, stem, group, &facing);
        }
    }
    let all = said(sources, pages);
    let names = Both::of(|dialect: Dialect| all[dialect].iter().map(|one| one.name.clone()).collect::<BTreeSet<_>>());
    let alone = Both::of(|dialect: Dialect| -> Vec<&Said> {
        all[dialect].iter().filter(|one| !names[dialect.other()].contains(&one.name)).collect()
    });
    let is_enough = |own: &Said, other: &Said, likeness: Likeness| {
        own.deed == other.deed && likeness >= if share_a_word(own, other) { NEAR } else { SAME }
    };
    for (own, other) in matched(&alone.sqlite, &alone.pg, &is_enough) {
        pages[other.at.0].statements[other.at.1].name.clone_from(&own.name);
    }
}

/// Words of functions that do not tell what they are about.
const COMMON: [&str; 24] = [
    "get", "find", "fetch", "list", "load", "read", "query", "select", "set", "put", "add", "insert", "update",
    "delete", "remove", "do", "by", "of", "for", "from", "with", "and", "all", "case",
];

fn said(sources: &Sources, pages: &[Page]) -> Both<Vec<Said>> {
    Both::of(|dialect| {
        let mut all = Vec::new();
        for (page, of) in pages.iter().enumerate().filter(|(_, page)| page.dialect == dialect) {
            if sources.file(of.file).embedded.is_empty() {
                continue;
            }
            for (at, raw) in of.statements.iter().enumerate() {
                let text = raw.parts.first().map(|part| sources.text(part.span)).unwrap_or_default();
                let deed = extract::deed(text).map(|deed| neutral(&deed)).unwrap_or_default();
                all.push(Said { at: (page, at), name: raw.name.clone(), deed, words: words(text) });
            }
        }
        all
    })
}

fn words(text: &str) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if word.contains(|c: char| !c.is_ascii_digit()) {
            *words.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    words
}

fn likeness(own: &Said, other: &Said) -> Likeness {
    let common: usize = own.words.iter().map(|(word, count)| *count.min(other.words.get(word).unwrap_or(&0))).sum();
    let all: usize = own.words.values().chain(other.words.values()).sum();
    200 * common / all.max(1)
}

/// Whether the functions' names have a word in common that is not one of what the statements do.
fn share_a_word(own: &Said, other: &Said) -> bool {
    let of = |said: &Said| -> BTreeSet<String> {
        let name = neutral(&said.name);
        let deed: BTreeSet<&str> = said.deed.split('_').collect();
        let tells = |word: &&str| !deed.contains(word) && !COMMON.contains(word) && word.parse::<u32>().is_err();
        name.split('_').filter(tells).map(str::to_owned).collect()
    };
    !of(own).is_disjoint(&of(other))
}

/// The statements of one function that do the same to one table, by their name without a count: where a page has several.
fn groups(all: &Both<Vec<Said>>) -> BTreeMap<String, Both<Vec<&Said>>> {
    let mut groups: BTreeMap<String, Both<Vec<&Said>>> = BTreeMap::new();
    for dialect in Dialect::ALL {
        for one in &all[dialect] {
            let stem = match one.name.rsplit_once('_') {
                Some((stem, count)) if count.parse::<u32>().is_ok() => stem,
                _ => one.name.as_str(),
            };
            let group = groups.entry(stem.to_owned()).or_insert_with(|| Both::of(|_| Vec::new()));
            group[dialect].push(one);
        }
    }
    groups.retain(|_, group| group.sqlite.len().min(group.pg.len()) > 0 && group.sqlite.len().max(group.pg.len()) > 1);
    groups
}

/// The pairs of what is most alike, the most alike first; equal ones in their order.
fn matched<'s>(
    sqlite: &[&'s Said],
    pg: &[&'s Said],
    is_enough: &dyn Fn(&Said, &Said, Likeness) -> bool,
) -> Vec<(&'s Said, &'s Said)> {
    let mut all = Vec::new();
    for (at, own) in sqlite.iter().enumerate() {
        for (place, other) in pg.iter().enumerate() {
            let likeness = likeness(own, other);
            if is_enough(own, other, likeness) {
                all.push((std::cmp::Reverse(likeness), at.abs_diff(place), at, place));
            }
        }
    }
    all.sort_unstable();
    let (mut ours, mut theirs, mut pairs) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for (_, _, at, place) in all {
        if !ours.contains(&at) && !theirs.contains(&place) {
            ours.insert(at);
            theirs.insert(place);
            pairs.push((sqlite[at], pg[place]));
        }
    }
    pairs
}

/// Gives the Postgres statements of a group their names: those that face nothing one that nobody has.
fn give(pages: &mut [Page], stem: &str, group: &Both<Vec<&Said>>, facing: &[(&Said, &Said)]) {
    let mut taken: BTreeSet<String> = group.sqlite.iter().map(|one| one.name.clone()).collect();
    taken.extend(pages.iter().flat_map(|page| page.broken.iter().cloned()));
    for one in &group.pg {
        let faced = facing.iter().find(|(_, other)| other.at == one.at).map(|(own, _)| own.name.clone());
        let name = faced.unwrap_or_else(|| {
            let free = (2..).map(|count| format!("{stem}_{count}")).find(|name| !taken.contains(name));
            free.unwrap_or_else(|| one.name.clone())
        });
        taken.insert(name.clone());
        pages[one.at.0].statements[one.at.1].name = name;
    }
}
