//! Evidence: both pages of every pair on small databases, and what comes of it as a record.

use std::collections::{BTreeMap, BTreeSet};

use diglot::dialect::Both;
use diglot::evidence::{Evidence, Extent, Record, Scope, VERSION, Verdict, Witness};
use diglot::mutate::Changer;
use diglot::prove::{Answer, Case, Difference, Prover, Reach, Scope as Tried, Subject};
use diglot::{Compiled, Inputs, Weighed};
use indicatif::{ProgressBar, ProgressStyle};

use super::engines::{Engines, Ran};
use super::smaller;
use crate::failure::Failure;
use crate::host::Host;

/// How many databases with arguments a pair is run on.
const BUDGET: usize = 3000;
/// How many of them run together: few at first, since most differences show on the smallest.
const FIRST: usize = 32;
/// How many run together at most.
const MOST: usize = 512;
/// How many one-sided changes of a pair are tried.
const CHANGES: usize = 24;
/// On how many databases each of them is tried.
const CHANGED: usize = 1000;
/// Which share of them, of a hundred, the databases have to notice before they say that two pages are the same.
const TELLING: usize = 60;

/// What came of a pair.
enum Found {
    /// A case on which the pages differ, and whether it holds what few programs write.
    Difference { case: Case, difference: Difference, edge: bool },
    /// They do not on any of these, with what SQLite answered.
    Nothing(Vec<(Case, Answer)>),
}

