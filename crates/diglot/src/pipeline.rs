//! The passes in order.
//!
//! Every pass reports what it finds and hands on what it understood, so that the findings of all files come
//! out at once.

mod api;
mod baseline_draft;
mod behind;
mod common;
mod constant;
mod declared;
mod each;
mod edges;
mod facing;
mod locking;
mod memory;
mod naming;
mod optional;
mod owners;
mod pairs;
mod read_project;
mod schemas;
mod shared;
mod stripped;
#[cfg(test)]
mod tests;
mod threads;
mod weighing;

use std::collections::BTreeSet;

use crate::answers;
use crate::baseline::{Baseline, Key};
use crate::cache::{self, Cache, Outcome, Outcomes};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::emitted::EmittedText;
use crate::evidence::{Basis, Evidence};
use crate::infer::keys::Keys;
use crate::infer::{self, PageOf, Signature};
use crate::locks;
use crate::page::Page;
use crate::project::{Inputs, Stats};
use crate::source::FileId;
use crate::tree::{SourceKind, Statement};
use crate::{codegen, compare, history, rules, split};
use optional::Reading;
use owners::Owners;
use pairs::{Entry, Pairing};
use schemas::Settled;
use shared::Shared;
use weighing::Grounds;

pub use baseline_draft::{BaselineDraft, draft_baseline};
pub use facing::{Facing, facing};
pub use memory::{Memory, Opened};
pub use naming::propose_names;
pub use read_project::{Partial, ReadProject};
pub use schemas::propose_storage;
pub use weighing::Weighed;

/// What one run gives.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// The generated Rust, formatted. With errors: one `compile_error!` and typed stubs.
    pub rust: String,
    /// All findings, in order of file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings that the baseline knows.
    pub known: Vec<Diagnostic>,
    /// The key by which a baseline knows it, for each of `diagnostics`.
    pub keys: Vec<Key>,
    /// The same for each of `known`.
    pub known_keys: Vec<Key>,
    /// Statements for which nothing is generated, because of what the baseline knows about them.
    pub left_out: Vec<String>,
    /// Every generated function.
    pub signatures: Vec<Signature>,
    /// Every emitted SQL text.
    pub texts: Vec<EmittedText>,
    /// What is known of each pair from running it.
    pub weighed: Vec<Weighed>,
    /// How much was compared, and how much of it is declared to differ.
    pub stats: Stats,
    /// How many statements both pages have, and how many stand on one page alone.
    pub statements: (usize, usize),
    /// What every statement touches and says, when a review asked for it.
    pub facts: Vec<StatementFacts>,
    /// What statements lock on Postgres, and what they wait for.
    pub locks: locks::Graph,
}

/// What a statement touches and says.
#[derive(Debug, Clone, Default)]
pub struct StatementFacts {
    /// `noun_verb`.
    pub name: String,
    /// The tables that either page names.
    pub tables: BTreeSet<String>,
    /// The facts of both pages side by side; none of a statement for one dialect or of one that is not understood.
    pub rows: Vec<compare::Row>,
}

impl StatementFacts {
    fn of(name: &str, whole: &Reading, rows: Vec<compare::Row>) -> Self {
        let tables = whole.trees().flat_map(Statement::sources).filter_map(|source| match &source.kind {
            SourceKind::Table(name) => Some(name.clone()),
            _ => None,
        });
        Self { name: name.to_owned(), tables: tables.collect(), rows }
    }
}

