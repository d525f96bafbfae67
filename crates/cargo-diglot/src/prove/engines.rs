//! Both engines, and the one way by which cases run on them.

use diglot::prove::{Answer, Case, Difference, Relations, Subject};
use diglot::{EmittedText, Inputs};
use futures_util::future::try_join_all;
use sqlx::Connection as _;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::{pg, sqlite};
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::prepare::pg::Scratch;

/// How often a case is tried again without the rows that an engine refuses.
pub(super) const ATTEMPTS: usize = 4;
/// The most cases for which Postgres has one clock.
const TOGETHER: usize = 256;

/// What an engine did with a case.
#[derive(Debug, Clone)]
pub(super) enum Ran {
    /// It ran.
    Answered(Answer),
    /// It refused these rows, by table and place.
    Refused(Vec<(String, usize)>),
}

/// Whether rows are there; if not, those that do not go in, by table and place. Where none are named, the same rows go in
/// at another try.
pub(super) type Refused = Result<(), Vec<(String, usize)>>;

/// A reference: the table, its columns, where it leads, and what goes with a row there.
pub(super) type Reference = (String, String, String, String);

/// The place of a case, what SQLite did with it, and Postgres for every way to sort.
type RanBoth = (usize, Ran, Vec<Ran>);

impl Ran {
    /// Whether the engine was stopped because it took too long.
    fn is_endless(&self) -> bool {
        matches!(self, Self::Answered(Answer { result: Err(fault), .. }) if fault.kind == ENDLESS)
    }
}

/// The kind of a fault of a row whose key another one has.
pub(super) const UNIQUE: &str = "a unique key";
/// The kind of a fault of a row that refers to none.
pub(super) const REFERENCE: &str = "a reference";
/// The kind of a fault of a row that lacks a value.
pub(super) const NOT_NULL: &str = "NOT NULL";
/// The kind of a fault of a value that a CHECK refuses.
pub(super) const CHECK: &str = "a check";
/// The kind of a fault of a statement that was stopped.
pub(super) const ENDLESS: &str = "too many rows or steps";
/// The most rows that an answer has.
pub(super) const MOST_ROWS: usize = 10_000;

/// Both engines.
pub(crate) struct Engines {
    pub(super) sqlite: sqlite::Sqlite,
    /// Connections, each to a database of its own, and how text sorts there.
    pgs: Vec<(Sorting, pg::Pg)>,
}

/// How text sorts on the project's databases: where nothing is said, it may be either.
fn sortings(inputs: &Inputs) -> &'static [Sorting] {
    match inputs.config.pg_collation.as_str() {
        "" => &[Sorting::Language, Sorting::Bytes],
        name if name.eq_ignore_ascii_case("c") => &[Sorting::Bytes],
        _ => &[Sorting::Language],
    }
}

/// How text sorts in the first database that a project needs.
pub(crate) fn first_sorting(inputs: &Inputs) -> Sorting {
    sortings(inputs)[0]
}

impl Engines {
    /// Opens so many of both engines as are to work beside each other, each of them with so many connections to Postgres at
    /// least as there are ways to sort.
    pub(super) async fn open(
        inputs: &Inputs,
        host: &Host,
        teams: usize,
        connections: usize,
    ) -> Result<Vec<Self>, Failure> {
        let first = async { Ok::<_, Failure>((host.sorting, made(host.scratch.clone(), inputs).await?)) };
        let others = sortings(inputs).iter().filter(|sorting| **sorting != host.sorting);
        let other =
            async |sorting: &Sorting| Ok::<_, Failure>((*sorting, made(host.another(*sorting).await?, inputs).await?));
        let (first, others) = tokio::try_join!(first, try_join_all(others.map(other)))?;
        let originals: Vec<(Sorting, Scratch)> = std::iter::once(first).chain(others).collect();
        // While nobody is connected to the first ones.
        let mut scratches: Vec<Vec<(Sorting, Scratch)>> = Vec::new();
        for team in 0..teams {
            let mut of_team = Vec::new();
            for at in 0..connections.max(originals.len()) {
                let (sorting, original) = originals.get(at).unwrap_or(&originals[0]);
                let is_first = team == 0 && at < originals.len();
                let scratch = if is_first { original.clone() } else { host.copy(original).await? };
                of_team.push((*sorting, scratch));
            }
            scratches.push(of_team);
        }
        let opened = async |(sorting, scratch): (Sorting, Scratch)| {
            Ok::<_, Failure>((sorting, pg::Pg::open(scratch.connect().await?, inputs).await?))
        };
        let mut engines = Vec::with_capacity(teams);
        for of_team in scratches {
            let pgs = try_join_all(of_team.into_iter().map(opened)).await?;
            engines.push(Self { sqlite: sqlite::Sqlite::open(inputs)?, pgs });
        }
        Ok(engines)
    }

