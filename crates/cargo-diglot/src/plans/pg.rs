//! Postgres's plans.

use diglot::dialect::Dialect;
use diglot::types::Base;
use diglot::{EmittedText, Holds, Inputs, TextParam};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor, Row};

use super::Plan;
use crate::failure::Failure;
use crate::host::Host;
use crate::prepare::pg as prepare;

/// What makes plans depend on the schema alone.
const SETTINGS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off; \
    SET max_parallel_workers_per_gather = 0";

/// Asks for the plan of every text, in the host's database.
pub(super) async fn ask(inputs: &Inputs, texts: &[&EmittedText], host: &Host) -> Result<Vec<Plan>, Failure> {
    let mut connection = host.scratch.connect().await?;
    prepare::migrate(&mut connection, inputs).await?;
    run(&mut connection, SETTINGS).await.map_err(Failure::engine("set up the planner"))?;
    let mut plans = Vec::new();
    for text in texts.iter().filter(|text| text.dialect == Dialect::Pg) {
        let statement = format!("{}.{}{}", text.noun, text.name, text.variant);
        let failed = Failure::engine(format!("explain {statement} on Postgres"));
        let lines = plan(&mut connection, text).await.map_err(failed)?;
        plans.push(Plan { statement, dialect: Dialect::Pg, lines });
    }
    Ok(plans)
}

async fn plan(connection: &mut PgConnection, text: &EmittedText) -> Result<Vec<String>, sqlx::Error> {
    explain(connection, text, |_, base| value(base).to_owned()).await
}

/// The lines of EXPLAIN for a text, with a value for each of its parameters, by its number from 0 and its type.
pub(super) async fn explain(
    connection: &mut PgConnection,
    text: &EmittedText,
    value: impl Fn(usize, &Base) -> String,
) -> Result<Vec<String>, sqlx::Error> {
    let list = |items: Vec<String>| if items.is_empty() { String::new() } else { format!("({})", items.join(", ")) };
    let types = text
        .params
        .iter()
        .map(|param| match &param.ty.base {
            Base::Enum(words) => words.name.clone(),
            _ if matches!(param.holds, Holds::Carried(_)) => "unknown".to_owned(),
            _ => prepare::type_of(param).to_string(),
        })
        .collect();
    run(connection, &format!("PREPARE diglot{} AS {}", list(types), text.sql)).await?;
    let values = text.params.iter().enumerate().map(|(at, param)| sample(param, value(at, &param.ty.base)));
    let values = list(values.collect());
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE diglot{values}");
    let rows = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(explain))).await?;
    let lines = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    run(connection, "DEALLOCATE diglot").await?;
    Ok(lines)
}

/// What a parameter is in a plan: of rows, an array of none.
fn sample(param: &TextParam, one: String) -> String {
    if matches!(param.holds, Holds::Value | Holds::Carried(_)) { one } else { "'{}'".to_owned() }
}

/// A value of a type. The plan is for any, but with NULL every partition would be left out of it at the end.
pub(super) fn value(base: &Base) -> &'static str {
    match base {
        Base::Bool => "'true'",
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric => "'0'",
        Base::Text | Base::Bytes => "''",
        Base::Uuid => "'00000000-0000-0000-0000-000000000000'",
        Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => "'{}'",
        Base::Timestamp | Base::DateTime | Base::Date => "'2024-01-01'",
        Base::TimeOfDay | Base::Interval => "'12:00:00'",
        // Which word it is makes no difference to a plan that is for any.
        Base::Enum(_) => "NULL",
        Base::Stored(stored) => value(&stored.of.base()),
    }
}

pub(super) async fn run(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(|_| ())
}