impl Compiled {
    /// Whether a finding fails the build.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

/// Compiles a project. It reads nothing but its input and never panics.
pub fn compile(inputs: &Inputs) -> Compiled {
    let (compiled, broken, _) = read(inputs, false, None);
    let rust = api::rust(inputs, &compiled, &broken);
    Compiled { rust, ..compiled }
}

/// The same with what an earlier run has kept: only statements that changed since are worked on. What is to be kept for
/// the next run comes with it.
pub(crate) fn compile_again(inputs: &Inputs, earlier: &Cache) -> (Compiled, Cache) {
    let (none, shared) = (Outcomes::new(), cache::shared(inputs));
    let (compiled, broken, outcomes) = read(inputs, false, Some(earlier.beside(&shared).unwrap_or(&none)));
    let rust = api::rust(inputs, &compiled, &broken);
    (Compiled { rust, ..compiled }, Cache::new(shared, outcomes))
}

/// Does everything that [`compile`] does except for writing Rust, which stays empty.
pub fn check(inputs: &Inputs) -> Compiled {
    read(inputs, false, None).0
}

/// Who waits for what on Postgres, as text: circles first.
pub fn lock_report(inputs: &Inputs) -> String {
    check(inputs).locks.text(&inputs.sources)
}

/// The same, with what a review shows of every statement.
pub fn check_and_keep(inputs: &Inputs) -> Compiled {
    read(inputs, true, None).0
}

/// Everything but the Rust, the statements of which no signature can be told, and, where there is something kept, what
/// is to be kept.
fn read(inputs: &Inputs, keep_facts: bool, earlier: Option<&Outcomes>) -> (Compiled, Vec<codegen::Unknown>, Outcomes) {
    let mut found = inputs.findings.clone();
    let pages = read_pages(inputs, &mut found);
    // A finding about a page may be one about a declared difference, which asks for what the statements give.
    let earlier = earlier.filter(|_| found.is_empty());
    let settled = Settled::of(inputs);
    together(inputs, &pages, &settled, found, keep_facts, |mut run, entry| match earlier {
        Some(earlier) => run.statement_again(entry, earlier),
        None => {
            run.statement(entry);
            run
        }
    })
}

/// Puts together what all statements give; `each` says how one of them is worked on.
fn together<'a>(
    inputs: &'a Inputs,
    pages: &'a [Page],
    settled: &'a Settled,
    mut found: Vec<Diagnostic>,
    keep_facts: bool,
    each: impl for<'r> Fn(Run<'r>, &Entry<'_>) -> Run<'r> + Sync,
) -> (Compiled, Vec<codegen::Unknown>, Outcomes) {
    found.extend_from_slice(&settled.found);
    if !has_errors(&settled.found) {
        found.extend(infer::keys::check(&inputs.config, &inputs.sources, &settled.schemas));
    }
    let baseline =
        inputs.baseline.map_or_else(Baseline::default, |file| Baseline::read(&inputs.sources, file, &mut found));
    let pairing = Pairing { places: &inputs.config.sql, lockstep: inputs.config.lockstep, baseline: &baseline };
    let entries = pairing.entries(pages, &mut found);
    let keys = Keys::of(&inputs.config, &inputs.sources, &settled.schemas);
    let never_null = inputs.config.prove.never_null();
    let index = inputs.answers.as_deref().and_then(answers::Index::parse);
    let locking = locks::Reader::new(&settled.schemas.pg, &inputs.config.shard_key);
    let basis = Basis::new(inputs, &settled.schemas);
    let evidence = inputs.evidence.as_deref().and_then(Evidence::parse);
    found.extend(history::check(inputs, evidence.as_ref(), &settled.declared));
    let in_baseline = baseline.subjects();
    let shared = Shared {
        inputs,
        in_baseline: &in_baseline,
        schemas: &settled.schemas,
        keys: &keys,
        never_null: &never_null,
        index: index.as_ref(),
        basis: &basis,
        evidence: evidence.as_ref(),
        locking: &locking,
    };
    let new = || Run::new(shared, keep_facts);
    let statements = |part: &[Entry<'_>]| {
        let mut run = new();
        part.iter().for_each(|entry| run.add(each(new(), entry)));
        run
    };
    let mut run = Run { found, stats: settled.stats, ..new() };
    threads::in_parts(&entries, inputs.threads, statements).into_iter().for_each(|part| run.add(part));
    let outcomes = std::mem::take(&mut run.outcomes);
    let (compiled, broken) = run.finish(&entries, pages, baseline);
    (compiled, broken, outcomes)
}

/// Rules about what was read, from which others would follow.
const CAUSES: [&str; 4] = ["bad-config", "merge-conflict", "missing-folder", "not-utf8"];

