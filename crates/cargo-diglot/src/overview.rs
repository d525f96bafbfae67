//! Many findings at a glance: what there is of which kind, and all that is about one thing together.

use std::collections::{BTreeMap, BTreeSet};

use diglot::Compiled;
use diglot::diagnostic::Diagnostic;

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
    use diglot::rules::{Rule, SET_DIFFERS, SYNTAX};
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
        let mut compiled = Compiled::default();
        compiled.diagnostics = subjects.iter().map(finding).collect();
        compiled.keys = subjects.iter().map(key).collect();
        compiled
    }

    #[test]
    fn what_is_about_one_thing_stands_together() {
        let compiled = compiled(&[("job_b", SYNTAX), ("job_a", SYNTAX), ("job_b", SET_DIFFERS)]);
        let told: Vec<String> = by_subject(&compiled).into_iter().map(|finding| finding.message).collect();
        assert_eq!(told, ["job_b: syntax", "job_b: set-differs", "job_a: syntax"]);
        assert_eq!(of(&compiled), "");
    }

    #[test]
    fn many_findings_begin_with_what_there_is() {
        let compiled = compiled(&[[("a", SYNTAX); 4].as_slice(), &[("b", SET_DIFFERS); 6]].concat());
        assert_eq!(of(&compiled), "10 findings about 2 things:\n     6 set-differs\n     4 syntax\n\n");
    }
}
