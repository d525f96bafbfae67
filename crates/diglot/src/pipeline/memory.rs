//! What stays of a project that is open in an editor, so that a run after a keystroke works on little more than what
//! changed.
//!
//! A statement gives the same as before while all that it says, and all that statements share, is the same. What has
//! places in it (findings, declared differences, steps of transactions) holds as long as the statement stands where it
//! stood; the rest holds wherever it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::optional::{Reading, variants};
use super::pairs::{Entry, Pairing};
use super::schemas::Settled;
use super::{Compiled, Run, Weighed, common, declared, read_page, stripped, together};
use crate::baseline::Baseline;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::emitted::EmittedText;
use crate::evidence::Verdict;
use crate::infer::keys::Keys;
use crate::infer::{self, Signature};
use crate::page::{Page, RawStatement};
use crate::project::{Inputs, Stats};
use crate::schema::Schema;
use crate::source::Span;
use crate::tree::Statement;
use crate::{cache, codegen, compare, locks, resolve, rules, split};

/// What is kept of a project.
#[derive(Debug, Default)]
pub struct Memory {
    /// The path and the text of every file, in order.
    files: Vec<(String, String)>,
    /// What the engines answered.
    answers: Option<String>,
    /// What running has shown.
    evidence: Option<String>,
    settled: Option<Settled>,
    /// The pages in order, as each says by itself, with what was found in it.
    alone: Vec<(Page, Vec<Diagnostic>)>,
    /// The pages with what they share.
    pages: Vec<Page>,
    /// What was found in all of them.
    findings: Vec<Diagnostic>,
    memos: Memos,
}

/// What each statement gave, by its noun and its name.
type Memos = BTreeMap<(String, String), Arc<Memo>>;

/// What one statement said, where it stood, and what it gave.
#[derive(Debug)]
struct Memo {
    said: String,
    places: Vec<Span>,
    given: Outcome,
}

/// What one statement gives to a run.
#[derive(Debug, Clone)]
struct Outcome {
    settled: bool,
    found: Vec<Diagnostic>,
    signatures: Vec<Signature>,
    texts: Vec<EmittedText>,
    stats: Stats,
    waived: Vec<compare::Waived>,
    steps: Vec<rules::lock::transaction::Step>,
    locks: Vec<locks::Run>,
    weighed: Vec<Weighed>,
    broken: Vec<codegen::Unknown>,
    doubtful: BTreeSet<String>,
    unread: BTreeSet<String>,
}

impl Outcome {
    fn of(run: Run<'_>) -> Self {
        let Run {
            settled,
            found,
            signatures,
            texts,
            stats,
            waived,
            steps,
            locks,
            broken,
            doubtful,
            unread,
            weighed,
            ..
        } = run;
        Self { settled, found, signatures, texts, stats, waived, steps, locks, broken, doubtful, unread, weighed }
    }

    /// Gives it to a run in which the statement may stand elsewhere, unless it has places of its own.
    fn to<'a>(&self, run: Run<'a>, entry: &Entry<'_>) -> Run<'a> {
        let Self { settled, found, signatures, texts, stats, waived, steps, locks, broken, doubtful, unread, weighed } =
            self.clone();
        let mut run = Run {
            settled,
            found,
            signatures,
            texts,
            stats,
            waived,
            steps,
            locks,
            broken,
            doubtful,
            unread,
            weighed,
            ..run
        };
        for side in &entry.sides {
            for text in run.texts.iter_mut().filter(|text| text.dialect == side.dialect) {
                // What stands behind the header moved as far as the header did.
                let (now, before) = (side.raw.name_span.start, text.place.start);
                let moved = |at: u32| (at + now).saturating_sub(before);
                for (_, span) in &mut text.places {
                    *span = Span { start: moved(span.start), end: moved(span.end), ..*span };
                }
                text.stand_at(side.raw.name_span);
            }
            if side.dialect == Dialect::Pg {
                run.locks.iter_mut().for_each(|lock| lock.span = side.raw.span);
            }
        }
        run
    }

