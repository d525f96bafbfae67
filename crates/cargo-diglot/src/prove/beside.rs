//! The statements of two releases on the tables of each: the databases of the older one with rows, before and behind the
//! migrations that lead to the newer one.

use std::collections::BTreeSet;

use diglot::dialect::{Both, Dialect};
use diglot::evidence::Witness;
use diglot::schema::{self, Schema};
use diglot::source::{FileId, Span};
use diglot::{Compiled, Inputs};
use diglot_tools::prove::{
    ATTEMPTS, Answer, Case, Difference, ENDLESS, Fault, Prover, Ran, Relations, Rows, Subject, Value, leave_out,
};
use diglot_tools::verdict::witness;
use sqlx::Connection as _;

use super::engines::Refused;
use super::{first_sorting, pg, sqlite};
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::pg::Scratch;
use crate::report;

/// How many rows a table has at most, on one database after the other; on the first all tables are empty.
const ROWS: [usize; 16] = [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3];
/// With how many arguments each statement runs on a database.
const ARGUMENTS: u64 = 4;
/// What all rows and arguments are drawn from.
const SEED: u64 = 1;
/// What changes whole schemas: a statement that names no table of a migration may rest on it.
const EVERYWHERE: [&str; 8] =
    ["function", "procedure", "type", "domain", "operator", "collation", "extension", "sequence"];
/// Types of Postgres that programs take for one another.
const TEXTS: [&str; 4] = ["TEXT", "VARCHAR", "BPCHAR", "NAME"];

/// A release: its files, and what the compiler makes of them.
pub(crate) struct Release {
    pub(crate) inputs: Inputs,
    pub(crate) compiled: Compiled,
}

/// A statement of one release that does on the tables of the other what it does not do on its own.
pub(crate) struct Clash {
    /// Whether the statement is of the older release.
    pub(crate) is_old: bool,
    pub(crate) dialect: Dialect,
    pub(crate) name: String,
    /// Where its name stands on both pages.
    pub(crate) places: Vec<Span>,
    /// The rows and the arguments; what it does on the older tables, in the place of SQLite, and on the newer ones.
    pub(crate) shown: Witness,
}

/// What came of both releases.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) clashes: Vec<Clash>,
    /// The engines that do not take the migrations, with their words.
    pub(crate) refused: Vec<(Dialect, Fault)>,
    /// On how many databases the statements ran, for each engine.
    pub(crate) databases: Both<usize>,
    /// On how many databases with rows the migrations end.
    pub(crate) stopped: Both<usize>,
    /// The tables that the statements are about, and those of them into which an engine took a row.
    pub(crate) tables: BTreeSet<String>,
    pub(crate) filled: BTreeSet<String>,
    /// How many statements ran.
    pub(crate) ran: usize,
}

/// A statement as it is run, of one release or of both.
struct Run {
    subject: Subject,
    /// Of which release no engine has anything more to tell, the older one first; from the beginning of one that does not have
    /// it.
    is_told: Both<[bool; 2]>,
    /// Whether it answers otherwise whenever it runs, for each engine: then only a refusal counts.
    is_unsteady: Both<bool>,
}

/// A database of one engine.
enum Database {
    Sqlite(Box<sqlite::Sqlite>),
    Pg(Box<pg::Pg>, Box<Scratch>),
}

/// The way from one release to the other.
struct Way<'a> {
    old: &'a Release,
    new: &'a Release,
    /// The migrations of the newer release alone.
    steps: &'a Both<Vec<&'a str>>,
    host: &'a Host,
    /// A database of Postgres with the tables of the older release, to which nobody is connected.
    template: Scratch,
}

