//! What becomes of each statement on a coordinator of Citus: one task, several, or nothing.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::Path;

use diglot::config::{Config, Distributed, Placement};
use diglot::dialect::Dialect;
use diglot::types::Base;
use diglot::{EmittedText, Inputs};
use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Row as _};

use super::pg;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::prepare::pg as prepare;
use crate::{Outcome, check, report, runtime};

/// What plans are asked with: the values of the parameters say which shard is meant.
const SETTINGS: &str = "SET plan_cache_mode = force_custom_plan; SET citus.shard_count = 32; \
    SET citus.enable_unsafe_triggers = on; SET client_min_messages = error";

/// The tables of the schema that is made for the asking, without partitions.
const TABLES: &str = "SELECT c.relname::text, EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid \
        AND a.attname = $1 AND NOT a.attisdropped) AS has_key \
    FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') \
        AND NOT c.relispartition ORDER BY c.relname";

/// What the coordinator makes of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// No table that is spread, nor one that is on every node.
    Local,
    /// One task on one shard.
    One,
    /// Several tasks, or several steps.
    Split { tasks: usize, steps: usize },
    /// The server's words.
    Refused(String),
    /// The values that stand for the parameters do not fit, in the server's words.
    Unasked(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::One => f.write_str("one task"),
            Self::Split { tasks, steps: 1 } => write!(f, "{}", report::counted(*tasks, "task")),
            Self::Split { tasks, steps } => write!(f, "{} in {steps} steps", report::counted(*tasks, "task")),
            Self::Refused(message) => write!(f, "refused: {message}"),
            Self::Unasked(message) => write!(f, "not asked: {message}"),
        }
    }
}

/// What it is about, and what becomes of it.
type Told = (String, Verdict);

impl Verdict {
    /// Reads the lines of a plan.
    fn of(lines: &[String]) -> Self {
        // The coordinator plans what it then writes for the shard's node in words that mean something else there.
        if lines.iter().any(|line| line.trim() == "Error: Could not get remote plan.") {
            return Self::Refused("the shard's node does not plan what the coordinator makes of it".to_owned());
        }
        let tasks = lines.iter().filter_map(|line| line.trim().strip_prefix("Task Count: ")?.parse::<usize>().ok());
        let tasks: usize = tasks.sum();
        let has = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
        // What the coordinator does with the rows is a step as well, and so is each query that it asks beforehand.
        let is_pushed = lines.first().is_some_and(|line| line.starts_with("Custom Scan (Citus "));
        let ways = has("Distributed Subplan ") + has(" method: pull to coordinator") + has(" method: repartition");
        let steps = 1 + ways + usize::from(!is_pushed);
        match (has("Citus "), tasks, steps) {
            (0, ..) => Self::Local,
            (_, 0 | 1, 1) => Self::One,
            (_, tasks, steps) => Self::Split { tasks, steps },
        }
    }
}

pub(super) fn run(root: &Path, url: &str, only: Option<&str>) -> Result<Outcome, Failure> {
    // What the rules find of shards is what the server is asked about, so findings are in the way of nothing.
    let (inputs, compiled) = check::alone(root)?;
    let config = Config { distributed: Some(Distributed::Citus), ..inputs.config.clone() };
    let texts: Vec<&EmittedText> = compiled
        .texts
        .iter()
        .filter(|text| text.dialect == Dialect::Pg && only.is_none_or(|name| name == text.name))
        // What takes steps is never sent as a whole.
        .flat_map(|text| text.all().skip(usize::from(text.steps.is_some())))
        .collect();
    if let (true, Some(name)) = (texts.is_empty(), only) {
        return Err(Failure::UnknownStatement { name: name.to_owned() });
    }
    let told = runtime()?.block_on(ask(&inputs, &config, &texts, url))?;
    let mut text = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, verdict) in &told {
        // Writing to a text does not fail.
        writeln!(text, "{name}: {verdict}").ok();
        let kind = match verdict {
            Verdict::Local => "local",
            Verdict::One => "with one task",
            Verdict::Split { .. } => "with more",
            Verdict::Refused(_) => "refused",
            Verdict::Unasked(_) => "not asked",
        };
        *counts.entry(kind).or_default() += 1;
    }
    report::is_over(report::out(&text))?;
    let counts: Vec<String> = counts.into_iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let left_out = if compiled.has_errors() { "; what `check` makes no text of is left out" } else { "" };
    report::line(&format!("{}{left_out}", counts.join(", ")));
    Ok(Outcome::Clean)
}

