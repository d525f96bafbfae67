//! Files that both dialects read, so that one text is the page of each.

use std::collections::BTreeSet;

use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::page::{AnnotationKind, Page};
use crate::project::Inputs;
use crate::source::FileId;
use crate::split::Readers;

/// Who reads a file of statements.
pub(super) fn readers(inputs: &Inputs, file: FileId) -> Readers {
    let path = &inputs.sources.file(file).path;
    if inputs.config.sql.common(path).is_some() { Readers::Both } else { Readers::One }
}

/// Adds what was found in a page. What the other dialect found at the same place of a file that both read is told once.
pub(super) fn tell(found: &mut Vec<Diagnostic>, of_page: Vec<Diagnostic>) {
    let place = |finding: &Diagnostic| finding.labels.first().map(|label| label.span);
    let is_known =
        |finding: &Diagnostic| found.iter().any(|known| known.rule == finding.rule && place(known) == place(finding));
    let new: Vec<Diagnostic> = of_page.into_iter().filter(|finding| !is_known(finding)).collect();
    found.extend(new);
}

/// Takes `-- only` off the statements of such files that have a facing one all the same: there it says whose text a
/// statement is, and not that it stands alone.
pub(super) fn face(inputs: &Inputs, pages: &mut [Page]) {
    let names: Both<BTreeSet<String>> = Both::of(|dialect: Dialect| {
        let own = pages.iter().filter(|page| page.dialect == dialect);
        own.flat_map(|page| page.statements.iter().map(|raw| raw.name.clone())).collect()
    });
    for page in pages.iter_mut().filter(|page| readers(inputs, page.file) == Readers::Both) {
        let facing = &names[page.dialect.other()];
        for raw in page.statements.iter_mut().filter(|raw| facing.contains(&raw.name)) {
            raw.annotations.retain(|said| !matches!(said.kind, AnnotationKind::Only { .. }));
        }
    }
}
