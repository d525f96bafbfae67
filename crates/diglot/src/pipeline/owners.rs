//! Which statement holds which bytes of which file.

use crate::baseline;
use crate::diagnostic::Diagnostic;
use crate::page::Page;
use crate::source::Span;

/// The statements' spans in the order of the files, with their names.
pub(super) struct Owners<'p>(Vec<(Span, &'p str)>);

impl<'p> Owners<'p> {
    pub(super) fn of(pages: &'p [Page]) -> Self {
        let mut spans: Vec<(Span, &str)> =
            pages.iter().flat_map(|page| &page.statements).map(|raw| (raw.span, raw.name.as_str())).collect();
        spans.sort();
        Self(spans)
    }

    /// What a baseline calls that which a finding is about.
    pub(super) fn subject(&self, finding: &Diagnostic) -> String {
        let owner = finding.labels.iter().find(|label| label.primary).and_then(|label| {
            let before =
                self.0.partition_point(|(span, _)| (span.file, span.start) <= (label.span.file, label.span.start));
            let (span, name) = self.0.get(before.checked_sub(1)?)?;
            (span.file == label.span.file && label.span.start < span.end).then_some(*name)
        });
        owner.map_or_else(|| baseline::named(&finding.message), str::to_owned)
    }
}
