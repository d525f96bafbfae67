//! What a review says of one statement.

use std::collections::BTreeMap;

use super::Version;
use diglot::compare::{Row, Verdict};
use diglot::diagnostic::{Diagnostic, Severity};
use diglot::dialect::{Both, Dialect};
use diglot::evidence::{Scope, Verdict as Shown, Witness};
use diglot::infer;
use diglot::page::{AnnotationKind, Bound, RawStatement};
use diglot::pipeline::{self, Facing, Weighed};
use diglot::source::{Sources, Span};

/// How a statement stands; the worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Something is found that fails the build.
    Finding,
    /// Something is found that does not.
    Warning,
    /// Something is found that the baseline knows.
    Known,
    /// The pages differ and say why.
    Declared,
    /// The pages say the same.
    Equal,
    /// It is for one dialect alone.
    Single,
}

impl State {
    pub(super) const ALL: [State; 6] =
        [State::Finding, State::Warning, State::Known, State::Declared, State::Equal, State::Single];

    /// The word in the page's markup.
    pub(super) fn word(self) -> &'static str {
        match self {
            State::Finding => "finding",
            State::Warning => "warning",
            State::Known => "known",
            State::Declared => "declared",
            State::Equal => "equal",
            State::Single => "single",
        }
    }

    /// The words behind a number of statements.
    pub(super) fn counted(self) -> &'static str {
        match self {
            State::Finding => "with findings",
            State::Warning => "with warnings",
            State::Known => "in the baseline",
            State::Declared => "with declared differences",
            State::Equal => "equal",
            State::Single => "for one dialect",
        }
    }

    /// The words on a badge.
    pub(super) fn title(self) -> &'static str {
        match self {
            State::Finding => "finding",
            State::Warning => "warning",
            State::Known => "in the baseline",
            State::Declared => "declared",
            State::Equal => "equal",
            State::Single => "one dialect",
        }
    }
}

/// A declaration with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    /// `diverges`, `allow` or `only`.
    pub(super) word: &'static str,
    /// What it is about.
    pub(super) about: String,
    pub(super) reason: String,
    pub(super) line: Span,
}

/// One statement.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) sources: &'a Sources,
    pub(super) noun: String,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) cardinality: &'static str,
    /// The function, if it can be told.
    pub(super) signature: Option<String>,
    pub(super) docs: Vec<String>,
    pub(super) tables: Vec<String>,
    /// The SQL of either page, and the whole statement with its header.
    pub(super) pages: Both<Option<Text>>,
    /// The CTEs that it has from shared parts.
    pub(super) shared: Both<Vec<Span>>,
    /// What it gives to them: the place, and what stands there.
    pub(super) bound: Both<Vec<Bound>>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) findings: Vec<&'a Diagnostic>,
    /// Findings that the baseline knows.
    pub(super) known: Vec<&'a Diagnostic>,
    pub(super) rows: &'a [Row],
    /// What running both pages has shown, where anything was recorded.
    pub(super) ran: Option<&'a Weighed>,
}

/// Where a page has a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    /// The SQL alone.
    pub(super) sql: Span,
    /// With its header and its annotations.
    pub(super) whole: Span,
}

impl Entry<'_> {
    /// What the page's links name.
    pub(super) fn anchor(&self) -> String {
        format!("{}.{}", self.noun, self.name)
    }

    /// The text of a page as it stands in the file; nothing where there is none.
    pub(super) fn written(&self, dialect: Dialect) -> Option<&str> {
        self.pages[dialect].map(|text| self.sources.text(text.whole))
    }

    /// A database on which its pages differ.
    pub(super) fn witness(&self) -> Option<&Witness> {
        match self.ran?.verdict.as_ref()? {
            Shown::Differs(witness) => Some(witness),
            _ => None,
        }
    }

    /// How far it was tried, where the texts alone do not say that its pages are the same.
    pub(super) fn same_when_run(&self) -> Option<&Scope> {
        match self.ran.filter(|pair| !pair.by_law)?.verdict.as_ref()? {
            Shown::Same(scope) => Some(scope),
            _ => None,
        }
    }

    /// Why running it says nothing.
    pub(super) fn unknown(&self) -> Option<&str> {
        let pair = self.ran.filter(|pair| !pair.by_law)?;
        match pair.verdict.as_ref() {
            Some(Shown::Unknown { reason }) => Some(reason),
            None if pair.open => Some("both pages have not been run as they are now"),
            _ => None,
        }
    }

    /// The files that it stands in.
    pub(super) fn files(&self) -> Vec<String> {
        let files = self.pages.iter().flatten().filter_map(|text| self.sources.get(text.whole.file));
        files.map(|file| file.path.clone()).collect()
    }

    /// How many facts are the same, the same by their rows, declared to differ, and not declared.
    pub(super) fn counts(&self) -> [usize; 4] {
        let count = |wanted: fn(&Verdict) -> bool| self.rows.iter().filter(|row| wanted(&row.verdict)).count();
        [
            count(|verdict| *verdict == Verdict::Same),
            count(|verdict| *verdict == Verdict::ByRows),
            count(|verdict| matches!(verdict, Verdict::Declared(_) | Verdict::Implied(_))),
            count(|verdict| *verdict == Verdict::Differs),
        ]
    }
}

