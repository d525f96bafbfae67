//! What running both pages of a pair shows: which databases are tried, in which order, and when that is enough.

use std::collections::{BTreeMap, BTreeSet};

use crate::mutate::{self, Changer, Sample};
use crate::prove::{Answer, Case, Difference, Engines, Ran, Reach, Scope as Tried, Subject};
use diglot::dialect::Dialect;
use diglot::emitted::EmittedText;
use diglot::evidence::{Extent, Scope, Verdict, Witness};
use diglot::infer::Signature;

/// How many databases with arguments a pair is run on, where there is time.
pub const BUDGET: usize = 3000;
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

/// What came of a pair.
enum Found {
    /// A case on which the pages differ, and whether it holds what few programs write.
    Difference { case: Case, difference: Difference, edge: bool },
    /// They do not on any of so many.
    Nothing(usize),
    /// The time was over before anything could be said.
    Unfinished,
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
}

/// A pair that is tried on both engines.
pub struct Trial<'a, E> {
    /// The engines, with the project's schema.
    pub engines: &'a mut E,
    /// The pair.
    pub subject: &'a Subject,
    /// Makes one-sided changes of its pages.
    pub changer: &'a Changer<'a>,
    /// What the functions of the project take and give.
    pub signatures: &'a [Signature],
    /// What running it showed before.
    pub before: Option<&'a Verdict>,
    /// On about how many databases it is run; [`BUDGET`], where there is time.
    pub budget: usize,
    /// The day, in days since 1970: times around now are those of the day.
    pub today: i64,
    /// At a first look, whether its time is over; then nobody asks how telling the databases are.
    pub first_look: Option<&'a dyn Fn() -> bool>,
}

