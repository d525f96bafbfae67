//! Every row of every table in one form for both databases.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::SqlitePool;

use crate::harness::{Harness, Tables};
use crate::mask::Mask;

/// Tables that hold no state of the engine, and the view by which a claim takes what it reads.
const APART: [&str; 5] =
    ["ff_claim_mark", "ff_claim_next", "ff_migration_annotation", "ff_partition_config", "ff_sql_migrations"];

/// Columns that no two databases agree on: numbers of events and of transactions, the server's own clock, and the partition of a
/// worker, which one database has none of.
const UNSTABLE: [&str; 3] = ["event_id", "committed_at_ms", "entered"];

/// The statement that reads all rows of a database as `{"table": …, "column": …}`.
pub(crate) struct Reading {
    sql: String,
    /// What the rows of the last reading mean, so that only new ones are taken apart.
    known: HashMap<String, Row>,
    pool: Pool,
}

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// A column of the schema and its type on Postgres.
type Columns = BTreeMap<String, BTreeMap<String, String>>;

/// How both databases are read. What only one of them has is left out, and is what the schemas declare.
pub(crate) async fn readings(sqlite: &Harness, postgres: &Harness) -> (Reading, Reading) {
    let (Tables::Sqlite(sqlite_backend, _), Tables::Postgres(postgres_backend)) = (sqlite.tables(), postgres.tables())
    else {
        panic!("one of each kind");
    };
    let typed = "SELECT table_name || ' ' || column_name || ' ' || data_type FROM information_schema.columns \
                 JOIN pg_class ON relname = table_name AND NOT relispartition \
                 WHERE table_schema = 'public' AND table_name LIKE 'ff!_%' ESCAPE '!'";
    let mut here = Columns::new();
    for line in postgres.texts(typed).await {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        let (Some(table), Some(column), Some(kind)) = (words.next(), words.next(), words.next()) else { continue };
        here.entry(table).or_default().insert(column, kind);
    }
    let named = "SELECT m.name || ' ' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c \
                 WHERE m.type IN ('table', 'view') AND m.name LIKE 'ff!_%' ESCAPE '!'";
    let there: BTreeSet<String> = sqlite.texts(named).await.into_iter().collect();
    let mut selects = (Vec::new(), Vec::new());
    for (table, columns) in here.iter().filter(|(table, _)| !APART.contains(&table.as_str())) {
        let mut shown = (Vec::new(), Vec::new());
        for (column, kind) in columns {
            if UNSTABLE.contains(&column.as_str()) {
                continue;
            }
            match (column.as_str(), there.contains(&format!("{table} {column}"))) {
                (_, true) => {
                    shown.0.push(format!("'{column}', {}", on_sqlite(column, kind)));
                    shown.1.push(format!("'{column}', {}", on_postgres(column, kind)));
                }
                ("required_capabilities", false) => {
                    shown.0.push(format!("'{column}', {REQUIRED}"));
                    shown.1.push(format!(
                        "'{column}', to_jsonb(ARRAY(SELECT c COLLATE \"C\" FROM unnest({column}) c ORDER BY 1))"
                    ));
                }
                ("partition_key", false) if table.starts_with("ff_worker_registry") => {}
                _ => panic!("SQLite has no column {table}.{column}"),
            }
        }
        let name = format!("'table', '{table}'");
        selects.0.push(format!("SELECT json_object({name}, {}) FROM {table} t", shown.0.join(", ")));
        selects.1.push(format!("SELECT jsonb_build_object({name}, {})::text FROM {table} t", shown.1.join(", ")));
    }
    let others: BTreeSet<&str> = there.iter().filter_map(|line| Some(line.split_once(' ')?.0)).collect();
    let others: Vec<&str> = others.into_iter().filter(|table| !here.contains_key(*table)).collect();
    assert_eq!(others, [ALONE], "SQLite has more tables");
    selects.0.push(LEFT_OVER.to_owned());
    // Its own connection, which plans the statement once; those of the backend plan for the values.
    let options = postgres_backend.pool().connect_options().as_ref().clone();
    let options = options.options([("plan_cache_mode", "force_generic_plan")]);
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    (
        Reading::new(selects.0, Pool::Sqlite(sqlite_backend.pool_for_test().clone())),
        Reading::new(selects.1, Pool::Postgres(pool)),
    )
}

/// The table that SQLite alone has: what an execution requires.
const ALONE: &str = "ff_execution_capabilities";

/// The column of words that SQLite joins by commas.
const JOINED: &str = "lanes";

/// What is required by no execution.
const LEFT_OVER: &str = "SELECT json_object('table', 'ff_execution_capabilities', 'capability', capability) \
                         FROM ff_execution_capabilities \
                         WHERE execution_id NOT IN (SELECT execution_id FROM ff_exec_core)";

/// What an execution requires, which is rows of a table on SQLite.
const REQUIRED: &str = "(SELECT json_group_array(capability) FROM (SELECT c.capability FROM ff_execution_capabilities c \
                        WHERE c.execution_id = t.execution_id ORDER BY 1))";

