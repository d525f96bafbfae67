//! What edges alone show, told once for each assumption that would settle it.

use std::collections::{BTreeMap, BTreeSet};

use super::Weighed;
use crate::config::{Assumption, FILE as CONFIG};
use crate::diagnostic::Diagnostic;
use crate::evidence::{Verdict, Witness};
use crate::rule;

/// How many places are named in a line that states an assumption of them alone.
const PLACES: usize = 6;
/// How many statements are named.
const NAMED: usize = 8;

/// Makes one finding of all that one assumption excludes: the first of them with its database, the names of the others,
/// and the line that states the assumption.
pub(super) fn gather(found: &mut Vec<Diagnostic>, weighed: &[Weighed]) {
    let of_edges = |pair: &'_ &Weighed| matches!(&pair.verdict, Some(Verdict::Differs(witness)) if witness.edge);
    let edges: Vec<&Weighed> = weighed.iter().filter(of_edges).collect();
    let mut groups: BTreeMap<Assumption, Group<'_>> = BTreeMap::new();
    let finding = |pair: &Weighed, found: &Vec<Diagnostic>| {
        let is_it = |finding: &Diagnostic| {
            finding.rule == rule::EDGE_DIFFERS.name && finding.labels.iter().any(|label| label.span == pair.place)
        };
        found.iter().position(is_it)
    };
    for pair in &edges {
        let Some(Verdict::Differs(witness)) = &pair.verdict else { continue };
        let Some((what, places)) = excluded_by(witness) else { continue };
        let Some(at) = finding(pair, found) else { continue };
        let group = groups.entry(what).or_default();
        group.findings.push(found.remove(at));
        group.names.push(&pair.name);
        group.places.extend(places.iter().map(String::as_str));
    }
    found.extend(groups.into_iter().filter_map(|(what, group)| group.told(what)));
}

/// The assumption that excludes the data of a witness, and the places that hold it: of several any one does, so the first.
fn excluded_by(witness: &Witness) -> Option<(Assumption, &BTreeSet<String>)> {
    witness.excluded_by.iter().find_map(|(key, places)| Some((Assumption::of_key(key)?, places)))
}

/// Findings that one assumption settles.
#[derive(Default)]
struct Group<'w> {
    findings: Vec<Diagnostic>,
    names: Vec<&'w str>,
    places: BTreeSet<&'w str>,
}

impl Group<'_> {
    fn told(self, what: Assumption) -> Option<Diagnostic> {
        let Self { findings, names, places } = self;
        let first = findings.into_iter().next()?;
        let mut finding = Diagnostic { help: Vec::new(), ..first };
        finding.message = match names.as_slice() {
            [name] => format!("{name}: the pages differ only on {}", what.excluded()),
            [name, ..] => format!("{name} and {} more: the pages differ only on {}", names.len() - 1, what.excluded()),
            [] => finding.message,
        };
        if names.len() > 1 {
            let mut others =
                names[1..].iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            if names.len() - 1 > NAMED {
                others.push_str(&format!(" and {} more", names.len() - 1 - NAMED));
            }
            finding.notes.push(format!("the same holds of {others}"));
        }
        let line = match places.len() {
            1..=PLACES => format!(", or of these alone: `{}`", what.line_of(places.iter().copied())),
            _ => String::new(),
        };
        let help = format!(
            "if no program writes {}, say so in {CONFIG}, below `[assume]`: `{}`{line}",
            what.excluded(),
            what.line()
        );
        Some(finding.help(help).help("where a program may write it, a CHECK in both schemas keeps it out"))
    }
}
