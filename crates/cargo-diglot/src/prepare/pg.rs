//! Asks Postgres: a scratch database with the project's schema, on a server that somebody named or on a
//! throwaway one.
//!
//! A statement is described with the types that the generated function sends, as it is at run time. It is
//! then prepared and explained under a generic plan, because much that Postgres refuses it refuses only when
//! it plans: preparing alone lets an ON CONFLICT target pass that no index serves.

use std::time::Duration;

use diglot::answers::Described;
use diglot::dialect::Dialect;
use diglot::schema::runs_one_by_one;
use diglot::types::Base;
use diglot::{EmittedText, Holds, Inputs, TextParam};
use diglot_migrate::statements;
use serde_json::Value;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgDatabaseError, PgErrorPosition, PgHasArrayType, PgTypeInfo};
use sqlx::{AssertSqlSafe, Connection, Executor, Postgres, SqlSafeStr, Type};

use super::{Asked, Project, Refusal, columns, migrations, rows};
use crate::failure::Failure;
use crate::host::Sorting;

/// How long a server may take to answer the first time.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// The type of a parameter of which the server is to say what it is.
pub(crate) const FOUND_OUT: Oid = Oid(0);

/// A database that did not exist before and is dropped when the asking is done.
#[derive(Clone)]
pub(crate) struct Scratch {
    server: PgConnectOptions,
    name: String,
}

impl Scratch {
    /// Makes the database on the server behind a URL.
    pub(crate) async fn create(url: &str) -> Result<Self, Failure> {
        let scratch = Self::named(url)?;
        // Of template0, so that what somebody put into template1 does not count as the project's schema.
        scratch.on_server(format!("CREATE DATABASE {} TEMPLATE template0", scratch.name)).await?;
        Ok(scratch)
    }

    /// The same, where text sorts as is said, as far as the server knows how.
    pub(crate) async fn create_sorted(url: &str, sorting: Sorting) -> Result<Self, Failure> {
        let locale = match sorting {
            Sorting::Server => return Self::create(url).await,
            Sorting::Bytes => "LOCALE 'C'",
            Sorting::Language => "LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'",
        };
        let scratch = Self::named(url)?;
        let create = format!("CREATE DATABASE {} TEMPLATE template0", scratch.name);
        if scratch.on_server(format!("{create} ENCODING 'UTF8' {locale}")).await.is_err() {
            scratch.on_server(create).await?;
        }
        Ok(scratch)
    }

    /// Another one with the same schema. Nobody may be connected to this one.
    pub(crate) async fn copy(&self) -> Result<Self, Failure> {
        let copy = Self { server: self.server.clone(), name: new_name() };
        copy.on_server(format!("CREATE DATABASE {} TEMPLATE {}", copy.name, self.name)).await?;
        Ok(copy)
    }

    fn named(url: &str) -> Result<Self, Failure> {
        let server: PgConnectOptions = url.parse().map_err(|source| Failure::PostgresUrl { source })?;
        Ok(Self { server, name: new_name() })
    }

    /// A connection to the database.
    pub(crate) async fn connect(&self) -> Result<PgConnection, Failure> {
        connect(&self.server.clone().database(&self.name)).await
    }

