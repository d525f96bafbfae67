//! Many findings at a glance: what there is of which kind, and all that is about one thing together.

use std::collections::{BTreeMap, BTreeSet};

use diglot::diagnostic::{Diagnostic, Severity};
use diglot::evidence::Verdict;
use diglot::render;
use diglot::rules::BUILT_TEXT;
use diglot::source::Sources;
use diglot::{Compiled, Weighed};

use crate::report;

/// From how many findings on a summary stands before them.
const MANY: usize = 10;

/// The findings, those of one statement or part of the schema together, in the order in which the first of each comes.
pub(crate) fn by_subject(compiled: &Compiled) -> Vec<Diagnostic> {
    let mut order: BTreeMap<&str, usize> = BTreeMap::new();
    for key in &compiled.keys {
        let next = order.len();
        order.entry(&key.subject).or_insert(next);
    }
    let mut findings: Vec<(usize, &Diagnostic)> = compiled
        .diagnostics
        .iter()
        .zip(&compiled.keys)
        .map(|(finding, key)| (order.get(key.subject.as_str()).copied().unwrap_or_default(), finding))
        .collect();
    findings.sort_by_key(|(at, _)| *at);
    findings.into_iter().map(|(_, finding)| finding.clone()).collect()
}

/// How many lines of findings people are shown at once.
const LINES: usize = 110;
/// How many places of one cause are named.
const PLACES: usize = 5;

/// The findings as people look at them: those with a database first, then errors, then warnings; one for each cause, which
/// names its other places; and no more than fit on a few screens. How many are left comes with them.
pub(crate) fn for_people(
    compiled: &Compiled,
    sources: &Sources,
    findings: Vec<Diagnostic>,
) -> (Vec<Diagnostic>, usize) {
    let all = findings.len();
    let mut shown = by_cause(sources, by_shape(findings));
    let differs = |finding: &Diagnostic| {
        let with_rows = |pair: &&Weighed| matches!(pair.verdict, Some(Verdict::Differs(_)));
        let main = finding.labels.iter().find(|label| label.primary);
        let is_of = |pair: &Weighed| {
            main.is_some() && finding.message.strip_prefix(pair.name.as_str()).is_some_and(|rest| rest.starts_with(':'))
        };
        compiled.weighed.iter().filter(with_rows).any(is_of)
    };
    shown.sort_by_key(|(finding, _)| match finding.severity {
        Severity::Error if differs(finding) => 0,
        Severity::Error => 1,
        Severity::Warning => 2,
    });
    let (mut lines, mut told, mut kept) = (0, 0, Vec::new());
    for (finding, count) in shown {
        lines += render::full(sources, &finding, false).lines().count() + 1;
        if lines > LINES && !kept.is_empty() {
            break;
        }
        told += count;
        kept.push(finding);
    }
    (kept, all - told)
}

/// From how many findings on two pages have another shape, where they read other tables.
const SHAPE: usize = 4;

/// The findings with how many each stands for: of a statement whose pages have another shape one, which names the others.
fn by_shape(findings: Vec<Diagnostic>) -> Vec<(Diagnostic, usize)> {
    let subject = |finding: &Diagnostic| finding.message.split_once(": ").map(|(name, _)| name.to_owned());
    let mut all: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.seal.is_some()) {
        if let Some(name) = subject(finding) {
            *counts.entry(name.clone()).or_default() += 1;
            all.entry(name).or_default().insert(finding.rule);
        }
    }
    let is_other = |name: &String| {
        let rules = &all[name];
        counts[name] >= SHAPE
            && ["tables-differ", "part-missing", "kind-differs"].iter().any(|rule| rules.contains(rule))
    };
    let other: BTreeSet<String> = counts.keys().filter(|name| is_other(name)).cloned().collect();
    let mut told = BTreeSet::new();
    let mut shown = Vec::new();
    for finding in findings {
        match subject(&finding).filter(|name| finding.seal.is_some() && other.contains(name)) {
            Some(name) if told.insert(name.clone()) => {
                let rules =
                    all[&name].iter().filter(|rule| **rule != finding.rule).copied().collect::<Vec<_>>().join(", ");
                let note =
                    format!("the pages have another shape: they differ in {} places ({rules} too)", counts[&name]);
                shown.push((finding.note(note), counts[&name]));
            }
            Some(_) => {}
            None => shown.push((finding, 1)),
        }
    }
    shown
}

