//! Which statement faces which: by name, on the two pages of a noun or, where the pages are not kept in lock-step, in
//! all files of the other dialect.

use std::collections::{BTreeMap, BTreeSet};

use crate::baseline::Baseline;
use crate::config::{Generate, Places};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::names::camel;
use crate::page::{Annotation, AnnotationKind, Page, RawStatement};
use crate::rule;
use crate::source::{FileId, Span};

/// What is asked at a statement that has nearly the same name.
pub(super) const RENAMED: &str = "was it renamed?";

/// A statement on one page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) dialect: Dialect,
    pub(super) raw: &'a RawStatement,
}

/// A statement with its pages.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) noun: &'a str,
    pub(super) name: &'a str,
    /// The pages that have it.
    pub(super) sides: Vec<Side<'a>>,
    /// The dialects that are to have it.
    pub(super) dialects: Vec<Dialect>,
    /// Whether every dialect that is to have it does.
    pub(super) whole: bool,
}

/// The name of the module of a file's statements; one that cannot be a module's is a finding.
pub(super) fn noun(generate: &Generate, file: FileId, stem: &str, found: &mut Vec<Diagnostic>) -> String {
    let noun = stem.replace(['-', '.', ' ', '/'], "_");
    if !generate.is_free(&noun) {
        let message = format!("`{stem}.sql` cannot become a module: it is no free Rust identifier");
        found.push(
            Diagnostic::error(rule::BAD_FILE_NAME, message, Span::new(file, 0..0), "of this file")
                .help("name the file by a noun in snake case, such as `lease.sql`, directly in the dialect's folder"),
        );
    }
    noun
}

/// The way out for pages that do not have the same files and the same order.
const BY_NAME: &str = "or, if statements find each other by name alone, say so in `diglot.toml`: `lockstep = false`";

/// What decides which statements are pairs.
pub(super) struct Pairing<'a> {
    /// Where the pages are.
    pub(super) places: &'a Places,
    /// Whether the pages have the same files and the same order.
    pub(super) lockstep: bool,
    /// A statement without a facing one that the baseline knows is one for its dialect alone.
    pub(super) baseline: &'a Baseline,
}

impl Pairing<'_> {
    /// All statements of all pages, noun by noun in the order of the first page.
    pub(super) fn entries<'a>(&self, pages: &'a [Page], found: &mut Vec<Diagnostic>) -> Vec<Entry<'a>> {
        same_module(pages, found);
        across_files(pages, found);
        let one_dialect = missing_folder(pages);
        if let Some(dialect) = one_dialect {
            report_missing_folder(pages, dialect, found);
        }
        if !self.lockstep {
            let groups = Both::of(|dialect| pages.iter().filter(|page| page.dialect == dialect).collect());
            return self.of_pages(&groups, found);
        }
        let mut nouns: BTreeMap<&str, Both<Vec<&Page>>> = BTreeMap::new();
        for page in pages {
            nouns.entry(&page.noun).or_default()[page.dialect].push(page);
        }
        if one_dialect.is_none() {
            nouns.iter().for_each(|(noun, pair)| missing_page(self.places, noun, pair, found));
        }
        let mut entries = Vec::new();
        for pair in nouns.into_values() {
            // Beside a page that both read there is no order that both have.
            if let (&[sqlite], &[pg]) = (pair.sqlite.as_slice(), pair.pg.as_slice()) {
                statement_order(sqlite, pg, found);
            }
            entries.extend(self.of_pages(&pair, found));
        }
        entries
    }

    /// The statements of these pages of each dialect.
    fn of_pages<'a>(&self, pages: &Both<Vec<&'a Page>>, found: &mut Vec<Diagnostic>) -> Vec<Entry<'a>> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let named = pages.each_ref().map(|pages| {
            let statements = pages.iter().flat_map(|page| &page.statements);
            statements.rev().map(|raw| (raw.name.as_str(), raw)).collect::<BTreeMap<&str, &'a RawStatement>>()
        });
        // What a list of Postgres faces needs no other page there.
        let lists = pages.pg.iter().flat_map(|page| &page.statements);
        let called: BTreeSet<&str> = lists.filter_map(|raw| Some(each(raw)?.0)).collect();
        for dialect in Dialect::ALL {
            let facing = &pages[dialect.other()];
            for (page, raw) in pages[dialect].iter().flat_map(|page| page.statements.iter().map(move |raw| (page, raw)))
            {
                if !taken.insert(&raw.name) {
                    continue;
                }
                let other = named[dialect.other()].get(raw.name.as_str()).copied();
                let is_called = dialect == Dialect::Sqlite && called.contains(raw.name.as_str());
                let mut alone = stands_alone(dialect, raw, other, is_called, found);
                let mut sides = vec![Side { dialect, raw }];
                sides.extend(other.map(|raw| Side { dialect: dialect.other(), raw }));
                sides.sort_by_key(|side| side.dialect);
                // A page that has all of its statements from this one has no file.
                let same_file = facing.iter().find(|facing| facing.noun == page.noun && facing.file != page.file);
                if let (false, None, false) = (facing.is_empty(), other, alone)
                    && !facing.iter().any(|facing| facing.broken.contains(&raw.name))
                {
                    let renamed = renamed(raw, &named, dialect.other());
                    // A statement that is named differently on each page is told of once.
                    let told = renamed.filter(|_| dialect == Dialect::Pg);
                    if told.is_none() {
                        found.push(missing_statement(raw, renamed, same_file.copied(), dialect.other()));
                    }
                    alone = self.baseline.knows(rule::MISSING_STATEMENT.name, &told.unwrap_or(raw).name);
                }
                entries.push(Entry {
                    noun: &page.noun,
                    name: &raw.name,
                    dialects: if alone { vec![dialect] } else { Dialect::ALL.to_vec() },
                    whole: alone || sides.len() == 2,
                    sides,
                });
            }
        }
        entries
    }
}

