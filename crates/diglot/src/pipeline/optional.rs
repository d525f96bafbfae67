//! The variants of a statement with optional parts: one for every set of parameters that may be given.
//!
//! Each is resolved, compared, checked and emitted like a statement of its own; the signature is one, in which
//! those parameters are optional.

use std::collections::BTreeSet;

use super::behind;
use super::declared::NEEDLESS;
use super::pairs::{Entry, Side};
use super::shared::Shared;
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::emit;
use crate::emitted::{EmittedText, Variant};
use crate::infer::{self, CHOICE, PageOf, Param, Signature};
use crate::page::{AnnotationKind, Chooser, OptionalPart, RawStatement};
use crate::resolve;
use crate::rule;
use crate::rules;
use crate::schema::Schema;
use crate::source::{Sources, Span};
use crate::tree::Statement;
use crate::types::{Base, Enum, Type};

/// All variants, the one with every part and the first order first. A statement without optional parts has one.
pub(super) fn variants(entry: &Entry<'_>) -> Vec<Variant> {
    let (mut params, mut orders): (Vec<&Chooser>, Vec<&Chooser>) = (Vec::new(), Vec::new());
    for part in entry.sides.iter().flat_map(|side| &side.raw.optional) {
        let known = if part.chooser.order().is_some() { &mut orders } else { &mut params };
        if !known.contains(&&part.chooser) {
            known.push(&part.chooser);
        }
    }
    // Only two pages that disagree can name more than one page may have; that is found, and some variants do.
    params.truncate(6);
    let all = 1_u32 << params.len();
    let of = |absent: u32, chosen: Option<&Chooser>| {
        let mut variant = Variant::default();
        for (at, param) in params.iter().enumerate() {
            let list = if absent & (1 << at) == 0 { &mut variant.given } else { &mut variant.left_out };
            list.push((*param).clone());
        }
        for order in &orders {
            let list = if Some(*order) == chosen { &mut variant.given } else { &mut variant.left_out };
            list.push((*order).clone());
        }
        variant
    };
    let chosen: Vec<Option<&Chooser>> =
        if orders.is_empty() { vec![None] } else { orders.iter().copied().map(Some).collect() };
    (0..all).flat_map(|absent| chosen.iter().map(move |chosen| (absent, *chosen))).map(|(a, c)| of(a, c)).collect()
}

/// The order of a variant, or else the first that a page has.
fn chosen<'a>(variant: &'a Variant, raw: &'a RawStatement) -> Option<&'a Chooser> {
    let known = variant.given.iter().chain(raw.optional.iter().map(|part| &part.chooser));
    known.into_iter().find(|chooser| chooser.order().is_some())
}

/// A page of a statement with its tree, if it could be read.
type ReadPage = (Dialect, RawStatement, Option<Statement>);

/// One variant as it was read.
pub(super) struct Reading {
    variant: Variant,
    sides: Vec<ReadPage>,
}

