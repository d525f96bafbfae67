//! The migrations of both dialects, stretch by stretch, on rows that the tables took before.

mod lost;

use std::collections::BTreeSet;

use diglot::dialect::{Both, Dialect};
use diglot::evidence::{Evidence, Scope, Step, Verdict, Witness};
use diglot::history::{self, History, Stretch};
use diglot::schema::runs_one_by_one;
use diglot::{Inputs, compile};
use diglot_tools::prove::{ATTEMPTS, Answer, Case, Difference, Prover, Ran, Relations, Rows, Subject, leave_out};
use diglot_tools::verdict::witness;
use indicatif::MultiProgress;

use super::{first_sorting, pg, sqlite};
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::pg::Scratch;
use crate::report;

/// On how many databases a stretch is run, the first of which is empty.
const CASES: u64 = 24;
/// The same where each needs a database of its own, because a migration cannot be taken back.
const COPIES: u64 = 8;
/// On how many a migration runs as it stands, in databases of their own, where nearly the same can be taken back.
const SAMPLES: u64 = 2;
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
}

/// A stretch as it is run.
struct Trial<'t> {
    before: &'t Subject,
    after: &'t Subject,
    texts: Both<Vec<&'t str>>,
    /// Where Postgres runs its statements one by one, outside of a transaction: nearly the same within one, if there is such
    /// a thing.
    apart: Option<Option<Vec<String>>>,
}

/// Whether there is no way on behind a step: an engine refuses it on empty tables.
pub(super) fn is_end(step: &Step) -> bool {
    matches!(&step.verdict, Verdict::Differs(witness) if witness.rows.is_empty() && fails(witness))
}

fn fails(witness: &Witness) -> bool {
    witness.what.contains("fail")
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
    let history = History::of(inputs);
    let files = Dialect::ALL.map(|dialect| inputs.migrations(dialect).len()).iter().sum();
    let progress = bars.add(report::bar("migrating", files));
    let scratch = host.another(first_sorting(inputs)).await?;
    let mut way = Way { inputs, host, sqlite: sqlite::Sqlite::empty()?, scratch, pg: None };
    let mut steps: Vec<Step> = Vec::new();
    let mut at = Both::default();
    while let Some(stretch) = history.next(&at) {
        progress.set_message(stretch.name.clone());
        let (stretch, step) = way.step(&history, stretch, old).await?;
        at = stretch.to;
        progress.set_position((at.sqlite + at.pg) as u64);
        let is_over = is_end(&step);
        let stood = if stretch.recorded(old).is_none() { Some(way.stood().await?) } else { None };
        steps.push(step);
        if is_over || !way.take(&stretch).await? {
            break;
        }
        if let (Some(stood), Some(step)) =
            (stood, steps.last_mut().filter(|step| matches!(step.verdict, Verdict::Same(_))))
            && let Some(verdict) = way.lost(&stood, &stretch).await?
        {
            step.verdict = verdict;
        }
    }
    progress.finish_and_clear();
    Ok(steps)
}

