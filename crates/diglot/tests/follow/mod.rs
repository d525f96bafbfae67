//! Follows what findings say to write, and looks whether that helps.

use std::collections::BTreeSet;

use diglot::Inputs;
use diglot::diagnostic::{Diagnostic, Edit, Severity};
use diglot::source::{SourceFile, Sources};

/// Where what the schemas declare is written.
const DIVERGENCES: &str = "schema/divergences.sql";

/// A way out of a finding: what is written, and the project in which it is.
struct Way {
    written: String,
    inputs: Inputs,
}

/// What was tried, and what of it did not help.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// How many findings had a way out that can be taken as it is written.
    pub(crate) findings: usize,
    /// How many such ways there were.
    pub(crate) ways: usize,
    /// Those after which the finding is still there, or an error is new.
    pub(crate) failed: Vec<String>,
}

impl Followed {
    /// Takes every way out of every finding of a project, each by itself.
    pub(crate) fn all(&mut self, inputs: &Inputs, check: &dyn Fn(&Inputs) -> Vec<Diagnostic>) {
        let found = check(inputs);
        let known: BTreeSet<(&str, &str)> = found.iter().map(about).collect();
        for finding in &found {
            let ways = ways(inputs, finding);
            self.findings += usize::from(!ways.is_empty());
            for way in ways {
                self.ways += 1;
                let left = check(&way.inputs);
                // Of several differences that one finding tells, one may be mended.
                let is_still = left
                    .iter()
                    .any(|it| (it.rule, &it.message, &it.seal) == (finding.rule, &finding.message, &finding.seal));
                let new = left.iter().filter(|it| it.severity == Severity::Error);
                let new: Vec<_> = new.filter(|it| !known.contains(&about(it))).collect();
                if is_still || !new.is_empty() {
                    let new: Vec<String> = new.iter().map(|it| format!("[{}] {}", it.rule, it.message)).collect();
                    let still = if is_still { " is still there" } else { "" };
                    self.failed.push(format!(
                        "[{}] {}{still} after: {}\n  new: {}\n{}",
                        finding.rule,
                        finding.message,
                        way.written,
                        new.join("; "),
                        pages(&way.inputs)
                    ));
                }
            }
        }
    }
}

/// The rule and what it speaks of: a difference of which a part is mended is no new one.
fn about(finding: &Diagnostic) -> (&str, &str) {
    (finding.rule, finding.message.split(':').next().unwrap_or_default())
}

/// What the pages say.
fn pages(inputs: &Inputs) -> String {
    let pages = inputs.sources.iter().filter(|(_, file)| file.text.contains("-- name:"));
    pages
        .map(|(_, file)| format!("  {}: {}", file.path, file.text.replace('\n', "\n    ")))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a finding says to write, word for word.
fn ways(inputs: &Inputs, finding: &Diagnostic) -> Vec<Way> {
    let mut ways = Vec::new();
    for suggestion in &finding.suggestions {
        let inputs = Inputs { sources: edited(&inputs.sources, &suggestion.edits), ..inputs.clone() };
        ways.push(Way { written: suggestion.message.clone(), inputs });
    }
    let lines = finding.help.iter().filter_map(|help| declaration(help));
    let (differences, others): (Vec<String>, Vec<String>) = lines.partition(|line| line.starts_with("-- diverges("));
    // What happens on a conflict, and what is assigned then, are declared together.
    let together = (!differences.is_empty()).then(|| differences.join("\n"));
    for line in others.into_iter().chain(together) {
        let name = finding.message.split(':').next().unwrap_or_default();
        if let Some(sources) = declared(&inputs.sources, name, &line) {
            ways.push(Way { written: line, inputs: Inputs { sources, ..inputs.clone() } });
        }
    }
    ways
}

/// The comment line that a help says to write, with a reason.
fn declaration(help: &str) -> Option<String> {
    let start = ["`-- diverges(", "`-- allow("].into_iter().find_map(|mark| help.find(mark))? + 1;
    let line = &help[start..];
    let line = &line[..line.find('`')?];
    let (what, _) = line.split_once('<').or_else(|| line.split_once('…'))?;
    Some(format!("{what}it is meant like this here"))
}

/// The files with a line under the header of a statement, or among what the schemas declare.
fn declared(sources: &Sources, name: &str, line: &str) -> Option<Sources> {
    let mut sources = sources.clone();
    let header = format!("-- name: {name} ");
    let page = sources.iter().find(|(_, file)| file.text.contains(&header)).map(|(id, file)| (id, file.clone()));
    match page {
        Some((id, file)) => {
            let start = file.text.find(&header)?;
            let end = start + file.text[start..].find('\n')? + 1;
            let text = format!("{}{line}\n{}", &file.text[..end], &file.text[end..]);
            sources.replace(id, SourceFile::new(file.path, text));
        }
        None if name == "schema" => {
            sources.add(SourceFile::new(DIVERGENCES, format!("{line}\n")));
        }
        None => return None,
    }
    Some(sources)
}

fn edited(sources: &Sources, edits: &[Edit]) -> Sources {
    let mut sources = sources.clone();
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    for edit in edits {
        let file = sources.file(edit.span.file).clone();
        let mut text = file.text.clone();
        text.replace_range(edit.span.range(), &edit.text);
        sources.replace(edit.span.file, SourceFile::new(file.path, text));
    }
    sources
}
