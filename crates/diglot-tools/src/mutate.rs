//! Changes one page of every pair, in one place at a time, and sees whether the comparison notices.
//!
//! What it does not notice is either a change that means the same, or something that is declared to differ, or a gap
//! of the comparison: so the survivors are worth reading. Recorded answers of the engines have no say here, since
//! they would notice every change of a text.

mod changes;

use std::collections::BTreeMap;

use diglot::dialect::Dialect;
use diglot::emitted::EmittedText;
use diglot::infer::Signature;
use diglot::pipeline::ReadProject;
use diglot::project::Inputs;
use diglot::source::Span;

/// The kind of a change by which a condition no longer decides anything.
pub const CONJUNCT: &str = "conjunct";

/// A change of one page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutation {
    /// What is changed: `constant`, `operator`, `column`…
    pub kind: &'static str,
    /// The bytes that are replaced.
    pub span: Span,
    /// What stands there then.
    pub replacement: String,
}

/// A change that was not noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// The change.
    pub mutation: Mutation,
    /// `noun_verb`.
    pub statement: String,
    /// The page.
    pub dialect: Dialect,
    /// The text that was replaced.
    pub original: String,
}

/// What came of all changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// By kind: how many changes there were, and how many were noticed.
    pub kinds: BTreeMap<&'static str, (usize, usize)>,
    /// What was not noticed, in the order of the files.
    pub survivors: Vec<Survivor>,
}

impl Report {
    /// How many changes there were.
    pub fn made(&self) -> usize {
        self.kinds.values().map(|(made, _)| made).sum()
    }

    /// How many were noticed.
    pub fn caught(&self) -> usize {
        self.kinds.values().map(|(_, caught)| caught).sum()
    }
}

/// Which changes are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Every one.
    All,
    /// At most so many of each page of a statement, evenly spread.
    Most(usize),
    /// One of so many, always the same ones: which they are depends on a change alone and not on those beside it.
    OneOf(u64),
}

/// What the pages are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// A change is noticed where there is a finding then.
    Nothing,
    /// A baseline that keeps today's findings: a change is noticed where others are found then, or not all of them.
    Baseline,
}

/// Makes the changes and sees which ones are noticed.
pub fn run(inputs: &Inputs, sample: Sample, against: Against) -> Report {
    let changer = Changer::new(inputs);
    let project = &changer.project;
    let mut report = Report::default();
    for name in project.pairs() {
        for dialect in Dialect::ALL {
            let mutations = changer.changes(&name, dialect, sample);
            let Some(first) = mutations.first() else { continue };
            let file = first.span.file;
            let known = match against {
                Against::Nothing => Some(Vec::new()),
                Against::Baseline => project.judged(&name, dialect, file, &inputs.sources.file(file).text),
            };
            for mutation in mutations {
                let entry = report.kinds.entry(mutation.kind).or_default();
                entry.0 += 1;
                if project.judged(&name, dialect, file, &changed(inputs, &mutation)) != known {
                    entry.1 += 1;
                } else {
                    let original = inputs.sources.text(mutation.span).to_owned();
                    report.survivors.push(Survivor { mutation, statement: name.clone(), dialect, original });
                }
            }
        }
    }
    report
}

/// Changes pages of a project without judging what comes of it: for whoever runs them.
pub struct Changer<'a> {
    inputs: &'a Inputs,
    project: ReadProject<'a>,
}

impl<'a> Changer<'a> {
    /// Reads the project once.
    pub fn new(inputs: &'a Inputs) -> Self {
        Self { inputs, project: ReadProject::read(inputs) }
    }

    /// The changes of one page of a pair, in the order of its text.
    pub fn changes(&self, statement: &str, dialect: Dialect, sample: Sample) -> Vec<Mutation> {
        let Some(tree) = self.project.tree(statement, dialect) else { return Vec::new() };
        let tables = &self.project.schemas()[dialect].tables;
        let all = changes::of((&self.inputs.sources, tables), &tree, self.inputs.config.generate.enabled);
        sampled(self.inputs, statement, all, sample)
    }

    /// What the texts of a pair are made with of which no function can be made.
    pub fn signature(&self, statement: &str) -> Option<Signature> {
        self.project.partial_signature(statement).map(|partial| partial.signature)
    }

    /// The text of a page with a change, as it goes to the driver, with all optional parts; none where the change makes no
    /// statement.
    pub fn text(&self, signature: &Signature, dialect: Dialect, mutation: &Mutation) -> Option<EmittedText> {
        self.project.emitted(signature, dialect, mutation.span.file, &changed(self.inputs, mutation))
    }

    /// What stands where a change is made.
    pub fn original(&self, mutation: &Mutation) -> &str {
        self.inputs.sources.text(mutation.span)
    }
}

fn sampled(inputs: &Inputs, name: &str, mut mutations: Vec<Mutation>, sample: Sample) -> Vec<Mutation> {
    match sample {
        Sample::All => {}
        Sample::Most(most) => mutations = spread(mutations, most),
        Sample::OneOf(parts) => {
            mutations.retain(|mutation| number(inputs, name, mutation).is_multiple_of(parts.max(1)));
        }
    }
    mutations
}

/// As many as wanted, from the whole of the list.
fn spread(all: Vec<Mutation>, most: usize) -> Vec<Mutation> {
    let count = all.len();
    if count <= most || most == 0 {
        return all;
    }
    let chosen = (0..most).map(|at| at * count / most).collect::<Vec<_>>();
    all.into_iter().enumerate().filter(|(at, _)| chosen.binary_search(at).is_ok()).map(|(_, one)| one).collect()
}

/// A number that is a change's own.
fn number(inputs: &Inputs, statement: &str, mutation: &Mutation) -> u64 {
    let text = [statement, mutation.kind, inputs.sources.text(mutation.span), &mutation.replacement].join("\u{0}");
    let digest = diglot::digest::digest(text.as_bytes());
    u64::from_str_radix(digest.get(..12).unwrap_or_default(), 16).unwrap_or_default()
}

/// The text of the changed file.
fn changed(inputs: &Inputs, mutation: &Mutation) -> String {
    let text = &inputs.sources.file(mutation.span.file).text;
    let range = mutation.span.range();
    [&text[..range.start], mutation.replacement.as_str(), &text[range.end..]].concat()
}