fn is_cause(finding: &Diagnostic) -> bool {
    CAUSES.contains(&finding.rule)
}

fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|finding| finding.severity == Severity::Error)
}

/// The pages as they stand in the files.
fn bare_pages(inputs: &Inputs, found: &mut Vec<Diagnostic>) -> Vec<Page> {
    let mut pages = Vec::new();
    for dialect in Dialect::ALL {
        for (file, stem) in inputs.statement_files(dialect) {
            let (page, findings) = read_page(inputs, dialect, file, stem);
            common::tell(found, findings);
            pages.push(page);
        }
    }
    found.extend(split::lend(&mut pages));
    common::face(inputs, &mut pages);
    pages
}

fn read_pages(inputs: &Inputs, found: &mut Vec<Diagnostic>) -> Vec<Page> {
    let mut pages = bare_pages(inputs, found);
    naming::tell_apart(inputs, &mut pages);
    naming::apply(inputs, &mut pages, found);
    found.extend(declared::declare(inputs, &mut pages));
    found.extend(split::compose(&inputs.sources, &mut pages));
    let met = stripped::strip(inputs, &inputs.sources, &mut pages);
    found.extend(stripped::unneeded(inputs, &met));
    pages
}

/// One page, with what was found in it.
fn read_page(inputs: &Inputs, dialect: Dialect, file: FileId, stem: &str) -> (Page, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let noun = pairs::noun(&inputs.config.generate, file, stem, &mut found);
    let readers = common::readers(inputs, file);
    let (page, findings) = split::split(&inputs.sources, file, (dialect, readers), &noun);
    found.extend(findings);
    (page, found)
}

/// What the statements that were worked on have given, and what all of them are read with.
struct Run<'a> {
    shared: Shared<'a>,
    /// Whether answers have settled what the pages' texts leave open.
    settled: bool,
    found: Vec<Diagnostic>,
    signatures: Vec<Signature>,
    texts: Vec<EmittedText>,
    stats: Stats,
    /// What is declared to differ. A finding about such a declaration was made when its page was read, before the
    /// statements were; in the end it shows both pages.
    waived: Vec<compare::Waived>,
    /// What a review shows, if it is to be kept.
    facts: Option<Vec<StatementFacts>>,
    /// What statements of declared transactions do on Postgres.
    steps: Vec<rules::lock::transaction::Step>,
    /// What they lock.
    locks: Vec<locks::Run>,
    /// Statements of which no signature can be told.
    broken: Vec<codegen::Unknown>,
    /// Statements whose signature does not hold for both pages.
    doubtful: BTreeSet<String>,
    /// Statements that were not compared, because they were not understood.
    unread: BTreeSet<String>,
    /// What is known of pairs from running them.
    weighed: Vec<Weighed>,
    /// What is to be kept for the next run.
    outcomes: Outcomes,
}

impl<'a> Run<'a> {
    fn new(shared: Shared<'a>, keep_facts: bool) -> Self {
        Self {
            shared,
            locks: Vec::new(),
            settled: false,
            found: Vec::new(),
            signatures: Vec::new(),
            texts: Vec::new(),
            stats: Stats::default(),
            waived: Vec::new(),
            facts: keep_facts.then(Vec::new),
            steps: Vec::new(),
            broken: Vec::new(),
            doubtful: BTreeSet::new(),
            unread: BTreeSet::new(),
            weighed: Vec::new(),
            outcomes: Outcomes::new(),
        }
    }

    /// A run that has nothing yet, beside this one.
    fn anew(&self) -> Self {
        Self::new(self.shared, self.facts.is_some())
    }

    /// Takes in what the statements gave that come next.
    fn add(&mut self, next: Self) {
        self.found.extend(next.found);
        self.signatures.extend(next.signatures);
        self.texts.extend(next.texts);
        self.stats.add(next.stats);
        self.waived.extend(next.waived);
        if let (Some(facts), Some(next)) = (&mut self.facts, next.facts) {
            facts.extend(next);
        }
        self.steps.extend(next.steps);
        self.locks.extend(next.locks);
        self.broken.extend(next.broken);
        self.doubtful.extend(next.doubtful);
        self.unread.extend(next.unread);
        self.weighed.extend(next.weighed);
        self.outcomes.extend(next.outcomes);
    }