/// The `-- only` of a statement.
fn only(raw: &RawStatement) -> Option<(&Annotation, Dialect)> {
    raw.annotations.iter().find_map(|annotation| match annotation.kind {
        AnnotationKind::Only { dialect, .. } => Some((annotation, dialect)),
        _ => None,
    })
}

/// The statement of the facing page whose work a statement does for each of its rows, with the place that says so.
pub(super) fn each(raw: &RawStatement) -> Option<(&str, Span)> {
    raw.annotations.iter().find_map(|annotation| match &annotation.kind {
        AnnotationKind::Each { name, .. } => Some((name.as_str(), annotation.span)),
        _ => None,
    })
}

/// Whether a statement is meant for its dialect alone, or faces a list; an `-- only` that says something else is a finding.
fn stands_alone(
    dialect: Dialect,
    raw: &RawStatement,
    other: Option<&RawStatement>,
    is_called: bool,
    found: &mut Vec<Diagnostic>,
) -> bool {
    let declared = only(raw);
    let (name, facing) = (&raw.name, dialect.other());
    match (declared, other) {
        (Some((annotation, named)), None) if named != dialect => {
            let message = format!("{name}: `-- only: {named}` stands on the {} page", dialect.title());
            found.push(Diagnostic::error(rule::WRONG_ONLY, message, annotation.span, "names the other dialect").help(
                format!("write `-- only: {dialect} — reason`, or move the statement to the {} page", named.title()),
            ));
            true
        }
        (Some(_), None) => true,
        (None, None) => is_called || each(raw).is_some(),
        (_, Some(other)) => {
            let annotations = [declared, only(other)];
            for (annotation, named) in annotations.into_iter().flatten() {
                let message = format!("{name}: it is for {} only, but both pages have it", named.title());
                found.push(
                    Diagnostic::error(rule::UNUSED_ONLY, message, annotation.span, "not true")
                        .context(other.name_span, format!("the {} page has it too", facing.title()))
                        .help("delete the line, or delete the statement from the other page"),
                );
            }
            false
        }
    }
}