    /// The same with one connection to a database that somebody else's schema was in, whatever is said of sorting.
    #[cfg(test)]
    pub(super) async fn open_again(inputs: &Inputs, host: &Host) -> Result<Self, Failure> {
        let connection = pg::make_again(host, inputs).await?;
        let pg = pg::Pg::open(connection, inputs).await?;
        Ok(Self { sqlite: sqlite::Sqlite::open(inputs)?, pgs: vec![(host.sorting, pg)] })
    }

    /// Both names with their versions.
    pub(crate) async fn versions_of(host: &Host) -> Result<String, Failure> {
        let connection = host.scratch.connect().await?;
        let pg = crate::prepare::pg::named(&connection);
        connection.close().await.map_err(Failure::engine("leave Postgres"))?;
        Ok(format!("{}, {pg}", sqlite::Sqlite::version()))
    }

    /// What both know and no schema does.
    pub(super) async fn relations(&mut self) -> Result<Relations, Failure> {
        let (_, pg) = &mut self.pgs[0];
        let (sqlite, judge) = (self.sqlite.relations()?, sqlite::judge()?);
        Ok(Relations { sqlite, pg: pg.relations().await?, words: pg.words().await?, judge })
    }

    /// Whether each takes the texts: what differs if one does, and whether neither does.
    pub(super) async fn takes(
        &mut self,
        subject: &Subject,
        sqlite: &EmittedText,
        pg: &EmittedText,
    ) -> Result<(Option<Difference>, bool), Failure> {
        let (ours, theirs) = (self.sqlite.takes(sqlite), self.pgs[0].1.takes(subject, pg).await?);
        let is_refused = ours.is_err() && theirs.is_err();
        Ok((Difference::taken(ours, theirs), is_refused))
    }

    /// Runs cases on both engines. Rows that one of them refuses are taken out of the case, which is then as it was run;
    /// nothing where no attempt was taken by both. Where text sorts in more than one way, Postgres's answer is the one
    /// that differs.
    pub(super) fn run_many(
        &mut self,
        subject: &Subject,
        cases: &mut [Case],
    ) -> Result<Vec<Option<(Answer, Answer)>>, Failure> {
        let mut answers = vec![None; cases.len()];
        let mut open: Vec<usize> = (0..cases.len()).collect();
        for _ in 0..ATTEMPTS {
            if open.is_empty() {
                break;
            }
            let mut again = Vec::new();
            for (at, sqlite, pg) in self.once(subject, cases, open)? {
                match answered(subject, &cases[at], sqlite, pg) {
                    Ok(both) => answers[at] = Some(both),
                    // What takes an engine too long says nothing of the pages.
                    Err(refused) if refused.is_empty() => {}
                    Err(refused) => {
                        leave_out(&mut cases[at], &refused);
                        again.push(at);
                    }
                }
            }
            open = again;
        }
        Ok(answers)
    }

    /// Runs cases as they are, by their places: what SQLite did with each, and Postgres for every way to sort. Those that take
    /// SQLite too long are left out.
    fn once(&mut self, subject: &Subject, cases: &[Case], open: Vec<usize>) -> Result<Vec<RanBoth>, Failure> {
        let Self { sqlite, pgs } = self;
        let some: Vec<&Case> = open.iter().map(|at| &cases[*at]).collect();
        block_in_place(|| {
            let ours = sqlite.run(subject, &some)?;
            let (open, ours): (Vec<usize>, Vec<Ran>) =
                open.into_iter().zip(ours).filter(|(_, ran)| !ran.is_endless()).unzip();
            let some: Vec<&Case> = open.iter().map(|at| &cases[*at]).collect();
            let theirs = Handle::current().block_on(on_pg(pgs, subject, &some))?;
            Ok(open.into_iter().zip(ours).zip(theirs).map(|((at, ours), theirs)| (at, ours, theirs)).collect())
        })
    }
}