    /// What one statement gives to a run that is new: what was kept of it, or else what it gives now.
    fn statement_again(mut self, entry: &Entry<'_>, earlier: &Outcomes) -> Self {
        let sides = entry.sides.iter().map(|side| (side.dialect, side.raw));
        let key = cache::key(&self.shared.inputs.sources, (entry.noun, &entry.dialects), sides);
        // What was recorded since then may show that the pages differ.
        let differs = self.shared.evidence.is_some_and(|evidence| evidence.shows_that_it_differs(entry.name));
        let outcome = match earlier.get(&key).filter(|_| !differs) {
            Some(outcome) => {
                let mut outcome = outcome.clone();
                for text in &mut outcome.texts {
                    let side = entry.sides.iter().find(|side| side.dialect == text.dialect);
                    text.stand_at(side.map_or(text.place, |side| side.raw.name_span));
                }
                self.signatures.clone_from(&outcome.signatures);
                self.texts.clone_from(&outcome.texts);
                self.stats = outcome.stats;
                self.lock(entry, &outcome.locks);
                outcome
            }
            None => {
                self.statement(entry);
                let Self { settled, found, steps, broken, doubtful, .. } = &self;
                if *settled || !(found.is_empty() && steps.is_empty() && broken.is_empty() && doubtful.is_empty()) {
                    return self;
                }
                Outcome {
                    signatures: self.signatures.clone(),
                    texts: self.texts.clone(),
                    stats: self.stats,
                    locks: self.locks.iter().map(|run| run.summary.clone()).collect(),
                }
            }
        };
        self.outcomes.insert(key, outcome);
        self
    }

    /// Keeps what a review shows of a statement.
    fn keep(&mut self, entry: &Entry<'_>, whole: &Reading, rows: Vec<compare::Row>) {
        if let Some(facts) = &mut self.facts {
            facts.push(StatementFacts::of(entry.name, whole, rows));
        }
    }

    /// Compiles one pair, or one statement that stands alone, and tells each cause once.
    fn statement(&mut self, entry: &Entry<'_>) {
        let before = self.found.len();
        let grounds = self.variants(entry);
        for finding in compare::told_once(self.found.split_off(before)) {
            // A text that both dialects read may have the same wrong in either.
            if !self.found[before..].contains(&finding) {
                self.found.push(finding);
            }
        }
        if let Some(grounds) = grounds {
            self.weigh(entry, before, grounds);
        }
    }