/// Findings that say the same of several statements as one, with how many they are.
fn by_cause(sources: &Sources, findings: Vec<(Diagnostic, usize)>) -> Vec<(Diagnostic, usize)> {
    let mut causes: Vec<(Diagnostic, Vec<String>, usize)> = Vec::new();
    let mut known: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    for (finding, count) in findings {
        let place = finding.labels.iter().find(|label| label.primary).map(|label| {
            let file = sources.file(label.span.file);
            format!("{}:{}", file.path, file.line_column(label.span.start as usize).0)
        });
        let Some((place, said)) = place.zip(said(&finding)) else {
            causes.push((finding, Vec::new(), count));
            continue;
        };
        match known.get(&(finding.rule, said.clone())) {
            Some(at) => causes[*at].1.push(place),
            None => {
                known.insert((finding.rule, said), causes.len());
                causes.push((finding, Vec::new(), count));
            }
        }
    }
    let with_places = |(finding, places, own): (Diagnostic, Vec<String>, usize)| {
        let count = places.len();
        let named = places.iter().take(PLACES).cloned().collect::<Vec<_>>().join(", ");
        let more = count.saturating_sub(PLACES);
        match (count, more) {
            (0, _) => (finding, own),
            (_, 0) => (finding.note(format!("the same at {named}")), own + count),
            _ => (finding.note(format!("the same at {named} and {more} more")), own + count),
        }
    };
    causes.into_iter().map(with_places).collect()
}

/// What a finding says apart from the statement that it says it of; none where the pages' own words make it up.
fn said(finding: &Diagnostic) -> Option<String> {
    let of_schema = finding.message.split_once(": ").filter(|(subject, _)| *subject == "schema");
    if finding.seal.is_some() && finding.rule != BUILT_TEXT.name && of_schema.is_none() {
        return None;
    }
    let message = match finding.message.split_once(": ") {
        // What is said of a table or a column, whichever it is.
        Some(("schema", rest)) => {
            match rest.split_once('`').and_then(|(before, rest)| Some((before, rest.split_once('`')?))) {
                Some((before, (_, rest))) => format!("{before}{rest}"),
                None => return None,
            }
        }
        Some((_, rest)) => rest.to_owned(),
        None => finding.message.split_once("` ").map_or_else(|| finding.message.clone(), |(_, rest)| rest.to_owned()),
    };
    let labels: BTreeSet<&str> = finding.labels.iter().map(|label| label.text.as_str()).collect();
    let labels = labels.into_iter().collect::<Vec<_>>().join("\n");
    Some(format!("{message}\n{labels}\n{}", finding.notes.join("\n")))
}

/// What there is of which rule, most first, with an empty line below; nothing where a glance tells.
pub(crate) fn of(compiled: &Compiled) -> String {
    if compiled.diagnostics.len() < MANY {
        return String::new();
    }
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &compiled.diagnostics {
        *rules.entry(finding.rule).or_default() += 1;
    }
    let mut rules: Vec<(&str, usize)> = rules.into_iter().collect();
    rules.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
    let subjects: BTreeSet<&str> = compiled.keys.iter().map(|key| key.subject.as_str()).collect();
    let (found, about) = (compiled.diagnostics.len(), subjects.len());
    let mut text = format!("{} about {}:\n", report::counted(found, "finding"), report::counted(about, "thing"));
    rules.iter().for_each(|(rule, count)| text.push_str(&format!("{count:>6} {rule}\n")));
    text + "\n"
}

#[cfg(test)]
mod tests {
    use diglot::baseline::Key;
    use diglot::rules::{Rule, SET_DIFFERS, SYNTAX, TABLES_DIFFER, WHERE_DIFFERS};
    use diglot::source::{FileId, Span};

