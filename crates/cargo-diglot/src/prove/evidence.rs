//! Evidence: both pages of every pair on small databases, and what comes of it as a record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Instant;

use diglot::dialect::Dialect;
use diglot::evidence::{Evidence, Extent, Record, Scope, VERSION, Verdict, Witness};
use diglot::infer::Signature;
use diglot::mutate::{self, Changer, Sample};
use diglot::prove::{Answer, Case, Difference, Prover, Reach, Scope as Tried, Subject};
use diglot::{Compiled, EmittedText, Inputs, Weighed};
use indicatif::{MultiProgress, ProgressBar};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::engines::{Engines, Ran};
use super::{history, smaller};
use crate::failure::Failure;
use crate::host::Host;
use crate::report;

/// How many databases with arguments a pair is run on.
const BUDGET: usize = 3000;
/// How many of them run together: few at first, since most differences show on the smallest.
const FIRST: usize = 32;
/// How many run together at most.
const MOST: usize = 512;
/// On how many databases that change several places at once a pair is run although every one-sided change is told.
const MORE: usize = 256;
/// On how many databases one-sided changes are tried.
const CHANGED: usize = 1500;
/// Up to which case rows are inserted in the opposite order as well, where that may decide an answer.
const TURNED: usize = 250;
/// How that is told.
const TURNED_ROUND: &str = "where Postgres got the same rows in the opposite order, which neither page says";
/// How many conditions that decide nothing are recorded, and how many letters of each.
const UNDECIDED: usize = 6;
const LETTERS: usize = 60;
/// Which share of them, of a hundred, the databases have to notice before they say that two pages are the same.
const TELLING: usize = 60;
/// The most pairs that are worked on at once.
const TEAMS: usize = 8;

/// What came of a pair.
enum Found {
    /// A case on which the pages differ, and whether it holds what few programs write.
    Difference { case: Case, difference: Difference, edge: bool },
    /// They do not on any of so many.
    Nothing(usize),
    /// The time was over before anything could be said.
    Unfinished,
}

/// When enough pairs were run for a first look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Until {
    /// When the time is over.
    pub(crate) end: Instant,
    /// With so many pairs that differ on ordinary data, those that are the same by law need not be run.
    pub(crate) differences: usize,
    /// On about how many databases with arguments a pair is run.
    pub(crate) databases: usize,
}

/// What those have in common who work on the open pairs.
struct Work {
    inputs: Inputs,
    signatures: Vec<Signature>,
    subjects: BTreeMap<String, Subject>,
    old: Evidence,
    /// Pairs that nobody works on yet.
    open: Mutex<VecDeque<Weighed>>,
    done: Mutex<BTreeMap<String, Record>>,
    /// Whether nobody wants to know any more.
    is_over: AtomicBool,
    /// When it is enough, where not all pairs are to be run.
    until: Option<Until>,
    progress: ProgressBar,
}

impl Work {
    /// The next pair, unless it is enough.
    fn next(&self) -> Option<Weighed> {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until.end);
        if is_late || self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let next = self.open.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        let is_wanted = |until: Until| !next.by_law || self.ordinary() < until.differences;
        self.until.is_none_or(is_wanted).then_some(next)
    }

    /// How many pairs differ on ordinary data.
    fn ordinary(&self) -> usize {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ordinary = |record: &&Record| matches!(&record.verdict, Verdict::Differs(witness) if !witness.edge);
        done.values().filter(is_ordinary).count()
    }
}