impl Way<'_> {
    /// What is known of a stretch. Where rows differ behind it and the schemas do too, that is the middle of a change that one
    /// database makes before the other: then the stretch goes on to where both mean the same, if the migrations on the way are
    /// taken.
    async fn step(
        &mut self,
        history: &History<'_>,
        stretch: Stretch,
        old: &Evidence,
    ) -> Result<(Stretch, Step), Failure> {
        let step = self.known(&stretch, old).await?;
        let differs = matches!(&step.verdict, Verdict::Differs(witness) if !fails(witness));
        if differs && let Some(longer) = self.settled(history, &stretch) {
            let whole = self.known(&longer, old).await?;
            if !matches!(&whole.verdict, Verdict::Differs(witness) if fails(witness)) {
                return Ok((longer, whole));
            }
        }
        Ok((stretch, step))
    }

    async fn known(&mut self, stretch: &Stretch, old: &Evidence) -> Result<Step, Failure> {
        match stretch.recorded(old) {
            Some(step) => Ok(step.clone()),
            None => Ok(stretch.record(self.verdict(stretch).await?)),
        }
    }

    /// From where a stretch begins to the nearest point at which both schemas differ in nothing that will be alike in the end;
    /// nothing where it ends at such a point itself.
    fn settled(&self, history: &History<'_>, stretch: &Stretch) -> Option<Stretch> {
        let differences = |stretch: &Stretch| -> BTreeSet<String> {
            let found = compile(&stretch.after(self.inputs)).diagnostics;
            found
                .into_iter()
                .filter(|finding| finding.rule.starts_with("schema-"))
                .map(|finding| finding.message)
                .collect()
        };
        let last = differences(&history.longer(stretch).last()?);
        if differences(stretch).is_subset(&last) {
            return None;
        }
        history.longer(stretch).find(|longer| differences(longer).is_subset(&last))
    }

    /// Runs a stretch on the databases, whether both take it.
    async fn take(&mut self, stretch: &Stretch) -> Result<bool, Failure> {
        let [ours, theirs] = Dialect::ALL.map(|dialect| stretch.texts(self.inputs, dialect));
        let inputs = self.inputs;
        Ok(self.sqlite.take(&ours)?.is_ok() && self.pg().await?.take(&theirs, inputs).await?.is_ok())
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
        let ran = match pg.settle(trial.before, case).await? {
            Ok(()) => {
                let result = pg.go_on(&trial.texts.pg, self.inputs).await?.map(|()| (Rows::new(), 0));
                let tables = if result.is_ok() { pg.rows(trial.after).await? } else { Vec::new() };
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
        let said = texts.iter().flatten().copied().collect::<Vec<&str>>().join("\n");
        let (before, after) = (stretch.before(self.inputs), stretch.after(self.inputs));
        let relations = self.relations().await?;
        let (then, now) = (compile(&before), compile(&after));
        let before = Prover::new(&before, &then, &relations).of_migrations(&said);
        let after = Prover::new(&after, &now, &relations).of_migrations(&said);
        let is_apart = texts.pg.iter().any(|text| runs_one_by_one(text));
        let apart = is_apart.then(|| texts.pg.iter().map(|text| within_transaction(text)).collect());
        let trial = Trial { before: &before, after: &after, texts, apart };
        let (ran, found) = self.first(&trial).await?;
        Ok(match found {
            Some((case, difference)) => Verdict::Differs(Box::new(witness(&before, &case, difference, true))),
            None => Verdict::Same(Scope { databases: ran, rows: ROWS, ..Scope::default() }),
        })
    }

    async fn relations(&mut self) -> Result<Relations, Failure> {
        Ok(Relations {
            sqlite: self.sqlite.relations()?,
            pg: self.pg().await?.relations().await?,
            words: self.pg().await?.words().await?,
            judge: sqlite::judge()?,
        })
    }

    /// On how many cases a stretch was run, and the first difference, made small.
    async fn first(&mut self, trial: &Trial<'_>) -> Result<(usize, Option<(Case, Difference)>), Failure> {
        let mut ran = 0;
        let cases = if matches!(trial.apart, Some(None)) { COPIES } else { CASES };
        for number in 0..cases {
            let case = if number == 0 { Case::default() } else { trial.before.case(SEED, number - 1, ROWS) };
            let Some((case, difference)) = self.tried(trial, case, number < SAMPLES).await? else { continue };
            ran += 1;
            if let Some(difference) = difference {
                return Ok((ran, Some(self.smaller(trial, case, difference).await?)));
            }
            if trial.before.tables.is_empty() {
                break;
            }
        }
        Ok((ran, None))
    }

    /// Runs a stretch on a case: the case as both engines take its rows, and what differs behind it; nothing where they take
    /// none. What runs outside of a transaction does so where it is asked to, and where it differs within one.
    async fn tried(
        &mut self,
        trial: &Trial<'_>,
        mut case: Case,
        as_it_stands: bool,
    ) -> Result<Option<(Case, Option<Difference>)>, Failure> {
        let Trial { before, after, texts, apart } = trial;
        let mut alone = apart.is_some() && (as_it_stands || matches!(apart, Some(None)));
        for _ in 0..ATTEMPTS {
            let ours = self.sqlite.step(before, &case, &texts.sqlite, after)?;
            let theirs = match (&ours, apart) {
                (Ran::Refused(_), _) => ours.clone(),
                (Ran::Answered(_), Some(_)) if alone => self.apart(trial, &case).await?,
                (Ran::Answered(_), Some(Some(within))) => {
                    let within: Vec<&str> = within.iter().map(String::as_str).collect();
                    self.pg().await?.step(before, &case, &within, after).await?
                }
                (Ran::Answered(_), _) => self.pg().await?.step(before, &case, &texts.pg, after).await?,
            };
            match (ours, theirs) {
                (Ran::Answered(mut ours), Ran::Answered(theirs)) => {
                    after.draw_alike(&case, &mut ours.tables, &theirs.tables);
                    let difference = differs(after, &ours, &theirs);
                    if difference.is_some() && apart.is_some() && !alone {
                        alone = true;
                        continue;
                    }
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
        let most = if trial.apart.is_some() { SHRINK_COPIES } else { SHRINK_STEPS };
        'smaller: loop {
            for next in trial.before.simpler(&best) {
                if steps == most {
                    return Ok((best, shown));
                }
                steps += 1;
                if let Some((next, Some(difference))) = self.tried(trial, next, false).await?
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

/// A migration that runs outside of a transaction, as it can run within one: an index is made beside nobody. None where it
/// may end the transaction itself.
fn within_transaction(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends = ["begin", "start", "commit", "end", "rollback", "abort", "call", "do", "vacuum"];
    let mut within = String::new();
    for part in text.split_inclusive(|c: char| !is_word(c)) {
        let word = part.trim_end_matches(|c: char| !is_word(c)).to_lowercase();
        if ends.contains(&word.as_str()) {
            return None;
        }
        within.push_str(if word == "concurrently" { &part[word.len()..] } else { part });
    }
    Some(within)
}

#[cfg(test)]
mod tests {
    use super::within_transaction;

    #[test]
    fn within_a_transaction_an_index_is_made_beside_nobody() {
        let index = "-- no-transaction\nCREATE UNIQUE INDEX Concurrently a ON b (c);\n";
        assert_eq!(within_transaction(index).as_deref(), Some("-- no-transaction\nCREATE UNIQUE INDEX  a ON b (c);\n"));
        assert_eq!(within_transaction("BEGIN;\nUPDATE b SET c = 1;\nCOMMIT;\n"), None);
    }
}