    pub(crate) async fn drop(self) -> Result<(), Failure> {
        self.on_server(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await
    }

    async fn on_server(&self, sql: String) -> Result<(), Failure> {
        let mut connection = connect(&self.server).await?;
        let done = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await;
        done.map_err(Failure::engine("make or drop a scratch database on Postgres"))?;
        connection.close().await.ok();
        Ok(())
    }
}

fn new_name() -> String {
    format!("diglot_scratch_{}", uuid::Uuid::new_v4().simple())
}

/// Connects to the server behind a URL.
pub(crate) async fn connect_to(url: &str) -> Result<PgConnection, Failure> {
    connect(&url.parse().map_err(|source| Failure::PostgresUrl { source })?).await
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, Failure> {
    let failed = Failure::engine(format!("connect to Postgres at {}:{}", options.get_host(), options.get_port()));
    match tokio::time::timeout(CONNECT_LIMIT, PgConnection::connect_with(options)).await {
        Ok(connected) => connected.map_err(failed),
        Err(_) => Err(failed(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()))),
    }
}

/// Asks about every text of the Postgres pages.
pub(super) async fn ask(project: &Project<'_>, scratch: &Scratch) -> Result<Asked, Failure> {
    let mut connection = scratch.connect().await?;
    let mut asked = Asked { engine: named(&connection), ..Asked::default() };
    settings(&mut connection, project.inputs).await?;
    for (file, text) in migrations(project.inputs, Dialect::Pg) {
        if let Err(refusal) = apply(&mut connection, text).await {
            asked.findings.push(project.migration_refused(Dialect::Pg, file, refusal?));
            return Ok(asked);
        }
    }
    let generic = connection.execute("SET plan_cache_mode = force_generic_plan").await;
    generic.map_err(Failure::engine("ask for generic plans"))?;
    for (index, text) in project.texts(Dialect::Pg) {
        match describe(&mut connection, text).await {
            Ok(described) => {
                let rows = rows::of_pg(&mut connection, text).await?;
                asked.answers.push((index, Described { rows, ..described }));
            }
            Err(refusal) => asked.findings.push(project.refused(text, refusal?)),
        }
        project.progress.inc(1);
    }
    connection.close().await.ok();
    Ok(asked)
}

/// The settings of the session that `diglot.toml` names.
pub(crate) async fn settings(connection: &mut PgConnection, inputs: &Inputs) -> Result<(), Failure> {
    for (name, value) in &inputs.config.prepare.pg_settings {
        let set =
            sqlx::query("SELECT set_config($1, $2, false)").bind(name).bind(value).execute(&mut *connection).await;
        set.map_err(Failure::engine(format!("set `{name}`, as diglot.toml says")))?;
    }
    Ok(())
}

/// Brings the project's schema into a database of its own, for a command that needs it whole.
pub(crate) async fn migrate(connection: &mut PgConnection, inputs: &Inputs) -> Result<(), Failure> {
    settings(connection, inputs).await?;
    for (file, text) in migrations(inputs, Dialect::Pg) {
        if let Err(refusal) = apply(connection, text).await {
            let path = inputs.sources.file(file).path.clone();
            return Err(Failure::Migration { path, message: refusal?.into_message() });
        }
    }
    Ok(())
}

/// What was refused, or that the connection itself failed.
pub(crate) type Refused = Result<Refusal, Failure>;

/// Runs a migration as one text, which is one transaction, or statement by statement when it says so.
pub(crate) async fn apply(connection: &mut PgConnection, text: &str) -> Result<(), Refused> {
    if !runs_one_by_one(text) {
        return run(connection, text).await.map_err(|(error, at)| Refusal::of(error, at));
    }
    for part in statements(text) {
        let start = part.start;
        run(connection, &text[part]).await.map_err(|(error, at)| Refusal::of(error, at.map(|at| start + at)))?;
    }
    Ok(())
}

/// Describes and explains a statement.
async fn describe(connection: &mut PgConnection, text: &EmittedText) -> Result<Described, Refused> {
    let sql = || AssertSqlSafe(text.sql.clone()).into_sql_str();
    let types: Vec<PgTypeInfo> = text.params.iter().map(type_of).collect();
    let refused = |error| {
        let at = position(&error, &text.sql);
        Refusal::of(error, at)
    };
    // What is prepared with types stays in the connection's cache, and describing finds it there.
    connection.prepare_with(sql(), &types).await.map_err(refused)?;
    let describe = connection.describe(sql()).await.map_err(refused)?;
    let params = Some(params(&describe).map_err(refused)?);
    let described = Described { params, columns: columns(&describe).map_err(refused)?, rows: None };
    explain(connection, &text.sql, &types).await?;
    Ok(described)
}

fn params(describe: &sqlx::Describe<Postgres>) -> Result<Vec<Value>, sqlx::Error> {
    let types = match &describe.parameters {
        Some(sqlx::Either::Left(types)) => types.as_slice(),
        _ => &[],
    };
    types.iter().map(|ty| serde_json::to_value(ty).map_err(|error| sqlx::Error::Encode(error.into()))).collect()
}

async fn explain(connection: &mut PgConnection, sql: &str, types: &[PgTypeInfo]) -> Result<(), Refused> {
    let list = |items: Vec<String>| if items.is_empty() { String::new() } else { format!(" ({})", items.join(", ")) };
    // A type that the server is to find out has no name that PREPARE takes.
    let name = |ty: &PgTypeInfo| if ty.oid() == Some(FOUND_OUT) { "unknown".to_owned() } else { ty.to_string() };
    let prepare = format!("PREPARE diglot{} AS ", list(types.iter().map(name).collect()));
    let execute = format!("EXPLAIN EXECUTE diglot{}", list(types.iter().map(|_| "NULL".to_owned()).collect()));
    let nowhere = |(error, _)| Refusal::of(error, None);

    let prepared = run(connection, &format!("{prepare}{sql}")).await;
    prepared.map_err(|(error, at)| Refusal::of(error, at.and_then(|at| at.checked_sub(prepare.len()))))?;
    run(connection, "BEGIN").await.map_err(nowhere)?;
    // A place in this text says nothing about the statement.
    let explained = run(connection, &execute).await.map_err(nowhere);
    run(connection, "ROLLBACK").await.map_err(nowhere)?;
    run(connection, "DEALLOCATE diglot").await.map_err(nowhere)?;
    explained
}

/// Runs a text by the simple protocol. An error comes with the byte at which Postgres points.
async fn run(connection: &mut PgConnection, sql: &str) -> Result<(), (sqlx::Error, Option<usize>)> {
    let done = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await;
    done.map(|_| ()).map_err(|error| {
        let at = position(&error, sql);
        (error, at)
    })
}

/// The type that the generated function sends for a parameter of a text.
pub(crate) fn type_of(param: &TextParam) -> PgTypeInfo {
    match param.holds {
        Holds::Value => type_info(&param.ty.base),
        // What the column takes.
        Holds::Carried(_) => PgTypeInfo::with_oid(FOUND_OUT),
        Holds::Field(_) | Holds::Rows(_) | Holds::Handed(..) => array_info(&param.ty.base),
    }
}

/// The type of an array of such values.
fn array_info(base: &Base) -> PgTypeInfo {
    match base {
        Base::Bool => <bool as PgHasArrayType>::array_type_info(),
        Base::Int16 => <i16 as PgHasArrayType>::array_type_info(),
        Base::Int32 => <i32 as PgHasArrayType>::array_type_info(),
        Base::Int64 => <i64 as PgHasArrayType>::array_type_info(),
        Base::Float64 => <f64 as PgHasArrayType>::array_type_info(),
        Base::Bytes => <Vec<u8> as PgHasArrayType>::array_type_info(),
        Base::Uuid => <uuid::Uuid as PgHasArrayType>::array_type_info(),
        Base::Json => <serde_json::Value as PgHasArrayType>::array_type_info(),
        Base::Numeric => PgTypeInfo::with_name("NUMERIC[]"),
        Base::Timestamp => PgTypeInfo::with_name("TIMESTAMPTZ[]"),
        Base::DateTime => PgTypeInfo::with_name("TIMESTAMP[]"),
        Base::Date => PgTypeInfo::with_name("DATE[]"),
        Base::TimeOfDay => PgTypeInfo::with_name("TIME[]"),
        _ => <String as PgHasArrayType>::array_type_info(),
    }
}

/// The type that the generated function sends for a single value.
pub(crate) fn type_info(base: &Base) -> PgTypeInfo {
    match base {
        Base::Bool => <bool as Type<Postgres>>::type_info(),
        Base::Int16 => <i16 as Type<Postgres>>::type_info(),
        Base::Int32 => <i32 as Type<Postgres>>::type_info(),
        Base::Int64 => <i64 as Type<Postgres>>::type_info(),
        Base::Float64 => <f64 as Type<Postgres>>::type_info(),
        Base::Text => <String as Type<Postgres>>::type_info(),
        Base::Bytes => <Vec<u8> as Type<Postgres>>::type_info(),
        Base::Uuid => <uuid::Uuid as Type<Postgres>>::type_info(),
        Base::Json => <serde_json::Value as Type<Postgres>>::type_info(),
        Base::TextArray => <Vec<String> as Type<Postgres>>::type_info(),
        Base::Int64Array => <Vec<i64> as Type<Postgres>>::type_info(),
        Base::UuidArray => <Vec<uuid::Uuid> as Type<Postgres>>::type_info(),
        Base::Numeric => PgTypeInfo::with_name("NUMERIC"),
        Base::Timestamp => PgTypeInfo::with_name("TIMESTAMPTZ"),
        Base::DateTime => PgTypeInfo::with_name("TIMESTAMP"),
        Base::Date => PgTypeInfo::with_name("DATE"),
        Base::TimeOfDay => PgTypeInfo::with_name("TIME"),
        Base::Interval => PgTypeInfo::with_name("INTERVAL"),
        // The server finds an enum by what the parameter stands beside.
        Base::Enum(_) => PgTypeInfo::with_oid(FOUND_OUT),
        Base::Stored(stored) => type_info(&stored.of.base()),
    }
}

/// The byte of the refused text at which Postgres points; Postgres counts characters, from one.
fn position(error: &sqlx::Error, sent: &str) -> Option<usize> {
    let error = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
    let Some(PgErrorPosition::Original(position)) = error.position() else { return None };
    sent.char_indices().nth(position.checked_sub(1)?).map(|(byte, _)| byte)
}

/// Its name with its version.
pub(crate) fn named(connection: &PgConnection) -> String {
    let number = connection.server_version_num().unwrap_or_default();
    format!("Postgres {}.{}", number / 10_000, number % 10_000)
}
