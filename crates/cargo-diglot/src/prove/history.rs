//! The migrations of both dialects, stretch by stretch, on rows that the tables took before.

use std::collections::BTreeSet;

use diglot::dialect::{Both, Dialect};
use diglot::evidence::{Evidence, Scope, Step, Verdict};
use diglot::history::{self, Stretch};
use diglot::prove::{Answer, Case, Difference, Prover, Relations, Rows, Subject};
use diglot::schema::runs_one_by_one;
use diglot::{Inputs, compile};
use indicatif::MultiProgress;

use super::engines::{ATTEMPTS, Ran, leave_out};
use super::evidence::witness;
use super::{first_sorting, pg, sqlite};
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::pg::Scratch;
use crate::report;

/// On how many databases a stretch is run, the first of which is empty.
const CASES: u64 = 24;
/// The same where each needs a database of its own, because a migration cannot be taken back.
const COPIES: u64 = 8;
/// How many rows a table has at most.
const ROWS: usize = 3;
/// How many steps are tried to make a difference smaller.
const SHRINK_STEPS: usize = 120;
const SHRINK_COPIES: usize = 24;
/// What all rows are drawn from.
const SEED: u64 = 1;

/// Both databases on their way.
struct Way<'a> {
    inputs: &'a Inputs,
    host: &'a Host,
    sqlite: sqlite::Sqlite,
    /// The database of Postgres that the migrations lead through.
    scratch: Scratch,
    /// The connection to it; none while it is copied.
    pg: Option<pg::Pg>,
    /// The migrations of SQLite that have run.
    so_far: Vec<String>,
}

/// A stretch as it is run.
struct Trial<'t> {
    before: Subject,
    after: Subject,
    texts: Both<Vec<&'t str>>,
    /// Whether Postgres runs its statements one by one, outside of a transaction.
    is_apart: bool,
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
    let scratch = host.another(first_sorting(inputs)).await?;
    let mut way = Way { inputs, host, sqlite: sqlite::Sqlite::empty()?, scratch, pg: None, so_far: Vec::new() };
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
        let inputs = self.inputs;
        let taken = self.sqlite.take(&ours)?.is_ok() && self.pg().await?.take(&theirs, inputs).await?.is_ok();
        self.so_far.extend(ours.into_iter().map(str::to_owned));
        Ok(taken)
    }

    /// Postgres as the migrations have left it.
    async fn pg(&mut self) -> Result<&mut pg::Pg, Failure> {
        let pg = match self.pg.take() {
            Some(pg) => pg,
            None => pg::Pg::empty(self.scratch.connect().await?, self.inputs).await?,
        };
        Ok(self.pg.insert(pg))
    }

    /// Runs a stretch of Postgres in a copy of its database, statement by statement as they stand.
    async fn apart(&mut self, trial: &Trial<'_>, case: &Case) -> Result<Ran, Failure> {
        if let Some(pg) = self.pg.take() {
            pg.close().await?;
        }
        let copy = self.host.copy(&self.scratch).await?;
        let mut pg = pg::Pg::empty(copy.connect().await?, self.inputs).await?;
        let ran = match pg.settle(&trial.before, case).await? {
            Ok(()) => {
                let result = pg.go_on(&trial.texts.pg, self.inputs).await?.map(|()| (Rows::new(), 0));
                let tables = if result.is_ok() { pg.rows(&trial.after).await? } else { Vec::new() };
                Ran::Answered(Answer { result, tables, taken: BTreeSet::new(), manner: "" })
            }
            Err(refused) => Ran::Refused(refused),
        };
        pg.close().await?;
        copy.drop().await?;
        Ok(ran)
    }

    /// What running a stretch shows.
    async fn verdict(&mut self, stretch: &Stretch) -> Result<Verdict, Failure> {
        let texts = Both::of(|dialect| stretch.texts(self.inputs, dialect));
        let is_apart = texts.pg.iter().any(|text| runs_one_by_one(text));
        let said = texts.iter().flatten().copied().collect::<Vec<&str>>().join("\n");
        let (before, after) = (stretch.before(self.inputs), stretch.after(self.inputs));
        let relations = Relations {
            sqlite: self.sqlite.relations()?,
            pg: self.pg().await?.relations().await?,
            words: self.pg().await?.words().await?,
            judge: sqlite::judge()?,
        };
        let (then, now) = (compile(&before), compile(&after));
        let trial = Trial {
            before: Prover::new(&before, &then, &relations).of_migrations(&said),
            after: Prover::new(&after, &now, &relations).of_migrations(&said),
            texts,
            is_apart,
        };
        let mut ran = 0;
        for number in 0..if is_apart { COPIES } else { CASES } {
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
            let Trial { before, after, texts, .. } = trial;
            let ours = self.sqlite.step(before, &case, (&self.so_far, &texts.sqlite), after)?;
            let theirs = match &ours {
                Ran::Refused(_) => ours.clone(),
                Ran::Answered(_) if trial.is_apart => self.apart(trial, &case).await?,
                Ran::Answered(_) => self.pg().await?.step(before, &case, &texts.pg, after).await?,
            };
            match (ours, theirs) {
                (Ran::Answered(mut ours), Ran::Answered(theirs)) => {
                    after.draw_alike(&case, &mut ours.tables, &theirs.tables);
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
        let most = if trial.is_apart { SHRINK_COPIES } else { SHRINK_STEPS };
        'smaller: loop {
            for next in trial.before.simpler(&best) {
                if steps == most {
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
