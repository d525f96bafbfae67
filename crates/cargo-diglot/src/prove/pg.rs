//! Runs cases on Postgres, in a scratch database that every case leaves as it was.
//!
//! The page's own text is prepared as it stands, for the types that the generated code binds. Cases go to the server
//! many in one message, within a transaction; savepoints take each back.

mod in_steps;
mod schema;
mod script;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use diglot::dialect::{Both, Dialect};
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{
    Answer, Case, Fault, MOST_ROWS, PgJob, PgSchema, PgTypes, Ran, Rows, Subject, Value, pg_arguments, pg_types,
};
use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Either, Executor, Row as _, ValueRef as _};

use super::engines::Refused;
use super::same_rows;
use crate::failure::Failure;
use script::{Known, Message, Part, Sent, Step, steps};

/// How many cases a message has at first, and at most. Each refusal makes the next ones shorter, because the server reads
/// the rest of a message again.
const CASES: usize = 32;
const MOST_CASES: usize = 512;
const FEWEST_CASES: usize = 2;
/// How many texts stay prepared.
const PREPARED: usize = 64;
/// How many rows are put there until what is left of them is swept up: those that were taken back still take room.
const SWEPT: usize = 4_000;

const TALKING: &str = "run cases on Postgres";

const BEGIN: &str = "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT filling";

/// How many seconds a message may take.
const LIMIT_S: u32 = 20;

pub(super) struct Pg {
    connection: PgConnection,
    schema: PgSchema,
    /// Texts with the types of their parameters: the name that each was prepared under, or why it was not.
    prepared: BTreeMap<String, Result<String, Fault>>,
    /// How many cases the next message has.
    reach: usize,
    filled: usize,
    /// Whether statements run in another zone than that in which rows are put there.
    is_elsewhere: bool,
    /// Whether rows are there that stay, and no case brings its own.
    is_settled: bool,
}

/// Brings the project's schema into an empty database, without the rows that its migrations put there.
pub(super) async fn make(
    connection: &mut PgConnection,
    inputs: &Inputs,
    has_one_partition: bool,
) -> Result<(), Failure> {
    schema::make(connection, inputs, has_one_partition).await
}

/// The same in a database that somebody else's schema was in.
#[cfg(test)]
pub(super) async fn make_again(host: &crate::host::Host, inputs: &Inputs) -> Result<PgConnection, Failure> {
    let mut connection = host.scratch.connect().await?;
    let clear = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
    connection.execute(sqlx::raw_sql(AssertSqlSafe(clear))).await.map_err(Failure::engine("clear the database"))?;
    drop(connection);
    let mut connection = host.scratch.connect().await?;
    make(&mut connection, inputs, true).await?;
    Ok(connection)
}

impl Pg {
    /// A connection to a database in which the project's schema is.
    pub(super) async fn open(mut connection: PgConnection, inputs: &Inputs) -> Result<Self, Failure> {
        // What is prepared is run on many databases, and a plan for each would take longer than running it.
        let limit =
            format!("SET statement_timeout = '{LIMIT_S}s'; SET plan_cache_mode = force_generic_plan; SET jit = off");
        connection
            .execute(sqlx::raw_sql(AssertSqlSafe(limit)))
            .await
            .map_err(Failure::engine("limit time on Postgres"))?;
        let schema = schema::read(&mut connection, inputs).await?;
        Ok(Self {
            connection,
            schema,
            prepared: BTreeMap::new(),
            reach: CASES,
            filled: 0,
            is_elsewhere: false,
            is_settled: false,
        })
    }

    /// Leaves the database.
    pub(super) async fn close(self) -> Result<(), Failure> {
        self.connection.close().await.map_err(Failure::engine("leave Postgres"))
    }

