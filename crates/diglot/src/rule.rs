//! What a rule is: a name, and the text of its file.

pub(crate) mod text;

/// A rule as `cargo diglot explain` shows it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Kebab-case defect name that reads after "allow".
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The whole text: what it finds, why it bites, the text to write instead (Markdown).
    pub doc: &'static str,
}