fn on_sqlite(column: &str, kind: &str) -> String {
    match kind {
        _ if column == JOINED => column.to_owned(),
        "boolean" => format!("json(CASE {column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE 'null' END)"),
        "jsonb" | "ARRAY" => {
            format!("json(CASE WHEN json_valid({column}) THEN {column} ELSE json_quote({column}) END)")
        }
        "bytea" => format!("CASE typeof({column}) WHEN 'blob' THEN lower(hex({column})) ELSE {column} END"),
        // One table holds ids as text.
        "uuid" => {
            format!("CASE typeof({column}) WHEN 'blob' THEN lower(hex({column})) ELSE replace({column}, '-', '') END")
        }
        _ => column.to_owned(),
    }
}

fn on_postgres(column: &str, kind: &str) -> String {
    match kind {
        _ if column == JOINED => format!("array_to_string({column}, ',')"),
        "bytea" => format!("encode({column}, 'hex')"),
        "uuid" => format!("replace({column}::text, '-', '')"),
        _ => column.to_owned(),
    }
}

impl Reading {
    fn new(selects: Vec<String>, pool: Pool) -> Self {
        Self { sql: selects.join(" UNION ALL "), known: HashMap::new(), pool }
    }

    /// Every row, made comparable.
    pub(crate) async fn rows(&mut self, mask: &Mask) -> Rows {
        let sql = sqlx::AssertSqlSafe(self.sql.clone());
        let texts: Vec<String> = match &self.pool {
            Pool::Sqlite(pool) => sqlx::query_scalar(sql).fetch_all(pool).await,
            Pool::Postgres(pool) => sqlx::query_scalar(sql).fetch_all(pool).await,
        }
        .expect("the tables answer");
        let mut before = std::mem::take(&mut self.known);
        let mut rows = Rows::default();
        for text in texts {
            let mut row = match (self.known.remove(&text), before.remove(&text)) {
                (Some(row), _) | (None, Some(row)) => row,
                (None, None) => Row::new(&text),
            };
            rows.are_unsettled |= row.is_unsettled;
            if !rows.tables.contains(&row.table) {
                rows.tables.insert(row.table.clone());
            }
            rows.deadlines.extend(row.deadline.clone());
            rows.texts.push(row.masked(mask));
            self.known.insert(text, row);
        }
        rows.texts.sort_unstable();
        rows
    }

    /// Ends the connections of its own.
    pub(crate) async fn close(&self) {
        if let Pool::Postgres(pool) = &self.pool {
            pool.close().await;
        }
    }
}

/// A row that was taken apart.
struct Row {
    table: String,
    is_unsettled: bool,
    /// Of an execution: its uuid, and by when it has to be done.
    deadline: Option<(String, Option<i64>)>,
    text: String,
    /// The row with its ids masked, when all of them are known.
    masked: Option<String>,
}

impl Row {
    fn new(text: &str) -> Self {
        let mut row = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        whole(&mut row);
        let table = row["table"].as_str().expect("the name of a table").to_owned();
        let is_unsettled =
            table == "ff_completion_event" && row["dispatched_at_ms"].is_null() && !row["flow_id"].is_null();
        let deadline = (table == "ff_exec_core").then(|| deadline(&row));
        Self { table, is_unsettled, deadline, text: row.to_string(), masked: None }
    }

    fn masked(&mut self, mask: &Mask) -> String {
        if let Some(masked) = &self.masked {
            return masked.clone();
        }
        let (masked, are_all_known) = mask.row(&self.text);
        self.masked = are_all_known.then(|| masked.clone());
        masked
    }
}

/// The uuid of an execution, and its deadline: while it is delayed, its document keeps it.
fn deadline(row: &Value) -> (String, Option<i64>) {
    let stored = match row["eligibility_state"] == "not_eligible_until_time" {
        true => &row["raw_fields"]["execution_deadline_at"],
        false => &row["deadline_at_ms"],
    };
    (row["execution_id"].as_str().expect("a uuid").to_owned(), stored.as_i64())
}

/// Writes a number without a fraction as an integer, and others with as many digits as both databases print.
fn whole(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(whole),
        Value::Object(members) => members.values_mut().for_each(whole),
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|_| number.is_f64()) {
                let text = format!("{float}");
                let rounded = |_| Value::String(format!("{float:.12e}"));
                *value = text.parse::<i64>().map_or_else(rounded, Value::from);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The rows of a database at one moment.
#[derive(Default)]
pub(crate) struct Rows {
    /// As text and in order.
    pub(crate) texts: Vec<String>,
    /// By when executions have to be done.
    pub(crate) deadlines: BTreeMap<String, Option<i64>>,
    /// The tables that hold any.
    pub(crate) tables: BTreeSet<String>,
    /// Whether a flow's member has ended and nobody has followed that yet: the backend is about to.
    pub(crate) are_unsettled: bool,
}

/// What one database has and the other has not.
pub(crate) fn difference(sqlite: &[String], postgres: &[String]) -> Option<String> {
    if sqlite == postgres {
        return None;
    }
    let mut counts = BTreeMap::<&str, i64>::new();
    sqlite.iter().for_each(|row| *counts.entry(row).or_default() += 1);
    postgres.iter().for_each(|row| *counts.entry(row).or_default() -= 1);
    let lines = counts.into_iter().filter(|(_, count)| *count != 0);
    let lines = lines.map(|(row, count)| format!("  {}: {row}", if count > 0 { "SQLite  " } else { "Postgres" }));
    Some(lines.collect::<Vec<_>>().join("\n"))
}
