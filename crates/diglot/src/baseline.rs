//! Findings that a project had on the day it began: they are kept in a file, so that only new ones fail.
//!
//! A line names a rule, what the rule was about (a statement or a part of the schema) and the seal of what was found:
//! letters that stand for what both pages say there. A difference that becomes another one has another seal, so it
//! fails as if nothing were kept. A line that no longer occurs is an error itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::diagnostic::{Diagnostic, Severity};
use crate::digest::{SEAL, seal};
use crate::rule;
use crate::source::{FileId, Sources, Span};

/// The file's name, beside `diglot.toml`.
pub const FILE: &str = "diglot.baseline";

const HEAD: &str = "\
# Findings that are known: a rule, what it is about, the seal of what was found, how often if more than once.
# Written by `cargo diglot baseline`. A line that no longer occurs is an error; remove it, or write the file again.
";

/// Rules about the project itself, about names, and about what engines answer: nothing that builds could be generated
/// in spite of them.
const NEVER: [&str; 12] = [
    rule::ANSWER_DIFFERS.name,
    rule::BAD_BASELINE.name,
    rule::BAD_CONFIG.name,
    rule::BAD_FILE_NAME.name,
    rule::BAD_NAME.name,
    rule::DUPLICATE_NAME.name,
    rule::ENGINE_REFUSES.name,
    rule::MERGE_CONFLICT.name,
    rule::MISSING_FOLDER.name,
    rule::NOT_UTF8.name,
    rule::STALE_ANSWERS.name,
    rule::UNUSED_BASELINE.name,
];

/// Whether a baseline may keep a finding.
pub fn can_keep(finding: &Diagnostic) -> bool {
    // What one line of `[assume]` would settle is told together, of all statements at once.
    let is_gathered = finding.severity == Severity::Warning && finding.rule == rule::EDGE_DIFFERS.name;
    !NEVER.contains(&finding.rule) && !is_gathered
}

/// What a line keeps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What it is about.
    pub subject: String,
    /// The rule.
    pub rule: String,
    /// What both pages say.
    pub seal: String,
}

impl Key {
    /// The key of a finding. `unread` is the text of a statement that could not be compared: whatever changes in it
    /// changes what nobody has looked at.
    pub(crate) fn of(sources: &Sources, finding: &Diagnostic, subject: String, unread: Option<&str>) -> Self {
        let mut said = match &finding.seal {
            Some(seal) => seal.clone(),
            None => {
                let mut said = finding.message.clone();
                for label in &finding.labels {
                    said.extend(["\u{0}", label.text.as_str(), "\u{0}"]);
                    said.push_str(&words(sources.text(label.span)));
                }
                said
            }
        };
        if let Some(text) = unread {
            said.push('\u{0}');
            said.push_str(text);
        }
        let is_seal = finding.seal.is_some() && unread.is_none();
        Self { subject, rule: finding.rule.to_owned(), seal: if is_seal { said } else { seal(&said) } }
    }

    fn is_about(&self, rule: &str, subject: &str) -> bool {
        self.rule == rule && self.subject == subject
    }
}

