//! A statement of one release on the tables of another.

use super::subject::Subject;
use diglot::dialect::Both;
use diglot::emitted::EmittedText;
use diglot::pipeline::ReadProject;
use diglot::project::Inputs;
use diglot::rule;
use diglot::source::Span;

/// The statements and migrations of which `release-differs` is allowed, and where that is said: above a statement, or with
/// its name in `divergences.sql`.
pub fn allowed_to_differ(inputs: &Inputs) -> Vec<(String, Span)> {
    ReadProject::read(inputs).allowed(rule::RELEASE_DIFFERS)
}

impl Subject {
    /// The same, looking at nothing that the tables of another release do not have.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        self.compared.retain_mut(|table| {
            let Some(known) = other.tables.iter().find(|known| known.name == table.name) else { return false };
            table.columns.retain(|column| known.columns.iter().any(|known| known.name == column.name));
            true
        });
        self
    }

    /// Whether a program runs the same, and takes what it gives for the same.
    pub fn runs_as(&self, other: &Self) -> bool {
        let texts = |subject: &Self| {
            let of_one = |texts: &Both<EmittedText>| {
                texts.iter().map(|text| (text.sql.clone(), text.params.clone())).collect::<Vec<_>>()
            };
            subject.variants.iter().map(of_one).collect::<Vec<_>>()
        };
        self.name == other.name && self.columns == other.columns && texts(self) == texts(other)
    }

    /// The tables that it reads, and those that it may write.
    pub fn touches(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().chain(&self.compared).map(|table| table.name.as_str())
    }
}
