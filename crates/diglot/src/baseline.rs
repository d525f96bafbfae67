//! Findings that a project had on the day it began: they are kept in a file, so that only new ones fail.
//!
//! A line names a rule and what the rule was about, a statement or a part of the schema, and says how often. It covers
//! these findings and no more, and is an error itself when they no longer occur.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{FileId, Sources, Span};

/// The file's name, beside `diglot.toml`.
pub const FILE: &str = "diglot.baseline";

const HEAD: &str = "\
# Findings that are known: a rule, what it is about, how often if more than once. Written by `cargo diglot baseline`.
# A line that no longer occurs is an error; remove it, or write the file again.
";

/// Rules about the project itself, about names, and about what engines answer: nothing that builds could be generated
/// in spite of them.
const NEVER: [&str; 10] = [
    "answer-differs",
    "bad-baseline",
    "bad-config",
    "bad-file-name",
    "bad-name",
    "duplicate-name",
    "engine-refuses",
    "not-utf8",
    "stale-answers",
    "unused-baseline",
];

/// Whether a baseline may keep a finding.
pub fn can_keep(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && !NEVER.contains(&finding.rule)
}

/// What a rule and its subject are called in a line.
type Key = (String, String);

/// The lines of a baseline.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    lines: BTreeMap<Key, Line>,
}

#[derive(Debug)]
struct Line {
    span: Span,
    count: usize,
    /// How many of them were found.
    seen: usize,
}

impl Baseline {
    /// Reads the file; a line that cannot be read is a finding.
    pub(crate) fn read(sources: &Sources, file: FileId, found: &mut Vec<Diagnostic>) -> Self {
        let mut baseline = Self::default();
        let mut at = 0;
        for line in sources.file(file).text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let said = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = said.split_whitespace().collect();
            let span = Span::new(file, start..start + line.trim_end().len());
            let (rule, subject, count) = match words.as_slice() {
                [] => continue,
                [rule, subject] => (*rule, *subject, Some(1)),
                [rule, subject, count] => (*rule, *subject, count.parse().ok().filter(|count| *count > 0)),
                _ => ("", "", None),
            };
            let Some(count) = count.filter(|_| crate::rules::find(rule).is_some() && !NEVER.contains(&rule)) else {
                let message = format!("{FILE}: a line that names no rule that a baseline keeps, and what it is about");
                let finding = Diagnostic::error("bad-baseline", message, span, "not understood");
                found.push(finding.help("write the file again: `cargo diglot baseline`"));
                continue;
            };
            let key = (rule.to_owned(), subject.to_owned());
            if let Some(first) = baseline.lines.get(&key) {
                let message = format!("{FILE}: two lines are about `{rule}` of `{subject}`");
                let finding = Diagnostic::error("bad-baseline", message, span, "again");
                found.push(finding.context(first.span, "first").help("write the file again: `cargo diglot baseline`"));
                continue;
            }
            baseline.lines.insert(key, Line { span, count, seen: 0 });
        }
        baseline
    }

    /// Whether it knows a finding of this rule about this.
    pub(crate) fn knows(&self, rule: &str, subject: &str) -> bool {
        self.lines.contains_key(&(rule.to_owned(), subject.to_owned()))
    }

    /// Takes the findings that it knows out of the list, unless there are more of a kind than it knows.
    pub(crate) fn keep(
        &mut self,
        found: &mut Vec<Diagnostic>,
        subject: impl Fn(&Diagnostic) -> String,
    ) -> Vec<Diagnostic> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        let keys: Vec<Option<Key>> = found
            .iter()
            .map(|finding| can_keep(finding).then(|| (finding.rule.to_owned(), subject(finding))))
            .collect();
        let mut counts: BTreeMap<&Key, usize> = BTreeMap::new();
        for key in keys.iter().flatten() {
            *counts.entry(key).or_default() += 1;
        }
        let (mut kept, mut left) = (Vec::new(), Vec::new());
        for (finding, key) in std::mem::take(found).into_iter().zip(&keys) {
            let line = key.as_ref().and_then(|key| Some((self.lines.get_mut(key)?, counts.get(key)?)));
            match line {
                Some((line, count)) if *count <= line.count => {
                    line.seen = *count;
                    kept.push(finding);
                }
                Some((line, count)) => {
                    line.seen = line.count;
                    let known = format!("{FILE} knows {} of these, and there are {count}", line.count);
                    left.push(finding.note(known));
                }
                None => left.push(finding),
            }
        }
        *found = left;
        kept
    }

    /// Reports the lines that no longer occur, or not as often.
    pub(crate) fn unused(&self) -> Vec<Diagnostic> {
        let unused = self.lines.iter().filter(|(_, line)| line.seen < line.count);
        unused
            .map(|((rule, subject), line)| {
                let message = match line.seen {
                    0 => format!("{subject}: the baseline's `{rule}` no longer occurs"),
                    seen => format!("{subject}: {seen} of the baseline's {} `{rule}` still occur", line.count),
                };
                Diagnostic::error("unused-baseline", message, line.span, "repaired")
                    .help("remove what no longer occurs, or write the file again: `cargo diglot baseline`")
            })
            .collect()
    }
}

