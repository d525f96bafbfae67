//! What recorded evidence makes of the findings about a pair.

use std::collections::BTreeSet;

use super::optional::Reading;
use super::pairs::Entry;
use super::{Run, StatementFacts};
use crate::compare;
use crate::config::Unproved;
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::evidence::{Verdict, Witness};
use crate::infer::{self, Signature};
use crate::page::{Annotation, AnnotationKind};
use crate::project::{Detail, Inputs};
use crate::rule::{self, Rule};
use crate::rules::unused_allow;
use crate::source::Span;

/// Whether a database alone could show what a rule and a statement are named for, and none of the statement as it is now was
/// recorded.
pub(super) fn is_open(inputs: &Inputs, weighed: &[Weighed]) -> impl Fn(&str, &str) -> bool {
    let is_run = |name: &str| weighed.iter().any(|pair| pair.name == name && pair.verdict.is_some());
    move |rule, name| rule == rule::RESULTS_DIFFER.name && (inputs.asking || !is_run(name))
}

/// A pair with what is known of it from running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// `noun_verb`.
    pub name: String,
    /// Where its name stands.
    pub place: Span,
    /// The digest of all that evidence of it rests on.
    pub basis: String,
    /// Whether the texts alone say that the pages mean the same.
    pub by_law: bool,
    /// Whether findings about it stand because the texts do not say so and no evidence is recorded.
    pub open: bool,
    /// What was recorded for this basis.
    pub verdict: Option<Verdict>,
}

/// What a pair rests on, and whether running it may settle what its texts leave open.
pub(super) struct Grounds {
    basis: String,
    settles: bool,
    takes_steps: bool,
}

/// The way out of a finding that running decides.
const RUN_IT: &str =
    "or let the engines decide: `cargo diglot prepare` runs both pages on small databases and records what comes of it";

