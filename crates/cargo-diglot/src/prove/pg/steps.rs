//! Migrations of Postgres on rows.

use std::collections::BTreeSet;

use diglot::dialect::Dialect;
use diglot::prove::{Answer, Case, Fault, NEW_IDS, Rows, Subject};
use diglot::{EmittedText, Inputs};
use sea_query::{Expr, ExprTrait as _, Func, PostgresQueryBuilder, Query};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Column as _, Connection as _, Executor as _, SqlSafeStr as _, Statement as _};

use super::schema::Schema;
use super::text::Types;
use super::{Pg, Ran, Refused, arguments};
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
        let taken = self.go_on(texts, inputs).await?;
        if taken.is_ok() {
            super::schema::emptied(&mut self.connection).await?;
        }
        Ok(taken)
    }

    /// Runs migrations on the rows that are there. What was prepared is forgotten, as if a program came anew.
    pub(in crate::prove) async fn go_on(
        &mut self,
        texts: &[&str],
        inputs: &Inputs,
    ) -> Result<Result<(), Fault>, Failure> {
        for text in texts {
            if let Err(refusal) = prepare::apply(&mut self.connection, text).await {
                return Ok(Err(Fault::of(refusal?.into_message())));
            }
        }
        self.prepared.clear();
        self.connection.clear_cached_statements().await.map_err(Failure::engine(TALKING))?;
        self.plain("DEALLOCATE ALL").await.map_err(Failure::engine(TALKING))?;
        self.schema = Schema::read(&mut self.connection, inputs).await?;
        Ok(Ok(()))
    }

    /// Puts a case's rows there to stay, for all cases that follow; those that do not go in, and then none does.
    pub(in crate::prove) async fn settle(&mut self, subject: &Subject, case: &Case) -> Result<Refused, Failure> {
        self.begin().await?;
        let refused = self.put(subject, case).await?;
        let end = if refused.is_ok() { "COMMIT" } else { "ROLLBACK" };
        self.plain(end).await.map_err(Failure::engine("fill Postgres"))?;
        self.is_settled = refused.is_ok();
        Ok(refused)
    }

    /// Puts a case's rows there, within a transaction.
    async fn put(&mut self, subject: &Subject, case: &Case) -> Result<Refused, Failure> {
        let sequence = Expr::col("seqrelid").cast_as("regclass");
        let number = Query::select()
            .expr(Func::cust("setval").arg(sequence).arg(NEW_IDS).arg(false))
            .from("pg_sequence")
            .and_where(Expr::col("seqmax").gt(NEW_IDS))
            .and_where(Expr::col("seqincrement").gt(0))
            .to_string(PostgresQueryBuilder);
        self.plain(&number).await.map_err(Failure::engine("set where Postgres numbers from"))?;
        for filling in subject.fillings(case, Dialect::Pg, |table| self.schema.apart.contains(table)) {
            if let Err(error) = self.plain(&filling.sql).await {
                return Ok(Err(self.refused_rows(subject, case, error).await?));
            }
        }
        for sql in &self.job(subject).clearings {
            let what = "take out impossible rows on Postgres, as `[prove.impossible]` says";
            self.plain(sql).await.map_err(Failure::engine(what))?;
        }
        Ok(Ok(()))
    }

    /// What the tables hold that a subject looks at.
    pub(in crate::prove) async fn rows(&mut self, subject: &Subject) -> Result<Vec<Rows>, Failure> {
        super::schema::look_everywhere(&mut self.connection).await?;
        let types = sqlx::query_as(Types::QUERY).fetch_all(&mut self.connection).await;
        let types = Types::new(types.map_err(Failure::engine(TALKING))?);
        let mut tables = Vec::new();
        for table in &subject.compared {
            let what = || format!("read {} on Postgres", table.name);
            let select = sqlx::raw_sql(AssertSqlSafe(table.select(Dialect::Pg)));
            let rows = self.connection.fetch_all(select).await.map_err(Failure::engine(what()))?;
            let rows: Result<Rows, String> = rows.iter().map(|row| types.row(row)).collect();
            tables.push(rows.map_err(|message| Failure::Table { what: what(), message })?);
        }
        Ok(tables)
    }

    /// The names and types of the columns that a text gives; none where it is refused.
    pub(in crate::prove) async fn columns(&mut self, subject: &Subject, text: &EmittedText) -> Vec<(String, String)> {
        let types = arguments::pg_infos(subject, text);
        let sql = AssertSqlSafe(text.sql.clone()).into_sql_str();
        let Ok(statement) = self.connection.prepare_with(sql, &types).await else { return Vec::new() };
        let columns = statement.columns().iter();
        columns.map(|column| (column.name().to_owned(), column.type_info().to_string())).collect()
    }

    /// Runs migrations on a case's rows and takes all of it back: what the tables hold behind them, or why they end.
    pub(in crate::prove) async fn step(
        &mut self,
        before: &Subject,
        case: &Case,
        texts: &[&str],
        after: &Subject,
    ) -> Result<Ran, Failure> {
        self.begin().await?;
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
        if let Err(refused) = self.put(before, case).await? {
            return Ok(Ran::Refused(refused));
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
        // A migration may have made the schema that its tables are in.
        let tables = if result.is_ok() { self.rows(after).await? } else { Vec::new() };
        Ok(Ran::Answered(Answer { result, tables, taken: BTreeSet::new(), manner: "" }))
    }
}
