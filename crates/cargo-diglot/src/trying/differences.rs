//! Which differences matter most.
//!
//! Those with a database come first, and among these ordinary data before values at the end of a range. What is stored
//! otherwise counts for more than what is answered otherwise, that for more than another order, and that for more than rows
//! of which no page says the order; what somebody wrote on one page alone counts for more than what the dialects read
//! differently. Of findings with one cause the first is told.

use std::collections::BTreeSet;

use diglot::diagnostic::{Diagnostic, Severity};
use diglot::evidence::{Verdict, Witness};
use diglot::rules::MISSING_STATEMENT;
use diglot::source::Sources;
use diglot::{Compiled, Detail, Weighed};

use crate::overview;

/// What is told of first: the smallest.
type Weight = (bool, u8, u8, usize);

/// The findings that matter most, at most so many; those without a database only where too few have one.
pub(super) fn most_important(sources: &Sources, compiled: &Compiled, count: usize) -> Vec<Diagnostic> {
    let mut shown: Vec<(Weight, String, &Diagnostic)> = compiled
        .weighed
        .iter()
        .filter_map(|pair| {
            let Some(Verdict::Differs(witness)) = &pair.verdict else { return None };
            let finding = with_database(compiled, pair, witness)?;
            Some((weight(finding, witness), cause(finding, witness), finding))
        })
        .collect();
    shown.sort_by_key(|(weight, ..)| *weight);
    let mut causes = BTreeSet::new();
    let (first, again): (Vec<_>, Vec<_>) = shown.into_iter().partition(|(_, cause, _)| causes.insert(cause.clone()));
    let mut told: Vec<Diagnostic> =
        first.into_iter().chain(again).map(|(.., finding)| finding.clone()).take(count).collect();
    if told.len() < count {
        let mut others = overview::by_subject(compiled);
        others.retain(|it| it.severity == Severity::Error && !told.contains(it));
        // A statement that one database lacks says the least: programs may name it otherwise.
        others.sort_by_key(|it| if it.rule == MISSING_STATEMENT.name { 2 } else { page(it.rule) });
        let (others, _) = overview::for_people(compiled, sources, others);
        let missing = count - told.len();
        told.extend(others.into_iter().take(missing));
    }
    told
}

/// The finding that shows the database of a pair.
fn with_database<'c>(compiled: &'c Compiled, pair: &Weighed, witness: &Witness) -> Option<&'c Diagnostic> {
    let notes = witness.notes(Detail::Short);
    let is_it = |finding: &&Diagnostic| finding.message.starts_with(&pair.name) && finding.notes.starts_with(&notes);
    compiled.diagnostics.iter().find(is_it)
}

fn weight(finding: &Diagnostic, witness: &Witness) -> Weight {
    let what = match witness.what.as_str() {
        what if what.starts_with("afterwards") => 0,
        what if what.contains("opposite order") => 3,
        what if what.contains("order of the rows") => 2,
        _ => 1,
    };
    let rows = witness.rows.values().map(Vec::len).sum::<usize>();
    // Words of one dialect have to be known before one sees that they differ.
    let is_read = finding.notes.iter().any(|note| note.starts_with("SQLite takes it as") && note.contains('('));
    // That one database numbers rows which a program numbers on the other is how they were designed.
    let numbers = |lines: &[String]| lines.iter().any(|line| line.contains("a new number"));
    let is_numbered = numbers(&witness.sqlite) != numbers(&witness.pg);
    let reading = page(finding.rule).max(u8::from(is_read)) + 2 * u8::from(is_numbered);
    (witness.edge, what, reading, rows + witness.args.len())
}

/// Whether a rule is about how dialects read what both pages say, or about what programs bind, and not about what one page
/// says alone.
fn page(rule: &str) -> u8 {
    let is_of_page = (rule.ends_with("-differs") || rule.ends_with("-differ")) && rule != "param-differs";
    u8::from(!is_of_page && rule != "part-missing")
}

/// Findings of which one stands for all: what the dialects read differently is one cause wherever it is.
fn cause(finding: &Diagnostic, witness: &Witness) -> String {
    let columns: Vec<&str> = witness.columns.iter().map(String::as_str).collect();
    match finding.rule {
        "results-differ" | "edge-differs" => format!("{} {}", witness.what, columns.join(", ")),
        rule if page(rule) == 0 => finding.message.clone(),
        rule => rule.to_owned(),
    }
}