/// The records that still hold, and for all other pairs what running them shows now.
pub(crate) async fn gather(
    inputs: &Inputs,
    compiled: &Compiled,
    old: Option<Evidence>,
    host: &Host,
) -> Result<Evidence, Failure> {
    let mut engines = Engines::open(inputs, host, super::CONNECTIONS).await?;
    let versions = engines.versions();
    let mut evidence = Evidence { version: VERSION, engines: versions, pairs: BTreeMap::new() };
    let old = old.filter(|old| old.engines == evidence.engines).unwrap_or_default();
    let (kept, open): (Vec<&Weighed>, Vec<&Weighed>) =
        compiled.weighed.iter().filter(|pair| !pair.by_law).partition(|pair| old.of(&pair.name, &pair.basis).is_some());
    let known = kept.iter().filter_map(|pair| Some((pair.name.clone(), old.pairs.get(&pair.name)?.clone())));
    evidence.pairs.extend(known);
    if open.is_empty() {
        return Ok(evidence);
    }
    let relations = engines.relations().await?;
    let prover = Prover::new(inputs, compiled, &relations);
    let subjects: BTreeMap<String, Subject> =
        prover.subjects().into_iter().map(|subject| (subject.name.clone(), subject)).collect();
    let changer = Changer::new(inputs);
    let progress = progress(open.len());
    for pair in open {
        progress.set_message(pair.name.clone());
        let verdict = match subjects.get(&pair.name) {
            Some(subject) => engines.verdict(subject, compiled, &changer, &old).await?,
            None => Verdict::Unknown { reason: "no text of it can be made for the engines".to_owned() },
        };
        evidence.pairs.insert(pair.name.clone(), Record { basis: pair.basis.clone(), verdict });
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(evidence)
}

/// A bar on a terminal, nothing in a pipe.
fn progress(pairs: usize) -> ProgressBar {
    let bar = ProgressBar::new(pairs as u64);
    match ProgressStyle::with_template("running {bar:40} {pos}/{len} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Engines {
    /// What running a pair shows.
    async fn verdict(
        &mut self,
        subject: &Subject,
        compiled: &Compiled,
        changer: &Changer<'_>,
        old: &Evidence,
    ) -> Result<Verdict, Failure> {
        if let Some(verdict) = self.refused(subject).await? {
            return Ok(verdict);
        }
        let databases = subject.databases(BUDGET);
        // A database that told the pages apart before is tried first; one of edges would hide an ordinary one.
        let earlier = match old.pairs.get(&subject.name).map(|record| &record.verdict) {
            Some(Verdict::Differs(witness)) => {
                Case::from_words(&witness.rows, &witness.args).filter(|case| subject.edges(case).is_empty())
            }
            _ => None,
        };
        let ordinary = databases.ordinary() + usize::from(earlier.is_some());
        let cases: Vec<Case> = earlier.into_iter().chain(databases.iter()).collect();
        match self.first(subject, cases, ordinary)? {
            Found::Difference { case, difference, edge } => {
                let (case, difference) = smaller(self, subject, case, difference)?;
                Ok(Verdict::Differs(Box::new(witness(subject, &case, difference, edge))))
            }
            Found::Nothing(ran) if ran.is_empty() => {
                let reason = "no row that both engines take was made for its tables: say what their columns hold in \
                              `diglot.toml`, under `[words]` and `[prove.ranges]`";
                Ok(Verdict::Unknown { reason: reason.to_owned() })
            }
            Found::Nothing(ran) => {
                let (noticed, changes) = self.noticed(subject, compiled, changer, &ran)?;
                let scope = Scope { noticed, changes, ..scope(databases.scope(), ran.len()) };
                if scope.telling() < TELLING {
                    let reason = format!(
                        "the databases that were tried notice {noticed} of {changes} one-sided changes of the SQLite page, \
                         which is too few to go by"
                    );
                    return Ok(Verdict::Unknown { reason });
                }
                Ok(Verdict::Same(scope))
            }
        }
    }

    /// A verdict on a pair of which an engine does not take a text.
    async fn refused(&mut self, subject: &Subject) -> Result<Option<Verdict>, Failure> {
        let [texts] = subject.variants.as_slice() else { return Ok(None) };
        if !subject.is_partial {
            return Ok(None);
        }
        if texts.pg.parts.len() > 1 {
            let reason = "several statements go to Postgres one by one, if a program runs them at all".to_owned();
            return Ok(Some(Verdict::Unknown { reason }));
        }
        let (difference, is_refused) = self.takes(subject, &texts.sqlite, &texts.pg).await?;
        if is_refused {
            return Ok(Some(Verdict::Unknown { reason: "neither engine takes its text".to_owned() }));
        }
        Ok(difference
            .map(|difference| Verdict::Differs(Box::new(witness(subject, &Case::default(), difference, false)))))
    }

    /// The first of the cases on which the pages differ; so many at the beginning are ordinary.
    fn first(&mut self, subject: &Subject, cases: Vec<Case>, ordinary: usize) -> Result<Found, Failure> {
        let mut ran = Vec::new();
        let (mut rest, mut at, mut together) = (cases.into_iter(), 0, FIRST);
        loop {
            let mut some: Vec<Case> = rest.by_ref().take(together).collect();
            if some.is_empty() {
                return Ok(Found::Nothing(ran));
            }
            let answers = self.run_many(subject, &mut some)?;
            for (case, answers) in some.into_iter().zip(answers) {
                at += 1;
                let Some((sqlite, pg)) = answers else { continue };
                match subject.compare(&case, &sqlite, &pg) {
                    Some(difference) => return Ok(Found::Difference { case, difference, edge: at > ordinary }),
                    None => ran.push((case, sqlite)),
                }
            }
            together = (together * 2).min(MOST);
        }
    }

    /// How many one-sided changes of the SQLite page the databases notice, and how many were made.
    fn noticed(
        &mut self,
        subject: &Subject,
        compiled: &Compiled,
        changer: &Changer<'_>,
        ran: &[(Case, Answer)],
    ) -> Result<(usize, usize), Failure> {
        let signature = compiled.signatures.iter().find(|signature| signature.name == subject.name);
        let (Some(signature), Some(first)) = (signature, subject.variants.first()) else { return Ok((0, 0)) };
        let whole: Vec<&(Case, Answer)> =
            ran.iter().filter(|(case, _)| subject.variant(case) == Some(first)).take(CHANGED).collect();
        let (mut noticed, mut made) = (0, 0);
        for text in changer.texts(signature, CHANGES) {
            if self.sqlite.takes(&text).is_err() {
                continue;
            }
            made += 1;
            let sqlite = diglot::EmittedText { variant: first.sqlite.variant.clone(), ..text };
            let mut changed = subject.clone();
            changed.variants = vec![Both { sqlite, pg: first.pg.clone() }];
            for some in whole.chunks(MOST) {
                let cases: Vec<&Case> = some.iter().map(|(case, _)| case).collect();
                let after = self.sqlite.run(&changed, &cases)?;
                let tells = |((case, before), after): (&&(Case, Answer), Ran)| match after {
                    Ran::Answered(after) => subject.compare(case, before, &after).is_some(),
                    Ran::Refused(_) => false,
                };
                if some.iter().zip(after).any(tells) {
                    noticed += 1;
                    break;
                }
            }
        }
        Ok((noticed, made))
    }
}

/// What was tried, as it is recorded.
fn scope(tried: &Tried, cases: usize) -> Scope {
    let extent = match tried.reach {
        Reach::Whole => Extent::Whole,
        Reach::Pairs => Extent::Pairs,
        Reach::Coverage => Extent::Values,
    };
    let rows = if extent == Extent::Whole { tried.rows } else { tried.most_rows };
    let not_covered = tried.not_covered.clone();
    let assumed = tried.assumed.iter().map(|what| what.key().to_owned()).collect();
    Scope { assumed, databases: cases, rows, values: tried.values, extent, not_covered, ..Scope::default() }
}

/// A difference as it is recorded.
fn witness(subject: &Subject, case: &Case, difference: Difference, edge: bool) -> Witness {
    let (rows, args) = case.to_words();
    // What was found on an edge and shows on ordinary values as well is no matter of edges.
    let edges = if edge { subject.edges(case) } else { BTreeMap::new() };
    let excluded_by: BTreeMap<String, BTreeSet<String>> =
        edges.into_iter().map(|(what, places)| (what.key().to_owned(), places)).collect();
    let named = subject.tables.iter().map(|table| (table.name.clone(), subject.named(&table.name)));
    let named: BTreeMap<String, BTreeSet<String>> = named.filter(|(_, columns)| !columns.is_empty()).collect();
    Witness {
        what: difference.what,
        edge: !excluded_by.is_empty(),
        excluded_by,
        rows,
        args,
        sqlite: difference.sqlite,
        pg: difference.pg,
        columns: difference.columns,
        named,
    }
}