/// A database with the project's schema, to which nobody is connected.
async fn made(scratch: Scratch, inputs: &Inputs) -> Result<Scratch, Failure> {
    let mut connection = scratch.connect().await?;
    pg::make(&mut connection, inputs, true).await?;
    connection.close().await.map_err(Failure::engine("leave Postgres"))?;
    Ok(scratch)
}

/// Runs cases on all connections at once: each case for every way to sort, or where no text is put into an order on
/// any of them.
async fn on_pg(pgs: &mut [(Sorting, pg::Pg)], subject: &Subject, cases: &[&Case]) -> Result<Vec<Vec<Ran>>, Failure> {
    let mut groups: Vec<Vec<&mut pg::Pg>> = Vec::new();
    let mut sortings: Vec<Sorting> = Vec::new();
    for (sorting, pg) in pgs {
        match sortings.iter().position(|known| !subject.sorts_text || known == sorting) {
            Some(at) => groups[at].push(pg),
            None => {
                sortings.push(*sorting);
                groups.push(vec![pg]);
            }
        }
    }
    let ran = try_join_all(groups.into_iter().map(|group| shared(group, subject, cases))).await?;
    let mut of_cases: Vec<Vec<Ran>> = cases.iter().map(|_| Vec::new()).collect();
    for ran in ran {
        of_cases.iter_mut().zip(ran).for_each(|(of_case, ran)| of_case.extend(ran));
    }
    Ok(of_cases)
}

/// Runs every case on one of some connections, in each zone in which its session may be.
async fn shared(pgs: Vec<&mut pg::Pg>, subject: &Subject, cases: &[&Case]) -> Result<Vec<Vec<Ran>>, Failure> {
    let share = cases.len().div_ceil(pgs.len()).max(1);
    let of_one = async |pg: &mut pg::Pg, cases: &[&Case]| {
        let mut ran: Vec<Vec<Ran>> = Vec::with_capacity(cases.len());
        for some in cases.chunks(TOGETHER) {
            let ours = pg.run(subject, some).await?;
            let elsewhere = if subject.rests_on_zone { pg.run_elsewhere(subject, some).await? } else { Vec::new() };
            let mut elsewhere = elsewhere.into_iter();
            ran.extend(ours.into_iter().map(|ours| std::iter::once(ours).chain(elsewhere.next()).collect()));
        }
        Ok::<_, Failure>(ran)
    };
    let ran = try_join_all(pgs.into_iter().zip(cases.chunks(share)).map(|(pg, cases)| of_one(pg, cases))).await?;
    Ok(ran.into_iter().flatten().collect())
}

/// Both answers, or the rows that were refused.
fn answered(
    subject: &Subject,
    case: &Case,
    sqlite: Ran,
    pg: Vec<Ran>,
) -> Result<(Answer, Answer), Vec<(String, usize)>> {
    let mut refused = Vec::new();
    let mut answer = |ran: Ran| match ran {
        ran if ran.is_endless() => None,
        Ran::Answered(answer) => Some(answer),
        Ran::Refused(rows) => {
            refused.extend(rows);
            None
        }
    };
    let (ours, mut theirs): (_, Vec<Answer>) = (answer(sqlite), pg.into_iter().filter_map(answer).collect());
    let (Some(ours), true) = (ours, refused.is_empty()) else { return Err(refused) };
    if theirs.is_empty() {
        return Err(refused);
    }
    let differs = |answer: &Answer| subject.compare(case, &ours, answer).is_some();
    let may_differ = |answer: &Answer| subject.compare_all(case, &ours, answer).is_some();
    let is_one = theirs.len() == 1;
    let at = if is_one { None } else { theirs.iter().position(differs).or_else(|| theirs.iter().position(may_differ)) };
    let theirs = theirs.swap_remove(at.unwrap_or(0));
    Ok((ours, theirs))
}

pub(super) fn leave_out(case: &mut Case, refused: &[(String, usize)]) {
    for (table, rows) in &mut case.rows {
        let mut at = 0;
        rows.retain(|_| {
            at += 1;
            !refused.iter().any(|(of, place)| of == table && *place == at - 1)
        });
    }
}
