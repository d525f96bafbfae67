//! Which statement holds which bytes of which file.

use std::collections::BTreeSet;

use crate::baseline::{self, Key};
use crate::diagnostic::Diagnostic;
use crate::page::Page;
use crate::source::{Sources, Span};

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

    /// The key by which a baseline knows a finding. Of statements that could not be compared it has all of the text.
    pub(super) fn key(&self, sources: &Sources, unread: &BTreeSet<String>, finding: &Diagnostic) -> Key {
        let subject = self.subject(finding);
        let text = unread.contains(&subject).then(|| self.text(sources, &subject));
        Key::of(sources, finding, subject, text.as_deref())
    }

    /// What all pages say of a statement.
    fn text(&self, sources: &Sources, name: &str) -> String {
        let own = self.0.iter().filter(|(_, owner)| *owner == name);
        own.map(|(span, _)| baseline::words(sources.text(*span))).collect::<Vec<_>>().join("\u{0}")
    }
}
