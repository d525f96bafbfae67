//! What is made and known of a scratch database before cases run there.

use std::collections::{BTreeMap, BTreeSet};

use diglot::Inputs;
use diglot_tools::prove::{PgSchema, PgTypes, mentioned};
use sea_query::{Expr, PostgresQueryBuilder, Query};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor};

use crate::failure::Failure;
use crate::prepare::pg as prepare;

/// The references of tables: the table, its columns in the order of their names, where they lead, and what goes with a row
/// there.
pub(super) const REFERENCES: &str = "SELECT lower(t.relname), \
        (SELECT string_agg(lower(a.attname), ', ' ORDER BY lower(a.attname)) FROM pg_attribute AS a \
          WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)), lower(p.relname), \
        CASE k.confdeltype WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set null' WHEN 'd' THEN 'set default' ELSE '' END \
    FROM pg_constraint AS k JOIN pg_class AS t ON t.oid = k.conrelid JOIN pg_class AS p ON p.oid = k.confrelid \
    WHERE k.contype = 'f' AND k.conparentid = 0";

/// Tables of the project whose files hold more than a few cases put there.
pub(super) const FULL: &str = "SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class AS c \
    JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = ANY (current_schemas(false)) \
    AND c.relkind = 'r' AND pg_relation_size(c.oid) > 65536";

/// Makes one partition of all those that a table has by the hash of a key. Whether there are many is nothing that an
/// answer shows, and the server plans for each. What says something of a single partition is left as it is, and so is
/// what it refuses.
const ONE_PARTITION: &str = "DO $diglot$ DECLARE parent record; BEGIN \
    FOR parent IN SELECT p.partrelid AS id, min(c.oid)::regclass::text AS first, \
        string_agg(c.oid::regclass::text, ', ') AS every \
        FROM pg_partitioned_table AS p JOIN pg_inherits AS i ON i.inhparent = p.partrelid \
        JOIN pg_class AS c ON c.oid = i.inhrelid WHERE p.partstrat = 'h' GROUP BY p.partrelid \
        HAVING count(*) > 1 AND bool_and(c.relkind = 'r' \
            AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k \
                             WHERE k.conrelid = c.oid AND k.conparentid = 0 AND k.coninhcount = 0) \
            AND NOT EXISTS (SELECT 1 FROM pg_trigger AS g \
                             WHERE g.tgrelid = c.oid AND g.tgparentid = 0 AND NOT g.tgisinternal)) \
    LOOP \
        BEGIN \
            EXECUTE 'DROP TABLE ' || parent.every; \
            EXECUTE format('CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS 1, REMAINDER 0)', \
                           parent.first, parent.id::regclass); \
        EXCEPTION WHEN OTHERS THEN NULL; END; \
        COMMIT; \
    END LOOP; END $diglot$";

/// Runs texts one after the other and tells which of them are refused.
const REFUSED: &str = "CREATE OR REPLACE FUNCTION pg_temp.diglot_refused(texts text[]) RETURNS integer[] LANGUAGE plpgsql AS $$ \
    DECLARE refused integer[] := '{}'; BEGIN FOR at IN 1 .. cardinality(texts) LOOP \
    BEGIN EXECUTE texts[at]; EXCEPTION WHEN OTHERS THEN refused := refused || at; END; \
    END LOOP; RETURN refused; END $$";
pub(super) const REFUSED_CALL: &str = "SELECT pg_temp.diglot_refused($1)";

const READING: &str = "read the schema of Postgres";

/// Brings the project's schema into an empty database, without the rows that its migrations put there, and with one
/// partition of many if that is asked for.
pub(super) async fn make(
    connection: &mut PgConnection,
    inputs: &Inputs,
    has_one_partition: bool,
) -> Result<(), Failure> {
    prepare::migrate(connection, inputs).await?;
    look_everywhere(connection).await?;
    let tables = tables(connection).await?;
    let Some(emptying) = PgSchema::emptying(&tables) else { return Ok(()) };
    if has_one_partition {
        plain(connection, ONE_PARTITION).await.map_err(Failure::engine("make one partition of many on Postgres"))?;
    }
    plain(connection, &emptying).await.map_err(Failure::engine("empty the tables of Postgres"))
}

/// Takes out what migrations have put into tables.
pub(super) async fn emptied(connection: &mut PgConnection) -> Result<(), Failure> {
    look_everywhere(connection).await?;
    for table in tables(connection).await? {
        let failed = || Failure::engine("empty the tables of Postgres");
        let first = Query::select().expr(Expr::val(1)).from(table.clone()).limit(1).to_string(PostgresQueryBuilder);
        let row = sqlx::query(AssertSqlSafe(first)).fetch_optional(&mut *connection).await.map_err(failed())?;
        if row.is_some()
            && let Some(emptying) = PgSchema::emptying(std::slice::from_ref(&table))
        {
            plain(connection, &emptying).await.map_err(failed())?;
        }
    }
    Ok(())
}

/// Rows are put into tables by their names alone, whatever schema they are in.
pub(super) async fn look_everywhere(connection: &mut PgConnection) -> Result<(), Failure> {
    plain(connection, PgSchema::LOOK_EVERYWHERE).await.map_err(Failure::engine("look into the schemas"))
}

/// Makes a connection ready for cases.
pub(super) async fn read(connection: &mut PgConnection, inputs: &Inputs) -> Result<PgSchema, Failure> {
    prepare::settings(connection, inputs).await?;
    look_everywhere(connection).await?;
    plain(connection, REFUSED).await.map_err(Failure::engine("make Postgres ready for cases"))?;
    let failed = || Failure::engine(READING);
    let types = sqlx::query_as(PgTypes::QUERY).fetch_all(&mut *connection).await.map_err(failed())?;
    let sequences = sqlx::query_as(PgSchema::SEQUENCES).fetch_all(&mut *connection).await.map_err(failed())?;
    let triggered = sqlx::query_scalar(PgSchema::TRIGGERED).fetch_all(&mut *connection).await.map_err(failed())?;
    Ok(PgSchema::new(PgTypes::new(types), sequences, triggered))
}

async fn tables(connection: &mut PgConnection) -> Result<Vec<String>, Failure> {
    sqlx::query_scalar(PgSchema::TABLES).fetch_all(connection).await.map_err(Failure::engine(READING))
}

/// What views read and triggers may write.
pub(super) async fn relations(connection: &mut PgConnection) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
    let texts: Vec<(String, String)> =
        sqlx::query_as(PgSchema::TEXTS).fetch_all(&mut *connection).await.map_err(Failure::engine(READING))?;
    let tables = tables(connection).await?;
    Ok(mentioned(&tables, &texts))
}

/// The words of the enums that columns are made of.
pub(super) async fn words(connection: &mut PgConnection) -> Result<BTreeMap<(String, String), Vec<String>>, Failure> {
    let labels = sqlx::query_as(PgSchema::LABELS).fetch_all(connection).await.map_err(Failure::engine(READING))?;
    Ok(PgSchema::words(labels))
}

async fn plain(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(|_| ())
}
