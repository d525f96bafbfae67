//! Cases of a statement that takes steps where its tables are spread: each step by itself, with what the ones before gave.

use diglot::dialect::Both;
use diglot::{EmittedText, Holds, JoinedText, RowsOf, StepsGive, StepsText};
use diglot_tools::prove::{Case, Fault, PgJob, Ran, Rows, Subject, pg_arguments};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Executor as _, Row as _, ValueRef as _};

use super::script::{Known, Message, Part};
use super::{Pg, TALKING, look, values};
use crate::failure::Failure;

/// What a step did: its rows, and how many it wrote.
type Done = (Vec<PgRow>, u64);

impl Pg {
    /// Runs cases in steps, and takes each back.
    pub(in crate::prove) async fn run_in_steps(
        &mut self,
        subject: &Subject,
        cases: &[&Case],
    ) -> Result<Vec<Ran>, Failure> {
        let job = PgJob::new(subject, &self.schema);
        let texts = subject.variants.iter().map(|texts| texts.pg.all().count()).sum();
        self.make_room(texts).await?;
        self.begin().await?;
        let mut ran = Vec::with_capacity(cases.len());
        for case in cases {
            match self.case_in_steps(&job, case).await {
                Ok(one) => ran.push(one),
                Err(failure) => {
                    self.plain("ROLLBACK").await.ok();
                    return Err(failure);
                }
            }
        }
        self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
        self.sweep().await?;
        Ok(ran)
    }

    async fn case_in_steps(&mut self, job: &PgJob<'_>, case: &Case) -> Result<Ran, Failure> {
        let mut known = [Known::default()];
        loop {
            let mut message = Message::default();
            self.fill(job, case, 0, &mut message);
            for sql in job.numbers(&self.schema, case) {
                message.add(0, Part::Beside("set where Postgres numbers from"), &sql);
            }
            match self.send(&message, job, &mut known).await? {
                None => break,
                Some((at, error)) => match &message.parts[at].0 {
                    Part::Rows => {
                        let rows = self.refused_rows(job.subject, case, error).await?;
                        self.plain("ROLLBACK TO filling").await.map_err(Failure::engine(TALKING))?;
                        if !rows.is_empty() {
                            return Ok(Ran::Refused(rows));
                        }
                    }
                    Part::Beside(what) => return Err(Failure::engine(*what)(error)),
                    _ => return Err(Failure::engine(TALKING)(error)),
                },
            }
        }
        let result = self.steps_of(job.subject, case).await?;
        let mut message = Message::default();
        if result.is_err() {
            message.add(0, Part::Beside("roll back on Postgres"), "ROLLBACK TO statement");
        }
        known[0].result = Some(result);
        look(job, 0, known[0].has_failed(), 0, &mut message);
        message.add(0, Part::Beside("roll back on Postgres"), "ROLLBACK TO filling");
        if let Some((_, error)) = self.send(&message, job, &mut known).await? {
            return Err(Failure::engine("look at the tables of Postgres")(error));
        }
        let [known] = known;
        Ok(known.ran())
    }

    /// What the steps of a case give together.
    async fn steps_of(&mut self, subject: &Subject, case: &Case) -> Result<Result<(Rows, u64), Fault>, Failure> {
        let Some(Both { pg: EmittedText { steps: Some(steps), .. }, .. }) = subject.variant(case) else {
            return Ok(Err(Fault::of("no such variant")));
        };
        let mut done: Vec<Done> = Vec::with_capacity(steps.steps.len());
        for step in &steps.steps {
            let name = match self.prepared(subject, &step.text).await? {
                Ok(name) => name,
                Err(fault) => return Ok(Err(fault)),
            };
            let given = match pg_arguments(subject, &step.text, case) {
                Ok(given) => given,
                Err(fault) => return Ok(Err(fault)),
            };
            let rows: Vec<Option<&PgRow>> = match step.each {
                Some(each) => rows_of(&done, each)?.into_iter().map(Some).collect(),
                None => vec![None],
            };
            let mut calls = Vec::with_capacity(rows.len());
            for row in rows {
                let arguments = step.text.params.iter().zip(&given).map(|(param, given)| match &param.holds {
                    Holds::Carried(place) => row.map_or_else(|| Ok("NULL".to_owned()), |row| literal(row, *place)),
                    Holds::Handed(rows, place) => array(&rows_of(&done, *rows)?, *place),
                    Holds::Value | Holds::Field(_) | Holds::Rows(_) => Ok(given.clone()),
                });
                let arguments = arguments.collect::<Result<Vec<String>, Failure>>()?.join(", ");
                let list = if arguments.is_empty() { arguments } else { format!(" ({arguments})") };
                calls.push(format!("EXECUTE {name}{list}"));
            }
            let mut of_step: Done = (Vec::new(), 0);
            for call in calls {
                match self.call(&call).await {
                    Ok((rows, count)) => {
                        of_step.0.extend(rows);
                        of_step.1 += count;
                    }
                    Err(error) if error.as_database_error().is_some() => return Ok(Err(crate::prove::fault(error))),
                    Err(error) => return Err(Failure::engine(TALKING)(error)),
                }
            }
            done.push(of_step);
        }
        self.given(steps, &done)
    }

