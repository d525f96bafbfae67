//! Runs cases on Postgres, in a scratch database that every case leaves as it was.

use std::collections::{BTreeMap, BTreeSet};

use diglot::Inputs;
use diglot::dialect::Dialect;
use diglot::prove::{Answer, Case, NEW_IDS, Rows, Subject};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};

use super::{Ran, arguments, values, words};
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::pg as prepare;

pub(super) struct Pg {
    connection: PgConnection,
    /// The sequence that numbers the rows of a table.
    sequences: BTreeMap<String, String>,
}

/// Base tables that are no partitions of others.
const TABLES: &str = "SELECT lower(c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition";

impl Pg {
    /// A connection to the scratch database, with the project's schema in it.
    pub(super) async fn open(inputs: &Inputs, host: &Host) -> Result<Self, Failure> {
        let mut connection = host.scratch.connect().await?;
        prepare::migrate(&mut connection, inputs).await?;
        let mut pg = Self { connection, sequences: BTreeMap::new() };
        let tables = pg.tables().await?;
        if !tables.is_empty() {
            let list: Vec<String> = tables.iter().map(|table| format!("\"{table}\"")).collect();
            pg.plain(&format!("TRUNCATE {} CASCADE", list.join(", ")))
                .await
                .map_err(Failure::engine("empty the tables of Postgres"))?;
        }
        let owned = "SELECT lower(t.relname), s.oid::regclass::text FROM pg_class AS s \
            JOIN pg_depend AS d ON d.objid = s.oid AND d.deptype IN ('a', 'i') JOIN pg_class AS t ON t.oid = d.refobjid \
            WHERE s.relkind = 'S'";
        let sequences: Vec<(String, String)> = sqlx::query_as(owned)
            .fetch_all(&mut pg.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))?;
        pg.sequences = sequences.into_iter().collect();
        Ok(pg)
    }

    /// The same in a database that somebody else's schema was in.
    #[cfg(test)]
    pub(super) async fn open_again(inputs: &Inputs, host: &Host) -> Result<Self, Failure> {
        let mut connection = host.scratch.connect().await?;
        let clear = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
        connection.execute(sqlx::raw_sql(AssertSqlSafe(clear))).await.map_err(Failure::engine("clear the database"))?;
        drop(connection);
        Self::open(inputs, host).await
    }

    async fn tables(&mut self) -> Result<Vec<String>, Failure> {
        sqlx::query_scalar(TABLES)
            .fetch_all(&mut self.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))
    }

    /// What views read and triggers may write.
    pub(super) async fn relations(&mut self) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
        let query = "SELECT lower(t.relname), lower(pg_get_functiondef(g.tgfoid)) FROM pg_trigger AS g \
            JOIN pg_class AS t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal AND NOT t.relispartition \
            UNION ALL SELECT lower(viewname), lower(definition) FROM pg_views WHERE schemaname = current_schema()";
        let texts: Vec<(String, String)> = sqlx::query_as(query)
            .fetch_all(&mut self.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))?;
        let tables = self.tables().await?;
        Ok(super::report::mentioned(&tables, &texts))
    }

    /// Runs a case and takes it back.
    pub(super) async fn run(&mut self, subject: &Subject, case: &Case) -> Result<Ran, Failure> {
        let ran = self.inside(subject, case).await;
        self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
        ran
    }

    async fn inside(&mut self, subject: &Subject, case: &Case) -> Result<Ran, Failure> {
        let inserts = subject.inserts(case, Dialect::Pg);
        let numbers =
            subject.tables.iter().chain(&subject.compared).filter_map(|table| self.sequences.get(&table.name));
        let mut all: Vec<String> = vec!["BEGIN".into(), "SET CONSTRAINTS ALL IMMEDIATE".into()];
        all.extend(inserts.iter().map(|(.., sql)| sql.clone()));
        all.extend(numbers.map(|sequence| format!("SELECT setval('{sequence}', {NEW_IDS}, false)")));
        if let Err(error) = self.plain(&all.join("; ")).await {
            self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
            return self.refused(&inserts, error).await;
        }
        for sql in subject.clearings() {
            self.plain(&sql)
                .await
                .map_err(Failure::engine("take out impossible rows on Postgres, as `[prove.impossible]` says"))?;
        }
        let result = self.statement(subject, case).await;
        let mut tables = Vec::new();
        if subject.writes && result.is_ok() {
            for table in &subject.compared {
                let rows = self.rows(&table.select(Dialect::Pg)).await;
                tables.push(rows.map_err(Failure::engine(format!("read {} on Postgres", table.name)))?);
            }
        }
        Ok(Ran::Answered(Answer { result, tables }))
    }

    /// Which of the rows do not go in, one after the other.
    async fn refused(&mut self, inserts: &[(String, usize, String)], error: sqlx::Error) -> Result<Ran, Failure> {
        let talking = "find the rows that Postgres refuses";
        self.plain("BEGIN").await.map_err(Failure::engine(talking))?;
        let mut refused = Vec::new();
        for (table, at, sql) in inserts {
            self.plain("SAVEPOINT row").await.map_err(Failure::engine(talking))?;
            if self.plain(sql).await.is_err() {
                self.plain("ROLLBACK TO row").await.map_err(Failure::engine(talking))?;
                refused.push((table.clone(), *at));
            }
        }
        if refused.is_empty() {
            return Err(Failure::engine(talking)(error));
        }
        Ok(Ran::Refused(refused))
    }

    async fn statement(&mut self, subject: &Subject, case: &Case) -> Result<(Rows, u64), String> {
        let Some([_, text]) = subject.variant(case) else { return Err("no such variant".into()) };
        let arguments = arguments::pg(text, case).map_err(|error| error.to_string())?;
        let query = sqlx::query_with(AssertSqlSafe(text.sql.clone()), arguments);
        if subject.columns.is_empty() {
            let done = query.execute(&mut self.connection).await.map_err(words)?;
            return Ok((Vec::new(), done.rows_affected()));
        }
        let rows = query.fetch_all(&mut self.connection).await.map_err(words)?;
        let rows: Result<Rows, sqlx::Error> = rows.iter().map(values::of_pg).collect();
        Ok((rows.map_err(words)?, 0))
    }

    async fn rows(&mut self, sql: &str) -> Result<Rows, sqlx::Error> {
        let rows = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.connection).await?;
        rows.iter().map(values::of_pg).collect()
    }

    async fn plain(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        self.connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(|_| ())
    }
}
