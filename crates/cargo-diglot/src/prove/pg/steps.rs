//! Migrations of Postgres on rows.

use std::collections::BTreeSet;

use diglot::Inputs;
use diglot::dialect::Dialect;
use diglot::prove::{Answer, Case, Fault, Rows, Subject};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _};

use super::schema::Schema;
use super::text::Types;
use super::{Pg, Ran};
use crate::failure::Failure;
use crate::prepare::pg as prepare;

const TALKING: &str = "run migrations on Postgres";

impl Pg {
    /// A connection to a database without tables.
    pub(in crate::prove) async fn empty(mut connection: PgConnection, inputs: &Inputs) -> Result<Self, Failure> {
        prepare::settings(&mut connection, inputs).await?;
        Self::open(connection, inputs).await
    }

    /// Runs migrations for good; what they put into tables goes.
    pub(in crate::prove) async fn take(
        &mut self,
        texts: &[&str],
        inputs: &Inputs,
    ) -> Result<Result<(), Fault>, Failure> {
        for text in texts {
            if let Err(refusal) = prepare::apply(&mut self.connection, text).await {
                return Ok(Err(Fault::of(refusal?.into_message())));
            }
        }
        super::schema::emptied(&mut self.connection).await?;
        self.schema = Schema::read(&mut self.connection, inputs).await?;
        Ok(Ok(()))
    }

    /// Runs migrations on a case's rows and takes all of it back: what the tables hold behind them, or why they end.
    pub(in crate::prove) async fn step(
        &mut self,
        before: &Subject,
        case: &Case,
        texts: &[&str],
        after: &Subject,
    ) -> Result<Ran, Failure> {
        let begin = "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT filling";
        self.plain(begin).await.map_err(Failure::engine("begin on Postgres"))?;
        let ran = self.stepped(before, case, texts, after).await;
        self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
        ran
    }

    async fn stepped(
        &mut self,
        before: &Subject,
        case: &Case,
        texts: &[&str],
        after: &Subject,
    ) -> Result<Ran, Failure> {
        for filling in before.fillings(case, Dialect::Pg, |table| self.schema.apart.contains(table)) {
            if let Err(error) = self.plain(&filling.sql).await {
                return Ok(Ran::Refused(self.refused_rows(before, case, error).await?));
            }
        }
        for sql in &self.job(before).clearings {
            let what = "take out impossible rows on Postgres, as `[prove.impossible]` says";
            self.plain(sql).await.map_err(Failure::engine(what))?;
        }
        let mut result = Ok((Rows::new(), 0));
        for text in texts {
            match self.plain(text).await {
                Ok(()) => {}
                Err(error) if error.as_database_error().is_some() => {
                    result = Err(crate::prove::fault(error));
                    break;
                }
                Err(error) => return Err(Failure::engine(TALKING)(error)),
            }
        }
        let mut tables = Vec::new();
        if result.is_ok() {
            // A migration may have made the schema that its tables are in.
            super::schema::look_everywhere(&mut self.connection).await?;
            let types = sqlx::query_as(Types::QUERY).fetch_all(&mut self.connection).await;
            let types = Types::new(types.map_err(Failure::engine(TALKING))?);
            for table in &after.compared {
                let what = || format!("read {} on Postgres", table.name);
                let select = sqlx::raw_sql(AssertSqlSafe(table.select(Dialect::Pg)));
                let rows = self.connection.fetch_all(select).await.map_err(Failure::engine(what()))?;
                let rows: Result<Rows, String> = rows.iter().map(|row| types.row(row)).collect();
                tables.push(rows.map_err(|message| Failure::Table { what: what(), message })?);
            }
        }
        Ok(Ran::Answered(Answer { result, tables, taken: BTreeSet::new(), manner: "" }))
    }
}