/// Runs the statements of both releases that the steps may touch.
pub(crate) async fn run(old: &Release, new: &Release, steps: &Both<Vec<&str>>, host: &Host) -> Result<Found, Failure> {
    let mut found = Found::default();
    let mut way = Way { old, new, steps, host, template: template(old, host, true).await? };
    let mut scouts = way.opened().await?;
    let before = relations(&mut scouts).await?;
    let mut refused = way.gone_on(&mut scouts).await?;
    if refused.pg.is_some() {
        // They may speak of partitions one by one.
        close(scouts).await?;
        way.template = template(old, host, false).await?;
        scouts = way.opened().await?;
        refused = way.gone_on(&mut scouts).await?;
    }
    for (dialect, fault) in Dialect::ALL.into_iter().zip([refused.sqlite, refused.pg]) {
        found.refused.extend(fault.map(|fault| (dialect, fault)));
    }
    if !found.refused.is_empty() {
        return Ok(found);
    }
    let after = relations(&mut scouts).await?;
    close(scouts).await?;
    let before = Prover::new(&old.inputs, &old.compiled, &before);
    let after = Prover::new(&new.inputs, &new.compiled, &after);
    let (all, all_after) = (whole(&before, &old.inputs), whole(&after, &new.inputs));
    let mut runs = way.runs(&before.subjects(), &after.subjects(), (&all, &all_after));
    found.ran = runs.len();
    found.tables.extend(runs.iter().flat_map(|run| run.subject.touches()).map(str::to_owned));
    let shared = all.clone().beside(&all_after);
    let progress = report::bar("verifying", ROWS.len());
    let databases = if runs.is_empty() { &[][..] } else { &ROWS[..] };
    for (number, most) in (0..).zip(databases.iter().copied()) {
        let case = if most == 0 { Case::default() } else { all.case(SEED, number, most) };
        for dialect in Dialect::ALL {
            way.on_rows(dialect, (&all, &shared), (number, &case), &mut runs, &mut found).await?;
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(found)
}

/// A database of Postgres with the tables of a release, with one partition of many if that will do, to which nobody is
/// connected.
async fn template(of: &Release, host: &Host, has_one_partition: bool) -> Result<Scratch, Failure> {
    let scratch = host.another(first_sorting(&of.inputs)).await?;
    let mut connection = scratch.connect().await?;
    pg::make(&mut connection, &of.inputs, has_one_partition).await?;
    connection.close().await.map_err(Failure::engine("leave Postgres"))?;
    Ok(scratch)
}

/// All tables of a release, as a statement that does nothing.
fn whole(prover: &Prover<'_>, inputs: &Inputs) -> Subject {
    let mut said = String::new();
    for schema in Dialect::ALL.map(|dialect| tables(inputs, dialect)) {
        schema.tables.keys().for_each(|name| said.extend([name.as_str(), " "]));
    }
    prover.of_migrations(&said)
}

fn tables(inputs: &Inputs, dialect: Dialect) -> Schema {
    let files: Vec<FileId> = inputs.migrations(dialect).into_iter().map(|(id, _)| id).collect();
    schema::read(&inputs.sources, &files, dialect).0
}

async fn relations(both: &mut Both<Database>) -> Result<Relations, Failure> {
    let mut relations = Relations { judge: sqlite::judge()?, ..Relations::default() };
    for database in [&mut both.sqlite, &mut both.pg] {
        match database {
            Database::Sqlite(sqlite) => relations.sqlite = sqlite.relations()?,
            Database::Pg(pg, _) => {
                relations.pg = pg.relations().await?;
                relations.words = pg.words().await?;
            }
        }
    }
    Ok(relations)
}

async fn close(both: Both<Database>) -> Result<(), Failure> {
    both.sqlite.close().await?;
    both.pg.close().await
}

impl Database {
    async fn settle(&mut self, subject: &Subject, case: &Case) -> Result<Refused, Failure> {
        match self {
            Self::Sqlite(sqlite) => sqlite.settle(subject, case),
            Self::Pg(pg, _) => pg.settle(subject, case).await,
        }
    }

    async fn go_on(&mut self, texts: &[&str], inputs: &Inputs) -> Result<Result<(), Fault>, Failure> {
        match self {
            Self::Sqlite(sqlite) => sqlite.go_on(texts),
            Self::Pg(pg, _) => pg.go_on(texts, inputs).await,
        }
    }

    async fn rows(&mut self, subject: &Subject) -> Result<Vec<Rows>, Failure> {
        match self {
            Self::Sqlite(sqlite) => sqlite.rows(subject),
            Self::Pg(pg, _) => pg.rows(subject).await,
        }
    }

    async fn run(&mut self, subject: &Subject, cases: &[Case]) -> Result<Vec<Option<Answer>>, Failure> {
        let cases: Vec<&Case> = cases.iter().collect();
        let ran = match self {
            Self::Sqlite(sqlite) => sqlite.run(subject, &cases)?,
            Self::Pg(pg, _) => pg.run(subject, &cases).await?,
        };
        let answer = |ran: Ran| match ran {
            Ran::Answered(Answer { result: Err(fault), .. }) if fault.kind == ENDLESS => None,
            Ran::Answered(answer) => Some(answer),
            Ran::Refused(_) => None,
        };
        Ok(ran.into_iter().map(answer).collect())
    }

    /// The types of the columns that a statement gives, where the engine has types.
    async fn columns(&mut self, subject: &Subject) -> Vec<(String, String)> {
        match (self, subject.variants.first()) {
            (Self::Pg(pg, _), Some(texts)) => pg.columns(subject, &texts.pg).await,
            _ => Vec::new(),
        }
    }

    async fn close(self) -> Result<(), Failure> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Pg(pg, scratch) => {
                pg.close().await?;
                (*scratch).drop().await
            }
        }
    }
}

