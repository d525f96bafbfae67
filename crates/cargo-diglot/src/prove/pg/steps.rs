//! Migrations of Postgres on rows.

use std::collections::BTreeSet;

use diglot::dialect::Dialect;
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{Answer, Case, Fault, NEW_IDS, PgJob, PgSchema, PgTypes, Ran, Rows, Subject, as_sent_to_pg};
use futures_util::TryStreamExt as _;
use sea_query::{Expr, ExprTrait as _, Func, PostgresQueryBuilder, Query};
use sqlx::postgres::{PgConnection, PgRow, PgTypeInfo};
use sqlx::{
    AssertSqlSafe, Column as _, Connection as _, Either, Executor as _, Row as _, SqlSafeStr as _, Statement as _,
};

use super::schema::{self, REFERENCES};
use super::{BEGIN, Pg, Refused, values};
use crate::failure::Failure;
use crate::prepare::pg as prepare;
use crate::prove::engines::Reference;

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
            schema::emptied(&mut self.connection).await?;
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
        self.schema = schema::read(&mut self.connection, inputs).await?;
        Ok(Ok(()))
    }

    /// Puts a case's rows there to stay, for all cases that follow; those that do not go in, and then none does.
    pub(in crate::prove) async fn settle(&mut self, subject: &Subject, case: &Case) -> Result<Refused, Failure> {
        let refused = self.begun_with(subject, case).await?;
        let end = if refused.is_ok() { "COMMIT" } else { "ROLLBACK" };
        self.plain(end).await.map_err(Failure::engine("fill Postgres"))?;
        self.is_settled = refused.is_ok();
        Ok(refused)
    }

    /// Begins a transaction and puts a case's rows there, in one message.
    async fn begun_with(&mut self, subject: &Subject, case: &Case) -> Result<Refused, Failure> {
        let sequence = Expr::col("seqrelid").cast_as("regclass");
        let number = Query::select()
            .expr(Func::cust("setval").arg(sequence).arg(NEW_IDS).arg(false))
            .from("pg_sequence")
            .and_where(Expr::col("seqmax").gt(NEW_IDS))
            .and_where(Expr::col("seqincrement").gt(0))
            .to_string(PostgresQueryBuilder);
        let mut message = format!("{BEGIN}; {number}");
        for filling in subject.fillings(case, Dialect::Pg, |table| self.schema.apart.contains(table)) {
            message.push_str(&format!(";\n{}", filling.sql));
        }
        if let Err(error) = self.plain(&message).await {
            if error.as_database_error().is_none() {
                return Err(Failure::engine(TALKING)(error));
            }
            return Ok(Err(self.refused_rows(subject, case, error).await?));
        }
        for sql in &PgJob::new(subject, &self.schema).clearings {
            let what = "take out impossible rows on Postgres, as `[prove.impossible]` says";
            self.plain(sql).await.map_err(Failure::engine(what))?;
        }
        Ok(Ok(()))
    }

    /// What the tables hold that a subject looks at.
    pub(in crate::prove) async fn rows(&mut self, subject: &Subject) -> Result<Vec<Rows>, Failure> {
        let what = || "read the tables on Postgres".to_owned();
        let selects = subject.compared.iter().map(|table| table.select(Dialect::Pg));
        // A migration may have made the schema that its tables are in.
        let message =
            std::iter::once(PgSchema::LOOK_EVERYWHERE.to_owned()).chain(selects).collect::<Vec<_>>().join(";\n");
        let mut found: Vec<Vec<PgRow>> = vec![Vec::new()];
        let mut answers = self.connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(message)));
        while let Some(answer) = answers.try_next().await.map_err(Failure::engine(what()))? {
            match answer {
                Either::Left(_) => found.push(Vec::new()),
                Either::Right(row) => {
                    if let Some(rows) = found.last_mut() {
                        rows.push(row);
                    }
                }
            }
        }
        drop(answers);
        let found: Vec<Vec<PgRow>> = found.into_iter().skip(1).take(subject.compared.len()).collect();
        // So may it have made their types.
        let mut types = None;
        if found.iter().filter_map(|rows| rows.first()).any(|row| !knows(&self.schema.types, row)) {
            let known = sqlx::query_as(PgTypes::QUERY).fetch_all(&mut self.connection).await;
            types = Some(PgTypes::new(known.map_err(Failure::engine(TALKING))?));
        }
        let types = types.as_ref().unwrap_or(&self.schema.types);
        let row = |row: &PgRow| values(types, row).map_err(|message| Failure::Table { what: what(), message });
        found.iter().map(|rows| rows.iter().map(row).collect::<Result<Rows, Failure>>()).collect()
    }

    /// Where rows refer to others, and what goes with those.
    pub(in crate::prove) async fn references(&mut self) -> Result<BTreeSet<Reference>, Failure> {
        let found = sqlx::query_as(REFERENCES).fetch_all(&mut self.connection).await;
        let found: Vec<(String, String, String, String)> = found.map_err(Failure::engine(TALKING))?;
        Ok(found.into_iter().collect())
    }

    /// The names and types of the columns that a text gives; none where it is refused.
    pub(in crate::prove) async fn columns(&mut self, subject: &Subject, text: &EmittedText) -> Vec<(String, String)> {
        let info = |param| {
            as_sent_to_pg(subject, param).map_or(PgTypeInfo::with_oid(prepare::FOUND_OUT), |it| prepare::type_of(&it))
        };
        let types: Vec<PgTypeInfo> = text.params.iter().map(info).collect();
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
        if let Err(refused) = self.begun_with(before, case).await? {
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
        let tables = if result.is_ok() { self.rows(after).await? } else { Vec::new() };
        Ok(Ran::Answered(Answer { result, tables, taken: BTreeSet::new(), manner: "" }))
    }
}

/// Whether all types of a row are known.
fn knows(types: &PgTypes, row: &PgRow) -> bool {
    row.columns().iter().all(|column| types.know(column.type_info().oid().map_or(0, |oid| oid.0)))
}