    /// Resolves, types, compares and emits every variant of a statement.
    fn variants(&mut self, entry: &Entry<'_>) -> Option<Grounds> {
        let before = self.found.len();
        let mut resolved = Vec::new();
        let readings: Vec<Reading> = optional::variants(entry)
            .into_iter()
            .map(|variant| {
                let (reading, findings) = Reading::of(&self.shared.inputs.sources, self.shared.schemas, entry, variant);
                resolved.push(findings);
                reading
            })
            .collect();
        self.found.extend(optional::merged(&readings, resolved));
        let whole = readings.first()?;
        let sound = !has_errors(&self.found[before..]) && readings.iter().all(Reading::is_read);
        let page = |dialect: Dialect| whole.page(self.shared.schemas, dialect);
        let config = &self.shared.inputs.config;
        if !sound {
            self.unread.insert(entry.name.to_owned());
        }
        if !sound || !entry.whole {
            let shape = self.shape(entry, page);
            self.give_up(entry, shape);
            self.keep(entry, whole, Vec::new());
            return self.grounds_of_unread(entry, &readings, before);
        }
        let (signature, findings) = infer::signature(config, entry.noun, page(Dialect::Sqlite), page(Dialect::Pg));
        let unsound = has_errors(&findings);
        self.found.extend(findings);
        let torn = optional::check(whole, self.shared.schemas);
        // What differs without a part says nothing while it is not settled which parts there are.
        let told = if torn.is_empty() { readings.len() } else { 1 };
        self.found.extend(torn);
        if let Some(pg) = page(Dialect::Pg) {
            let summary = self.shared.locking.summary(pg.tree);
            self.lock(entry, &[summary]);
        }
        let (mut compared, mut rows) = (Vec::new(), Vec::new());
        for (at, reading) in readings[..told].iter().enumerate() {
            let page = |dialect: Dialect| reading.page(self.shared.schemas, dialect);
            let mut found = Vec::new();
            if let (Some(sqlite), Some(pg)) = (page(Dialect::Sqlite), page(Dialect::Pg)) {
                let (sources, facts) = (&self.shared.inputs.sources, self.facts.is_some());
                let mut outcome = compare::compare(config, self.shared.never_null, sources, &sqlite, &pg, facts);
                let pages = Both { sqlite: &sqlite, pg: &pg };
                self.settled |=
                    constant::settle(self.shared.inputs, self.shared.index, signature.as_ref(), pages, &mut outcome);
                found.extend(outcome.found);
                if at == 0 {
                    self.steps.extend(rules::lock::transaction::Step::of(&pg, &sqlite));
                    self.stats.add(outcome.stats);
                    rows = outcome.rows;
                    self.waived.extend(outcome.waived);
                }
            }
            let pages: Vec<PageOf<'_>> = Dialect::ALL.into_iter().filter_map(page).collect();
            found.extend(rules::lint(
                &self.shared.inputs.sources,
                config,
                &pages.iter().collect::<Vec<_>>(),
                signature.as_ref(),
            ));
            compared.push(found);
        }
        self.found.extend(optional::merged(&readings[..told], compared));
        self.keep(entry, whole, rows);
        // What one page alone gives cannot be read from both.
        let uneven = match (page(Dialect::Sqlite), page(Dialect::Pg)) {
            (Some(sqlite), Some(pg)) => has_errors(&self.found[before..]) && !infer::columns::same_names(&sqlite, &pg),
            _ => false,
        };
        if unsound || uneven {
            self.doubtful.insert(entry.name.to_owned());
        }
        let Some(mut signature) = signature else {
            let shape = self.shape(entry, page);
            self.give_up(entry, shape);
            return self.grounds(entry, &readings, None, !config.generate.enabled && !uneven);
        };
        optional::widen(config, entry.noun, &readings, self.shared.schemas, &mut signature);
        let findings = self.shared.keys.settle(page, &mut signature);
        self.found.extend(findings);
        self.found.extend(entry.sides.first().map(|side| behind::unlike(side.raw, &signature)).unwrap_or_default());
        let grounds = self.grounds(entry, &readings, Some(&signature), !(unsound || uneven));
        // The noun stands in a comment of every text, so a file with a name that is none gives no texts.
        let readings = if self.shared.inputs.config.generate.is_free(entry.noun) { &readings[..] } else { &[] };
        for reading in readings {
            self.texts.extend(reading.texts(self.shared, &signature));
        }
        self.signatures.push(signature);
        grounds
    }