impl Run<'_> {
    /// What evidence of a pair rests on; nothing of a statement that is no pair, or of which no text can be made.
    pub(super) fn grounds(
        &self,
        entry: &Entry<'_>,
        readings: &[Reading],
        signature: Option<&Signature>,
        settles: bool,
    ) -> Option<Grounds> {
        let whole = readings.first()?;
        // An engine may take what no tree has a place for.
        let unread = Both::of(|dialect| whole.unread(&self.shared.inputs.sources, dialect));
        let page = |dialect: Dialect| whole.page_or(self.shared.schemas, dialect, unread[dialect].as_ref());
        let pages = Both { sqlite: page(Dialect::Sqlite)?, pg: page(Dialect::Pg)? };
        let of_both = pages.each_ref();
        let partial;
        let signature = match signature {
            Some(signature) => signature,
            None => {
                let known = infer::partial_signature(&self.shared.inputs.config, of_both);
                partial = Signature::of_texts(entry.noun, pages.sqlite.raw, known.params);
                &partial
            }
        };
        let sources = &self.shared.inputs.sources;
        let (mut texts, mut takes_steps): (Vec<String>, bool) = (Vec::new(), false);
        for reading in readings {
            for text in reading.texts(self.shared, signature) {
                takes_steps |= text.steps.is_some();
                texts.extend(text.all().map(|text| text.sql.clone()));
            }
        }
        texts.push(format!("{:?}", signature.params.iter().map(|param| &param.ty).collect::<Vec<_>>()));
        let annotations = entry.sides.iter().flat_map(|side| &side.raw.annotations);
        let of_answers = annotations.filter(|annotation| annotation.kind.is_about_answers());
        texts.extend(of_answers.map(|annotation| sources.text(annotation.span).to_owned()));
        let tables: BTreeSet<String> = StatementFacts::of(entry.name, whole, Vec::new()).tables;
        let basis = self.shared.basis.of(texts.iter().map(String::as_str), tables);
        Some(Grounds { basis, settles, takes_steps })
    }

    /// The same of a pair of which a page has what no tree has a place for, and nothing worse: an engine may take it.
    pub(super) fn grounds_of_unread(&self, entry: &Entry<'_>, readings: &[Reading], before: usize) -> Option<Grounds> {
        let mut errors = self.found[before..].iter().filter(|finding| finding.severity == Severity::Error);
        let is_unsupported = errors.all(|finding| finding.rule == rule::UNSUPPORTED_STATEMENT.name);
        if entry.whole && is_unsupported { self.grounds(entry, readings, None, false) } else { None }
    }

    /// Takes out the findings about a pair that running it has settled, and shows the database of those that it confirms.
    /// `before` is where they begin.
    pub(super) fn weigh(&mut self, entry: &Entry<'_>, before: usize, grounds: Grounds) {
        let by_law = !self.found[before..].iter().any(is_decided);
        // What texts have said on the first day stays as it was found then.
        if self.shared.in_baseline.contains(entry.name) && !by_law {
            return;
        }
        let Grounds { basis, settles, takes_steps } = grounds;
        let verdict = self.shared.evidence.and_then(|evidence| evidence.of(entry.name, &basis)).cloned();
        // What evidence decides is not kept for the next build, which may have other evidence.
        self.settled |= !by_law;
        let mut open = false;
        let first = self.found[before..].iter_mut().find(|finding| is_decided(finding));
        if self.shared.inputs.asking {
            if settles {
                self.take_out(before);
            }
        } else {
            let is_allowed = self.shared.inputs.config.unproved == Unproved::Allow;
            match (&verdict, first) {
                (Some(Verdict::Same(_)), Some(_)) if settles && is_allowed => {
                    self.take_out(before);
                    self.show_as_run(entry);
                }
                (Some(Verdict::Same(scope)), Some(first)) => {
                    first.notes.push(format!("running says {}", scope.sentence()));
                }
                (Some(Verdict::Differs(witness)), Some(_)) if witness.edge && settles => {
                    self.take_out(before);
                    self.found.extend(differs(entry, witness, self.shared.inputs.detail));
                }
                (Some(Verdict::Differs(witness)), Some(_)) => self.confirm(before, witness),
                (Some(Verdict::Differs(witness)), None) => {
                    self.found.extend(differs(entry, witness, self.shared.inputs.detail))
                }
                (Some(Verdict::Unknown { reason }), Some(first)) => {
                    first.notes.push(format!("running says nothing: {reason}"));
                }
                (None, Some(first)) => {
                    open = true;
                    first.help.push(RUN_IT.to_owned());
                }
                (_, None) => {}
            }
            if takes_steps {
                open |= verdict.is_none();
                self.weigh_steps(entry, verdict.as_ref());
            }
        }
        let Some(place) = entry.sides.first().map(|side| side.raw.name_span) else { return };
        self.weighed.push(Weighed { name: entry.name.to_owned(), place, basis, by_law, open, verdict });
    }

    /// What is said of steps that running did not show to do what the pages say.
    fn weigh_steps(&mut self, entry: &Entry<'_>, verdict: Option<&Verdict>) {
        let Some(page) = entry.sides.iter().find(|side| side.dialect == Dialect::Pg) else { return };
        let unproved = |words: &str| {
            let (message, place) = (format!("{}: {words}", entry.name), page.raw.name_span);
            Diagnostic::error(rule::UNPROVED_STEPS, message, place, "takes steps where its tables are spread")
        };
        match verdict {
            Some(Verdict::Same(_) | Verdict::Differs(_)) => self.said_nothing(entry, rule::UNPROVED_STEPS, None),
            Some(Verdict::Unknown { reason }) => {
                let finding = unproved(&format!("running its steps says nothing: {reason}"))
                    .help("or leave it whole: `-- allow(insert-in-with): <why>`");
                self.said_nothing(entry, rule::UNPROVED_STEPS, Some(finding));
            }
            None => {
                let finding = unproved("nothing is recorded of what running its steps shows");
                self.found.push(finding.help("run them on both engines: `cargo diglot prepare`"));
            }
        }
    }

    /// Tells that running says nothing of what it alone could show, unless the page gives a reason; and a reason without need.
    pub(super) fn said_nothing(&mut self, entry: &Entry<'_>, rule: Rule, finding: Option<Diagnostic>) {
        let is_reason = |annotation: &&Annotation| matches!(&annotation.kind, AnnotationKind::Allow { rule: said, .. } if *said == rule.name);
        let reason = entry.sides.iter().flat_map(|side| &side.raw.annotations).find(is_reason);
        match (finding, reason) {
            (Some(finding), None) => {
                let way_out = format!("or say why nothing can be shown: `-- allow({}): <why>`", rule.name);
                self.found.push(finding.help(way_out));
            }
            (None, Some(annotation)) => {
                let finding = unused_allow(entry.name, rule.name, annotation.span, "running shows what it does");
                self.found.push(finding.fix("delete the line", annotation.span, ""));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Leaves of the findings about a pair that running decides the one that fits best to what a database shows, with that
    /// database; it names the others.
    fn confirm(&mut self, before: usize, witness: &Witness) {
        let decided: Vec<Diagnostic> =
            self.found[before..].iter().filter(|finding| is_decided(finding)).cloned().collect();
        self.take_out(before);
        let best = (0..decided.len()).rev().max_by_key(|at| fit(&decided[*at], witness));
        let mut others: Vec<&str> = Vec::new();
        for (_, other) in decided.iter().enumerate().filter(|(at, _)| Some(*at) != best) {
            let words = other.message.split_once(": ").map_or(other.message.as_str(), |(_, words)| words);
            if !others.contains(&words) {
                others.push(words);
            }
        }
        let Some(mut finding) = best.map(|at| decided[at].clone()) else { return };
        let detail = self.shared.inputs.detail;
        let mut notes = witness.notes(detail);
        finding.notes.retain(|note| detail == Detail::Whole || !note.starts_with(compare::TAKEN_AS));
        notes.append(&mut finding.notes);
        finding.notes = notes;
        if !others.is_empty() {
            finding.notes.push(format!("other differences of the texts: {}", others.join("; ")));
        }
        self.found.push(finding);
    }

    /// What a review shows as another fact is the same when the pair is run.
    fn show_as_run(&mut self, entry: &Entry<'_>) {
        let rows = self.facts.iter_mut().flatten().filter(|facts| facts.name == entry.name).flat_map(|it| &mut it.rows);
        rows.filter(|row| row.verdict == compare::Verdict::Differs)
            .for_each(|row| row.verdict = compare::Verdict::ByRows);
    }

    fn take_out(&mut self, before: usize) {
        let mut at = 0;
        self.found.retain(|finding| {
            at += 1;
            at <= before || !is_decided(finding)
        });
    }
}

/// Whether running both pages decides an error.
fn is_decided(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && rule::is_decided_by_rows(finding.rule)
}

/// How well a finding explains what a database shows.
fn fit(finding: &Diagnostic, witness: &Witness) -> usize {
    let is = |rules: &[rule::Rule]| rules.iter().any(|rule| rule.name == finding.rule);
    let names = |column: &String| finding.message.contains(&format!("`{column}`"));
    let has_null = witness.sqlite.iter().any(|line| line.contains("= NULL"));
    match witness.what.as_str() {
        what if what.contains("order of the rows") => match has_null {
            _ if is(&[rule::TEXT_ORDER, rule::ORDER_DIFFERS, rule::ENUM_ORDER, rule::DECIMAL_AS_TEXT]) => 2,
            true if is(&[rule::NULL_ORDER]) => 3,
            _ => usize::from(is(&[rule::NULL_ORDER])),
        },
        what if what.contains(" fails") => usize::from(is(&[
            rule::DIVIDED_BY_ZERO,
            rule::NARROW_ARITHMETIC,
            rule::TEXT_AS_NUMBER,
            rule::NULL_KEY,
            rule::CONFLICT_DIFFERS,
        ])),
        _ if witness.columns.iter().any(names) => 3,
        what if what.contains("afterwards") => usize::from(is(&[
            rule::SET_DIFFERS,
            rule::INSERT_DIFFERS,
            rule::CONFLICT_DIFFERS,
            rule::PART_MISSING,
            rule::WHERE_DIFFERS,
        ])),
        // An order that shows in no row explains none.
        _ if is(&[rule::ORDER_DIFFERS, rule::NULL_ORDER, rule::TEXT_ORDER, rule::ENUM_ORDER]) => 0,
        _ => 1 + usize::from(witness.columns.is_empty() != is(&[rule::COLUMNS_DIFFER])),
    }
}

/// How many columns that differ are named.
const COLUMNS: usize = 4;

/// A finding of which the texts say nothing: a database on which the pages differ.
pub(super) fn differs(entry: &Entry<'_>, witness: &Witness, detail: Detail) -> Option<Diagnostic> {
    let place =
        |dialect: Dialect| entry.sides.iter().find(|side| side.dialect == dialect).map(|side| side.raw.name_span);
    let (sqlite, pg) = (place(Dialect::Sqlite)?, place(Dialect::Pg)?);
    let names: Vec<String> = witness.columns.iter().map(|column| format!("`{column}`")).collect();
    let columns =
        if names.is_empty() || names.len() > COLUMNS { String::new() } else { format!(" in {}", names.join(", ")) };
    let message = format!("{}: {}{columns}", entry.name, witness.what);
    let mut finding = match witness.edge {
        false => Diagnostic::error(rule::RESULTS_DIFFER, message, sqlite, "this page and"),
        true => Diagnostic::warning(rule::EDGE_DIFFERS, message, sqlite, "this page and"),
    };
    finding = finding.and(pg, "this one answer differently on the data below");
    finding.notes = witness.notes(detail);
    let waiver = match witness.columns.first() {
        Some(column) if witness.columns.len() == 1 => format!("results.{column}"),
        _ => "results".to_owned(),
    };
    Some(
        finding
            .help("make both pages answer the same")
            .help(format!("or, if the difference is meant: `-- diverges({waiver}): <why the answers may differ>`")),
    )
}