/// The text of a baseline that keeps these findings.
pub fn text<'k>(keys: impl Iterator<Item = (&'k str, &'k str)>) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (rule, subject) in keys {
        *counts.entry((subject, rule)).or_default() += 1;
    }
    let mut text = HEAD.to_owned();
    for ((subject, rule), count) in counts {
        // Writing to a String cannot fail.
        let _ = match count {
            1 => writeln!(text, "{rule} {subject}"),
            _ => writeln!(text, "{rule} {subject} {count}"),
        };
    }
    text
}

/// What a finding is about, where no statement holds its place: the name with which its message begins.
pub(crate) fn named(message: &str) -> String {
    let quoted = |text: &str| text.split('`').nth(1).map(str::to_owned);
    let name = match message.split_once(": ") {
        Some(("schema", rest)) => quoted(rest),
        _ if message.starts_with('`') => quoted(message),
        Some((name, _)) => name.split_whitespace().next().map(str::to_owned),
        None => None,
    };
    name.filter(|name| !name.is_empty()).map_or_else(|| "project".to_owned(), |name| name.replace([' ', '#'], "_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;

    fn read(text: &str) -> (Baseline, Vec<Diagnostic>) {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new(FILE, text));
        let mut found = Vec::new();
        let baseline = Baseline::read(&sources, file, &mut found);
        (baseline, found)
    }

    fn finding(message: &str) -> Diagnostic {
        Diagnostic::error("where-differs", message, Span::new(FileId(0), 0..0), "")
    }

    fn kept(text: &str, times: usize) -> (usize, usize, Vec<String>) {
        let (mut baseline, _) = read(text);
        let mut found = vec![finding("job_get: the pages differ"); times];
        let kept = baseline.keep(&mut found, |finding| named(&finding.message));
        let unused = baseline.unused().into_iter().map(|finding| finding.message).collect();
        (kept.len(), found.len(), unused)
    }

    #[test]
    fn a_line_keeps_as_many_findings_as_it_says_and_no_more() {
        assert_eq!(kept("where-differs job_get 2\n", 2), (2, 0, vec![]));
        assert_eq!(kept("where-differs job_get 2\n", 3), (0, 3, vec![]));
        let still = "job_get: 1 of the baseline's 2 `where-differs` still occur".to_owned();
        assert_eq!(kept("where-differs job_get 2\n", 1), (1, 0, vec![still]));
        let gone = "job_put: the baseline's `where-differs` no longer occurs".to_owned();
        assert_eq!(kept("where-differs job_put\n", 1), (0, 1, vec![gone]));
    }

    #[test]
    fn what_is_no_line_is_a_finding() {
        for text in
            ["where-differs", "wher-differs job_get", "where-differs job_get x", "bad-config project", "a b c d"]
        {
            let (_, found) = read(&format!("# a comment\n\n{text}\n"));
            assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["bad-baseline"], "{text}");
        }
        assert_eq!(read("set-differs a\nset-differs a 2\n").1.len(), 1);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let keys = [("where-differs", "b"), ("syntax", "a"), ("where-differs", "b")];
        let text = text(keys.into_iter());
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), ["syntax a", "where-differs b 2"]);
        let (baseline, found) = read(&text);
        assert!(found.is_empty() && baseline.knows("syntax", "a") && baseline.knows("where-differs", "b"));
    }

    #[test]
    fn a_message_begins_with_what_it_is_about() {
        assert_eq!(named("job_get: the pages differ in order"), "job_get");
        assert_eq!(named("`job_get` cannot be read: expected a name"), "job_get");
        assert_eq!(named("schema: `job.due_ms` is NOT NULL in one"), "job.due_ms");
        assert_eq!(named("0001_initial (SQLite): expected a type"), "0001_initial");
        assert_eq!(named("there is no Postgres page at all"), "project");
    }
}