/// The place of a pair among those that wait to be run: what differs by its texts before what its texts say is the same.
pub(super) fn urgency(compiled: &Compiled, pair: &Weighed) -> u8 {
    if pair.by_law {
        return 2;
    }
    let is_of = |finding: &&Diagnostic| {
        let rest = finding.message.strip_prefix(pair.name.as_str());
        finding.severity == Severity::Error && rest.is_some_and(|rest| rest.starts_with(':'))
    };
    compiled.diagnostics.iter().filter(is_of).map(|finding| page(finding.rule)).min().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use diglot::rules::{self, Rule};
    use diglot::source::{FileId, SourceFile, Span};

    use super::*;

    fn rule(name: &str) -> Rule {
        *rules::find(name).unwrap()
    }

    /// A pair for each, with the rule of its finding, what differs, and whether that is an edge.
    fn compiled(pairs: &[(&str, &str, &str, bool)]) -> Compiled {
        let place = Span::new(FileId(0), 0..1);
        let mut compiled = Compiled::default();
        for (name, of, what, edge) in pairs {
            let witness = Witness { what: (*what).to_owned(), edge: *edge, ..Witness::default() };
            let mut finding = Diagnostic::error(rule(of), format!("{name}: {of}"), place, "");
            finding.notes = witness.notes(Detail::Short);
            compiled.diagnostics.push(finding);
            let verdict = Some(Verdict::Differs(Box::new(witness)));
            let name = (*name).to_owned();
            compiled.weighed.push(Weighed { name, place, basis: String::new(), by_law: false, open: false, verdict });
        }
        compiled
    }

    fn names(compiled: &Compiled, count: usize) -> Vec<String> {
        let mut sources = Sources::default();
        sources.add(SourceFile::new("page.sql", "a\n"));
        let shown = most_important(&sources, compiled, count);
        shown.into_iter().map(|it| it.message.split(':').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn what_is_stored_comes_before_what_is_answered_and_edges_come_last() {
        let pairs = [
            ("edge", "narrow-arithmetic", "afterwards the rows of lot differ", true),
            ("luck", "results-differ", "the rows differ where Postgres got them in the opposite order", false),
            ("order", "order-differs", "the order of the rows differs", false),
            ("read", "like-case", "the rows differ", false),
            ("page", "where-differs", "the rows differ", false),
            ("bound", "param-differs", "afterwards the rows of lot differ", false),
            ("write", "set-differs", "afterwards the rows of lot differ", false),
        ];
        assert_eq!(names(&compiled(&pairs), 9), ["write", "bound", "page", "read", "order", "luck", "edge"]);
    }

    #[test]
    fn one_cause_is_shown_once_as_long_as_there_are_others() {
        let pairs = [
            ("a", "like-case", "the rows differ", false),
            ("b", "like-case", "the rows differ", false),
            ("c", "text-order", "the order of the rows differs", false),
            ("d", "where-differs", "the rows differ", false),
            ("e", "where-differs", "the rows differ", false),
        ];
        assert_eq!(names(&compiled(&pairs), 4), ["d", "e", "a", "c"]);
        assert_eq!(names(&compiled(&pairs), 5), ["d", "e", "a", "c", "b"]);
    }

    #[test]
    fn what_has_no_database_fills_up() {
        let mut compiled = compiled(&[("a", "like-case", "the rows differ", false)]);
        for (name, of) in [("b", "missing-statement"), ("c", "syntax"), ("d", "where-differs")] {
            let message = format!("{name}: {of}");
            compiled.diagnostics.push(Diagnostic::error(rule(of), message, Span::new(FileId(0), 0..1), ""));
        }
        let key = diglot::baseline::Key { subject: "b".into(), rule: "x".into(), seal: String::new() };
        compiled.keys = vec![key; 4];
        assert_eq!(names(&compiled, 3), ["a", "d", "c"]);
        assert_eq!(names(&compiled, 4), ["a", "d", "c", "b"]);
    }

    #[test]
    fn pairs_whose_texts_differ_are_run_first() {
        let mut compiled = compiled(&[("a", "like-case", "", false), ("b", "where-differs", "", false)]);
        compiled.weighed[0].by_law = false;
        let order = |compiled: &Compiled| compiled.weighed.iter().map(|it| urgency(compiled, it)).collect::<Vec<_>>();
        assert_eq!(order(&compiled), [1, 0]);
        compiled.weighed[1].by_law = true;
        assert_eq!(order(&compiled), [1, 2]);
    }
}