impl Way<'_> {
    /// Both databases with the tables of the older release, and nothing in them.
    async fn opened(&self) -> Result<Both<Database>, Failure> {
        Ok(Both { sqlite: self.open(Dialect::Sqlite).await?, pg: self.open(Dialect::Pg).await? })
    }

    async fn open(&self, dialect: Dialect) -> Result<Database, Failure> {
        let inputs = &self.old.inputs;
        Ok(match dialect {
            Dialect::Sqlite => Database::Sqlite(Box::new(sqlite::Sqlite::open(inputs)?)),
            Dialect::Pg => {
                let scratch = self.host.copy(&self.template).await?;
                Database::Pg(Box::new(pg::Pg::open(scratch.connect().await?, inputs).await?), Box::new(scratch))
            }
        })
    }

    /// Runs the steps on both, and why they end.
    async fn gone_on(&self, both: &mut Both<Database>) -> Result<Both<Option<Fault>>, Failure> {
        let inputs = &self.new.inputs;
        Ok(Both {
            sqlite: both.sqlite.go_on(&self.steps.sqlite, inputs).await?.err(),
            pg: both.pg.go_on(&self.steps.pg, inputs).await?.err(),
        })
    }

    /// The statements that the steps may touch, those of both releases once.
    fn runs(&self, old: &[Subject], new: &[Subject], (all, all_after): (&Subject, &Subject)) -> Vec<Run> {
        let said = self.steps.iter().flatten().map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n");
        let said: BTreeSet<&str> = words(&said).collect();
        let mut named: BTreeSet<String> = BTreeSet::new();
        for (release, dialect) in [self.old, self.new].into_iter().flat_map(|of| Dialect::ALL.map(|it| (of, it))) {
            named.extend(
                tables(&release.inputs, dialect).tables.into_keys().filter(|name| said.contains(name.as_str())),
            );
        }
        let is_everywhere = EVERYWHERE.iter().any(|word| said.contains(word));
        let is_touched = |subject: &&Subject| {
            let texts = || subject.variants.iter().flat_map(Both::iter).map(|text| text.sql.to_lowercase());
            is_everywhere
                || subject.touches().any(|table| named.contains(table))
                || texts().any(|text| words(&text).any(|word| named.contains(word)))
        };
        let run = |subject: &Subject, of: [bool; 2]| Run {
            subject: subject.clone().beside(if of[0] { all_after } else { all }),
            is_told: Both::of(|_| of.map(|is_its| !is_its)),
            is_unsteady: Both { sqlite: false, pg: false },
        };
        let mut runs: Vec<Run> = Vec::new();
        for subject in old.iter().filter(is_touched) {
            runs.push(run(subject, [true, new.iter().any(|other| other.runs_as(subject))]));
        }
        for subject in new.iter().filter(is_touched).filter(|subject| !old.iter().any(|other| other.runs_as(subject))) {
            runs.push(run(subject, [false, true]));
        }
        runs
    }

    /// A database with rows, as far as the engine takes them, and these.
    async fn filled(&self, dialect: Dialect, all: &Subject, case: &Case) -> Result<Option<(Database, Case)>, Failure> {
        let mut case = case.clone();
        let mut database = self.open(dialect).await?;
        for _ in 0..ATTEMPTS {
            match database.settle(all, &case).await? {
                Ok(()) => return Ok(Some((database, case))),
                Err(refused) => leave_out(&mut case, &refused),
            }
        }
        database.close().await?;
        Ok(None)
    }

    /// Runs all statements on a database, before the steps and behind them.
    async fn on_rows(
        &self,
        dialect: Dialect,
        all: (&Subject, &Subject),
        (number, case): (u64, &Case),
        runs: &mut [Run],
        found: &mut Found,
    ) -> Result<(), Failure> {
        let Some((mut database, case)) = self.filled(dialect, all.0, case).await? else { return Ok(()) };
        let was = database.rows(all.1).await?;
        let open = || runs.iter().filter(|run| !run.is_over(dialect));
        let mut before = Vec::new();
        for run in open() {
            let some = (0..ARGUMENTS).map(|at| run.subject.case_on(&case.rows, SEED, number * ARGUMENTS + at));
            let some: Vec<Case> = some.collect();
            let answers = database.run(&run.subject, &some).await?;
            let columns = if number == 0 { database.columns(&run.subject).await } else { Vec::new() };
            before.push((some, answers, columns));
        }
        if database.go_on(&self.steps[dialect], &self.new.inputs).await?.is_err() {
            found.stopped[dialect] += 1;
            return database.close().await;
        }
        found.databases[dialect] += 1;
        found.filled.extend(case.rows.iter().filter(|(_, rows)| !rows.is_empty()).map(|(name, _)| name.clone()));
        let moved = Moved::of(all.1, &was, &database.rows(all.1).await?);
        for (run, (cases, answers, columns)) in runs.iter_mut().filter(|run| !run.is_over(dialect)).zip(before) {
            let after = database.run(&run.subject, &cases).await?;
            let both = answers.iter().zip(&after).map(|(before, after)| Some((before.as_ref()?, after.as_ref()?)));
            for (shown, (before, after)) in cases.iter().zip(both).filter_map(|(case, both)| Some((case, both?))) {
                let (before, after) = (moved.without(&run.subject, before), moved.without(&run.subject, after));
                for told in run.differs(dialect, shown, &before, &after) {
                    if !told.is_refusal && !self.is_steady(dialect, all.0, &case, (run, shown), &before, &moved).await?
                    {
                        run.is_unsteady[dialect] = true;
                        break;
                    }
                    found.clashes.push(run.clash(dialect, shown, told));
                }
            }
            if !columns.is_empty() && !run.is_over(dialect) {
                let then = database.columns(&run.subject).await;
                for told in run.typed(dialect, &columns, &then) {
                    found.clashes.push(run.clash(dialect, &cases[0], told));
                }
            }
        }
        database.close().await
    }

    /// Whether a statement answers the same again on tables of its own, into which the rows came in the opposite order if that
    /// may decide: otherwise it is no matter of the steps what it answers.
    async fn is_steady(
        &self,
        dialect: Dialect,
        all: &Subject,
        rows: &Case,
        (run, case): (&Run, &Case),
        before: &Answer,
        moved: &Moved,
    ) -> Result<bool, Failure> {
        let rows = if run.subject.rests_on_order { all.reversed(rows) } else { rows.clone() };
        let Some((mut database, _)) = self.filled(dialect, all, &rows).await? else { return Ok(false) };
        let answers = database.run(&run.subject, std::slice::from_ref(case)).await?;
        database.close().await?;
        let is_same =
            |answer: &Answer| run.subject.compare_all(case, before, &moved.without(&run.subject, answer)).is_none();
        Ok(answers.iter().flatten().any(is_same))
    }
}