/// The statement on the other page that has nearly this one's name and faces nothing either.
fn renamed<'a>(
    raw: &RawStatement,
    named: &Both<BTreeMap<&str, &'a RawStatement>>,
    facing: Dialect,
) -> Option<&'a RawStatement> {
    let nearest = |name: &str, of: Dialect| {
        let is_alone =
            |other: &&&RawStatement| !named[of.other()].contains_key(other.name.as_str()) && only(other).is_none();
        let alone = named[of].values().filter(is_alone);
        let near = alone.map(|other| (strsim::osa_distance(&other.name, name), *other));
        near.filter(|(distance, _)| *distance <= 2).min_by_key(|(distance, other)| (*distance, &other.name))
    };
    let (_, other) = nearest(&raw.name, facing)?;
    let (_, back) = nearest(&other.name, facing.other())?;
    (back.name == raw.name).then_some(other)
}

fn missing_statement(
    raw: &RawStatement,
    renamed: Option<&RawStatement>,
    page: Option<&Page>,
    missing: Dialect,
) -> Diagnostic {
    let (name, title) = (&raw.name, missing.title());
    let message = format!("{name}: the {title} page does not have this statement");
    let label = format!("has no facing statement on the {title} page");
    let finding = Diagnostic::error(rule::MISSING_STATEMENT, message, raw.name_span, label);
    let finding = match (renamed, page) {
        (Some(other), _) => {
            let (sqlite, pg) = if missing == Dialect::Pg { (name, &other.name) } else { (&other.name, name) };
            finding
                .context(other.name_span, RENAMED)
                .help(format!("write `{name}` on both pages, or `{}` on both", other.name))
                .help(format!("or leave the names, and write below `[names]` in `diglot.toml`: `{sqlite} = \"{pg}\"`"))
        }
        (None, Some(page)) => {
            let last = page.statements.iter().rfind(|last| last.name_span.file == page.file);
            let last = last.map_or(Span::new(page.file, 0..0), |last| last.name_span);
            finding.context(last, "the last statement there")
        }
        (None, None) => finding,
    };
    finding
        .help(format!("draft it from this page: `cargo diglot translate {name} --write`"))
        .help(format!("or say that it is meant for one dialect: `-- only: {} — reason`", missing.other()))
}

fn statement_order(sqlite: &Page, pg: &Page, found: &mut Vec<Diagnostic>) {
    let shared = |page: &'_ Page, other: &'_ Page| -> Vec<(String, Span)> {
        let both = page.statements.iter().filter(|raw| other.statements.iter().any(|facing| facing.name == raw.name));
        // What stands on one page for both is at no place of the other.
        let both = both.filter(|raw| raw.annotations.iter().all(|said| !matches!(said.kind, AnnotationKind::Both)));
        both.map(|raw| (raw.name.clone(), raw.name_span)).collect()
    };
    let (left, right) = (shared(sqlite, pg), shared(pg, sqlite));
    let Some(((name, span), (other_name, other_span))) = left.into_iter().zip(right).find(|(a, b)| a.0 != b.0) else {
        return;
    };
    let message = format!("{}: the pages have their statements in different orders", sqlite.noun);
    found.push(
        Diagnostic::error(rule::STATEMENT_ORDER, message, span, format!("`{name}` comes next here"))
            .and(other_span, format!("`{other_name}` comes next here"))
            .help("bring the statements into the same order, so that the pages can be read side by side")
            .help(BY_NAME),
    );
}

/// The dialect of which there is no page at all while the other has some.
fn missing_folder(pages: &[Page]) -> Option<Dialect> {
    let has = |dialect: Dialect| pages.iter().any(|page| page.dialect == dialect);
    Dialect::ALL.into_iter().find(|dialect| !has(*dialect) && has(dialect.other()))
}

fn report_missing_folder(pages: &[Page], dialect: Dialect, found: &mut Vec<Diagnostic>) {
    let needed = |page: &&Page| page.statements.iter().any(|raw| only(raw).is_none());
    let Some(page) = pages.iter().find(needed) else { return };
    let message = format!("there is no {} page at all", dialect.title());
    let span = page.statements.first().map_or(Span::new(page.file, 0..0), |raw| raw.header_span);
    found.push(
        Diagnostic::error(rule::MISSING_PAGE, message, span, format!("has no facing page in a folder `{dialect}`"))
            .help(format!(
                "write the {} pages beside the {} ones, one file per noun",
                dialect.title(),
                dialect.other().title()
            )),
    );
}

