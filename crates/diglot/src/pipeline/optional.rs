//! The variants of a statement with optional parts: one for every set of parameters that may be given.
//!
//! Each is resolved, compared, checked and emitted like a statement of its own; the signature is one, in which
//! those parameters are optional.

use std::collections::BTreeSet;

use super::pairs::{Entry, Side};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::emitted::Variant;
use crate::infer::{self, PageOf, Signature};
use crate::page::{AnnotationKind, RawStatement};
use crate::resolve;
use crate::rule;
use crate::schema::Schema;
use crate::source::{Sources, Span};
use crate::tree::Statement;

/// All variants, the one with every part first. A statement without optional parts has one.
pub(super) fn variants(entry: &Entry<'_>) -> Vec<Variant> {
    let mut params: Vec<&str> = Vec::new();
    for part in entry.sides.iter().flat_map(|side| &side.raw.optional) {
        if !params.contains(&part.param.as_str()) {
            params.push(&part.param);
        }
    }
    // Only two pages that disagree can name more than one page may have; that is found, and some variants do.
    params.truncate(4);
    let all = 1_u32 << params.len();
    let of = |absent: u32| {
        let mut variant = Variant::default();
        for (at, param) in params.iter().enumerate() {
            let list = if absent & (1 << at) == 0 { &mut variant.given } else { &mut variant.left_out };
            list.push((*param).to_owned());
        }
        variant
    };
    (0..all).map(of).collect()
}

/// One variant as it was read.
pub(super) struct Reading {
    variant: Variant,
    sides: Vec<(Dialect, RawStatement, Option<Statement>)>,
}

impl Reading {
    /// Resolves both pages of a variant.
    pub(super) fn of(
        sources: &Sources,
        schemas: &Both<Schema>,
        entry: &Entry<'_>,
        variant: Variant,
    ) -> (Self, Vec<Diagnostic>) {
        let mut found = Vec::new();
        let resolve = |side: &Side<'_>| {
            let mut raw = side.raw.clone();
            let absent = raw.optional.iter().filter(|part| variant.left_out.contains(&part.param));
            raw.left_out = absent.map(|part| part.span).collect();
            let (tree, findings) = resolve::resolve(sources, &schemas[side.dialect], &raw, side.dialect);
            found.extend(findings);
            (side.dialect, raw, tree)
        };
        let mut sides: Vec<(Dialect, RawStatement, Option<Statement>)> = entry.sides.iter().map(resolve).collect();
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
        let (_, raw, tree) = self.sides.iter().find(|(of, ..)| *of == dialect)?;
        Some(PageOf { raw, tree: tree.as_ref()?, schema: &schemas[dialect] })
    }
}

/// Rules about something that is not needed: it is needless only when no variant needs it.
const NEEDLESS: [&str; 2] = [rule::UNUSED_DIVERGENCE.name, rule::UNUSED_ALLOW.name];

/// The findings of all variants, each once, with a note where it takes the absence of a part to see it.
pub(super) fn merged(readings: &[Reading], found: Vec<Vec<Diagnostic>>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for (reading, findings) in readings.iter().zip(&found) {
        for finding in findings {
            let same = |known: &Diagnostic| known.rule == finding.rule && known.labels == finding.labels;
            let told = all.iter().any(same);
            let needed = NEEDLESS.contains(&finding.rule) && !found.iter().all(|findings| findings.iter().any(same));
            if told || needed {
                continue;
            }
            let absent: Vec<String> = reading.variant.left_out.iter().map(|param| format!("`{param}`")).collect();
            all.push(match absent.is_empty() {
                true => finding.clone(),
                false => finding.clone().note(format!("so it is when {} is not given", absent.join(", "))),
            });
        }
    }
    all
}

/// What must hold of optional parameters: they stand in their parts alone, on both pages.
pub(super) fn check(whole: &Reading, schemas: &Both<Schema>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let pages: Vec<PageOf<'_>> = Dialect::ALL.into_iter().filter_map(|dialect| whole.page(schemas, dialect)).collect();
    let params: BTreeSet<&str> =
        pages.iter().flat_map(|page| &page.raw.optional).map(|part| part.param.as_str()).collect();
    for param in params {
        pages.iter().for_each(|page| stands_alone(page, param, &mut found));
        if let [sqlite, pg] = pages.as_slice() {
            on_both_pages(sqlite, pg, param, &mut found);
        }
    }
    found
}

fn mark(page: &PageOf<'_>, param: &str) -> Option<Span> {
    page.raw.optional.iter().find(|part| part.param == param).map(|part| part.mark)
}

fn on_both_pages(sqlite: &PageOf<'_>, pg: &PageOf<'_>, param: &str, found: &mut Vec<Diagnostic>) {
    let (page, facing, at) = match (mark(sqlite, param), mark(pg, param)) {
        (Some(at), None) => (sqlite, pg, at),
        (None, Some(at)) => (pg, sqlite, at),
        _ => return,
    };
    let title = facing.tree.dialect.title();
    let message = format!("{}: the part on `{param}` is optional on one page only", page.raw.name);
    let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, at, "optional here")
        .and(facing.raw.name_span, format!("the {title} page has no `-- if: {param}`"));
    found.push(finding.help(format!("write `-- if: {param}` … `-- end` on the {title} page too")));
}

fn stands_alone(page: &PageOf<'_>, param: &str, found: &mut Vec<Diagnostic>) {
    let name = &page.raw.name;
    for part in page.raw.optional.iter().filter(|part| part.param == param) {
        if !page.tree.params.iter().any(|used| used.name == param && part.span.contains(used.span)) {
            let message = format!("{name}: the optional part on `{param}` does not use it");
            let finding = Diagnostic::error(rule::BAD_OPTIONAL_PART, message, part.mark, "chosen by this parameter");
            found.push(finding.help("name the parameter that the condition needs"));
        }
    }
    let outside = page.tree.params.iter().find(|used| {
        used.name == param && !page.raw.optional.iter().any(|part| part.param == param && part.span.contains(used.span))
    });
    if let (Some(outside), Some(at)) = (outside, mark(page, param)) {
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
    for param in &mut signature.params {
        param.optional = whole.variant.given.contains(&param.name);
    }
    for reading in others {
        let page = |dialect: Dialect| reading.page(schemas, dialect);
        let (Some(variant), _) = infer::signature(config, noun, page(Dialect::Sqlite), page(Dialect::Pg)) else {
            continue;
        };
        for (column, other) in signature.columns.iter_mut().zip(variant.columns) {
            column.ty.nullable |= other.ty.nullable;
        }
    }
}