    /// What views read and triggers may write.
    pub(super) async fn relations(&mut self) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
        schema::relations(&mut self.connection).await
    }

    /// The words of the enums that columns are made of.
    pub(super) async fn words(&mut self) -> Result<BTreeMap<(String, String), Vec<String>>, Failure> {
        schema::words(&mut self.connection).await
    }

    /// Whether it takes a text for parameters of these types.
    pub(super) async fn takes(&mut self, subject: &Subject, text: &EmittedText) -> Result<Result<(), Fault>, Failure> {
        Ok(self.prepared(subject, text).await?.map(|_| ()))
    }

    /// The name under which a text is prepared.
    async fn prepared(&mut self, subject: &Subject, text: &EmittedText) -> Result<Result<String, Fault>, Failure> {
        if text.parts.len() > 1 {
            return Ok(Err(Fault::of("cannot insert multiple commands into a prepared statement")));
        }
        let types = pg_types(subject, text);
        let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
        let key = format!("{types} AS {}", text.sql);
        if let Some(known) = self.prepared.get(&key) {
            return Ok(known.clone());
        }
        let name = format!("diglot_{}", self.prepared.len());
        let taken = match self.plain(&format!("PREPARE {name}{key}")).await {
            Ok(()) => Ok(name),
            Err(error) if error.as_database_error().is_some() => Err(super::fault(error)),
            Err(error) => return Err(Failure::engine(TALKING)(error)),
        };
        self.prepared.insert(key, taken.clone());
        Ok(taken)
    }

    /// Forgets what is prepared where so many texts more would be too much.
    async fn make_room(&mut self, texts: usize) -> Result<(), Failure> {
        if self.prepared.len() + texts <= PREPARED {
            return Ok(());
        }
        let names = std::mem::take(&mut self.prepared).into_values().flatten();
        let forget: String = names.map(|name| format!("DEALLOCATE {name}; ")).collect();
        self.plain(&forget).await.map_err(Failure::engine(TALKING))
    }

    /// Runs cases and takes each back.
    pub(super) async fn run(&mut self, subject: &Subject, cases: &[&Case]) -> Result<Vec<Ran>, Failure> {
        let job = PgJob::new(subject, &self.schema);
        // Not between two cases, whose texts may be different ones of the same statement.
        self.make_room(subject.variants.len()).await?;
        let mut sent = Vec::with_capacity(cases.len());
        for case in cases {
            sent.push(self.sent(subject, case).await?);
        }
        self.begin().await?;
        let ran = self.steps(&job, cases, &sent).await;
        self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
        self.sweep().await?;
        ran
    }

    async fn begin(&mut self) -> Result<(), Failure> {
        self.plain(BEGIN).await.map_err(Failure::engine("begin on Postgres"))
    }

    /// The same where the session of each statement is in [`PgJob::ELSEWHERE`].
    pub(super) async fn run_elsewhere(&mut self, subject: &Subject, cases: &[&Case]) -> Result<Vec<Ran>, Failure> {
        self.is_elsewhere = true;
        let ran = self.run(subject, cases).await;
        self.is_elsewhere = false;
        let told = |ran: Ran| match ran {
            Ran::Answered(answer) => Ran::Answered(Answer { manner: PgJob::IS_ELSEWHERE, ..answer }),
            refused => refused,
        };
        Ok(ran?.into_iter().map(told).collect())
    }

    async fn sent(&mut self, subject: &Subject, case: &Case) -> Result<Sent, Failure> {
        let Some(Both { pg: text, .. }) = subject.variant(case) else {
            return Ok(Sent::Refused(Fault::of("no such variant")));
        };
        let name = match self.prepared(subject, text).await? {
            Ok(name) => name,
            Err(fault) => return Ok(Sent::Refused(fault)),
        };
        Ok(match pg_arguments(subject, text, case) {
            Ok(literals) if literals.is_empty() => Sent::Text(format!("EXECUTE {name}")),
            Ok(literals) => Sent::Text(format!("EXECUTE {name} ({})", literals.join(", "))),
            Err(fault) => Sent::Refused(fault),
        })
    }

    async fn steps(&mut self, job: &PgJob<'_>, cases: &[&Case], sent: &[Sent]) -> Result<Vec<Ran>, Failure> {
        let steps = steps(cases);
        let mut known = vec![Known::default(); cases.len()];
        let (mut next, mut back) = (0, None);
        while next < steps.len() {
            let (message, end) = self.message(job, cases, sent, &steps[next..], next, back, &mut known);
            match self.send(&message, job, &mut known).await? {
                None => {
                    (next, back) = (end, None);
                    self.reach = (self.reach * 2).min(MOST_CASES);
                }
                Some((at, error)) => {
                    self.reach = (self.reach / 2).max(FEWEST_CASES);
                    (next, back) = self.refused(&message.parts[at], error, cases, &steps, job, &mut known).await?;
                }
            }
        }
        Ok(known.into_iter().map(Known::ran).collect())
    }

    /// What to go on with after a refusal, and what to take back before.
    async fn refused(
        &mut self,
        (part, step): &(Part, usize),
        error: sqlx::Error,
        cases: &[&Case],
        steps: &[Step],
        job: &PgJob<'_>,
        known: &mut [Known],
    ) -> Result<(usize, Option<&'static str>), Failure> {
        match (part, &steps[*step]) {
            (Part::Own { case }, _) => {
                known[*case].result = Some(Err(super::fault(error)));
                Ok((step + 1, Some("ROLLBACK TO statement")))
            }
            (Part::Rows, Step::Fill { case, count }) => {
                let rows = self.refused_rows(job.subject, cases[*case], error).await?;
                if rows.is_empty() {
                    return Ok((*step, Some("ROLLBACK TO filling")));
                }
                known[*case..case + count].iter_mut().for_each(|known| known.refused = Some(rows.clone()));
                // Behind the statements and what they left, and the end.
                Ok((step + 2 * count + 2, Some("ROLLBACK TO filling")))
            }
            (Part::Table { table, .. }, _) => {
                Err(Failure::engine(format!("read {} on Postgres", job.subject.compared[*table].name))(error))
            }
            (Part::Taken { table, .. }, _) => Err(Failure::engine(format!("number {table} on Postgres"))(error)),
            (Part::Beside(what), _) => Err(Failure::engine(*what)(error)),
            (Part::Rows, _) => Err(Failure::engine(TALKING)(error)),
        }
    }

    /// Which of the rows do not go in, one after the other.
    async fn refused_rows(
        &mut self,
        subject: &Subject,
        case: &Case,
        error: sqlx::Error,
    ) -> Result<Vec<(String, usize)>, Failure> {
        let talking = || Failure::engine("find the rows that Postgres refuses");
        self.plain("ROLLBACK TO filling").await.map_err(talking())?;
        let fillings = subject.fillings(case, Dialect::Pg, |_| true);
        let texts: Vec<&str> = fillings.iter().map(|filling| filling.sql.as_str()).collect();
        let refused: Vec<i32> = sqlx::query_scalar(schema::REFUSED_CALL)
            .bind(texts)
            .fetch_one(&mut self.connection)
            .await
            .map_err(talking())?;
        let place = |at: &i32| {
            let filling = fillings.get(usize::try_from(at - 1).ok()?)?;
            Some((filling.table.clone(), filling.rows.start))
        };
        let rows: Vec<(String, usize)> = refused.iter().filter_map(place).collect();
        let tables: BTreeSet<String> = case.rows.keys().cloned().collect();
        if rows.is_empty() && tables.is_subset(&self.schema.apart) {
            return Err(talking()(error));
        }
        // What each alone goes in and not together goes in one by one from now on.
        if rows.is_empty() {
            self.schema.apart.extend(tables);
        }
        Ok(rows)
    }

    /// The steps that go into one message, and the step behind them.
    #[expect(clippy::too_many_arguments, reason = "it is one loop over what the caller holds")]
    fn message(
        &mut self,
        job: &PgJob<'_>,
        cases: &[&Case],
        sent: &[Sent],
        steps: &[Step],
        first: usize,
        back: Option<&str>,
        known: &mut [Known],
    ) -> (Message, usize) {
        let mut message = Message::default();
        if let Some(back) = back {
            message.add(first, Part::Beside("roll back on Postgres"), back);
        }
        let mut tried = 0;
        for (step, at) in steps.iter().zip(first..) {
            match step {
                Step::Fill { .. } | Step::Try { .. } if tried >= self.reach || message.is_full() => {
                    return (message, at);
                }
                Step::Fill { case, .. } => self.fill(job, cases[*case], at, &mut message),
                Step::Try { case, is_first } => {
                    tried += 1;
                    if !is_first {
                        message.add(at, Part::Beside("roll back on Postgres"), "ROLLBACK TO statement");
                    }
                    for sql in job.numbers(&self.schema, cases[*case]) {
                        message.add(at, Part::Beside("set where Postgres numbers from"), &sql);
                    }
                    match &sent[*case] {
                        Sent::Text(text) => {
                            if self.is_elsewhere {
                                message.add(at, Part::Beside("go to another zone on Postgres"), PgJob::ELSEWHERE);
                            }
                            message.add(at, Part::Own { case: *case }, text);
                        }
                        Sent::Refused(fault) => known[*case].result = Some(Err(fault.clone())),
                    }
                }
                Step::Look { case } => look(job, *case, known[*case].has_failed(), at, &mut message),
                Step::End => message.add(at, Part::Beside("roll back on Postgres"), "ROLLBACK TO filling"),
            }
        }
        (message, first + steps.len())
    }

    fn fill(&mut self, job: &PgJob<'_>, case: &Case, step: usize, message: &mut Message) {
        if !self.is_settled {
            for filling in job.subject.fillings(case, Dialect::Pg, |table| self.schema.apart.contains(table)) {
                self.filled += filling.rows.len();
                message.add(step, Part::Rows, &filling.sql);
            }
            for sql in &job.clearings {
                let what = "take out impossible rows on Postgres, as `[prove.impossible]` says";
                message.add(step, Part::Beside(what), sql);
            }
        }
        message.add(step, Part::Beside("begin on Postgres"), "SAVEPOINT statement");
    }

    /// Sends a message and takes in what the server answers, up to the statement that it refuses.
    async fn send(
        &mut self,
        message: &Message,
        job: &PgJob<'_>,
        known: &mut [Known],
    ) -> Result<Option<(usize, sqlx::Error)>, Failure> {
        let counts = job.subject.columns.is_empty() && !job.subject.is_partial;
        let types = &self.schema.types;
        let mut answers = self.connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(message.text.clone())));
        let (mut at, mut rows) = (0, Ok(Rows::new()));
        loop {
            match answers.try_next().await {
                Ok(Some(Either::Right(row))) => {
                    if let Ok(found) = &mut rows {
                        match values(types, &row) {
                            // More would only fill the memory.
                            Ok(row) if found.len() <= MOST_ROWS => found.push(row),
                            Ok(_) => {}
                            Err(words) => rows = Err(words),
                        }
                    }
                }
                Ok(Some(Either::Left(done))) => {
                    let rows = std::mem::replace(&mut rows, Ok(Rows::new()));
                    if let Some((part, _)) = message.parts.get(at) {
                        let count = counts.then_some(done.rows_affected());
                        take(part, rows, count, known)?;
                    }
                    at += 1;
                }
                Ok(None) => return Ok(None),
                Err(error) if error.as_database_error().is_some() && at < message.parts.len() => {
                    return Ok(Some((at, error)));
                }
                Err(error) => return Err(Failure::engine(TALKING)(error)),
            }
        }
    }

    /// Frees the room of rows that were taken back, which every later case would read over.
    async fn sweep(&mut self) -> Result<(), Failure> {
        if self.filled < SWEPT {
            return Ok(());
        }
        self.filled = 0;
        let failed = || Failure::engine("sweep the tables of Postgres");
        let full: Option<String> =
            sqlx::query_scalar(schema::FULL).fetch_one(&mut self.connection).await.map_err(failed())?;
        match full {
            Some(tables) => self.plain(&format!("VACUUM {tables}")).await.map_err(failed()),
            None => Ok(()),
        }
    }

    async fn plain(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        self.connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(|_| ())
    }
}