impl Reading {
    /// Resolves both pages of a variant.
    pub(super) fn of(
        sources: &Sources,
        schemas: &Both<Schema>,
        entry: &Entry<'_>,
        variant: Variant,
    ) -> (Self, Vec<Diagnostic>) {
        // On one page alone it is a finding, and no difference of conditions.
        let is_everywhere =
            entry.sides.iter().all(|side| side.raw.optional.iter().any(|part| part.chooser.page().is_some()));
        let mut no_page = Vec::new();
        let resolve = |side: &Side<'_>| {
            let mut raw = side.raw.clone();
            let facing = entry.sides.iter().filter(|other| other.dialect != side.dialect);
            raw.nullable = facing.flat_map(|other| other.raw.declared_nullable().map(str::to_owned)).collect();
            let chosen = chosen(&variant, side.raw);
            let is_absent = |part: &&OptionalPart| match part.chooser.order() {
                Some(_) => chosen != Some(&part.chooser),
                None => variant.left_out.contains(&part.chooser),
            };
            raw.left_out.extend(side.raw.optional.iter().filter(is_absent).map(|part| part.span));
            let (mut tree, mut findings) = resolve::resolve(sources, &schemas[side.dialect], &raw, side.dialect);
            let page = side.raw.optional.iter().find(|part| part.chooser.page().is_some() && !is_absent(part));
            if let (Some(part), Some(first)) = (page.filter(|_| is_everywhere), &tree) {
                match behind::of(&raw, first, part) {
                    Ok(behind) => {
                        raw.behind = Some(behind);
                        (tree, findings) = resolve::resolve(sources, &schemas[side.dialect], &raw, side.dialect);
                    }
                    Err(finding) => no_page.push(*finding),
                }
            }
            (findings, (side.dialect, raw, tree))
        };
        let (mut findings, mut sides): (Vec<_>, Vec<ReadPage>) = entry.sides.iter().map(resolve).unzip();
        for own in 0..sides.len() {
            let facing = sides.iter().enumerate().find(|(at, _)| *at != own).and_then(|(_, (.., tree))| tree.as_ref());
            let (dialect, raw, tree) = &sides[own];
            let names = tree.as_ref().zip(facing).map(|(tree, facing)| resolve::facing_names(tree, facing));
            if let Some(names) = names.filter(|names| !names.is_empty()) {
                let read = resolve::resolve_with(sources, &schemas[*dialect], raw, *dialect, &names);
                (sides[own].2, findings[own]) = read;
            }
        }
        let found = findings.into_iter().flatten().chain(no_page).collect();
        resolve::name_columns(&mut sides.iter_mut().filter_map(|(.., tree)| tree.as_mut()).collect::<Vec<_>>());
        (Self { variant, sides }, found)
    }

    /// Whether every page could be read.
    pub(super) fn is_read(&self) -> bool {
        self.sides.iter().all(|(.., tree)| tree.is_some())
    }

    /// The trees of the pages that could be read.
    pub(super) fn trees(&self) -> impl Iterator<Item = &Statement> {
        self.sides.iter().filter_map(|(.., tree)| tree.as_ref())
    }

    /// A page, if the statement has it and it could be read.
    pub(super) fn page<'r>(&'r self, schemas: &'r Both<Schema>, dialect: Dialect) -> Option<PageOf<'r>> {
        self.page_or(schemas, dialect, None)
    }

    /// The texts of both pages, with the steps that Postgres takes.
    pub(super) fn texts(&self, shared: Shared<'_>, signature: &Signature) -> Vec<EmittedText> {
        let (sources, config) = (&shared.inputs.sources, &shared.inputs.config);
        let pages: Vec<PageOf<'_>> =
            Dialect::ALL.into_iter().filter_map(|dialect| self.page(shared.schemas, dialect)).collect();
        let steps = rules::in_steps(sources, config, &pages.iter().collect::<Vec<_>>());
        let text = |page: &PageOf<'_>| {
            let taken = steps.as_ref().filter(|_| page.tree.dialect == Dialect::Pg);
            emit::emit_with(sources, signature, page, taken)
        };
        pages.iter().map(text).collect()
    }

    /// The same with another tree where it could not be read.
    pub(super) fn page_or<'r>(
        &'r self,
        schemas: &'r Both<Schema>,
        dialect: Dialect,
        unread: Option<&'r Statement>,
    ) -> Option<PageOf<'r>> {
        let (_, raw, tree) = self.sides.iter().find(|(of, ..)| *of == dialect)?;
        Some(PageOf { raw, tree: tree.as_ref().or(unread)?, schema: &schemas[dialect] })
    }

    /// What a driver needs to know of a page that the statement has and that could not be read.
    pub(super) fn unread(&self, sources: &Sources, dialect: Dialect) -> Option<Statement> {
        let (_, raw, tree) = self.sides.iter().find(|(of, ..)| *of == dialect)?;
        if tree.is_some() { None } else { resolve::unread(sources, raw, dialect) }
    }
}

/// The findings of all variants, each once, with a note where it takes the absence of a part to see it.
pub(super) fn merged(readings: &[Reading], found: Vec<Vec<Diagnostic>>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for (reading, findings) in readings.iter().zip(&found) {
        for finding in findings {
            let same = |known: &Diagnostic| known.rule == finding.rule && known.labels == finding.labels;
            let told = all.iter().any(same);
            // A declaration is needless only where no variant needs it.
            let needed = NEEDLESS.contains(&finding.rule) && !found.iter().all(|findings| findings.iter().any(same));
            if told || needed {
                continue;
            }
            let names = |list: &[Chooser], orders: bool| -> Vec<String> {
                let own = list.iter().filter(|chooser| chooser.order().is_some() == orders);
                own.map(|chooser| format!("`{}`", chooser.name())).collect()
            };
            let absent = names(&reading.variant.left_out, false);
            let order = names(&reading.variant.given, true);
            let mut finding = finding.clone();
            if !absent.is_empty() {
                finding = finding.note(format!("so it is when {} is not given", absent.join(", ")));
            }
            if let Some(order) = order.first() {
                finding = finding.note(format!("so it is in the order {order}"));
            }
            all.push(finding);
        }
    }
    all
}

/// What must hold of optional parameters: they stand in their parts alone, on both pages.
pub(super) fn check(whole: &Reading, schemas: &Both<Schema>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let pages: Vec<PageOf<'_>> = Dialect::ALL.into_iter().filter_map(|dialect| whole.page(schemas, dialect)).collect();
    let choosers: BTreeSet<&Chooser> =
        pages.iter().flat_map(|page| &page.raw.optional).map(|part| &part.chooser).collect();
    if choosers.iter().any(|chooser| chooser.order().is_some()) {
        pages.iter().for_each(|page| no_parameter(page, CHOICE, "the order", &mut found));
    }
    for chooser in choosers {
        match chooser {
            Chooser::Page(key) => {
                pages.iter().for_each(|page| no_parameter(page, key, "where the page begins", &mut found));
            }
            Chooser::Parameter(_) => pages.iter().for_each(|page| stands_alone(page, chooser, &mut found)),
            Chooser::Order(_) => {}
        }
        if let [sqlite, pg] = pages.as_slice() {
            on_both_pages(sqlite, pg, chooser, &mut found);
        }
    }
    found
}