/// A text without its layout.
pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a baseline.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    lines: BTreeMap<Key, Line>,
    /// What has a finding of a rule that no line keeps.
    changed: BTreeSet<(String, String)>,
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
            let (rule, subject, seal, count) = match words.as_slice() {
                [] => continue,
                [rule, subject, seal] => (*rule, *subject, *seal, Some(1)),
                [rule, subject, seal, count] => (*rule, *subject, *seal, count.parse().ok().filter(|count| *count > 0)),
                _ => ("", "", "", None),
            };
            let is_rule = crate::rules::find(rule).is_some() && !NEVER.contains(&rule);
            let is_seal = seal.len() == SEAL && seal.chars().all(|c| c.is_ascii_hexdigit());
            let Some(count) = count.filter(|_| is_rule && is_seal) else {
                let message =
                    format!("{FILE}: a line that is not a rule that a baseline keeps, what it is about, and a seal");
                let finding = Diagnostic::error(rule::BAD_BASELINE, message, span, "not understood");
                found.push(finding.help("write the file again: `cargo diglot baseline`"));
                continue;
            };
            let key = Key { subject: subject.to_owned(), rule: rule.to_owned(), seal: seal.to_owned() };
            if let Some(first) = baseline.lines.get(&key) {
                let message = format!("{FILE}: two lines are about `{rule}` of `{subject}`");
                let finding = Diagnostic::error(rule::BAD_BASELINE, message, span, "again");
                found.push(finding.context(first.span, "first").help("write the file again: `cargo diglot baseline`"));
                continue;
            }
            baseline.lines.insert(key, Line { span, count, seen: 0 });
        }
        baseline
    }

    /// Whether it knows a finding of this rule about this.
    pub(crate) fn knows(&self, rule: &str, subject: &str) -> bool {
        self.lines.keys().any(|key| key.is_about(rule, subject))
    }

    /// What it knows findings about.
    pub(crate) fn subjects(&self) -> BTreeSet<String> {
        self.lines.keys().map(|key| key.subject.clone()).collect()
    }

    /// Takes the findings that it knows out of the list, unless there are more of a kind than it knows.
    pub(crate) fn keep(&mut self, found: &mut Vec<Diagnostic>, key: impl Fn(&Diagnostic) -> Key) -> Vec<Diagnostic> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        let keys: Vec<Option<Key>> = found.iter().map(|finding| can_keep(finding).then(|| key(finding))).collect();
        let mut counts: BTreeMap<&Key, usize> = BTreeMap::new();
        for key in keys.iter().flatten() {
            *counts.entry(key).or_default() += 1;
        }
        let (mut kept, mut left) = (Vec::new(), Vec::new());
        for (finding, key) in std::mem::take(found).into_iter().zip(&keys) {
            let Some(key) = key else {
                left.push(finding);
                continue;
            };
            let is_other = self.knows(&key.rule, &key.subject);
            match (self.lines.get_mut(key), counts.get(key)) {
                (Some(line), Some(count)) if *count <= line.count => {
                    line.seen = *count;
                    kept.push(finding);
                }
                (Some(line), Some(count)) => {
                    line.seen = line.count;
                    let known = format!("{FILE} knows {} of these, and there are {count}", line.count);
                    left.push(finding.note(known));
                }
                _ if is_other => {
                    self.changed.insert((key.rule.clone(), key.subject.clone()));
                    // What was known as it was is another thing, and nothing else looks at it.
                    let finding = Diagnostic { severity: Severity::Error, ..finding };
                    left.push(finding.note(format!("{FILE} knows another `{}` here: this one is new", key.rule)));
                }
                // Columns and values that were in one order on the day of the baseline are exchanged now.
                _ if finding.severity == Severity::Warning && finding.rule == rule::PARAM_ORDER_DIFFERS.name => {
                    let finding = Diagnostic { severity: Severity::Error, ..finding };
                    left.push(finding.note(format!("{FILE} knows nothing of this: the order has changed since then")));
                }
                _ => left.push(finding),
            }
        }
        *found = left;
        kept
    }

    /// Reports the lines that no longer occur, or not as often. Where another finding of the same rule has come, that
    /// one tells of the change. Nothing is said of a rule and a statement of which `is_open` holds.
    pub(crate) fn unused(&self, is_open: impl Fn(&str, &str) -> bool) -> Vec<Diagnostic> {
        let unused = self.lines.iter().filter(|(key, line)| {
            line.seen < line.count
                && !self.changed.contains(&(key.rule.clone(), key.subject.clone()))
                && !is_open(&key.rule, &key.subject)
        });
        unused
            .map(|(Key { rule, subject, .. }, line)| {
                let message = match line.seen {
                    0 => format!("{subject}: the baseline's `{rule}` no longer occurs"),
                    seen => format!("{subject}: {seen} of the baseline's {} `{rule}` still occur", line.count),
                };
                Diagnostic::error(rule::UNUSED_BASELINE, message, line.span, "repaired")
                    .help("remove what no longer occurs, or write the file again: `cargo diglot baseline`")
            })
            .collect()
    }
}