/// Ends the work when whoever waits for it does no longer.
struct Waiting(Arc<Work>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// The one-sided changes of a page of SQLite, and which of them no case has told so far, by their places.
#[derive(Default)]
struct Changes {
    texts: Vec<EmittedText>,
    /// What each of them takes out, if it is a condition.
    conditions: Vec<Option<String>>,
    open: Vec<usize>,
    tried: usize,
    /// The tables that had rows in a database.
    filled: BTreeSet<String>,
}

/// How far cases are run.
struct Plan {
    /// So many at the beginning are all small ones, and those in which one place alone holds something else.
    steady: usize,
    /// So many at the beginning are ordinary.
    ordinary: usize,
    /// When the time is over.
    end: Option<Instant>,
}

/// The records that still hold, and for all other pairs what running them shows now.
pub(crate) async fn gather(
    inputs: &Inputs,
    compiled: &Compiled,
    old: Option<Evidence>,
    host: &Host,
    bars: &MultiProgress,
) -> Result<Evidence, Failure> {
    let engines = Engines::versions_of(host).await?;
    let mut evidence = Evidence { version: VERSION, engines, pairs: BTreeMap::new(), steps: Vec::new() };
    let old = old.filter(|old| old.engines == evidence.engines).unwrap_or_default();
    let (kept, open): (Vec<&Weighed>, Vec<&Weighed>) =
        compiled.weighed.iter().partition(|pair| old.knows(&pair.name, &pair.basis));
    let known = kept.iter().filter_map(|pair| Some((pair.name.clone(), old.pairs.get(&pair.name)?.clone())));
    evidence.pairs.extend(known);
    evidence.steps = history::gather(inputs, &old, host, bars).await?;
    if open.is_empty() || evidence.steps.last().is_some_and(history::is_end) {
        return Ok(evidence);
    }
    let open = open.into_iter().cloned().collect();
    evidence.pairs.append(&mut run(inputs, compiled, (open, None), old, host, bars).await?);
    Ok(evidence)
}

/// What running some pairs shows, in the order in which they are given; until it is enough for a first look, where that is
/// said.
pub(crate) async fn of_pairs(
    inputs: &Inputs,
    compiled: &Compiled,
    open: (VecDeque<Weighed>, Option<Until>),
    host: &Host,
) -> Result<Evidence, Failure> {
    let engines = Engines::versions_of(host).await?;
    let none = Evidence::default();
    let pairs = run(inputs, compiled, open, none, host, &MultiProgress::new()).await?;
    Ok(Evidence { version: VERSION, engines, pairs, steps: Vec::new() })
}

/// Runs pairs, several at once, until it is enough.
async fn run(
    inputs: &Inputs,
    compiled: &Compiled,
    (open, until): (VecDeque<Weighed>, Option<Until>),
    old: Evidence,
    host: &Host,
    bars: &MultiProgress,
) -> Result<BTreeMap<String, Record>, Failure> {
    let teams = available_parallelism().map_or(1, NonZeroUsize::get).min(TEAMS).min(open.len());
    let connections = if teams == 1 { super::CONNECTIONS } else { 1 };
    let mut engines = Engines::open(inputs, host, teams, connections).await?;
    let relations = engines[0].relations().await?;
    let prover = Prover::new(inputs, compiled, &relations);
    let subjects = open.iter().filter_map(|pair| Some((pair.name.clone(), prover.subject(&pair.name)?)));
    let work = Arc::new(Work {
        inputs: inputs.clone(),
        signatures: compiled.signatures.clone(),
        subjects: subjects.collect(),
        old,
        progress: bars.add(report::bar("running", open.len())),
        open: Mutex::new(open),
        done: Mutex::default(),
        is_over: AtomicBool::new(false),
        until,
    });
    let waiting = Waiting(Arc::clone(&work));
    let mut at_work = JoinSet::new();
    for mut engines in engines {
        let work = Arc::clone(&work);
        at_work.spawn_blocking(move || Handle::current().block_on(engines.work(&work)));
    }
    while let Some(done) = at_work.join_next().await {
        done.map_err(|error| Failure::io("work on the pairs")(error.into()))??;
    }
    work.progress.finish_and_clear();
    drop(waiting);
    let mut done = work.done.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *done))
}