fn missing_page(places: &Places, noun: &str, pair: &Both<Vec<&Page>>, found: &mut Vec<Diagnostic>) {
    let (page, missing) = match (pair.sqlite.first(), pair.pg.first()) {
        (Some(page), None) => (page, Dialect::Pg),
        (None, Some(page)) => (page, Dialect::Sqlite),
        _ => return,
    };
    let Some(first) = page.statements.iter().find(|raw| only(raw).is_none()) else { return };
    let message = format!("{noun}: there is no {} page", missing.title());
    found.push(
        Diagnostic::error(rule::MISSING_PAGE, message, first.name_span, "this statement and its page face nothing")
            .help(format!("write `{}`", places.page(missing, noun)))
            .help(BY_NAME)
            .help(format!(
                "or say of each statement that it is meant for one dialect: `-- only: {} — reason`",
                page.dialect
            )),
    );
}

/// Two files of a dialect that would be one module. One for both dialects may have one for each beside it.
fn same_module(pages: &[Page], found: &mut Vec<Diagnostic>) {
    let mut known: BTreeMap<(Dialect, &str), FileId> = BTreeMap::new();
    let is_common = |page: &&Page| pages.iter().any(|other| other.file == page.file && other.dialect != page.dialect);
    for page in pages.iter().filter(|page| !is_common(page)) {
        let first = *known.entry((page.dialect, page.noun.as_str())).or_insert(page.file);
        if first != page.file {
            let message = format!("{}: two files would become this module", page.noun);
            let finding = Diagnostic::error(rule::BAD_FILE_NAME, message, Span::new(page.file, 0..0), "this file");
            found.push(finding.context(Span::new(first, 0..0), "and this file").help("give one of them another name"));
        }
    }
}

/// A name that two files of the same dialect have.
fn across_files(pages: &[Page], found: &mut Vec<Diagnostic>) {
    let mut known: BTreeMap<(Dialect, &str), (FileId, Span)> = BTreeMap::new();
    for page in pages {
        for raw in &page.statements {
            let first = *known.entry((page.dialect, raw.name.as_str())).or_insert((page.file, raw.name_span));
            if first.0 != page.file {
                found.push(duplicate(&raw.name, raw.name_span, first.1));
            }
        }
    }
}

fn duplicate(name: &str, second: Span, first: Span) -> Diagnostic {
    let message = format!("{name}: two files have a statement of this name");
    Diagnostic::error(rule::DUPLICATE_NAME, message, second, "second statement of this name")
        .context(first, "the first one")
        .help("names are unique in the whole project: begin them with their file's noun")
}

/// How many statements both pages have, and how many stand on one page alone.
pub(super) fn count(entries: &[Entry<'_>]) -> (usize, usize) {
    let pairs = entries.iter().filter(|entry| entry.sides.len() > 1).count();
    (pairs, entries.len() - pairs)
}

/// Names that differ as statements and are the same as types.
pub(super) fn camel_names(entries: &[Entry<'_>], found: &mut Vec<Diagnostic>) {
    let mut known: BTreeMap<(&str, String), &Entry<'_>> = BTreeMap::new();
    for entry in entries {
        let first = known.entry((entry.noun, camel(entry.name))).or_insert(entry);
        if first.name == entry.name {
            continue;
        }
        if let (Some(second), Some(first)) = (entry.sides.first(), first.sides.first()) {
            let message = format!("{}: its types would have the names of those of `{}`", entry.name, first.raw.name);
            found.push(
                Diagnostic::error(rule::DUPLICATE_NAME, message, second.raw.name_span, "the same in camel case")
                    .context(first.raw.name_span, "as this one")
                    .help("give one of them another name"),
            );
        }
    }
}
