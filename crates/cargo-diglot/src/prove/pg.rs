//! Runs cases on Postgres, in a scratch database that every case leaves as it was.

use std::collections::{BTreeMap, BTreeSet};

use diglot::dialect::{Both, Dialect};
use diglot::prove::{Answer, Case, Fault, NEW_IDS, Rows, Subject};
use diglot::{EmittedText, Inputs};
use sea_query::{Expr, ExprTrait as _, Func, PostgresQueryBuilder, Query};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};

use super::{Ran, arguments, fault};
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::pg as prepare;
use crate::values;

pub(super) struct Pg {
    connection: PgConnection,
    /// What fills columns with new numbers: the table, the column, the sequence.
    sequences: Vec<(String, String, String)>,
}

/// Sequences that belong to a column, and others that its default asks.
const SEQUENCES: &str = "SELECT lower(t.relname), lower(a.attname), s.oid::regclass::text FROM pg_class AS s \
    JOIN pg_depend AS d ON d.objid = s.oid AND d.deptype IN ('a', 'i') JOIN pg_class AS t ON t.oid = d.refobjid \
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid WHERE s.relkind = 'S' \
    UNION SELECT lower(t.relname), lower(a.attname), s.oid::regclass::text FROM pg_attrdef AS f \
    JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass \
    JOIN pg_class AS s ON s.oid = d.refobjid AND s.relkind = 'S' JOIN pg_class AS t ON t.oid = f.adrelid \
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = f.adnum ORDER BY 1, 2, 3";

/// The schemas that a project made, those first in which names without one are found.
const SCHEMAS: &str = "SELECT string_agg(quote_ident(nspname), ', ' ORDER BY nspname <> current_schema(), nspname) \
    FROM pg_namespace WHERE nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_')";

/// Base tables that are no partitions of others.
const TABLES: &str = "SELECT lower(c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE n.nspname = ANY (current_schemas(false)) AND c.relkind IN ('r', 'p') AND NOT c.relispartition";