/// What was found outside of statements.
#[derive(Debug, Default)]
pub(super) struct Elsewhere<'a> {
    pub(super) findings: Vec<&'a Diagnostic>,
    /// Findings that the baseline knows.
    pub(super) known: Vec<&'a Diagnostic>,
}

/// Every statement of a version, and what was found outside of them.
pub(super) fn entries<'a>(version: &Version<'a>) -> (Vec<Entry<'a>>, Elsewhere<'a>) {
    let facts: BTreeMap<&str, _> = version.compiled.facts.iter().map(|facts| (facts.name.as_str(), facts)).collect();
    let signatures: BTreeMap<&str, _> =
        version.compiled.signatures.iter().map(|signature| (signature.name.as_str(), signature)).collect();
    let weighed: BTreeMap<&str, &Weighed> =
        version.compiled.weighed.iter().map(|pair| (pair.name.as_str(), pair)).collect();
    let mut elsewhere = Elsewhere {
        findings: version.compiled.diagnostics.iter().collect(),
        known: version.compiled.known.iter().collect(),
    };
    let mut entries = Vec::new();
    for facing in pipeline::facing(version.inputs) {
        let facts = facts.get(facing.name.as_str());
        let signature = signatures.get(facing.name.as_str());
        let mut entry = Entry {
            sources: &version.inputs.sources,
            state: State::Equal,
            cardinality: cardinality(&facing),
            signature: signature.map(|signature| signature.to_string()),
            docs: facing.pages.iter().flatten().next().map_or_else(Vec::new, |raw| raw.docs.clone()),
            tables: facts.map_or_else(Vec::new, |facts| facts.tables.iter().cloned().collect()),
            pages: facing.pages.each_ref().map(|raw| raw.as_ref().map(text)),
            shared: facing.pages.each_ref().map(|raw| raw.as_ref().map_or_else(Vec::new, RawStatement::shared)),
            bound: facing.pages.each_ref().map(|raw| raw.as_ref().map_or_else(Vec::new, |raw| raw.bound.clone())),
            declarations: declarations(&facing),
            findings: Vec::new(),
            known: Vec::new(),
            rows: facts.map_or(&[][..], |facts| facts.rows.as_slice()),
            ran: weighed.get(facing.name.as_str()).copied(),
            noun: facing.noun,
            name: facing.name,
        };
        let taken =
            |found: &mut Vec<&'a Diagnostic>| found.extract_if(.., |finding| is_about(finding, &entry)).collect();
        let (findings, known) = (taken(&mut elsewhere.findings), taken(&mut elsewhere.known));
        (entry.findings, entry.known) = (findings, known);
        entry.state = state(&entry);
        entries.push(entry);
    }
    (entries, elsewhere)
}

fn state(entry: &Entry<'_>) -> State {
    let found = |severity: Severity| entry.findings.iter().any(|finding| finding.severity == severity);
    // Of what one assumption settles, one pair alone has the finding.
    let is_on_edges = entry.witness().is_some_and(|witness| witness.edge);
    if found(Severity::Error) {
        State::Finding
    } else if found(Severity::Warning) || is_on_edges {
        State::Warning
    } else if !entry.known.is_empty() {
        State::Known
    } else if entry.pages.iter().flatten().count() < 2 {
        State::Single
    } else if entry.rows.iter().any(|row| !row.verdict.is_same())
        || entry.declarations.iter().any(|declaration| declaration.word == "diverges")
    {
        State::Declared
    } else {
        State::Equal
    }
}

fn is_about(finding: &Diagnostic, entry: &Entry<'_>) -> bool {
    let main = finding.labels.iter().find(|label| label.primary).or(finding.labels.first());
    main.is_some_and(|label| {
        let at = label.span;
        let inside = |text: &Text| {
            at.file == text.whole.file && text.whole.start <= at.start && at.start < text.whole.end.max(1)
        };
        entry.pages.iter().flatten().any(inside)
    })
}

fn text(raw: &RawStatement) -> Text {
    Text { sql: raw.sql(), whole: raw.span }
}

fn cardinality(facing: &Facing) -> &'static str {
    facing.pages.iter().flatten().next().map_or("", |raw| infer::word(raw.cardinality))
}

/// The declarations of both pages; one that both have stands once.
fn declarations(facing: &Facing) -> Vec<Declaration> {
    let mut all: Vec<Declaration> = Vec::new();
    for annotation in facing.pages.iter().flatten().flat_map(|raw| &raw.annotations) {
        let (word, about, reason) = match &annotation.kind {
            AnnotationKind::Diverges { fact, item, reason, .. } => {
                ("diverges", item.as_ref().map_or_else(|| fact.clone(), |item| format!("{fact}.{item}")), reason)
            }
            AnnotationKind::Allow { rule, reason } => ("allow", rule.clone(), reason),
            AnnotationKind::Only { dialect, reason } => ("only", dialect.title().to_owned(), reason),
            AnnotationKind::Each { name, fails: Some(reason), .. } => ("each", name.clone(), reason),
            AnnotationKind::Both
            | AnnotationKind::Each { fails: None, .. }
            | AnnotationKind::Param { .. }
            | AnnotationKind::Column { .. }
            | AnnotationKind::Rows { .. }
            | AnnotationKind::Transaction { .. } => {
                continue;
            }
        };
        let known = all.iter().any(|other| other.word == word && other.about == about && other.reason == *reason);
        if !known {
            all.push(Declaration { word, about, reason: reason.clone(), line: annotation.span });
        }
    }
    all
}