    /// What the pages that were understood say of a broken statement, since callers may still name it, and
    /// whether that is the word of one page of two.
    fn shape<'p>(&self, entry: &Entry<'_>, page: impl Fn(Dialect) -> Option<PageOf<'p>>) -> (Option<Signature>, bool) {
        let (config, pg_schema) = (&self.shared.inputs.config, &self.shared.schemas.pg);
        let (sqlite, pg) = (page(Dialect::Sqlite), page(Dialect::Pg));
        if sqlite.is_some()
            && pg.is_some()
            && let (Some(mut both), _) = infer::signature(config, entry.noun, page(Dialect::Sqlite), page(Dialect::Pg))
        {
            self.shared.keys.settle(page, &mut both);
            return (Some(both), false);
        }
        // Only SQLite's types leave something for the other schema to make finer.
        let of_pg = pg.and_then(|page| infer::shape(config, entry.noun, &page, None));
        let shape = of_pg.or_else(|| sqlite.and_then(|page| infer::shape(config, entry.noun, &page, Some(pg_schema))));
        let shape = shape.map(|mut shape| {
            self.shared.keys.settle(page, &mut shape);
            shape
        });
        (shape, entry.dialects.len() > 1)
    }

    /// Remembers a statement that has errors, with its shape if that is known.
    fn give_up(&mut self, entry: &Entry<'_>, (shape, alone): (Option<Signature>, bool)) {
        self.broken.push(codegen::Unknown {
            noun: entry.noun.to_owned(),
            name: entry.name.to_owned(),
            dialects: entry.dialects.clone(),
            shape,
            alone,
        });
    }

    fn finish(
        mut self,
        entries: &[Entry<'_>],
        pages: &[Page],
        mut baseline: Baseline,
    ) -> (Compiled, Vec<codegen::Unknown>) {
        self.waived.iter().for_each(|waived| waived.show_both(&mut self.found));
        self.weigh_lists(entries);
        let generate = &self.shared.inputs.config.generate;
        if generate.enabled {
            pairs::camel_names(entries, &mut self.found);
        }
        self.found.retain(|finding| generate.asks_for(finding));
        self.found.extend(rules::lock::transaction::check(&self.steps));
        let locks = self.lock_lints(entries);
        declared::placed(self.shared.inputs, &mut self.found);
        let index = self.shared.index;
        if let Some(index) = index {
            for (name, finding) in answers::complete(index, &mut self.texts, &mut self.signatures) {
                self.doubtful.insert(name);
                self.found.push(finding);
            }
        }
        let owners = Owners::of(pages);
        let unread = std::mem::take(&mut self.unread);
        let sources = &self.shared.inputs.sources;
        let key = |finding: &Diagnostic| owners.key(sources, &unread, finding);
        self.found.iter_mut().for_each(Diagnostic::gather);
        let known = baseline.keep(&mut self.found, key);
        edges::gather(&mut self.found, &self.weighed);
        self.found.extend(baseline.unused(weighing::is_open(self.shared.inputs, &self.weighed)));
        let mut left_out: Vec<String> = self.broken.iter().map(|unknown| unknown.name.clone()).collect();
        if !has_errors(&self.found) {
            // Findings that would keep these from being built are in the baseline alone.
            let doubtful = std::mem::take(&mut self.doubtful);
            self.signatures.retain(|signature| !doubtful.contains(&signature.name));
            self.texts.retain(|text| !doubtful.contains(&text.name));
            left_out.extend(doubtful.into_iter().filter(|name| !left_out.contains(name)).collect::<Vec<_>>());
            if generate.enabled && left_out.is_empty() {
                self.found.extend(infer::keys::unused(&self.shared.inputs.config, sources, &self.signatures));
            }
        }
        // Answers that nothing needs must be true all the same.
        let needs_answers = generate.enabled && (generate.queries.needs_answers() || index.is_some());
        if self.shared.inputs.check_answers && needs_answers && !has_errors(&self.found) {
            let findings = answers::check(self.shared.inputs, index, &self.texts);
            self.found.extend(findings);
        }
        if self.shared.inputs.findings.iter().any(is_cause) {
            // Whatever else was found was found with settings or texts that nobody meant.
            self.found = self.shared.inputs.findings.iter().filter(|finding| is_cause(finding)).cloned().collect();
        }
        self.found.sort_by_key(|finding| {
            let main = finding.labels.iter().find(|label| label.primary).or(finding.labels.first());
            (main.map(|label| label.span), finding.rule)
        });
        let compiled = Compiled {
            rust: String::new(),
            keys: self.found.iter().map(key).collect(),
            known_keys: known.iter().map(key).collect(),
            diagnostics: self.found,
            known,
            left_out,
            signatures: self.signatures,
            texts: self.texts,
            weighed: self.weighed,
            stats: self.stats,
            statements: pairs::count(entries),
            facts: self.facts.unwrap_or_default(),
            locks,
        };
        (compiled, self.broken)
    }
}
