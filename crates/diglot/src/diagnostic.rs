//! A diagnostic is data: what was found, where on which page, and the text to write.
//!
//! How one looks is the renderers' business (`render`), what a rule means is in the rule's own file
//! (`rules`).

use crate::rule::Rule;
use crate::source::Span;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The build goes on.
    Warning,
    /// The build fails.
    Error,
}

impl Severity {
    /// `error` or `warning`.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A place in a file with the words that stand under its caret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
    /// Primary places carry `^^^`, secondary ones `---`.
    pub primary: bool,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced. When nothing takes the place of all that a line says, the line goes too.
    pub span: Span,
    /// What stands there then.
    pub text: String,
}

/// A way out that a machine can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What it does, as an order.
    pub message: String,
    /// What changes.
    pub edits: Vec<Edit>,
    /// Whether it is right without anybody looking: it leaves the SQL as it is. `check --fix` makes these.
    pub safe: bool,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule's kebab-case name; it reads after "allow".
    pub rule: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The first line. It must work alone, so it names the statement.
    pub message: String,
    /// Places, the first primary one decides `file:line:col`. Both pages appear here for drift.
    pub labels: Vec<Label>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// The way out: the text to write.
    pub help: Vec<String>,
    /// Ways out that a machine can take.
    pub suggestions: Vec<Suggestion>,
    /// Letters that stand for what both pages say, where they were compared; elsewhere its words and the texts at its
    /// places tell one finding from another.
    pub seal: Option<String>,
}

impl Diagnostic {
    /// An error of `rule` at `span`.
    pub fn error(rule: Rule, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self {
            rule: rule.name,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label { span, text: label.into(), primary: true }],
            notes: Vec::new(),
            help: Vec::new(),
            suggestions: Vec::new(),
            seal: None,
        }
    }

    /// The same as a warning.
    pub fn warning(rule: Rule, message: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, message, span, label) }
    }

    /// Adds another primary place, such as the same clause on the facing page.
    #[must_use]
    pub fn and(mut self, span: Span, label: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: label.into(), primary: true });
        self
    }

    /// Adds a secondary place.
    #[must_use]
    pub fn context(mut self, span: Span, label: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: label.into(), primary: false });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Says all that there is to say of a place at once: the pages may be one text.
    pub(crate) fn gather(&mut self) {
        let mut places: Vec<Label> = Vec::new();
        for label in std::mem::take(&mut self.labels) {
            let Some(known) = places.iter_mut().find(|known| known.span == label.span) else {
                places.push(label);
                continue;
            };
            known.primary |= label.primary;
            if known.text.is_empty() {
                known.text = label.text;
            } else if !label.text.is_empty() && known.text != label.text {
                known.text = format!("{}; {}", known.text, label.text);
            }
        }
        self.labels = places;
    }

    /// Says which difference it is.
    #[must_use]
    pub(crate) fn sealed(mut self, seal: String) -> Self {
        self.seal = Some(seal);
        self
    }

    /// Adds a change that leaves the SQL as it is and may be made without asking.
    #[must_use]
    pub fn fix(self, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.change(message.into(), span, text.into(), true)
    }

    /// Adds a change that somebody has to choose.
    #[must_use]
    pub fn suggest(self, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.change(message.into(), span, text.into(), false)
    }

    /// Adds changes of several places that somebody has to choose, and that belong together.
    #[must_use]
    pub(crate) fn suggest_all(
        mut self,
        message: impl Into<String>,
        edits: impl IntoIterator<Item = (Span, String)>,
    ) -> Self {
        let edits = edits.into_iter().map(|(span, text)| Edit { span, text }).collect();
        self.suggestions.push(Suggestion { message: message.into(), edits, safe: false });
        self
    }

    fn change(mut self, message: String, span: Span, text: String, safe: bool) -> Self {
        self.suggestions.push(Suggestion { message, edits: vec![Edit { span, text }], safe });
        self
    }
}