/// The text of a baseline that keeps these findings.
pub fn text<'k>(keys: impl Iterator<Item = &'k Key>) -> String {
    let mut counts: BTreeMap<&Key, usize> = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    let mut text = HEAD.to_owned();
    for (Key { subject, rule, seal }, count) in counts {
        // Writing to a String cannot fail.
        let _ = match count {
            1 => writeln!(text, "{rule} {subject} {seal}"),
            _ => writeln!(text, "{rule} {subject} {seal} {count}"),
        };
    }
    text
}

/// What is said of findings that a baseline knows, in the place of them all.
pub fn folded(count: usize) -> String {
    format!("{count} known, see {FILE}")
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
        Diagnostic::error(rule::WHERE_DIFFERS, message, Span::new(FileId(0), 0..0), "")
    }

    fn key(finding: &Diagnostic) -> Key {
        let mut sources = Sources::default();
        sources.add(SourceFile::new("a.sql", ""));
        Key::of(&sources, finding, named(&finding.message), None)
    }

    fn kept(text: &str, times: usize) -> (usize, Vec<Vec<String>>, Vec<String>) {
        let (mut baseline, _) = read(text);
        let mut found = vec![finding("job_get: the pages differ"); times];
        let kept = baseline.keep(&mut found, key);
        let unused = baseline.unused(|_, _| false).into_iter().map(|finding| finding.message).collect();
        (kept.len(), found.into_iter().map(|finding| finding.notes).collect(), unused)
    }

    #[test]
    fn a_line_keeps_as_many_findings_as_it_says_and_no_more() {
        let seal = key(&finding("job_get: the pages differ")).seal;
        let line = format!("where-differs job_get {seal}");
        assert_eq!(kept(&format!("{line} 2\n"), 2), (2, vec![], vec![]));
        let (none, notes, unused) = kept(&format!("{line} 2\n"), 3);
        assert_eq!((none, notes.len(), unused.len()), (0, 3, 0));
        assert_eq!(notes[0], ["diglot.baseline knows 2 of these, and there are 3"]);
        let still = "job_get: 1 of the baseline's 2 `where-differs` still occur".to_owned();
        assert_eq!(kept(&format!("{line} 2\n"), 1), (1, vec![], vec![still]));
        let gone = "job_put: the baseline's `where-differs` no longer occurs".to_owned();
        assert_eq!(kept("where-differs job_put 123abc\n", 1), (0, vec![vec![]], vec![gone]));
    }

    #[test]
    fn another_difference_of_the_same_rule_is_new_and_tells_of_the_line_that_went() {
        let (kept, notes, unused) = kept("where-differs job_get 123abc\n", 1);
        let note = "diglot.baseline knows another `where-differs` here: this one is new".to_owned();
        assert_eq!((kept, notes, unused), (0, vec![vec![note]], vec![]));
    }

    #[test]
    fn a_seal_stands_for_what_is_said_and_not_for_its_layout_or_its_place() {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("a.sql", "due <  now\n due < now due > now"));
        let seal_at = |range: std::ops::Range<usize>| {
            let finding = Diagnostic::error(rule::TEXT_ORDER, "job_get: sorted", Span::new(file, range), "here");
            Key::of(&sources, &finding, "job_get".to_owned(), None).seal
        };
        assert_eq!(seal_at(0..10), seal_at(12..21));
        assert_ne!(seal_at(0..10), seal_at(22..31));
    }

    #[test]
    fn what_is_no_line_is_a_finding() {
        let lines = [
            "where-differs",
            "where-differs job_get",
            "where-differs job_get 2",
            "wher-differs job_get 123abc",
            "where-differs job_get 123abc x",
            "bad-config project 123abc",
            "a b c d e",
        ];
        for text in lines {
            let (_, found) = read(&format!("# a comment\n\n{text}\n"));
            assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["bad-baseline"], "{text}");
        }
        assert_eq!(read("set-differs a 123abc\nset-differs a 123abc 2\nset-differs a 123abd\n").1.len(), 1);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let key = |rule: &str, subject: &str| Key { subject: subject.into(), rule: rule.into(), seal: "123abc".into() };
        let keys = [key("where-differs", "b"), key("syntax", "a"), key("where-differs", "b")];
        let text = text(keys.iter());
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), ["syntax a 123abc", "where-differs b 123abc 2"]);
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