/// The function takes the order, or the key of a page, under this name.
fn no_parameter(page: &PageOf<'_>, name: &str, what: &str, found: &mut Vec<Diagnostic>) {
    if let Some(used) = page.tree.params.iter().find(|used| used.name == name) {
        let message = format!("{}: `{name}` is a parameter, and chooses {what}", page.raw.name);
        let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, used.span, "of the same name");
        found.push(finding.help("give the parameter another name"));
    }
}

fn mark(page: &PageOf<'_>, chooser: &Chooser) -> Option<Span> {
    page.raw.optional.iter().find(|part| part.chooser == *chooser).map(|part| part.mark)
}

fn on_both_pages(sqlite: &PageOf<'_>, pg: &PageOf<'_>, chooser: &Chooser, found: &mut Vec<Diagnostic>) {
    let (page, facing, at) = match (mark(sqlite, chooser), mark(pg, chooser)) {
        (Some(at), None) => (sqlite, pg, at),
        (None, Some(at)) => (pg, sqlite, at),
        _ => return,
    };
    let title = facing.tree.dialect.title();
    let (rule, what, line) = match chooser {
        Chooser::Order(order) => {
            (rule::BAD_OPTIONAL_PART, format!("the order `{order}` is there"), format!("-- order: {order}"))
        }
        Chooser::Page(key) => (rule::BAD_PAGE, format!("it begins behind `{key}`"), format!("-- page: {key}")),
        Chooser::Parameter(param) => {
            (rule::BAD_OPTIONAL_PART, format!("the part on `{param}` is optional"), format!("-- if: {param}"))
        }
    };
    let message = format!("{}: {what} on one page only", page.raw.name);
    let finding = Diagnostic::error(rule, message, at, "here")
        .and(facing.raw.name_span, format!("the {title} page has no `{line}`"));
    let whole = if chooser.page().is_some() { format!("`{line}`") } else { format!("`{line}` … `-- end`") };
    found.push(finding.help(format!("write {whole} on the {title} page too")));
}

fn stands_alone(page: &PageOf<'_>, chooser: &Chooser, found: &mut Vec<Diagnostic>) {
    let name = &page.raw.name;
    let param = chooser.name();
    let parts = || page.raw.optional.iter().filter(|part| part.chooser == *chooser);
    for part in parts() {
        if !page.tree.params.iter().any(|used| used.name == param && part.span.contains(used.span)) {
            let message = format!("{name}: the optional part on `{param}` does not use it");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, part.mark, "chosen by this parameter");
            found.push(finding.help("name the parameter that the condition needs"));
        }
    }
    let outside =
        page.tree.params.iter().find(|used| used.name == param && !parts().any(|part| part.span.contains(used.span)));
    if let (Some(outside), Some(at)) = (outside, mark(page, chooser)) {
        let message = format!("{name}: `{param}` may be missing, and stands outside its optional part");
        let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, outside.span, "needed here always");
        found.push(finding.context(at, "optional here").help("give one of the two another parameter"));
    }
    for annotation in &page.raw.annotations {
        if let AnnotationKind::Param { name: declared, ty } = &annotation.kind
            && declared == param
            && ty.nullable
        {
            let message = format!("{name}: `{param}` cannot be both optional and NULL");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, annotation.span, "may be NULL");
            found.push(
                finding
                    .help(format!("write `-- param: {param} {}`: a missing value leaves its part out", ty.base.word())),
            );
        }
    }
}

/// Makes one signature of all variants: the optional parameters are marked, and a column may be NULL where it
/// may be in one variant.
pub(super) fn widen(
    config: &Config,
    noun: &str,
    readings: &[Reading],
    schemas: &Both<Schema>,
    signature: &mut Signature,
) {
    let [whole, others @ ..] = readings else { return };
    for reading in others {
        let page = |dialect: Dialect| reading.page(schemas, dialect);
        let (Some(variant), _) = infer::signature(config, noun, page(Dialect::Sqlite), page(Dialect::Pg)) else {
            continue;
        };
        for (column, other) in signature.columns.iter_mut().zip(variant.columns) {
            column.ty.nullable |= other.ty.nullable;
        }
        // Each order has its own columns in the key.
        for param in variant.params.into_iter().filter(|param| param.of_key().is_some()) {
            if signature.params.iter().all(|known| known.name != param.name) {
                signature.params.push(param);
            }
        }
    }
    for param in &mut signature.params {
        let column = param.of_key().and_then(|(_, field)| signature.columns.iter().find(|column| column.name == field));
        param.ty.nullable |= column.is_some_and(|column| column.ty.nullable);
        param.optional =
            param.of_key().is_some() || whole.variant.given.contains(&Chooser::Parameter(param.name.clone()));
    }
    let choosers = whole.variant.given.iter().chain(&whole.variant.left_out);
    let words: Vec<String> = choosers.filter_map(Chooser::order).map(str::to_owned).collect();
    if !words.is_empty() {
        let base = Base::Enum(Box::new(Enum { name: format!("{}.{CHOICE}", signature.name), words }));
        let ty = Type { base, nullable: false };
        signature.params.push(Param::plain(CHOICE, ty));
    }
}
