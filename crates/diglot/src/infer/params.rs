//! Settles the type of every parameter.

use std::collections::BTreeSet;

use super::evidence::{Conflict, Evidence, Evidences, Weight, array};
use super::{PageOf, Param, declared, held_by, newtype, newtype_of_items, param_annotation, refined, walk};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::schema::Schema;
use crate::source::Span;
use crate::tree::{Assignment, Body, ConflictAction, Expr, ExprKind, Part, Rows, Source, Statement};
use crate::types::{Base, Stored, Type};

/// One page with what its parameters meet.
struct PageEvidence<'a> {
    page: &'a PageOf<'a>,
    evidence: Evidences<'a>,
}

impl PageEvidence<'_> {
    fn is_of_sqlite(&self) -> bool {
        self.page.tree.dialect == Dialect::Sqlite
    }

    fn takes(&self, name: &str) -> bool {
        self.page.tree.params.iter().any(|param| param.name == name)
    }
}

/// The parameters in numbering order. `None` when one of them has no type; then there is a finding.
pub(super) fn infer(
    config: &Config,
    pages: &[&PageOf<'_>],
    facing: Option<&Schema>,
    found: &mut Vec<Diagnostic>,
) -> Option<Vec<Param>> {
    let evidence: Vec<PageEvidence<'_>> =
        pages.iter().map(|page| PageEvidence { page, evidence: walk::evidence(page.tree) }).collect();
    let counts: Vec<BTreeSet<&str>> = pages.iter().map(|page| page.tree.row_counts()).collect();
    let mut params = Vec::new();
    let mut complete = true;
    for name in names(pages) {
        match param(config, pages, &evidence, facing, name, found) {
            Some(param) => {
                let counts_rows = counts.len() > 1 && counts.iter().all(|of_page| of_page.contains(name));
                params.push(Param { counts_rows, ..param });
            }
            None => complete = false,
        }
    }
    complete.then_some(params)
}

/// The parameters of a pair of which no function can be made, and the names of those without a type.
pub(super) fn partial(config: &Config, pages: &[&PageOf<'_>]) -> (Vec<Param>, BTreeSet<String>) {
    let evidence: Vec<PageEvidence<'_>> =
        pages.iter().map(|page| PageEvidence { page, evidence: walk::evidence(page.tree) }).collect();
    let (mut params, mut untyped) = (Vec::new(), BTreeSet::new());
    for name in names(pages) {
        let known = param(config, pages, &evidence, None, name, &mut Vec::new());
        params.push(known.or_else(|| asked_for(pages, &evidence, name)).unwrap_or_else(|| {
            untyped.insert(name.to_owned());
            Param::plain(name, Type { base: Base::Text, nullable: true })
        }));
    }
    (params, untyped)
}

/// A parameter that no function can take, of the type that it is declared to have or meets all the same.
fn asked_for(pages: &[&PageOf<'_>], evidence: &[PageEvidence<'_>], name: &str) -> Option<Param> {
    let statement = &pages.first()?.raw.name;
    let declared = declared("param", statement, name, &param_annotation(pages, name), &mut Vec::new());
    let base = |evidence| settled(statement, evidence, None, name, &mut Vec::new());
    // What SQLite's page holds it against may have no type at all.
    let of_pg = || evidence.iter().find(|page| !page.is_of_sqlite()).and_then(|page| base(std::slice::from_ref(page)));
    let met = || Some(Type { base: base(evidence).or_else(of_pg)?, nullable: false });
    let ty = declared.or_else(met)?;
    let stored = if ty.base.is_time() { held_beside(pages, name) } else { None };
    Some(Param { stored, ..Param::plain(name, ty) })
}

/// How SQLite holds the times that a parameter is held against or written to, when something is added to it or taken off
/// before.
fn held_beside(pages: &[&PageOf<'_>], name: &str) -> Option<Stored> {
    let time = |base: Option<&Base>| base.and_then(Base::stored).filter(|stored| stored.of.base().is_time());
    let held = |expr: &Expr| match &expr.kind {
        ExprKind::Binary { op, left, right } if matches!(op.as_str(), "=" | "<>" | "<" | "<=" | ">" | ">=") => {
            let other = if is_shifted(left, name) { right } else { left };
            time(other.base()).filter(|_| is_shifted(left, name) || is_shifted(right, name))
        }
        _ => None,
    };
    let set = |(target, column, value): (&Source, &str, &Expr)| {
        let (_, ty) = target.columns.iter().find(|(known, _)| known == column)?;
        time(ty.as_ref().map(|ty| &ty.base)).filter(|_| is_shifted(value, name))
    };
    let sqlite = || pages.iter().filter(|page| page.tree.dialect == Dialect::Sqlite).map(|page| page.tree);
    let written = || sqlite().flat_map(|tree| &tree.parts).flat_map(written);
    sqlite().flat_map(Statement::exprs).find_map(held).or_else(|| written().find_map(set))
}

/// The columns that a part writes, each with what it puts there.
fn written(part: &Part) -> Vec<(&Source, &str, &Expr)> {
    fn set<'t>(target: &'t Source, set: &'t [Assignment]) -> Vec<(&'t Source, &'t str, &'t Expr)> {
        set.iter().map(|assignment| (target, assignment.column.as_str(), &assignment.value)).collect()
    }
    match &part.body {
        Body::Update(update) => set(&update.target, &update.set),
        Body::Insert(insert) => {
            let mut all = match insert.conflict.as_ref().map(|conflict| &conflict.action) {
                Some(ConflictAction::Update { set: assignments, .. }) => set(&insert.target, assignments),
                _ => Vec::new(),
            };
            let names = || insert.columns.iter().map(|(name, _)| name.as_str());
            match &insert.rows.rows {
                Rows::Values(rows, _) => {
                    all.extend(
                        rows.iter().flat_map(|row| names().zip(row)).map(|(name, it)| (&insert.target, name, it)),
                    );
                }
                Rows::Select(select) => {
                    all.extend(names().zip(&select.columns).map(|(name, it)| (&insert.target, name, &it.expr)));
                }
                _ => {}
            }
            all
        }
        Body::Query(_) | Body::Delete(_) => Vec::new(),
    }
}

/// Whether an expression is a parameter, or what is added to it or taken off.
fn is_shifted(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Param(param) => param == name,
        ExprKind::Binary { op, left, right } if matches!(op.as_str(), "+" | "-") => {
            is_shifted(left, name) || is_shifted(right, name)
        }
        _ => false,
    }
}

/// Every parameter once, in the order of the first page, then what only the second page has.
fn names<'a>(pages: &[&'a PageOf<'_>]) -> Vec<&'a str> {
    let mut known = BTreeSet::new();
    let uses = pages.iter().flat_map(|page| page.tree.params.iter());
    uses.map(|param| param.name.as_str()).filter(|name| known.insert(*name)).collect()
}

fn param(
    config: &Config,
    pages: &[&PageOf<'_>],
    evidence: &[PageEvidence<'_>],
    facing: Option<&Schema>,
    name: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<Param> {
    let statement = &pages.first()?.raw.name;
    let annotations = param_annotation(pages, name);
    let declared = declared("param", statement, name, &annotations, found);
    let uses = || pages.iter().flat_map(|page| page.tree.params.iter()).filter(|param| param.name == name);
    let nullable = uses().any(|param| param.nullable) || declared.as_ref().is_some_and(|ty| ty.nullable);
    let is_list = uses().any(|param| param.list);
    let origins = || evidence.iter().flat_map(|page| page.evidence.of(name)).filter_map(|e| e.hint.origin.as_ref());
    let base = match &declared {
        Some(ty) => ty.base.clone(),
        None => {
            // What a program of its own binds is one type only where it says so.
            let mut of_the_api = Vec::new();
            let base = settled(statement, evidence, facing, name, &mut of_the_api);
            found.extend(of_the_api.into_iter().filter(|_| config.generate.enabled));
            let base = base?;
            if is_list { array(&base).unwrap_or(base) } else { base }
        }
    };
    if let (Some(ty), Some((annotation, _))) = (&declared, annotations.first())
        && let Some(met) = contradicted(evidence, name, &ty.base)
    {
        let (is, other) = (ty.base.word(), met.hint.base.word());
        let message = format!("{statement}: `:{name}` is declared `{is}` and meets `{other}`");
        let finding =
            Diagnostic::error(rule::PARAM_TYPE_CONFLICT, message, met.span, "Postgres takes no such value here");
        found.push(
            finding.and(annotation.span, "declared here").help("declare the type that it meets, or cast it here"),
        );
    }
    // A declaration without `null` is there for the type, so it asks for the plain one. Words are texts all the same.
    let plain = declared.as_ref().is_some_and(|ty| !ty.nullable);
    let elements = || evidence.iter().flat_map(|page| page.evidence.of(name)).filter_map(|e| e.hint.elements.as_ref());
    let of_elements = || newtype_of_items(config, pages, &walk::element(&base)?, elements());
    let rust = newtype(config, pages, &base, origins()).or_else(of_elements);
    let rust = rust.filter(|rust| !plain || config.generated_words(rust).is_some());
    let element = rust.as_ref().filter(|_| base.is_list()).and_then(|_| held_by(pages, elements().next()?));
    let stored = stored(evidence, name).filter(|stored| stored.of.base() == base);
    let is_unheld = stored.is_none() && evidence.iter().any(|page| page.is_of_sqlite() && page.takes(name));
    if is_unheld && (base.is_time() || base == Base::Numeric) {
        found.push(unheld(statement, evidence, name, &base));
        return None;
    }
    Some(Param { rust, stored, element, ..Param::plain(name, Type { base, nullable }) })
}

/// How SQLite holds what a parameter meets.
fn stored(evidence: &[PageEvidence<'_>], name: &str) -> Option<Stored> {
    let mut pages = evidence.iter().filter(|page| page.is_of_sqlite());
    let evidence = pages.find_map(|page| page.evidence.settle(name, Dialect::Sqlite).ok().flatten())?;
    evidence.hint.base.stored()
}

/// Where Postgres needs a value of another kind than the declared one. A cast is the way to say that this is meant.
fn contradicted<'t>(evidence: &[PageEvidence<'t>], name: &str, declared: &Base) -> Option<Evidence<'t>> {
    let is_number = |base: &Base| {
        matches!(base, Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric) || base.is_time()
    };
    let fits = |met: &Base| {
        (is_number(met) && is_number(declared))
            || Base::finer(met, declared).is_some()
            || (*declared != Base::Text && Base::finer(declared, met).is_some())
    };
    let pages = evidence.iter().filter(|page| page.page.tree.dialect == Dialect::Pg);
    let mut met = pages.flat_map(|page| page.evidence.of(name)).filter(|met| {
        let by_number = met.hint.weight == Weight::Light && is_number(&met.hint.base);
        met.hint.origin.is_some() || by_number
    });
    met.find(|met| !fits(&met.hint.base)).cloned()
}

/// The type that follows from both pages, or a finding.
fn settled(
    statement: &str,
    evidence: &[PageEvidence<'_>],
    facing: Option<&Schema>,
    name: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<Base> {
    let mut by_page: Vec<(Dialect, Evidence<'_>)> = Vec::new();
    for page in evidence {
        match page.evidence.settle(name, page.page.tree.dialect) {
            Ok(Some(evidence)) => by_page.push((page.page.tree.dialect, evidence)),
            Ok(None) => {}
            Err(conflict) => {
                found.push(conflicting(statement, name, &conflict));
                return None;
            }
        }
    }
    let base = match by_page.as_slice() {
        [] => {
            found.push(unknown(statement, evidence, name, "text"));
            return None;
        }
        [(_, one)] => refined(one.hint.base.clone(), one.hint.origin.as_ref(), facing),
        [(_, a), (_, b), ..] => match Base::finer(&a.hint.base, &b.hint.base) {
            Some(base) => base,
            None if a.hint.weight > b.hint.weight => a.hint.base.clone(),
            None if b.hint.weight > a.hint.weight => b.hint.base.clone(),
            None => {
                found.push(conflicting(statement, name, &Conflict(a.clone(), b.clone())));
                return None;
            }
        },
    };
    Some(base)
}

/// A time or a decimal that nothing on the SQLite page tells how to write.
fn unheld(statement: &str, evidence: &[PageEvidence<'_>], name: &str, base: &Base) -> Diagnostic {
    let word = base.word();
    let met = evidence
        .iter()
        .find(|page| page.page.tree.dialect == Dialect::Pg)
        .and_then(|page| page.evidence.of(name).first());
    let mut finding = unknown(statement, evidence, name, "i64");
    if let Some(met) = met {
        finding = finding.context(met.span, format!("meets `{word}`, and meets no column of SQLite that holds one"));
    }
    finding.help(format!("or cast it on Postgres: `CAST(:{name} AS bigint)`"))
}

fn unknown(statement: &str, evidence: &[PageEvidence<'_>], name: &str, word: &str) -> Diagnostic {
    let place = evidence.iter().find_map(|page| page.page.tree.params.iter().find(|param| param.name == name));
    let span: Span = place.map_or_else(
        || evidence.first().map_or(Span::new(crate::source::FileId(0), 0..0), |page| page.page.raw.name_span),
        |param| param.span,
    );
    let message = format!("{statement}: nothing says what type `:{name}` has");
    Diagnostic::error(rule::PARAM_TYPE_UNKNOWN, message, span, "meets nothing that is typed")
        .help(format!("write its type above the statement: `-- param: {name} {word}`"))
        .note("types: bool i16 i32 i64 numeric f64 text bytes uuid json timestamp datetime date time text[] i64[] uuid[], followed by `null` if it may be NULL")
}

fn conflicting(statement: &str, name: &str, Conflict(a, b): &Conflict<'_>) -> Diagnostic {
    let met = |evidence: &Evidence<'_>| match &evidence.hint.origin {
        Some(origin) => format!("meets `{}.{}`, `{}`", origin.table, origin.column, evidence.hint.base.word()),
        None => format!("meets `{}`", evidence.hint.base.word()),
    };
    let message =
        format!("{statement}: `:{name}` cannot be both `{}` and `{}`", a.hint.base.word(), b.hint.base.word());
    Diagnostic::error(rule::PARAM_TYPE_CONFLICT, message, a.span, met(a))
        .and(b.span, met(b))
        .help(format!("write the type that the API is to have: `-- param: {name} {}`", b.hint.base.word()))
        .help("or use two parameters")
}
