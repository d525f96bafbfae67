//! `-- both`: what is the same text on both pages stands on one of them, and the other dialect reads it there.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{Annotation, AnnotationKind, Lent, Page};
use crate::rule;
use crate::source::Span;

fn mark(annotations: &[Annotation]) -> Option<Span> {
    let is_mark = |annotation: &&Annotation| matches!(annotation.kind, AnnotationKind::Both);
    annotations.iter().find(is_mark).map(|annotation| annotation.span)
}

/// Whether a page has something for the facing page too.
pub(super) fn lends(page: &Page) -> bool {
    let statements = page.statements.iter().map(|raw| &raw.annotations);
    statements.chain(page.shared.iter().map(|part| &part.annotations)).any(|annotations| mark(annotations).is_some())
}

/// The marks of a file that both dialects read as a whole.
pub(super) fn needless(page: &Page) -> Vec<Diagnostic> {
    let statements = page.statements.iter().map(|raw| (&raw.name, &raw.annotations));
    let parts = page.shared.iter().map(|part| (&part.name, &part.annotations));
    let marked = statements.chain(parts).filter_map(|(name, annotations)| Some((name, mark(annotations)?)));
    let finding = |(name, mark): (&String, Span)| {
        let message = format!("{name}: both dialects read this file as a whole");
        Diagnostic::error(rule::UNUSED_ANNOTATION, message, mark, "says nothing here").help("delete the line").fix(
            "delete the line",
            mark,
            "",
        )
    };
    marked.map(finding).collect()
}

/// Keeps what a page has for the other dialect, as that one reads the same file. Of what was found in that reading, only
/// what concerns such a text and was not found before is told.
pub(super) fn keep(page: &mut Page, theirs: Page, found_in_theirs: Vec<Diagnostic>, found: &mut Vec<Diagnostic>) {
    let statements = page.statements.iter().filter(|raw| mark(&raw.annotations).is_some()).map(|raw| raw.span);
    let parts = page.shared.iter().filter(|part| mark(&part.annotations).is_some());
    let lent: Vec<Span> = statements.chain(parts.map(|part| part.mark.to(part.prelude.span))).collect();
    let place = |finding: &Diagnostic| finding.labels.first().map(|label| label.span);
    for finding in found_in_theirs {
        // What is not closed may go on behind the statement.
        let begins_in = |span: &Span| place(&finding).is_some_and(|at| span.contains(Span { end: at.start, ..at }));
        let is_theirs = lent.iter().any(begins_in);
        let is_known = |known: &Diagnostic| known.rule == finding.rule && place(known) == place(&finding);
        if is_theirs && !found.iter().any(is_known) {
            found.push(finding);
        }
    }
    let statements: Vec<_> = theirs.statements.into_iter().filter(|raw| mark(&raw.annotations).is_some()).collect();
    let is_read = |name: &String| statements.iter().any(|raw| raw.name == *name);
    let marked = page.statements.iter().filter(|raw| mark(&raw.annotations).is_some());
    let broken = marked.map(|raw| raw.name.clone()).filter(|name| !is_read(name)).collect();
    let shared = theirs.shared.into_iter().filter(|part| mark(&part.annotations).is_some()).collect();
    page.lent = Lent { statements, shared, broken };
}

/// Gives every page what the facing one has for it: the page of that noun, or a new one where there is none.
pub(crate) fn lend(pages: &mut Vec<Page>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut known: BTreeMap<(Dialect, String), Span> = BTreeMap::new();
    for page in pages.iter() {
        known.extend(page.statements.iter().map(|raw| ((page.dialect, raw.name.clone()), raw.name_span)));
    }
    for at in 0..pages.len() {
        let Lent { statements, shared, broken } = pages[at].lent.clone();
        if statements.is_empty() && shared.is_empty() && broken.is_empty() {
            continue;
        }
        let (dialect, file, noun) = (pages[at].dialect.other(), pages[at].file, pages[at].noun.clone());
        let facing = pages.iter().position(|page| page.dialect == dialect && page.noun == noun).unwrap_or_else(|| {
            pages.push(super::empty(file, dialect, &noun));
            pages.len() - 1
        });
        let mut lent = Vec::new();
        for raw in statements {
            let name = (dialect, raw.name.clone());
            match (known.get(&name), mark(&raw.annotations)) {
                (Some(other), Some(mark)) => found.push(twice(&raw.name, mark, *other, dialect)),
                _ => {
                    lent.push((name, raw.name_span));
                    pages[facing].statements.push(raw);
                }
            }
        }
        known.extend(lent);
        pages[facing].shared.extend(shared);
        pages[facing].broken.extend(broken);
    }
    found
}

fn twice(name: &str, mark: Span, other: Span, dialect: Dialect) -> Diagnostic {
    let message = format!("{name}: it stands here for both pages, but the {} page has it too", dialect.title());
    Diagnostic::error(rule::DUPLICATE_NAME, message, mark, "for both")
        .context(other, "it stands here too")
        .help("delete the line `-- both`, or the statement on the other page")
}