impl Engines {
    /// Runs one pair after the other while there are some.
    async fn work(&mut self, work: &Work) -> Result<(), Failure> {
        let changer = Changer::new(&work.inputs);
        while let Some(pair) = work.next() {
            work.progress.set_message(pair.name.clone());
            let verdict = match work.subjects.get(&pair.name) {
                Some(subject) => self.verdict(subject, work, &changer).await?,
                None => Some(Verdict::Unknown { reason: "no text of it can be made for the engines".to_owned() }),
            };
            let Some(verdict) = verdict else { break };
            let record = Record { basis: pair.basis, verdict };
            work.done.lock().unwrap_or_else(PoisonError::into_inner).insert(pair.name, record);
            work.progress.inc(1);
        }
        Ok(())
    }

    /// What running a pair shows; nothing where the time is over before.
    async fn verdict(
        &mut self,
        subject: &Subject,
        work: &Work,
        changer: &Changer<'_>,
    ) -> Result<Option<Verdict>, Failure> {
        if let Some(verdict) = self.refused(subject).await? {
            return Ok(Some(verdict));
        }
        let databases = subject.databases(work.until.map_or(BUDGET, |until| until.databases));
        let end = work.until.map(|until| until.end);
        let plan = Plan { steady: databases.steady(), ordinary: databases.ordinary(), end };
        // Whether its databases are telling is not asked at a first look.
        let is_sample = work.until.is_some();
        let mut changes = if is_sample { Changes::default() } else { self.changes(subject, work, changer) };
        let found = match self.again(subject, work)? {
            Found::Nothing(_) => self.first(subject, databases.iter().collect(), &plan, &mut changes)?,
            found => found,
        };
        Ok(Some(match found {
            Found::Unfinished => return Ok(None),
            Found::Difference { case, difference, edge } => {
                let (case, difference) = smaller(self, subject, case, difference)?;
                Verdict::Differs(Box::new(witness(subject, &case, difference, edge)))
            }
            Found::Nothing(ran) => {
                let untold = || if is_sample { None } else { nothing_told(subject, &changes) };
                if let Some(reason) = no_rows(subject, &changes, ran).or_else(untold) {
                    return Ok(Some(Verdict::Unknown { reason }));
                }
                let all = changes.texts.len() - self.not_of_list(subject, &mut changes)?;
                let undecided = changes.undecided();
                let (noticed, changes) = (all - changes.open.len(), all);
                let scope = Scope { noticed, changes, undecided, ..scope(databases.scope(), ran) };
                if scope.telling() < TELLING {
                    let reason = format!(
                        "the databases that were tried notice {noticed} of {changes} one-sided changes of the SQLite page, \
                         which is too few to go by"
                    );
                    return Ok(Some(Verdict::Unknown { reason }));
                }
                Verdict::Same(scope)
            }
        }))
    }

    /// A verdict on a pair of which an engine does not take a text.
    async fn refused(&mut self, subject: &Subject) -> Result<Option<Verdict>, Failure> {
        let [texts] = subject.variants.as_slice() else { return Ok(None) };
        if texts.pg.parts.len() > 1 {
            let reason = "several statements go to Postgres one by one, if a program runs them at all".to_owned();
            return Ok(Some(Verdict::Unknown { reason }));
        }
        if !subject.is_partial {
            return Ok(None);
        }
        let (difference, is_refused) = self.takes(subject, &texts.sqlite, &texts.pg).await?;
        if is_refused {
            return Ok(Some(Verdict::Unknown { reason: "neither engine takes its text".to_owned() }));
        }
        Ok(difference
            .map(|difference| Verdict::Differs(Box::new(witness(subject, &Case::default(), difference, false)))))
    }

    /// What a database shows now that told the pages apart before.
    fn again(&mut self, subject: &Subject, work: &Work) -> Result<Found, Failure> {
        let Some(Verdict::Differs(witness)) = work.old.pairs.get(&subject.name).map(|record| &record.verdict) else {
            return Ok(Found::Nothing(0));
        };
        // One of edges would hide an ordinary one.
        let case = Case::from_words(&witness.rows, &witness.args).filter(|case| subject.edges(case).is_empty());
        let Some(case) = case else { return Ok(Found::Nothing(0)) };
        let plan = Plan { steady: 1, ordinary: 1, end: None };
        self.first(subject, vec![case], &plan, &mut Changes::default())
    }

