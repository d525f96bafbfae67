//! Both engines, and the one way by which cases run on them.

use diglot::dialect::Both;
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{Answer, Case, Difference, PgJob, Ran, RanBoth, Relations, Subject};
use futures_util::future::try_join_all;
use sqlx::Connection as _;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::{pg, sqlite};
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::prepare::pg::Scratch;

/// The most cases for which Postgres has one clock.
const TOGETHER: usize = 256;

/// Whether rows are there; if not, those that do not go in, by table and place. Where none are named, the same rows go in
/// at another try.
pub(super) type Refused = Result<(), Vec<(String, usize)>>;

/// A reference: the table, its columns, where it leads, and what goes with a row there.
pub(super) type Reference = (String, String, String, String);

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
}

impl diglot_tools::prove::Engines for Engines {
    type Error = Failure;

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

    fn takes(&mut self, subject: &Subject, texts: &Both<EmittedText>) -> Result<(Option<Difference>, bool), Failure> {
        let ours = self.sqlite.takes(&texts.sqlite);
        let theirs = block_in_place(|| Handle::current().block_on(self.pgs[0].1.takes(subject, &texts.pg)))?;
        let is_refused = ours.is_err() && theirs.is_err();
        Ok((Difference::taken(ours, theirs), is_refused))
    }

    fn sqlite_takes(&self, text: &EmittedText) -> bool {
        self.sqlite.takes(text).is_ok()
    }

    fn on_sqlite(&mut self, subject: &Subject, cases: &[&Case]) -> Result<Vec<Ran>, Failure> {
        self.sqlite.run(subject, cases)
    }

    fn tell(
        &mut self,
        subject: &Subject,
        texts: &[EmittedText],
        open: &mut Vec<usize>,
        answered: &[(Case, Answer)],
    ) -> Result<(), Failure> {
        Ok(self.sqlite.job(subject).tell(&self.sqlite, texts, open, answered)?)
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
            let in_steps = if subject.takes_steps() { pg.run_in_steps(subject, some).await? } else { Vec::new() };
            let told = |ran: Ran| match ran {
                Ran::Answered(answer) => Ran::Answered(Answer { manner: PgJob::IS_IN_STEPS, ..answer }),
                refused => refused,
            };
            let (mut elsewhere, mut in_steps) = (elsewhere.into_iter(), in_steps.into_iter().map(told));
            let all = |ours: Ran| std::iter::once(ours).chain(elsewhere.next()).chain(in_steps.next()).collect();
            ran.extend(ours.into_iter().map(all));
        }
        Ok::<_, Failure>(ran)
    };
    let ran = try_join_all(pgs.into_iter().zip(cases.chunks(share)).map(|(pg, cases)| of_one(pg, cases))).await?;
    Ok(ran.into_iter().flatten().collect())
}