/// Makes the tables in a schema of their own, asks about every text, and drops the schema, also when a signal comes.
async fn ask(inputs: &Inputs, config: &Config, texts: &[&EmittedText], url: &str) -> Result<Vec<Told>, Failure> {
    let mut interrupts = Interrupts::catch().map_err(Failure::io("catch signals"))?;
    let schema = format!("diglot_{}", uuid::Uuid::new_v4().simple());
    let asked = tokio::select! {
        asked = ask_in(&schema, inputs, config, texts, url) => asked,
        signal = interrupts.next() => Err(Failure::Interrupted { signal }),
    };
    let mut connection = prepare::connect_to(url).await?;
    let dropped = pg::run(&mut connection, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await;
    connection.close().await.ok();
    let told = asked?;
    dropped.map_err(Failure::engine(format!("drop the schema {schema}")))?;
    Ok(told)
}

async fn ask_in(
    schema: &str,
    inputs: &Inputs,
    config: &Config,
    texts: &[&EmittedText],
    url: &str,
) -> Result<Vec<Told>, Failure> {
    let mut connection = prepare::connect_to(url).await?;
    let made = format!("CREATE SCHEMA {schema}; SET search_path = {schema}, pg_catalog");
    pg::run(&mut connection, &made).await.map_err(Failure::engine("make a schema"))?;
    prepare::migrate(&mut connection, inputs).await?;
    pg::run(&mut connection, SETTINGS).await.map_err(Failure::engine("set up the planner"))?;
    let mut told = spread(&mut connection, config).await?;
    for text in texts {
        let verdict = verdict(&mut connection, text).await;
        told.push((format!("{}.{}{}", text.noun, text.name, text.variant), verdict));
    }
    connection.close().await.ok();
    Ok(told)
}

/// Spreads the tables, and tells of those that the server does not spread; these stay where they are.
async fn spread(connection: &mut PgConnection, config: &Config) -> Result<Vec<Told>, Failure> {
    let key = config.shard_key.as_str();
    let placed = |table: &str, has_key: bool| config.placement_of(table, has_key).unwrap_or(Placement::Local);
    let failed = || Failure::engine("spread the tables");
    let rows = sqlx::query(TABLES).bind(key).fetch_all(&mut *connection).await.map_err(failed())?;
    let tables = rows.iter().map(|row| Ok::<(String, bool), sqlx::Error>((row.try_get(0)?, row.try_get(1)?)));
    let mut tables: Vec<(String, bool)> = tables.collect::<Result<_, sqlx::Error>>().map_err(failed())?;
    // What others refer to comes first.
    tables.sort_by_key(|(name, has_key)| placed(name, *has_key) != Placement::Reference);
    let mut told = Vec::new();
    for (name, has_key) in tables {
        let call = match placed(&name, has_key) {
            Placement::Local => continue,
            Placement::Reference => sqlx::query("SELECT create_reference_table($1::regclass)").bind(&name),
            Placement::Distributed => {
                sqlx::query("SELECT create_distributed_table($1::regclass, $2)").bind(&name).bind(key)
            }
        };
        if let Err(error) = call.execute(&mut *connection).await {
            told.push((format!("table {name}"), refusal(&error)));
        }
    }
    Ok(told)
}

/// What becomes of a text.
async fn verdict(connection: &mut PgConnection, text: &EmittedText) -> Verdict {
    match pg::explain(connection, text, value).await {
        Ok(lines) => Verdict::of(&lines),
        Err(error) => {
            // What was prepared before the refusal is in the way of the next text.
            pg::run(connection, "DEALLOCATE ALL").await.ok();
            refusal(&error)
        }
    }
}

fn refusal(error: &sqlx::Error) -> Verdict {
    let Some(error) = error.as_database_error() else { return Verdict::Refused(error.to_string()) };
    let message = error.message().to_owned();
    // A text that is no value of a type, a time that is none.
    match error.code().is_some_and(|code| ["22P02", "22007", "22008"].contains(&&*code)) {
        true => Verdict::Unasked(message),
        false => Verdict::Refused(message),
    }
}

/// A value of its own for each number, so that two parameters are two shards, and two for a list; nothing is NULL.
fn value(at: usize, base: &Base) -> String {
    let number = at + 1;
    match base {
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric | Base::Text => format!("'{number}'"),
        Base::Int64Array => format!("'{{{number},{}}}'", number + 1000),
        // Most lists of texts are of ids.
        Base::TextArray | Base::UuidArray => format!("'{{00000000-0000-0000-0000-{number:012}}}'"),
        Base::Stored(stored) => value(at, &stored.of.base()),
        other => pg::value(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lines: &[&str]) -> String {
        Verdict::of(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn a_plan_says_how_many_tasks_there_are() {
        assert_eq!(verdict(&["Index Scan using setting_pkey on setting"]), "local");
        assert_eq!(verdict(&["Custom Scan (Citus Adaptive)", "  Task Count: 1", "  Tasks Shown: All"]), "one task");
        assert_eq!(verdict(&["Custom Scan (Citus Adaptive)", "  Task Count: 32"]), "32 tasks");
        let unplanned =
            ["Custom Scan (Citus Adaptive)", "  Task Count: 1", "        Error: Could not get remote plan."];
        assert_eq!(verdict(&unplanned), "refused: the shard's node does not plan what the coordinator makes of it");
        let steps =
            ["Custom Scan (Citus Adaptive)", "  ->  Distributed Subplan 3_1", "  Task Count: 1", "  Task Count: 1"];
        assert_eq!(verdict(&steps), "2 tasks in 2 steps");
        let by_way =
            ["Custom Scan (Citus INSERT ... SELECT)", "  INSERT/SELECT method: pull to coordinator", "  Task Count: 1"];
        assert_eq!(verdict(&by_way), "1 task in 2 steps");
    }

    #[test]
    fn each_parameter_has_a_value_of_its_own() {
        assert_eq!((value(0, &Base::Int16), value(1, &Base::Int16)), ("'1'".to_owned(), "'2'".to_owned()));
        assert_eq!(value(2, &Base::Int64Array), "'{3,1003}'");
        assert_eq!(value(0, &Base::Bytes), "''");
    }
}