    /// The first of the cases on which the pages differ. What they tell of the changes is taken out of these; where none is
    /// left and all that is small is done, few of the other ordinary databases are run.
    fn first(
        &mut self,
        subject: &Subject,
        mut cases: Vec<Case>,
        plan: &Plan,
        changes: &mut Changes,
    ) -> Result<Found, Failure> {
        let (mut ran, mut at, mut together) = (0, 0, FIRST);
        while at < cases.len() {
            if plan.end.is_some_and(|end| Instant::now() >= end) {
                return Ok(Found::Unfinished);
            }
            let enough = plan.steady + MORE;
            if (enough..plan.ordinary).contains(&at) && changes.open.is_empty() {
                at = plan.ordinary;
                continue;
            }
            // A message ends where it may be known that there is enough.
            let end = [enough, plan.ordinary].into_iter().filter(|end| at < *end).fold(at + together, usize::min);
            let end = end.min(cases.len());
            let mut some: Vec<Case> = cases[at..end].iter_mut().map(std::mem::take).collect();
            let first = at;
            at += some.len();
            let answers = self.run_many(subject, &mut some)?;
            let mut answered = Vec::with_capacity(some.len());
            for ((case, answers), at) in some.into_iter().zip(answers).zip(first..) {
                let Some((sqlite, pg)) = answers else { continue };
                match subject.compare(&case, &sqlite, &pg) {
                    Some(difference) => return Ok(Found::Difference { case, difference, edge: at >= plan.ordinary }),
                    None => {
                        let filled = case.rows.iter().filter(|(name, _)| !changes.filled.contains(*name));
                        let filled: Vec<String> = filled.map(|(name, _)| name.clone()).collect();
                        changes.filled.extend(filled);
                        answered.push((case, sqlite));
                    }
                }
            }
            ran += answered.len();
            if subject.rests_on_order
                && first < TURNED
                && let Some((case, difference)) = self.turned(subject, &answered)?
            {
                return Ok(Found::Difference { case, difference, edge: first >= plan.ordinary });
            }
            if changes.tried < CHANGED && !changes.open.is_empty() {
                self.sqlite.tell(subject, &changes.texts, &mut changes.open, &answered)?;
                changes.tried += answered.len();
            }
            together = (together * 2).min(MOST);
        }
        Ok(Found::Nothing(ran))
    }

    /// The first of the cases on which the pages differ once its rows are inserted in the opposite order: from each other, or
    /// from what they answered before.
    fn turned(
        &mut self,
        subject: &Subject,
        answered: &[(Case, Answer)],
    ) -> Result<Option<(Case, Difference)>, Failure> {
        let turned = answered.iter().map(|(case, sqlite)| (subject.reversed(case), case, sqlite));
        let turned: Vec<_> = turned.filter(|(turned, case, _)| turned != *case).collect();
        let mut cases: Vec<Case> = turned.iter().map(|(turned, ..)| turned.clone()).collect();
        let answers = self.run_many(subject, &mut cases)?;
        for ((turned, (before, case, sqlite)), answers) in cases.into_iter().zip(&turned).zip(answers) {
            // What was refused of the rows would be another difference.
            let Some((ours, theirs)) = answers.filter(|_| turned == *before) else { continue };
            if let Some(difference) = subject.compare(&turned, &ours, &theirs) {
                return Ok(Some((turned, difference)));
            }
            let theirs = Answer { manner: TURNED_ROUND, ..theirs };
            if let Some(difference) = subject.compare(case, sqlite, &theirs) {
                return Ok(Some(((*case).clone(), difference)));
            }
        }
        Ok(None)
    }

