//! Names of statements that the pages do not give alike.
//!
//! What `[names]` says comes first. What is left without a facing statement finds one by what people mean by a name:
//! without the words that only say which database it is for, and of a function with several statements the one that
//! does the same to the same table.

mod likeness;
mod proposed;

use std::collections::{BTreeMap, BTreeSet};

use crate::config::FILE as CONFIG;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::extract;
use crate::names::is_kept;
use crate::page::{Page, RawStatement};
use crate::project::Inputs;
use crate::rule;
use crate::source::{FileId, Sources, Span};

/// Words at the end of a name that only say that it is one of a statement.
const STATEMENTS: [&str; 6] = ["stmt", "statement", "sql", "query", "qry", "cmd"];

/// Lines of `[names]`, of which each brings together several statements that face nothing: a pattern of names on the SQLite
/// pages, and that on the Postgres pages.
pub fn propose_names(inputs: &Inputs) -> Vec<(String, String)> {
    proposed::proposed(inputs, super::bare_pages(inputs, &mut Vec::new()))
}

/// A name without the words that say which database it is for, and that it is a statement's.
fn neutral(name: &str) -> String {
    let words = || name.split('_').filter(|word| !word.is_empty());
    let mut kept: Vec<&str> = words().filter(|word| Dialect::of_word(word).is_none()).collect();
    if kept.len() > 1 && kept.last().is_some_and(|last| STATEMENTS.contains(last)) {
        kept.pop();
    }
    if kept.is_empty() { name.to_owned() } else { kept.join("_") }
}

/// Puts the noun before names of statements of other languages that several files of a dialect have: there they belong
/// to packages or types. A statement and the one that faces it get the same noun.
pub(super) fn tell_apart(inputs: &Inputs, pages: &mut [Page]) {
    let is_embedded = |page: &Page| !inputs.sources.file(page.file).embedded.is_empty();
    let mut files: BTreeMap<(Dialect, &str), BTreeSet<FileId>> = BTreeMap::new();
    for page in pages.iter().filter(|page| is_embedded(page)) {
        let broken = page.broken.iter().map(String::as_str);
        for name in page.statements.iter().map(|raw| raw.name.as_str()).chain(broken) {
            files.entry((page.dialect, name)).or_default().insert(page.file);
        }
    }
    let several = files.into_iter().filter(|(_, files)| files.len() > 1);
    let names: BTreeSet<String> = several.map(|((_, name), _)| name.to_owned()).collect();
    for page in pages.iter_mut().filter(|page| is_embedded(page)) {
        let noun = neutral(&page.noun);
        let given = |name: &str| format!("{noun}_{name}");
        let known: BTreeSet<String> = page.statements.iter().map(|raw| raw.name.clone()).collect();
        for raw in page.statements.iter_mut().filter(|raw| names.contains(&raw.name)) {
            raw.name = Some(given(&raw.name)).filter(|name| !known.contains(name)).unwrap_or(raw.name.clone());
        }
        for name in page.broken.iter_mut().filter(|name| names.contains(*name)) {
            *name = given(name);
        }
    }
}

/// Gives statements of the Postgres pages the names of those that they face, and reports lines of `[names]` that speak
/// of nothing.
pub(super) fn apply(inputs: &Inputs, pages: &mut [Page], found: &mut Vec<Diagnostic>) {
    for (sqlite, pg) in inputs.config.names.iter().filter(|(sqlite, _)| !sqlite.contains('*')) {
        let has = |dialect: Dialect, name: &String| names_of(pages, dialect).contains(name);
        let missing = [(Dialect::Sqlite, sqlite), (Dialect::Pg, pg)].into_iter().find(|(page, name)| !has(*page, name));
        if let Some((dialect, name)) = missing {
            found.extend(no_such_name(inputs, dialect, sqlite, name));
            continue;
        }
        rename(pages, pg, sqlite);
    }
    for (sqlite, pg) in inputs.config.names.iter().filter(|(sqlite, _)| sqlite.contains('*')) {
        let known = Both::of(|dialect| names_of(pages, dialect));
        let faces = |name: &String| {
            let (before, behind) = sqlite.split_once('*')?;
            let star = name.strip_prefix(before)?.strip_suffix(behind)?;
            let facing = pg.replacen('*', star, 1);
            (!star.is_empty() && known.pg.contains(&facing)).then_some((name.clone(), facing))
        };
        let pairs: Vec<(String, String)> = known.sqlite.iter().filter_map(faces).collect();
        if pairs.is_empty() {
            found.extend(no_such_name(inputs, Dialect::Sqlite, sqlite, sqlite));
        }
        for (own, facing) in pairs.iter().filter(|(own, _)| !known.pg.contains(own)) {
            rename(pages, facing, own);
        }
    }
    if !inputs.config.lockstep {
        face(&inputs.sources, pages);
    }
}

