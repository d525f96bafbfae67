//! Evidence: both pages of every pair on small databases, and what comes of it as a record.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Instant;

use diglot::evidence::{Evidence, Record, VERSION, Verdict};
use diglot::infer::Signature;
use diglot::{Compiled, Inputs, Weighed};
use diglot_tools::mutate::Changer;
use diglot_tools::prove::{Prover, Subject, today};
use diglot_tools::verdict::{BUDGET, Trial};
use indicatif::{MultiProgress, ProgressBar};
use tokio::task::JoinSet;

use super::{Engines, history};
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::folder::keep;
use crate::report;

/// The most pairs that are worked on at once.
const TEAMS: usize = 8;

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

impl Until {
    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// What is done with all that is found out so far, whenever a pair is done.
type Keep = Box<dyn Fn(&BTreeMap<String, Record>) -> Result<(), Failure> + Send + Sync>;

/// What those have in common who work on the open pairs.
struct Work {
    inputs: Inputs,
    signatures: Vec<Signature>,
    subjects: BTreeMap<String, Subject>,
    old: Evidence,
    /// Pairs that nobody works on yet.
    open: Mutex<VecDeque<Weighed>>,
    done: Mutex<BTreeMap<String, Record>>,
    keep: Keep,
    /// Whether nobody wants to know any more.
    is_over: AtomicBool,
    /// When it is enough, where not all pairs are to be run.
    until: Option<Until>,
    progress: ProgressBar,
}

impl Work {
    /// The next pair, unless it is enough.
    fn next(&self) -> Option<Weighed> {
        if self.until.is_some_and(|until| until.is_over()) || self.is_over.load(Ordering::Relaxed) {
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

/// The records that still hold, and for all other pairs what running them shows now. Each of these is kept in the folder as
/// soon as it is known, so that a run that is interrupted goes on where it was.
pub(crate) async fn gather(
    (inputs, compiled): (&Inputs, &Compiled),
    old: Option<Evidence>,
    host: &Host,
    bars: &MultiProgress,
    folder: &Path,
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
    let (kept, folder) = (evidence.clone(), folder.to_path_buf());
    let keep = move |done: &BTreeMap<String, Record>| {
        let mut so_far = kept.clone();
        so_far.pairs.extend(done.iter().map(|(name, record)| (name.clone(), record.clone())));
        keep(&folder, &so_far)
    };
    evidence.pairs.append(&mut run((inputs, compiled), (open, None), old, host, bars, Box::new(keep)).await?);
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
    let pairs = run((inputs, compiled), open, none, host, &MultiProgress::new(), Box::new(|_| Ok(()))).await?;
    Ok(Evidence { version: VERSION, engines, pairs, steps: Vec::new() })
}

/// Runs pairs, several at once, until it is enough.
async fn run(
    (inputs, compiled): (&Inputs, &Compiled),
    (open, until): (VecDeque<Weighed>, Option<Until>),
    old: Evidence,
    host: &Host,
    bars: &MultiProgress,
    keep: Keep,
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
        keep,
        is_over: AtomicBool::new(false),
        until,
    });
    let waiting = Waiting(Arc::clone(&work));
    let mut at_work = JoinSet::new();
    for mut engines in engines {
        let work = Arc::clone(&work);
        at_work.spawn_blocking(move || engines.work(&work));
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
    fn work(&mut self, work: &Work) -> Result<(), Failure> {
        let changer = Changer::new(&work.inputs);
        let is_over = || work.until.is_some_and(|until| until.is_over());
        let first_look = work.until.map(|_| &is_over as &dyn Fn() -> bool);
        let budget = work.until.map_or(BUDGET, |until| until.databases);
        while let Some(pair) = work.next() {
            work.progress.set_message(pair.name.clone());
            let before = work.old.pairs.get(&pair.name).map(|record| &record.verdict);
            let (changer, signatures, today) = (&changer, work.signatures.as_slice(), today());
            let verdict = match work.subjects.get(&pair.name) {
                Some(subject) => {
                    Trial { engines: self, subject, changer, signatures, before, budget, today, first_look }
                        .verdict()?
                }
                None => Some(Verdict::Unknown { reason: "no text of it can be made for the engines".to_owned() }),
            };
            let Some(verdict) = verdict else { break };
            let record = Record { basis: pair.basis, verdict };
            let mut done = work.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(pair.name, record);
            (work.keep)(&done)?;
            drop(done);
            work.progress.inc(1);
        }
        Ok(())
    }
}