    /// Takes out of the open changes those that show in a single call alone, where a parameter holds something for which the
    /// list has no field; how many these are.
    fn not_of_list(&mut self, subject: &Subject, changes: &mut Changes) -> Result<usize, Failure> {
        let Some(each) = subject.each().filter(|each| each.leaves_out()) else { return Ok(0) };
        let cases: Vec<Case> = each.one().databases(CHANGED).iter().collect();
        let ran = self.sqlite.run(each.one(), &cases.iter().collect::<Vec<_>>())?;
        let answered = cases.into_iter().zip(ran).filter_map(|(case, ran)| match ran {
            Ran::Answered(answer) => Some((case, answer)),
            Ran::Refused(_) => None,
        });
        let before = changes.open.len();
        self.sqlite.tell(each.one(), &changes.texts, &mut changes.open, &answered.collect::<Vec<_>>())?;
        Ok(before - changes.open.len())
    }

    /// The one-sided changes of the SQLite page that SQLite takes.
    fn changes(&self, subject: &Subject, work: &Work, changer: &Changer<'_>) -> Changes {
        let mut changes = Changes::default();
        let name = subject.on_sqlite();
        let known = work.signatures.iter().find(|it| it.name == name).cloned();
        let Some(signature) = known.or_else(|| changer.signature(name)) else { return changes };
        for mutation in changer.changes(name, Dialect::Sqlite, Sample::All) {
            let text = changer.text(&signature, Dialect::Sqlite, &mutation);
            let Some(text) = text.filter(|text| self.sqlite.takes(text).is_ok()) else { continue };
            let is_condition = mutation.kind == mutate::CONJUNCT;
            changes.conditions.push(is_condition.then(|| shortened(changer.original(&mutation))));
            changes.open.push(changes.texts.len());
            changes.texts.push(text);
        }
        changes
    }
}

impl Changes {
    /// Conditions without which everything was the same.
    fn undecided(&self) -> Vec<String> {
        let mut undecided: Vec<String> = Vec::new();
        for condition in self.open.iter().filter_map(|at| self.conditions[*at].clone()) {
            if !undecided.contains(&condition) {
                undecided.push(condition);
            }
        }
        undecided.truncate(UNDECIDED);
        undecided
    }
}

/// Why databases on which nothing differs say nothing all the same: they had no rows.
fn no_rows(subject: &Subject, changes: &Changes, ran: usize) -> Option<String> {
    let empty: Vec<String> =
        subject.read().filter(|name| !changes.filled.contains(*name)).map(|name| format!("`{name}`")).collect();
    (ran == 0 || !empty.is_empty()).then(|| {
        let tables = if empty.is_empty() { "its tables".to_owned() } else { empty.join(", ") };
        format!(
            "no row that both engines take was made for {tables}: say what their columns hold in `diglot.toml`, under \
             `[words]` and `[prove.ranges]`"
        )
    })
}

/// The same: nothing says what they notice.
fn nothing_told(subject: &Subject, changes: &Changes) -> Option<String> {
    (changes.texts.is_empty() && !subject.tables.is_empty()).then(|| {
        "no one-sided change of the SQLite page can be run, so nothing says what its databases notice".to_owned()
    })
}

/// A text in one line of few letters.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
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
pub(super) fn witness(subject: &Subject, case: &Case, difference: Difference, edge: bool) -> Witness {
    let (rows, args) = case.to_words();
    // What was found on an edge and shows on ordinary values as well is no matter of edges.
    let edges = if edge { subject.edges(case) } else { BTreeMap::new() };
    let excluded_by: BTreeMap<String, BTreeSet<String>> =
        edges.into_iter().map(|(what, places)| (what.key().to_owned(), places)).collect();
    let named = subject.tables.iter().map(|table| (table.name.clone(), subject.named(&table.name)));
    let mut named: BTreeMap<String, BTreeSet<String>> = named.filter(|(_, columns)| !columns.is_empty()).collect();
    // What the answers differ in is shown where a table has a column of that name.
    for (table, columns) in &mut named {
        let own = subject.tables.iter().filter(|known| known.name == *table).flat_map(|table| &table.columns);
        columns.extend(own.map(|column| &column.name).filter(|name| difference.columns.contains(*name)).cloned());
    }
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