    use super::*;

    fn compiled(subjects: &[(&str, Rule)]) -> Compiled {
        let finding = |(subject, rule): &(&str, Rule)| {
            Diagnostic::error(*rule, format!("{subject}: {}", rule.name), Span::new(FileId(0), 0..0), "")
        };
        let key = |(subject, rule): &(&str, Rule)| Key {
            subject: (*subject).to_owned(),
            rule: rule.name.to_owned(),
            seal: String::new(),
        };
        Compiled {
            diagnostics: subjects.iter().map(finding).collect(),
            keys: subjects.iter().map(key).collect(),
            ..Compiled::default()
        }
    }

    #[test]
    fn what_is_about_one_thing_stands_together() {
        let compiled = compiled(&[("job_b", SYNTAX), ("job_a", SYNTAX), ("job_b", SET_DIFFERS)]);
        let told: Vec<String> = by_subject(&compiled).into_iter().map(|finding| finding.message).collect();
        assert_eq!(told, ["job_b: syntax", "job_b: set-differs", "job_a: syntax"]);
        assert_eq!(of(&compiled), "");
    }

    #[test]
    fn people_see_one_finding_for_each_cause_errors_first_and_no_more_than_they_can_read() {
        let mut sources = Sources::default();
        let text = "a\n".repeat(300);
        let file = sources.add(diglot::source::SourceFile::new("page.sql", text));
        let place = |at: u32| Span::new(file, (2 * at) as usize..(2 * at + 1) as usize);
        let finding = |at: u32, what: &str| Diagnostic::error(SYNTAX, format!("job_{at}: {what}"), place(at), "here");
        let mut findings = vec![Diagnostic::warning(SET_DIFFERS, "job_x: odd", place(9), "")];
        findings.extend((0..9).map(|at| finding(at, "the same")));
        let (shown, left) = for_people(&Compiled::default(), &sources, findings);
        let told: Vec<&str> = shown.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!((told, left), (vec!["job_0: the same", "job_x: odd"], 0));
        let places = "the same at page.sql:2, page.sql:3, page.sql:4, page.sql:5, page.sql:6 and 3 more";
        assert_eq!(shown[0].notes, [places]);
        let many = (0..200).map(|at| finding(at, &format!("cause {at}"))).collect();
        let (shown, left) = for_people(&Compiled::default(), &sources, many);
        let lines: usize = shown.iter().map(|finding| render::full(&sources, finding, false).lines().count() + 1).sum();
        assert!(lines <= LINES && shown.len() > 5 && left == 200 - shown.len(), "{lines} {}", shown.len());
    }

    #[test]
    fn pages_of_another_shape_are_one_finding() {
        let finding = |rule: Rule| {
            let mut finding = Diagnostic::error(rule, format!("job_a: {}", rule.name), Span::new(FileId(0), 0..0), "");
            finding.seal = Some("123abc".to_owned());
            finding
        };
        let few = [TABLES_DIFFER, SET_DIFFERS, SET_DIFFERS];
        assert_eq!(by_shape(few.map(finding).to_vec()).len(), 3);
        let shown = by_shape([SET_DIFFERS, TABLES_DIFFER, WHERE_DIFFERS, WHERE_DIFFERS].map(finding).to_vec());
        let note = "the pages have another shape: they differ in 4 places (tables-differ, where-differs too)";
        assert_eq!((shown.len(), shown[0].1, shown[0].0.notes.as_slice()), (1, 4, [note.to_owned()].as_slice()));
        assert_eq!(by_shape([SET_DIFFERS; 5].map(finding).to_vec()).len(), 5);
    }

    #[test]
    fn many_findings_begin_with_what_there_is() {
        let compiled = compiled(&[[("a", SYNTAX); 4].as_slice(), &[("b", SET_DIFFERS); 6]].concat());
        assert_eq!(of(&compiled), "10 findings about 2 things:\n     6 set-differs\n     4 syntax\n\n");
    }
}