    async fn call(&mut self, sql: &str) -> Result<Done, sqlx::Error> {
        use futures_util::TryStreamExt as _;
        let mut answers = self.connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())));
        let mut done: Done = (Vec::new(), 0);
        while let Some(answer) = answers.try_next().await? {
            match answer {
                sqlx::Either::Left(result) => done.1 += result.rows_affected(),
                sqlx::Either::Right(row) => done.0.push(row),
            }
        }
        Ok(done)
    }

    fn given(&self, steps: &StepsText, done: &[Done]) -> Result<Result<(Rows, u64), Fault>, Failure> {
        let (sources, columns) = match &steps.gives {
            StepsGive::Nothing => return Ok(Ok((Rows::new(), 0))),
            StepsGive::Count(step) => return Ok(Ok((Rows::new(), done.get(*step).map_or(0, |(_, count)| *count)))),
            StepsGive::CountOf(rows) => return Ok(Ok((Rows::new(), rows_of(done, *rows)?.len() as u64))),
            StepsGive::Rows { sources, columns } => (sources, columns),
        };
        let mut returned = Vec::with_capacity(sources.len());
        for (rows, _) in sources {
            let rows = rows_of(done, *rows)?;
            match rows.into_iter().map(|row| values(&self.schema.types, row)).collect::<Result<Rows, String>>() {
                Ok(rows) => returned.push(rows),
                Err(words) => return Ok(Err(Fault::of(words))),
            }
        }
        Ok(Ok((JoinedText::of_steps(sources, columns).rows(&returned), 0)))
    }
}

/// The rows that a step gave.
fn rows_of(done: &[Done], rows: RowsOf) -> Result<Vec<&PgRow>, Failure> {
    let Some((all, _)) = done.get(rows.step) else { return Ok(Vec::new()) };
    let Some((number, is_there)) = rows.among else { return Ok(all.iter().collect()) };
    let mut own = Vec::new();
    for row in all {
        let is_own = text(row, 0)? == Some(&number.to_string()) && text(row, is_there)?.is_some();
        own.extend(is_own.then_some(row));
    }
    Ok(own)
}

/// A value as the server wrote it; none of NULL.
fn text(row: &PgRow, place: usize) -> Result<Option<&str>, Failure> {
    let value = row.try_get_raw(place).map_err(Failure::engine(TALKING))?;
    if value.is_null() {
        return Ok(None);
    }
    value.as_str().map(Some).map_err(|error| Failure::engine(TALKING)(sqlx::Error::Decode(error)))
}

fn literal(row: &PgRow, place: usize) -> Result<String, Failure> {
    Ok(text(row, place)?.map_or_else(|| "NULL".to_owned(), |text| format!("'{}'", text.replace('\'', "''"))))
}

/// The values of rows as the literal of an array.
fn array(rows: &[&PgRow], place: usize) -> Result<String, Failure> {
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        items.push(match text(row, place)? {
            Some(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            None => "NULL".to_owned(),
        });
    }
    Ok(format!("'{{{}}}'", items.join(",").replace('\'', "''")))
}