/// What the steps themselves have changed of the rows: whatever a statement leaves, it differs there.
struct Moved {
    /// Tables that have other rows.
    tables: BTreeSet<String>,
    /// Columns that have other values, by their tables.
    columns: BTreeSet<(String, String)>,
}

impl Moved {
    fn of(shared: &Subject, before: &[Rows], after: &[Rows]) -> Self {
        let mut moved = Self { tables: BTreeSet::new(), columns: BTreeSet::new() };
        for (table, (before, after)) in shared.compared.iter().zip(before.iter().zip(after)) {
            let column = |rows: &Rows, at: usize| {
                let mut values: Vec<String> =
                    rows.iter().filter_map(|row| row.get(at)).map(ToString::to_string).collect();
                values.sort();
                values
            };
            let names = table.shown().map(|column| column.name.clone()).enumerate();
            let other = names.filter(|(at, _)| column(before, *at) != column(after, *at));
            moved.columns.extend(other.map(|(_, name)| (table.name.clone(), name)));
            if before.len() != after.len() {
                moved.tables.insert(table.name.clone());
            }
        }
        moved
    }

    /// An answer without what the steps have changed of the rows that it leaves.
    fn without(&self, subject: &Subject, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        for (table, rows) in subject.compared.iter().zip(&mut answer.tables) {
            if self.tables.contains(&table.name) {
                rows.clear();
            }
            for (at, column) in table.shown().enumerate() {
                if self.columns.contains(&(table.name.clone(), column.name.clone())) {
                    rows.iter_mut().filter_map(|row| row.get_mut(at)).for_each(|value| *value = Value::Null);
                }
            }
        }
        answer
    }
}