impl<E: Engines> Trial<'_, E> {
    /// What running the pair shows; nothing where the time of a first look is over before.
    ///
    /// # Errors
    /// When an engine cannot be asked.
    pub fn verdict(&mut self) -> Result<Option<Verdict>, E::Error> {
        let subject = self.subject;
        if let Some(verdict) = self.refused()? {
            return Ok(Some(verdict));
        }
        let databases = subject.databases_of(self.budget, self.today);
        let plan = Plan { steady: databases.steady(), ordinary: databases.ordinary() };
        let mut changes = if self.first_look.is_some() { Changes::default() } else { self.changes() };
        let found = match self.again()? {
            Found::Nothing(_) => self.first(databases.iter().collect(), &plan, &mut changes)?,
            found => found,
        };
        Ok(Some(match found {
            Found::Unfinished => return Ok(None),
            Found::Difference { case, difference, edge } => {
                let (case, difference) = self.engines.smaller(subject, case, difference)?;
                Verdict::Differs(Box::new(witness(subject, &case, difference, edge)))
            }
            Found::Nothing(ran) => {
                let untold = || if self.first_look.is_some() { None } else { nothing_told(subject, &changes) };
                if let Some(reason) = no_rows(subject, &changes, ran).or_else(untold) {
                    return Ok(Some(Verdict::Unknown { reason }));
                }
                let all = changes.texts.len() - self.not_of_list(&mut changes)?;
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
    fn refused(&mut self) -> Result<Option<Verdict>, E::Error> {
        let subject = self.subject;
        let [texts] = subject.variants.as_slice() else { return Ok(None) };
        if texts.pg.parts.len() > 1 {
            let reason = "several statements go to Postgres one by one, if a program runs them at all".to_owned();
            return Ok(Some(Verdict::Unknown { reason }));
        }
        if !subject.is_partial {
            return Ok(None);
        }
        let (difference, is_refused) = self.engines.takes(subject, texts)?;
        if is_refused {
            return Ok(Some(Verdict::Unknown { reason: "neither engine takes its text".to_owned() }));
        }
        Ok(difference
            .map(|difference| Verdict::Differs(Box::new(witness(subject, &Case::default(), difference, false)))))
    }

    /// What a database shows now that told the pages apart before.
    fn again(&mut self) -> Result<Found, E::Error> {
        let Some(Verdict::Differs(witness)) = self.before else { return Ok(Found::Nothing(0)) };
        // One of edges would hide an ordinary one.
        let case = Case::from_words(&witness.rows, &witness.args).filter(|case| self.subject.edges(case).is_empty());
        let Some(case) = case else { return Ok(Found::Nothing(0)) };
        let plan = Plan { steady: 1, ordinary: 1 };
        self.first(vec![case], &plan, &mut Changes::default())
    }

    /// The first of the cases on which the pages differ. What they tell of the changes is taken out of these; where none is
    /// left and all that is small is done, few of the other ordinary databases are run.
    fn first(&mut self, mut cases: Vec<Case>, plan: &Plan, changes: &mut Changes) -> Result<Found, E::Error> {
        let subject = self.subject;
        let (mut ran, mut at, mut together) = (0, 0, FIRST);
        while at < cases.len() {
            if self.first_look.is_some_and(|is_over| is_over()) {
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
            let answers = self.engines.run_many(subject, &mut some)?;
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
                && let Some((case, difference)) = self.turned(&answered)?
            {
                return Ok(Found::Difference { case, difference, edge: first >= plan.ordinary });
            }
            if changes.tried < CHANGED && !changes.open.is_empty() {
                self.engines.tell(subject, &changes.texts, &mut changes.open, &answered)?;
                changes.tried += answered.len();
            }
            together = (together * 2).min(MOST);
        }
        Ok(Found::Nothing(ran))
    }

    /// The first of the cases on which the pages differ once its rows are inserted in the opposite order: from each other, or
    /// from what they answered before.
    fn turned(&mut self, answered: &[(Case, Answer)]) -> Result<Option<(Case, Difference)>, E::Error> {
        let subject = self.subject;
        let turned = answered.iter().map(|(case, sqlite)| (subject.reversed(case), case, sqlite));
        let turned: Vec<_> = turned.filter(|(turned, case, _)| turned != *case).collect();
        let mut cases: Vec<Case> = turned.iter().map(|(turned, ..)| turned.clone()).collect();
        let answers = self.engines.run_many(subject, &mut cases)?;
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
    fn not_of_list(&mut self, changes: &mut Changes) -> Result<usize, E::Error> {
        let Some(each) = self.subject.each().filter(|each| each.leaves_out()) else { return Ok(0) };
        let cases: Vec<Case> = each.one().databases_of(CHANGED, self.today).iter().collect();
        let ran = self.engines.on_sqlite(each.one(), &cases.iter().collect::<Vec<_>>())?;
        let answered = cases.into_iter().zip(ran).filter_map(|(case, ran)| match ran {
            Ran::Answered(answer) => Some((case, answer)),
            Ran::Refused(_) => None,
        });
        let before = changes.open.len();
        self.engines.tell(each.one(), &changes.texts, &mut changes.open, &answered.collect::<Vec<_>>())?;
        Ok(before - changes.open.len())
    }

    /// The one-sided changes of the SQLite page that SQLite takes.
    fn changes(&self) -> Changes {
        let mut changes = Changes::default();
        let name = self.subject.on_sqlite();
        let known = self.signatures.iter().find(|it| it.name == name).cloned();
        let Some(signature) = known.or_else(|| self.changer.signature(name)) else { return changes };
        for mutation in self.changer.changes(name, Dialect::Sqlite, Sample::All) {
            let text = self.changer.text(&signature, Dialect::Sqlite, &mutation);
            let Some(text) = text.filter(|text| self.engines.sqlite_takes(text)) else { continue };
            let is_condition = mutation.kind == mutate::CONJUNCT;
            changes.conditions.push(is_condition.then(|| shortened(self.changer.original(&mutation))));
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
pub fn witness(subject: &Subject, case: &Case, difference: Difference, edge: bool) -> Witness {
    let (rows, args) = case.to_words();
    // What was found on an edge and shows on ordinary values as well is no matter of edges.
    let edges = if edge { subject.edges(case) } else { BTreeMap::new() };
    let excluded_by: BTreeMap<String, BTreeSet<String>> =
        edges.into_iter().map(|(what, places)| (what.key().to_owned(), places)).collect();
    let named = subject.tables.iter().map(|table| (table.name.clone(), subject.telling(table)));
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