    /// Whether nothing in it is about a place.
    fn has_no_place(&self) -> bool {
        self.found.is_empty() && self.waived.is_empty() && self.steps.is_empty()
    }
}

impl Memory {
    /// Looks at the files as they are now, and drops what no longer holds.
    fn look(&mut self, inputs: &Inputs) {
        let pages: Vec<_> = Dialect::ALL
            .into_iter()
            .flat_map(|dialect| inputs.statement_files(dialect).into_iter().map(move |(id, stem)| (id, stem, dialect)))
            .collect();
        let is_page = |at: usize| pages.iter().any(|(id, ..)| id.0 as usize == at);
        let is_same = self.answers == inputs.answers
            && self.evidence == inputs.evidence
            && self.files.len() == inputs.sources.iter().count()
            && inputs.sources.iter().zip(&self.files).enumerate().all(|(at, ((_, file), (path, text)))| {
                file.path == *path && (file.text == *text || is_page(at) && self.settled.is_some())
            });
        if !is_same {
            let files = inputs.sources.iter().map(|(_, file)| (file.path.clone(), file.text.clone())).collect();
            let settled = Some(Settled::of(inputs));
            let (answers, evidence) = (inputs.answers.clone(), inputs.evidence.clone());
            let alone = pages.into_iter().map(|(id, stem, dialect)| read_page(inputs, dialect, id, stem)).collect();
            *self = Self { files, answers, evidence, settled, alone, ..Self::default() };
            self.compose(inputs);
            return;
        }
        let mut is_new = false;
        for (at, (id, stem, dialect)) in pages.into_iter().enumerate() {
            let (text, kept) = (&inputs.sources.file(id).text, &mut self.files[id.0 as usize].1);
            if text != kept {
                kept.clone_from(text);
                self.alone[at] = read_page(inputs, dialect, id, stem);
                is_new = true;
            }
        }
        if is_new {
            self.compose(inputs);
        }
    }

    /// Puts what the pages share into their statements.
    fn compose(&mut self, inputs: &Inputs) {
        self.pages = self.alone.iter().map(|(page, _)| page.clone()).collect();
        self.findings = Vec::new();
        self.alone.iter().for_each(|(_, findings)| common::tell(&mut self.findings, findings.clone()));
        self.findings.extend(split::lend(&mut self.pages));
        common::face(inputs, &mut self.pages);
        self.findings.extend(declared::declare(inputs, &mut self.pages));
        self.findings.extend(split::compose(&inputs.sources, &mut self.pages));
        let met = stripped::strip(inputs, &inputs.sources, &mut self.pages);
        self.findings.extend(stripped::unneeded(inputs, &met));
    }

    /// Does what [`super::check`] does, as far as something changed since the last time. `goes_on` is asked before every
    /// statement; none when it said no, and then what was worked on so far is kept.
    pub fn check(&mut self, inputs: &Inputs, goes_on: &(dyn Fn() -> bool + Sync)) -> Option<Compiled> {
        self.look(inputs);
        let settled = self.settled.as_ref()?;
        let mut found = inputs.findings.clone();
        found.extend_from_slice(&self.findings);
        let fresh = Mutex::new((Memos::new(), true));
        let (compiled, ..) = together(inputs, &self.pages, settled, found, false, |run, entry| {
            let memo = if goes_on() { Some(memo(&run, entry, &self.memos)) } else { None };
            let run = match &memo {
                Some(memo) => memo.given.to(run, entry),
                None => run,
            };
            let mut fresh = fresh.lock().unwrap_or_else(PoisonError::into_inner);
            fresh.1 &= memo.is_some();
            fresh.0.extend(memo.map(|memo| ((entry.noun.to_owned(), entry.name.to_owned()), memo)));
            run
        });
        let (fresh, whole) = fresh.into_inner().unwrap_or_else(PoisonError::into_inner);
        if whole {
            self.memos = fresh;
            return Some(compiled);
        }
        self.memos.extend(fresh);
        None
    }

