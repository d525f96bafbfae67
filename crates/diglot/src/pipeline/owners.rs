//! Which statement holds which bytes of which file.

use std::collections::BTreeSet;

use crate::baseline::{self, Key};
use crate::diagnostic::{Diagnostic, Label};
use crate::page::Page;
use crate::rule;
use crate::source::{Sources, Span};

use super::pairs::RENAMED;

/// The statements' spans in the order of the files, with their names.
pub(super) struct Owners<'p>(Vec<(Span, &'p str)>);

impl<'p> Owners<'p> {
    pub(super) fn of(pages: &'p [Page]) -> Self {
        let mut spans: Vec<(Span, &str)> =
            pages.iter().flat_map(|page| &page.statements).map(|raw| (raw.span, raw.name.as_str())).collect();
        spans.sort();
        Self(spans)
    }

    /// The statements that hold a place. Those of one function all begin at its name.
    fn holding(&self, place: Span) -> impl Iterator<Item = &(Span, &'p str)> {
        let from = self.0.partition_point(|(span, _)| span.file < place.file);
        let of_file = self.0[from..].iter().take_while(move |(span, _)| span.file == place.file);
        of_file.take_while(move |(span, _)| span.start <= place.start).filter(move |(span, _)| place.start < span.end)
    }

    /// What a baseline calls that which a finding is about.
    pub(super) fn subject(&self, finding: &Diagnostic) -> String {
        let named = baseline::named(&finding.message);
        let main = finding.labels.iter().find(|label| label.primary);
        let holding = || main.into_iter().flat_map(|label| self.holding(label.span));
        let owner = holding().find(|(_, name)| *name == named).or_else(|| holding().min_by_key(|(span, _)| span.end));
        owner.map_or(named, |(_, name)| (*name).to_owned())
    }

    /// The key by which a baseline knows a finding. Of statements that could not be compared it has all of the text.
    pub(super) fn key(&self, sources: &Sources, unread: &BTreeSet<String>, finding: &Diagnostic) -> Key {
        let subject = self.subject(finding);
        let stands_alone = [rule::MISSING_STATEMENT.name, rule::BUILT_TEXT.name].contains(&finding.rule);
        let is_unread = stands_alone || unread.contains(&subject);
        let text = is_unread.then(|| self.text(sources, &subject, &finding.labels));
        Key::of(sources, finding, subject, text.as_deref().filter(|text| !text.is_empty()))
    }

    /// What all pages say of a statement, and of those that have another name and stand beside it.
    fn text(&self, sources: &Sources, name: &str, labels: &[Label]) -> String {
        let is_beside = |span: Span| labels.iter().any(|label| label.text == RENAMED && span.contains(label.span));
        let own = self.0.iter().filter(|(span, owner)| *owner == name || is_beside(*span));
        own.map(|(span, _)| baseline::words(sources.text(*span))).collect::<Vec<_>>().join("\u{0}")
    }
}
