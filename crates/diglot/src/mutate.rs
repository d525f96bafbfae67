//! Changes one page of every pair, in one place at a time, and sees whether the comparison notices.
//!
//! What it does not notice is either a change that means the same, or something that is declared to differ, or a gap
//! of the comparison: so the survivors are worth reading. Recorded answers of the engines have no say here, since
//! they would notice every change of a text.

mod changes;

use std::collections::BTreeMap;

use crate::dialect::Dialect;
use crate::pipeline::{Inputs, Project};
use crate::source::Span;

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

/// Makes every change of every pair, or the first `most` of each page of a statement, evenly spread.
pub fn run(inputs: &Inputs, most: Option<usize>) -> Report {
    let project = Project::read(inputs);
    let mut report = Report::default();
    for name in project.pairs() {
        for dialect in Dialect::ALL {
            let Some(tree) = project.tree(&name, dialect) else { continue };
            let mutations = spread(changes::of(&inputs.sources, &tree), most);
            for mutation in mutations {
                let entry = report.kinds.entry(mutation.kind).or_default();
                entry.0 += 1;
                if project.notices(&name, mutation.span.file, &changed(inputs, &mutation)) {
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

/// As many as wanted, from the whole of the list.
fn spread(all: Vec<Mutation>, most: Option<usize>) -> Vec<Mutation> {
    let count = all.len();
    match most {
        Some(most) if count > most && most > 0 => {
            let chosen = (0..most).map(|at| at * count / most).collect::<Vec<_>>();
            all.into_iter().enumerate().filter(|(at, _)| chosen.binary_search(at).is_ok()).map(|(_, one)| one).collect()
        }
        _ => all,
    }
}

/// The text of the changed file.
fn changed(inputs: &Inputs, mutation: &Mutation) -> String {
    let text = &inputs.sources.file(mutation.span.file).text;
    let range = mutation.span.range();
    [&text[..range.start], mutation.replacement.as_str(), &text[range.end..]].concat()
}