    /// The schemas and all pages.
    pub fn read(&mut self, inputs: &Inputs) -> Option<(&Both<Schema>, &[Page])> {
        self.look(inputs);
        self.settled.as_ref().map(|settled| (&settled.schemas, self.pages.as_slice()))
    }

    /// All pages.
    pub fn pages(&mut self, inputs: &Inputs) -> &[Page] {
        self.look(inputs);
        &self.pages
    }

    /// One statement of a noun, with both of its pages as far as they are understood.
    pub fn open(&mut self, inputs: &Inputs, noun: &str, name: &str) -> Option<Opened> {
        self.look(inputs);
        let schemas = &self.settled.as_ref()?.schemas;
        let baseline = Baseline::default();
        let (places, lockstep) = (&inputs.config.sql, inputs.config.lockstep);
        let entries = Pairing { places, lockstep, baseline: &baseline }.entries(&self.pages, &mut Vec::new());
        let is_it = |entry: &&Entry<'_>| {
            entry.name == name && (entry.noun == noun || entry.sides.len() > 1 && !inputs.config.lockstep)
        };
        let entry = entries.iter().find(is_it)?;
        let (reading, _) = Reading::of(&inputs.sources, schemas, entry, variants(entry).into_iter().next()?);
        let page = |dialect: Dialect| reading.page(schemas, dialect);
        let config = &inputs.config;
        let mut signature = infer::signature(config, entry.noun, page(Dialect::Sqlite), page(Dialect::Pg)).0;
        if let Some(signature) = &mut signature {
            Keys::of(config, &inputs.sources, schemas).settle(page, signature);
        }
        let raws = Both::of(|dialect| entry.sides.iter().find(|s| s.dialect == dialect).map(|s| s.raw.clone()));
        let trees = Both::of(|dialect| {
            let raw = raws[dialect].as_ref()?;
            match page(dialect) {
                Some(page) => Some(page.tree.clone()),
                None => resolve::unread(&inputs.sources, raw, dialect),
            }
        });
        let memo = self.memos.get(&(entry.noun.to_owned(), entry.name.to_owned()));
        let verdict = memo.and_then(|memo| memo.given.weighed.first()?.verdict.clone());
        Some(Opened { raws, trees, signature, verdict })
    }
}

/// A statement that somebody asks about.
#[derive(Debug)]
pub struct Opened {
    /// What each page that has it says.
    pub raws: Both<Option<RawStatement>>,
    /// Its trees; without parts where a page is not understood.
    pub trees: Both<Option<Statement>>,
    /// Its signature, by the pages that are understood.
    pub signature: Option<Signature>,
    /// What running it has shown, as the last check knew it.
    pub verdict: Option<Verdict>,
}

/// What a statement gives: what is kept of it, or else what it gives now.
fn memo(run: &Run<'_>, entry: &Entry<'_>, kept: &Memos) -> Arc<Memo> {
    let sides = entry.sides.iter().map(|side| (side.dialect, side.raw));
    let said = cache::wording(&run.shared.inputs.sources, (entry.noun, &entry.dialects), sides);
    let places: Vec<Span> = entry.sides.iter().flat_map(|side| places(side.raw)).collect();
    let old = kept.get(&(entry.noun.to_owned(), entry.name.to_owned()));
    // What is shared does not move with the statement.
    let is_whole = entry.sides.iter().all(|side| side.raw.shared().is_empty());
    match old.filter(|old| old.said == said && (old.places == places || is_whole && old.given.has_no_place())) {
        Some(old) => Arc::clone(old),
        None => {
            let mut own = run.anew();
            own.statement(entry);
            Arc::new(Memo { said, places, given: Outcome::of(own) })
        }
    }
}

/// Every place that a statement is told of by.
fn places(raw: &RawStatement) -> impl Iterator<Item = Span> {
    let annotations = raw.annotations.iter().map(|annotation| annotation.span);
    [raw.span, raw.name_span].into_iter().chain(annotations).chain(raw.shared())
}