impl Pg {
    /// A connection to the scratch database, with the project's schema in it.
    pub(super) async fn open(inputs: &Inputs, host: &Host) -> Result<Self, Failure> {
        let mut connection = host.scratch.connect().await?;
        prepare::migrate(&mut connection, inputs).await?;
        let mut pg = Self { connection, sequences: Vec::new() };
        // Rows are put into tables by their names alone, whatever schema they are in.
        let schemas: Option<String> = sqlx::query_scalar(SCHEMAS)
            .fetch_one(&mut pg.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))?;
        if let Some(schemas) = schemas {
            pg.plain(&format!("SET search_path = {schemas}"))
                .await
                .map_err(Failure::engine("look into the schemas"))?;
        }
        let tables = pg.tables().await?;
        if !tables.is_empty() {
            let list: Vec<String> = tables.iter().map(|table| format!("\"{table}\"")).collect();
            pg.plain(&format!("TRUNCATE {} CASCADE", list.join(", ")))
                .await
                .map_err(Failure::engine("empty the tables of Postgres"))?;
        }
        pg.sequences = sqlx::query_as(SEQUENCES)
            .fetch_all(&mut pg.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))?;
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

    /// Its name with its version.
    pub(super) fn version(&self) -> String {
        prepare::named(&self.connection)
    }

    /// What views read and triggers may write.
    pub(super) async fn relations(&mut self) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
        let query = "SELECT lower(t.relname), lower(pg_get_functiondef(g.tgfoid)) FROM pg_trigger AS g \
            JOIN pg_class AS t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal AND NOT t.relispartition \
            UNION ALL SELECT lower(viewname), lower(definition) FROM pg_views WHERE schemaname = ANY (current_schemas(false))";
        let texts: Vec<(String, String)> = sqlx::query_as(query)
            .fetch_all(&mut self.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))?;
        let tables = self.tables().await?;
        Ok(super::report::mentioned(&tables, &texts))
    }

    /// The words of the enums that columns are made of.
    pub(super) async fn words(&mut self) -> Result<BTreeMap<(String, String), Vec<String>>, Failure> {
        let query = "SELECT lower(c.relname), lower(a.attname), e.enumlabel::text FROM pg_enum AS e \
            JOIN pg_attribute AS a ON a.atttypid = e.enumtypid AND NOT a.attisdropped \
            JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND NOT c.relispartition \
            ORDER BY e.enumsortorder";
        let labels: Vec<(String, String, String)> = sqlx::query_as(query)
            .fetch_all(&mut self.connection)
            .await
            .map_err(Failure::engine("read the schema of Postgres"))?;
        let mut words: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for (table, column, label) in labels {
            words.entry((table, column)).or_default().push(label);
        }
        Ok(words)
    }

    /// Runs a case and takes it back.
    pub(super) async fn run(&mut self, subject: &Subject, case: &Case) -> Result<Ran, Failure> {
        let ran = self.inside(subject, case).await;
        self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
        ran
    }

    async fn inside(&mut self, subject: &Subject, case: &Case) -> Result<Ran, Failure> {
        let inserts = subject.inserts(case, Dialect::Pg);
        let numbers = subject.tables.iter().chain(&subject.compared).flat_map(|table| {
            // Where a statement gives the numbers itself, the sequence goes on behind the rows that are there.
            let own = subject.numbers.contains(&table.name);
            let behind = case.rows.get(&table.name).map_or(0, Vec::len) as i64 + 1;
            let of_table = self.sequences.iter().filter(|(of, ..)| *of == table.name);
            of_table.map(move |(_, column, sequence)| {
                let next = if own && table.numbered() == Some(column.as_str()) { behind } else { NEW_IDS };
                let set = Func::cust("setval").arg(sequence.as_str()).arg(next).arg(false);
                Query::select().expr(set).to_string(PostgresQueryBuilder)
            })
        });
        // What an earlier case drew from a sequence is no business of this one.
        let mut all: Vec<String> =
            ["BEGIN", "SET CONSTRAINTS ALL IMMEDIATE", "DISCARD SEQUENCES"].map(str::to_owned).to_vec();
        all.extend(inserts.iter().map(|(.., sql)| sql.clone()));
        all.extend(numbers);
        if let Err(error) = self.plain(&all.join("; ")).await {
            self.plain("ROLLBACK").await.map_err(Failure::engine("roll back on Postgres"))?;
            return self.refused(&inserts, error).await;
        }
        for sql in subject.clearings() {
            // A row that goes may make another one impossible, and each engine looks at them in its own order.
            while self
                .plain(&sql)
                .await
                .map_err(Failure::engine("take out impossible rows on Postgres, as `[prove.impossible]` says"))?
                > 0
            {}
        }
        if subject.writes {
            self.plain("SAVEPOINT statement").await.map_err(Failure::engine("begin on Postgres"))?;
        }
        let result = self.statement(subject, case).await;
        let (mut tables, mut taken) = (Vec::new(), BTreeSet::new());
        if subject.writes {
            if result.is_err() {
                self.plain("ROLLBACK TO statement").await.map_err(Failure::engine("roll back on Postgres"))?;
            }
            for table in &subject.compared {
                let rows = self.rows(&table.select(Dialect::Pg)).await;
                tables.push(rows.map_err(Failure::engine(format!("read {} on Postgres", table.name)))?);
            }
        }
        for table in subject.compared.iter().filter(|table| result.is_ok() && subject.numbers.contains(&table.name)) {
            let name = &table.name;
            let Some(number) = table.numbered() else { continue };
            let own = self.sequences.iter().find(|(of, column, _)| of == name && *column == *number);
            let Some((.., sequence)) = own else { continue };
            let next = Query::select().expr(Func::cust("nextval").arg(sequence.as_str())).take();
            let mut numbered = Query::select();
            numbered.expr(Expr::cust("1")).from(name.clone()).and_where(Expr::col(number.to_owned()).eq(next));
            let rows = self
                .rows(&numbered.to_string(PostgresQueryBuilder))
                .await
                .map_err(Failure::engine(format!("number {name} on Postgres")))?;
            if !rows.is_empty() {
                taken.insert(name.clone());
            }
        }
        Ok(Ran::Answered(Answer { result, tables, taken }))
    }

    /// Which of the rows do not go in, one after the other.
    async fn refused(&mut self, inserts: &[(String, usize, String)], error: sqlx::Error) -> Result<Ran, Failure> {
        let talking = "find the rows that Postgres refuses";
        self.plain("BEGIN; SET CONSTRAINTS ALL IMMEDIATE").await.map_err(Failure::engine(talking))?;
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

    /// Whether it takes a text for parameters of these types.
    pub(super) async fn takes(&mut self, subject: &Subject, text: &EmittedText) -> Result<(), Fault> {
        let types = arguments::pg_types(subject, text);
        let sql = AssertSqlSafe(text.sql.clone()).into_sql_str();
        (&mut self.connection).prepare_with(sql, &types).await.map(|_| ()).map_err(fault)
    }

    async fn statement(&mut self, subject: &Subject, case: &Case) -> Result<(Rows, u64), Fault> {
        let Some(Both { pg: text, .. }) = subject.variant(case) else { return Err(Fault::of("no such variant")) };
        let arguments = arguments::pg(subject, text, case).map_err(|error| Fault::of(error.to_string()))?;
        let query = sqlx::query_with(AssertSqlSafe(text.sql.clone()), arguments);
        if subject.columns.is_empty() && !subject.is_partial {
            let done = query.execute(&mut self.connection).await.map_err(fault)?;
            return Ok((Vec::new(), done.rows_affected()));
        }
        let rows = query.fetch_all(&mut self.connection).await.map_err(fault)?;
        let rows: Result<Rows, sqlx::Error> = rows.iter().map(values::of_pg).collect();
        Ok((rows.map_err(fault)?, 0))
    }

    async fn rows(&mut self, sql: &str) -> Result<Rows, sqlx::Error> {
        let rows = sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.connection).await?;
        rows.iter().map(values::of_pg).collect()
    }

    /// Runs a text and tells how many rows it wrote.
    async fn plain(&mut self, sql: &str) -> Result<u64, sqlx::Error> {
        let done = self.connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await?;
        Ok(done.rows_affected())
    }
}
