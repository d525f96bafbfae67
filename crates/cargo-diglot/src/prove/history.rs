//! The migrations of both dialects, stretch by stretch, on rows that the tables took before.

use std::collections::BTreeSet;

use diglot::dialect::{Both, Dialect};
use diglot::evidence::{Evidence, Scope, Step, Verdict};
use diglot::history::{self, Stretch};
use diglot::prove::{Answer, Case, Difference, Prover, Relations, Subject};
use diglot::schema::runs_one_by_one;
use diglot::{Inputs, compile};
use indicatif::MultiProgress;

use super::engines::{ATTEMPTS, Ran, leave_out};
use super::evidence::witness;
use super::{first_sorting, pg, sqlite};
use crate::failure::Failure;
use crate::host::Host;
use crate::report;

/// On how many databases a stretch is run, the first of which is empty.
const CASES: u64 = 24;
/// How many rows a table has at most.
const ROWS: usize = 3;
/// How many steps are tried to make a difference smaller.
const SHRINK_STEPS: usize = 120;
/// What all rows are drawn from.
const SEED: u64 = 1;

/// Both databases on their way.
struct Way<'a> {
    inputs: &'a Inputs,
    sqlite: sqlite::Sqlite,
    pg: pg::Pg,
    /// The migrations of SQLite that have run.
    so_far: Vec<String>,
}

/// A stretch as it is run.
struct Trial<'t> {
    before: Subject,
    after: Subject,
    texts: Both<Vec<&'t str>>,
}

/// Whether there is no way on behind a step: an engine refuses it on empty tables.
pub(super) fn is_end(step: &Step) -> bool {
    matches!(&step.verdict, Verdict::Differs(witness) if witness.rows.is_empty() && witness.what.contains("fail"))
}

/// What is known of all migrations, up to one that an engine refuses: records that still hold, and what running the others
/// shows.
pub(super) async fn gather(
    inputs: &Inputs,
    old: &Evidence,
    host: &Host,
    bars: &MultiProgress,
) -> Result<Vec<Step>, Failure> {
    if history::is_recorded(inputs, old) {
        return Ok(old.steps.clone());
    }
    let stretches = history::stretches(inputs);
    let progress = bars.add(report::bar("migrating", stretches.len()));
    let connection = host.another(first_sorting(inputs)).await?.connect().await?;
    let pg = pg::Pg::empty(connection, inputs).await?;
    let mut way = Way { inputs, sqlite: sqlite::Sqlite::empty()?, pg, so_far: Vec::new() };
    let mut steps = Vec::new();
    for stretch in &stretches {
        progress.set_message(stretch.name.clone());
        let verdict = match stretch.recorded(old) {
            Some(step) => step.verdict.clone(),
            None => way.verdict(stretch).await?,
        };
        steps.push(stretch.record(verdict));
        progress.inc(1);
        if steps.last().is_some_and(is_end) || !way.take(stretch).await? {
            break;
        }
    }
    progress.finish_and_clear();
    Ok(steps)
}

impl Way<'_> {
    /// Runs a stretch on the databases, whether both take it.
    async fn take(&mut self, stretch: &Stretch) -> Result<bool, Failure> {
        let [ours, theirs] = Dialect::ALL.map(|dialect| stretch.texts(self.inputs, dialect));
        let taken = self.sqlite.take(&ours)?.is_ok() && self.pg.take(&theirs, self.inputs).await?.is_ok();
        self.so_far.extend(ours.into_iter().map(str::to_owned));
        Ok(taken)
    }

    /// What running a stretch shows.
    async fn verdict(&mut self, stretch: &Stretch) -> Result<Verdict, Failure> {
        let texts = Both::of(|dialect| stretch.texts(self.inputs, dialect));
        if texts.pg.iter().any(|text| runs_one_by_one(text)) {
            let reason = "a migration of Postgres runs outside of a transaction, and is tried on empty tables alone";
            return Ok(Verdict::Unknown { reason: reason.to_owned() });
        }
        let said = texts.iter().flatten().copied().collect::<Vec<&str>>().join("\n");
        let (before, after) = (stretch.before(self.inputs), stretch.after(self.inputs));
        let relations = Relations {
            sqlite: self.sqlite.relations()?,
            pg: self.pg.relations().await?,
            words: self.pg.words().await?,
            judge: sqlite::judge()?,
        };
        let (then, now) = (compile(&before), compile(&after));
        let trial = Trial {
            before: Prover::new(&before, &then, &relations).of_migrations(&said),
            after: Prover::new(&after, &now, &relations).of_migrations(&said),
            texts,
        };
        let mut ran = 0;
        for number in 0..CASES {
            let case = if number == 0 { Case::default() } else { trial.before.case(SEED, number - 1, ROWS) };
            let Some((case, difference)) = self.tried(&trial, case).await? else { continue };
            ran += 1;
            if let Some(difference) = difference {
                let (case, difference) = self.smaller(&trial, case, difference).await?;
                return Ok(Verdict::Differs(Box::new(witness(&trial.before, &case, difference, true))));
            }
            if trial.before.tables.is_empty() {
                break;
            }
        }
        Ok(Verdict::Same(Scope { databases: ran, rows: ROWS, ..Scope::default() }))
    }

    /// Runs a stretch on a case: the case as both engines take its rows, and what differs behind it; nothing where they take
    /// none.
    async fn tried(
        &mut self,
        trial: &Trial<'_>,
        mut case: Case,
    ) -> Result<Option<(Case, Option<Difference>)>, Failure> {
        for _ in 0..ATTEMPTS {
            let Trial { before, after, texts } = trial;
            let ours = self.sqlite.step(before, &case, (&self.so_far, &texts.sqlite), after)?;
            let theirs = match &ours {
                Ran::Refused(_) => ours.clone(),
                Ran::Answered(_) => self.pg.step(before, &case, &texts.pg, after).await?,
            };
            match (ours, theirs) {
                (Ran::Answered(ours), Ran::Answered(theirs)) => {
                    let difference = differs(after, &ours, &theirs);
                    return Ok(Some((case, difference)));
                }
                (_, Ran::Refused(rows)) | (Ran::Refused(rows), _) if !rows.is_empty() => leave_out(&mut case, &rows),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// A smaller case that shows the same.
    async fn smaller(
        &mut self,
        trial: &Trial<'_>,
        case: Case,
        difference: Difference,
    ) -> Result<(Case, Difference), Failure> {
        let (mut best, mut shown, mut steps) = (case, difference, 0);
        'smaller: loop {
            for next in trial.before.simpler(&best) {
                if steps == SHRINK_STEPS {
                    return Ok((best, shown));
                }
                steps += 1;
                if let Some((next, Some(difference))) = self.tried(trial, next).await?
                    && difference.what == shown.what
                {
                    (best, shown) = (next, difference);
                    continue 'smaller;
                }
            }
            return Ok((best, shown));
        }
    }
}

/// What differs behind a stretch. A migration that neither engine takes stops every upgrade.
fn differs(after: &Subject, sqlite: &Answer, pg: &Answer) -> Option<Difference> {
    match (&sqlite.result, &pg.result) {
        (Err(ours), Err(theirs)) => Some(Difference {
            what: "they fail on both databases".to_owned(),
            sqlite: vec![ours.words.clone()],
            pg: vec![theirs.words.clone()],
            columns: BTreeSet::new(),
            common: 0,
        }),
        _ => after.compare(&Case::default(), sqlite, pg),
    }
}