/// A row as the server sent it.
fn values(types: &PgTypes, row: &PgRow) -> Result<Vec<Value>, String> {
    let value = |at| {
        let raw = row.try_get_raw(at).map_err(|error| error.to_string())?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        let number = raw.type_info().oid().map_or(0, |oid| oid.0);
        types.value(number, raw.as_str().map_err(|error| error.to_string())?)
    };
    (0..row.len()).map(value).collect()
}

fn look(job: &PgJob<'_>, case: usize, has_failed: bool, step: usize, message: &mut Message) {
    if job.subject.writes {
        for (table, select) in job.tables.iter().enumerate() {
            message.add(step, Part::Table { case, table }, select);
        }
    }
    for (table, select) in job.taken.iter().filter(|_| !has_failed) {
        message.add(step, Part::Taken { case, table: table.clone() }, select);
    }
}

/// Takes in what a statement of a message gave; with a count where the statement's rows do not matter.
fn take(part: &Part, rows: Result<Rows, String>, count: Option<u64>, known: &mut [Known]) -> Result<(), Failure> {
    match (part, rows, count) {
        (Part::Beside(_) | Part::Rows, ..) => {}
        (Part::Own { case }, _, Some(count)) => known[*case].result = Some(Ok((Rows::new(), count))),
        (Part::Own { case }, Ok(rows), None) => known[*case].result = Some(Ok((rows, 0))),
        (Part::Own { case }, Err(words), None) => known[*case].result = Some(Err(Fault::of(words))),
        (Part::Table { case, .. }, Ok(rows), _) => known[*case].tables.push(rows),
        (Part::Table { .. }, Err(message), _) => {
            return Err(Failure::Table { what: "read a table on Postgres".to_owned(), message });
        }
        (Part::Taken { case, table }, rows, _) => {
            if rows.is_ok_and(|rows| !rows.is_empty()) {
                known[*case].taken.insert(table.clone());
            }
        }
    }
    Ok(())
}
