//! The registry of rules: every diagnostic has a rule, every rule has a file with its documentation.

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

/// All rules by name.
pub const ALL: &[Rule] = &[];

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.name == name)
}
