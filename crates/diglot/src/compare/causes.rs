//! One finding for one cause.
//!
//! A page that inserts other values differs in every one of them, and one that does something else on a conflict also
//! assigns something else there. What differs in one clause is told once, with all that differs.

use std::collections::BTreeSet;

use super::report;
use crate::diagnostic::Diagnostic;
use crate::digest;
use crate::facts::Kind;
use crate::rule;

/// How many places of a cause are shown, and how many of its ways out.
const SHOWN: usize = 3;

/// How many names a message gives.
const NAMED: usize = 6;

/// A difference that is told.
pub(super) struct Told {
    pub(super) kind: Kind,
    /// The part of the statement that it is in.
    pub(super) group: String,
    /// The column or clause, as the message names it.
    pub(super) item: String,
    /// The same as a declaration names it.
    pub(super) named: String,
    /// A declaration asks for its seal, so that it is told by itself.
    pub(super) alone: bool,
    pub(super) finding: Diagnostic,
}

impl Told {
    /// What it is told with.
    fn cause(&self, conflicts: &BTreeSet<String>) -> (&str, Kind, &'static str) {
        match self.kind {
            Kind::Conflict | Kind::Set if conflicts.contains(&self.group) => {
                (&self.group, Kind::Conflict, Kind::Conflict.rule().name)
            }
            kind => (&self.group, kind, self.finding.rule),
        }
    }
}

/// The findings, those of one cause as one.
pub(super) fn merged(name: &str, told: Vec<Told>) -> Vec<Diagnostic> {
    let is_other_action =
        |told: &&Told| told.kind == Kind::Conflict && ["action", "target"].contains(&told.item.as_str());
    let conflicts: BTreeSet<String> = told.iter().filter(is_other_action).map(|told| told.group.clone()).collect();
    let mut causes: Vec<Vec<Told>> = Vec::new();
    for one in told {
        let same = |cause: &&mut Vec<Told>| {
            cause
                .first()
                .is_some_and(|first| !one.alone && !first.alone && first.cause(&conflicts) == one.cause(&conflicts))
        };
        match causes.iter_mut().find(same) {
            Some(cause) => cause.push(one),
            None => causes.push(vec![one]),
        }
    }
    causes.into_iter().filter_map(|cause| as_one(name, cause)).collect()
}

fn as_one(name: &str, mut cause: Vec<Told>) -> Option<Diagnostic> {
    // What happens on a conflict comes before what is assigned then.
    cause.sort_by_key(|told| std::cmp::Reverse(told.kind == Kind::Conflict));
    let several = cause.len() > 1;
    let first = cause.first()?;
    let mut finding = first.finding.clone();
    if !several {
        return Some(finding);
    }
    let mut items: Vec<String> = Vec::new();
    for told in cause.iter().filter(|told| !told.item.is_empty()) {
        let item = format!("`{}`", told.item);
        if !items.contains(&item) {
            items.push(item);
        }
    }
    let left_out = items.len().saturating_sub(NAMED);
    items.truncate(NAMED);
    if left_out > 0 {
        items.push(format!("{left_out} more"));
    }
    if ![rule::UNKNOWN_OPERATION.name, rule::NULL_ORDER.name].contains(&finding.rule) {
        let of = if items.is_empty() { String::new() } else { format!(" ({})", items.join(", ")) };
        finding.message = format!("{name}: the pages differ in {}{of}", first.kind.about());
    }
    let mut seals = first.finding.seal.clone().unwrap_or_default();
    let mut ways: Vec<String> = ways_out(&first.finding);
    let mut kinds = vec![first.kind];
    for (at, told) in cause.iter().enumerate().skip(1) {
        if at < SHOWN {
            let new = told.finding.labels.iter().filter(|label| !finding.labels.contains(label));
            let new: Vec<_> = new.cloned().collect();
            finding.labels.extend(new);
            ways.extend(ways_out(&told.finding));
        }
        finding.suggestions.extend(told.finding.suggestions.iter().cloned());
        seals.push_str(told.finding.seal.as_deref().unwrap_or_default());
        if !kinds.contains(&told.kind) {
            kinds.push(told.kind);
        }
    }
    let mut help: Vec<String> = Vec::new();
    for way in ways {
        if !help.contains(&way) {
            help.push(way);
        }
    }
    help.extend(kinds.into_iter().map(|kind| report::declaration(kind, "")));
    finding.help = help;
    finding.seal = Some(digest::seal(&seals));
    Some(finding)
}

/// The help without the declaration, which is the same for all.
fn ways_out(finding: &Diagnostic) -> Vec<String> {
    finding.help.iter().filter(|help| !help.contains("-- diverges(")).cloned().collect()
}

/// Rules that say of a conflict what a difference of the pages in it says as well.
const OF_A_CONFLICT: [&str; 2] = [rule::ON_CONFLICT_WITHOUT_TARGET.name, rule::OR_REPLACE.name];

/// The findings about one statement, those of one rule with the same words as one that has all places.
pub(crate) fn told_once(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    let (mut lints, found): (Vec<Diagnostic>, Vec<Diagnostic>) =
        found.into_iter().partition(|finding| OF_A_CONFLICT.contains(&finding.rule));
    let mut found = found;
    match found.iter_mut().find(|finding| finding.rule == Kind::Conflict.rule().name) {
        Some(conflict) => {
            let words = lints.iter().filter_map(|lint| Some(lint.message.split_once(": ")?.1.to_owned()));
            conflict.notes.extend(words.collect::<BTreeSet<String>>());
        }
        None => found.append(&mut lints),
    }
    for finding in found {
        let same = |known: &&mut Diagnostic| {
            (known.rule, known.severity, &known.message) == (finding.rule, finding.severity, &finding.message)
                && (&known.help, &known.notes, &known.seal) == (&finding.help, &finding.notes, &finding.seal)
        };
        match all.iter_mut().find(same) {
            Some(known) => {
                known.labels.extend(finding.labels);
                known.suggestions.extend(finding.suggestions);
            }
            None => all.push(finding),
        }
    }
    all
}