/// What a release's statement does on the tables of the other.
struct Told {
    /// Whether it is the older release's.
    is_old: bool,
    is_refusal: bool,
    difference: Difference,
}

impl Run {
    /// Whether an engine has nothing more to tell of it.
    fn is_over(&self, dialect: Dialect) -> bool {
        self.is_told[dialect] == [true, true]
    }

    /// What two answers tell for each release whose statement it is, and that has not been told.
    fn differs(&self, dialect: Dialect, case: &Case, before: &Answer, after: &Answer) -> Vec<Told> {
        let open = [true, false].into_iter().zip(self.is_told[dialect]).filter(|(_, is_told)| !is_told);
        let told = |is_old: bool| {
            let (own, other) = if is_old { (before, after) } else { (after, before) };
            let engine = dialect.title();
            let (is_refusal, what) = match (&own.result, &other.result) {
                // What fails at home says nothing, but for what a program expects to fail.
                (Err(fault), _) if fault.kind.is_empty() => return None,
                (Ok(_), Err(_)) => (true, Some(format!("{engine} refuses it"))),
                (Err(_), Err(fault)) if fault.kind.is_empty() => (true, Some(format!("{engine} refuses it"))),
                (Err(_), Ok(_)) => (false, Some(format!("{engine} takes what is refused on its own tables"))),
                _ => (false, None),
            };
            if !is_refusal && self.is_unsteady[dialect] {
                return None;
            }
            let difference = self.subject.compare_all(case, before, after)?;
            let unread =
                difference.what.contains(" fails and ").then(|| "a value is none that its program reads".into());
            let what = what.or(unread).unwrap_or_else(|| difference.what.clone());
            Some(Told { is_old, is_refusal, difference: Difference { what, ..difference } })
        };
        open.filter_map(|(is_old, _)| told(is_old)).collect()
    }

    /// What the types of its columns tell, on the older tables and on the newer ones.
    fn typed(&self, dialect: Dialect, before: &[(String, String)], after: &[(String, String)]) -> Vec<Told> {
        let is_text = |ty: &str| TEXTS.contains(&ty);
        let is_same = |a: &str, b: &str| a == b || is_text(a) && is_text(b);
        let mut pairs = before.iter().zip(after);
        let Some(((name, was), (_, is))) = pairs.find(|((_, a), (_, b))| !is_same(a, b)) else { return Vec::new() };
        let difference = || Difference {
            what: format!("the type of `{name}` differs"),
            sqlite: vec![was.clone()],
            pg: vec![is.clone()],
            columns: BTreeSet::new(),
            common: 0,
        };
        let open = [true, false].into_iter().zip(self.is_told[dialect]).filter(|(_, is_told)| !is_told);
        open.map(|(is_old, _)| Told { is_old, is_refusal: false, difference: difference() }).collect()
    }

    fn clash(&mut self, dialect: Dialect, case: &Case, told: Told) -> Clash {
        self.is_told[dialect][usize::from(!told.is_old)] = true;
        Clash {
            is_old: told.is_old,
            dialect,
            places: self.subject.places.clone(),
            name: self.subject.name.clone(),
            shown: witness(&self.subject, case, told.difference, false),
        }
    }
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