/// The names of all statements of a dialect.
fn names_of(pages: &[Page], dialect: Dialect) -> BTreeSet<String> {
    let of = pages.iter().filter(|page| page.dialect == dialect);
    of.flat_map(|page| page.statements.iter().map(|raw| raw.name.clone()).chain(page.broken.iter().cloned())).collect()
}

fn rename(pages: &mut [Page], from: &str, to: &str) {
    for page in pages.iter_mut().filter(|page| page.dialect == Dialect::Pg) {
        page.statements.iter_mut().filter(|raw| raw.name == from).for_each(|raw| to.clone_into(&mut raw.name));
        page.broken.iter_mut().filter(|name| *name == from).for_each(|name| to.clone_into(name));
    }
}

/// Brings together what faces nothing: for each key under which either dialect has one statement alone.
fn face(sources: &Sources, pages: &mut [Page]) {
    for key in [by_neutral_name, by_deed] {
        let names = Both::of(|dialect| names_of(pages, dialect));
        let keys = Both::of(|dialect: Dialect| {
            let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for page in pages.iter().filter(|page| page.dialect == dialect) {
                let alone = page.statements.iter().filter(|raw| !names[dialect.other()].contains(&raw.name));
                for raw in alone {
                    key(sources, page, raw)
                        .into_iter()
                        .for_each(|key| keys.entry(key).or_default().push(raw.name.clone()));
                }
            }
            keys
        });
        let mut pairs = BTreeMap::new();
        for (key, own) in &keys.sqlite {
            if let ([own], Some([facing])) = (own.as_slice(), keys.pg.get(key).map(Vec::as_slice)) {
                pairs.entry(facing.clone()).or_insert_with(|| own.clone());
            }
        }
        let mut taken = BTreeSet::new();
        for (facing, own) in pairs.iter().filter(|(_, own)| taken.insert((*own).clone())) {
            rename(pages, facing, own);
        }
    }
    likeness::face(sources, pages);
}

/// The noun that stands before a word of Rust, so that it can be a name, is no part of what the program calls it.
fn by_neutral_name(_: &Sources, page: &Page, raw: &RawStatement) -> Vec<String> {
    let behind = raw.name.strip_prefix(&page.noun).and_then(|rest| rest.strip_prefix('_'));
    vec![neutral(behind.filter(|word| is_kept(word)).unwrap_or(&raw.name))]
}

/// The function, as far as its name is known, with what the statement does to which table.
fn by_deed(sources: &Sources, page: &Page, raw: &RawStatement) -> Vec<String> {
    if sources.file(page.file).embedded.is_empty() {
        return Vec::new();
    }
    let part = raw.parts.first().map(|part| sources.text(part.span)).unwrap_or_default();
    let Some(deed) = extract::deed(part).map(|deed| neutral(&deed)) else { return Vec::new() };
    let name = neutral(&raw.name);
    let suffix = format!("_{deed}");
    let function = name.find(&suffix).map_or(name.as_str(), |at| &name[..at]).to_owned();
    vec![format!("{function} {deed}")]
}

fn no_such_name(inputs: &Inputs, dialect: Dialect, key: &str, name: &str) -> Option<Diagnostic> {
    let (id, file) = inputs.sources.iter().find(|(_, file)| file.path == CONFIG)?;
    let start = file.text.find(key)?;
    let message = format!("{name}: `[names]` speaks of it, and no {} page has it", dialect.title());
    let span = Span::new(id, start..start + key.len());
    let help = "write the names as they stand on the pages, in lower snake case: that of SQLite, then that of Postgres";
    Some(Diagnostic::error(rule::MISSING_STATEMENT, message, span, "names no pair").help(help))
}
