//! How each engine finds the rows of every statement, so that a lost index is seen in review.
//!
//! A line of the snapshot says per table: `by INDEX` where a condition leads into an index, `along INDEX` where an
//! index is read from one end (on SQLite also where all that leads in is the partition, which most rows share), and
//! `whole` where every row of the table is read. On Postgres the plan is the generic one over some thousand executions
//! in flows, and a whole table is read only where nothing else can be.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

#[path = "conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;

#[path = "plans/shards.rs"]
mod shards;

#[path = "../crates/diglot/tests/case/versions.rs"]
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use diglot::dialect::Dialect;
use diglot::types::Base;
use diglot::{EmittedText, Holds, TextParam};
use harness::{Kind, Tables, run};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor as _, PgConnection, PgPool, Row as _};
use versions::READ_OTHERWISE_SINCE;

/// The statements that may read a table or an index from end to end, and why that is no more than they need.
const WHOLE: [(&str, &str); 36] = [
    ("event_completion_newest", "takes the newest from the end of the key"),
    ("event_lease_newest", "takes the newest from the end of the key"),
    ("event_signal_newest", "takes the newest from the end of the key"),
    ("execution_due_lane_list", "takes the next lane from the index, one by one"),
    ("flow_cancel_backlog_due_list", "the table holds what still has to be cancelled"),
    ("flow_summary_due_list", "a background look at the flows, of which it takes the oldest summaries"),
    ("lane_list", "a page of the lanes in the order of the key"),
    ("lease_expired_list", "begins at the leases that are due, unless both tables are as empty as here"),
    ("manage_count_list", "counts everything, when an operator asks"),
    ("manage_flow_pause_list", "there are a few flows that operators hold back"),
    ("manage_index_list", "the server's own lists of indexes, when an operator asks"),
    ("manage_lane_pause_list", "there are a few lanes that operators hold back"),
    ("manage_table_list", "the server's own lists of tables, when an operator asks"),
    ("measure_blocked_list", "counts what is blocked, by an index of its own"),
    ("measure_delayed_list", "counts what is delayed, from one end of its index to the other"),
    ("measure_running_list", "counts what is leased, by an index of its own"),
    ("measure_waiting_list", "counts what waits, from one end of the queue to the other"),
    ("quota_stray_window_delete", "a background look at what was admitted lately"),
    ("retention_claim_mark_delete", "there are as many rows as lanes and sets of capabilities that workers ask with"),
    ("retention_executions_find", "asked about executions that spent something a month ago, normally none"),
    ("retention_spender_list", "a background look at what executions that are kept have spent"),
    ("schedule_granted_due_list", "the index holds what is granted and not yet claimed"),
    ("secret_active_read", "there are a few secrets"),
    ("secret_lock_all", "there are a few secrets"),
    ("secret_retire_others", "there are a few secrets"),
    ("sibling_pending_list", "the table holds what still has to be cancelled"),
    ("spread_lease_event_delete", "now and then, and what is old is a part of the table"),
    ("spread_operator_event_delete", "as the events of leases"),
    ("spread_signal_event_delete", "as the events of leases"),
    ("suspension_enter", "there are a few secrets"),
    ("suspension_enter_many", "there are a few secrets"),
    ("trim_lease_event_delete", "an index of events by execution would be paid for by every lease"),
    ("trim_operator_event_delete", "as the events of leases"),
    ("trim_signal_event_delete", "as the events of leases"),
    ("waitpoint_create", "there are a few secrets"),
    ("worker_lapsed_list", "there are as many rows as workers"),
];

/// Executions in flows, so that Postgres knows which of two indexes finds fewer rows.
const FILLED: &str = "INSERT INTO ff_exec_core (partition_key, execution_id, flow_id, lane_id, lifecycle_phase, \
    ownership_state, eligibility_state, public_state, attempt_state, created_at_ms) \
    SELECT 0, gen_random_uuid(), CAST(lpad(to_hex(i % 500), 32, '0') AS uuid), 'lane-' || i % 3, \
           (ARRAY['submitted', 'active', 'terminal'])[i % 3 + 1], 'unowned', 'eligible_now', 'waiting', 'pending', i \
      FROM generate_series(1, 10000) AS i; \
    INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, lease_epoch) \
    SELECT partition_key, execution_id, 0, 1 FROM ff_exec_core; \
    INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy) \
    SELECT partition_key, flow_id, gen_random_uuid(), execution_id, execution_id, '{}' FROM ff_exec_core; \
    INSERT INTO ff_suspension_current (partition_key, execution_id, suspension_id, suspended_at_ms, condition) \
    SELECT partition_key, execution_id, gen_random_uuid(), created_at_ms, '{}' FROM ff_exec_core; \
    ANALYZE ff_exec_core, ff_attempt, ff_edge, ff_suspension_current";

/// What is read, how: `table by index`.
type Scans = BTreeSet<String>;

fn texts(dialect: Dialect) -> Vec<EmittedText> {
    let inputs = diglot::build::load(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project is readable");
    let texts = diglot::compile(&inputs).texts;
    texts.into_iter().filter(|text| text.dialect == dialect).collect()
}

/// Compares the plans with those that were reviewed.
fn review(name: &str, plans: &BTreeMap<String, Scans>) {
    let line = |(statement, scans): (&String, &Scans)| {
        let scans: Vec<&str> = scans.iter().map(String::as_str).collect();
        format!("{statement}: {}", if scans.is_empty() { "no table".to_owned() } else { scans.join(", ") })
    };
    let page: Vec<String> = plans.iter().map(line).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/plans");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, page.join("\n")));
    let is_whole = |scan: &String| !scan.contains(" by ");
    let allowed = |statement: &str| WHOLE.iter().any(|(name, _)| *name == statement);
    let reading: Vec<_> = plans.iter().filter(|(name, scans)| !allowed(name) && scans.iter().any(is_whole)).collect();
    assert!(reading.is_empty(), "statements that read too much on {name}: {reading:#?}");
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index_on_sqlite() {
    run(Kind::SqliteMemory, |h| async move {
        let Tables::Sqlite(backend, _) = h.tables() else { panic!("SQLite was asked for") };
        let named = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'";
        let indexes = sqlx::query(named).fetch_all(backend.pool_for_test()).await.expect("the indexes");
        let owners: BTreeMap<String, String> = indexes.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut plans: BTreeMap<String, Scans> = BTreeMap::new();
        for text in texts(Dialect::Sqlite) {
            let scans = plans.entry(text.name.clone()).or_default();
            for part in &text.parts {
                let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {part}"));
                let rows = sqlx::raw_sql(explain).fetch_all(backend.pool_for_test()).await.expect(part);
                let aliases = aliases(part);
                scans.extend(rows.iter().filter_map(|row| sqlite_scan(row.get("detail"), &aliases, &owners)));
            }
        }
        review("sqlite", &plans);
    })
    .await;
}

/// The tables behind the names that a statement gives them.
fn aliases(sql: &str) -> BTreeMap<String, String> {
    let words: Vec<&str> = sql.split([' ', ',', '(', ')']).filter(|word| !word.is_empty()).collect();
    let named = words.windows(3).filter(|three| three[0].starts_with("ff_") && three[1] == "AS");
    named.map(|three| (three[2].to_owned(), three[0].to_owned())).collect()
}

/// A line of the plan, unless it is about rows that the statement made itself.
fn sqlite_scan(detail: &str, aliases: &BTreeMap<String, String>, owners: &BTreeMap<String, String>) -> Option<String> {
    let (verb, rest) = detail.split_once(' ')?;
    if !matches!(verb, "SCAN" | "SEARCH") {
        return None;
    }
    let (name, how) = rest.split_once(' ').unwrap_or((rest, ""));
    if let Some((_, index)) = how.split_once("INDEX ")
        && let index = index.split(' ').next().unwrap_or(index)
        && let Some(table) = owners.get(index)
    {
        let leads = verb == "SEARCH" && !how.ends_with("(partition_key=?)");
        return Some(format!("{table} {} {index}", if leads { "by" } else { "along" }));
    }
    let table = aliases.get(name).map_or(name, String::as_str);
    table.starts_with("ff_").then(|| match (verb, how.contains("PRIMARY KEY")) {
        ("SEARCH", true) => format!("{table} by its key"),
        // The least or the greatest of all.
        ("SEARCH", false) => format!("{table} by the end of its key"),
        _ => format!("{table} whole"),
    })
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index_on_postgres() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let mut connection = backend.pool().acquire().await.expect("a connection");
        connection.execute(FILLED).await.expect("the tables are filled");
        connection.execute("SET plan_cache_mode = force_generic_plan").await.expect("a setting");
        // What is left are joins row by row, each through an index where there is one.
        for way in ["seqscan", "bitmapscan", "hashjoin", "mergejoin"] {
            connection.execute(AssertSqlSafe(format!("SET enable_{way} = off"))).await.expect("a setting");
        }
        let parents = parents(&mut connection).await;
        let mut plans: BTreeMap<String, Scans> = BTreeMap::new();
        for text in texts(Dialect::Pg) {
            let plan = pg_plan(&mut connection, &text).await;
            pg_scans(&plan, &parents, plans.entry(text.name.clone()).or_default());
        }
        as_before(&mut connection, &mut plans).await;
        review("pg", &plans);
    })
    .await;
}

/// A lane whose executions have all ended, and the server knows it: few that wait for a claim would be found by their lane
/// and phase with less work, if nothing were left in that index of those that ended.
const RUN_EMPTY: &str = "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, \
    eligibility_state, public_state, attempt_state, created_at_ms) \
    SELECT 0, gen_random_uuid(), 'lane', 'terminal', 'unowned', 'not_applicable', 'completed', 'attempt_terminal', i \
      FROM generate_series(1, 10000) AS i; \
    ANALYZE ff_exec_core";

#[tokio::test]
async fn executions_are_locked_together_by_their_key_in_a_lane_that_has_run_empty() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let mut connection = backend.pool().begin().await.expect("a transaction");
        connection.execute(RUN_EMPTY).await.expect("the table is filled");
        let several = "ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 8))";
        let lock = format!("SELECT count(*) FROM ff_lock_claimable(CAST(0 AS smallint), {several}, 'lane', '{{}}')");
        connection.execute(AssertSqlSafe(lock)).await.expect("nothing is locked");
        let scans = "SELECT CAST(inhparent::regclass AS text), CAST(sum(pg_stat_get_xact_numscans(inhrelid)) AS bigint) \
                       FROM pg_inherits JOIN pg_class ON pg_class.oid = inhparent AND relkind = 'I' \
                      WHERE inhparent::regclass::text LIKE 'ff\\_exec\\_core%' GROUP BY 1 HAVING \
                            sum(pg_stat_get_xact_numscans(inhrelid)) > 0";
        let scans: Vec<(String, i64)> = sqlx::query_as(scans).fetch_all(&mut *connection).await.expect("it is counted");
        let [(index, count)] = scans.as_slice() else { panic!("{scans:?}") };
        assert!(index == "ff_exec_core_pkey" && *count >= 8, "{scans:?}");
    })
    .await;
}

#[tokio::test]
async fn a_plan_that_is_kept_reads_no_queue_whole_even_if_it_was_made_while_the_queue_was_empty() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        h.alter("VACUUM ANALYZE ff_claimable").await;
        let mut connection = backend.pool().begin().await.expect("a transaction");
        connection.execute(AssertSqlSafe(waiting(0, 10))).await.expect("they enter the queue");
        let claimed = "UPDATE ff_exec_core SET lifecycle_phase = 'active', eligibility_state = 'not_applicable'";
        connection.execute(claimed).await.expect("they leave the queue");
        let whole = "SELECT pg_stat_get_xact_numscans('ff_claimable'::regclass)";
        assert_eq!(connection.fetch_one(whole).await.expect("it is counted").get::<i64, _>(0), 0);
        let others = "SELECT CAST(oid::regprocedure AS text) FROM pg_proc \
                       WHERE 'plan_cache_mode=force_generic_plan' = ANY (proconfig) \
                         AND NOT proconfig @> '{enable_seqscan=off,enable_bitmapscan=off}'";
        let others: Vec<String> = sqlx::query_scalar(others).fetch_all(&mut *connection).await.expect("the catalogue");
        assert!(others.is_empty(), "{others:?}");
    })
    .await;
}

#[tokio::test]
async fn a_queue_that_the_server_takes_for_empty_is_left_by_its_key() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let claimed = "UPDATE ff_exec_core SET lifecycle_phase = 'active', eligibility_state = 'not_applicable'";
        let _reader = reader(backend.pool()).await;
        h.alter(&waiting(0, 3_000)).await;
        h.alter(claimed).await;
        h.alter("VACUUM ANALYZE ff_claimable").await;
        let known = "SELECT CAST(reltuples AS bigint) FROM pg_class WHERE relname = 'ff_claimable' AND relpages > 0";
        let mut connection = backend.pool().begin().await.expect("a transaction");
        assert_eq!(connection.fetch_one(known).await.expect("dead rows").get::<i64, _>(0), 0);
        connection.execute(AssertSqlSafe(waiting(10_000, 10))).await.expect("they enter the queue");
        connection.execute(claimed).await.expect("they leave the queue");
        let scans = "SELECT pg_stat_get_xact_numscans('ff_claimable_order_idx'::regclass)";
        assert_eq!(connection.fetch_one(scans).await.expect("it is counted").get::<i64, _>(0), 0);
    })
    .await;
}

#[tokio::test]
async fn a_mark_that_many_entered_behind_moves_past_nothing_that_was_claimed() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let _reader = reader(backend.pool()).await;
        h.alter(&waiting(0, 3_000)).await;
        h.alter("UPDATE ff_exec_core SET lifecycle_phase = 'active', eligibility_state = 'not_applicable'").await;
        h.alter(
            "INSERT INTO ff_claim_mark (mark_key, lane_id, capabilities, made_at_ms) VALUES ('k', 'lane', '[]', 1)",
        )
        .await;
        h.alter("UPDATE ff_claim_mark SET made_at_ms = 2").await;
        h.alter(&waiting(10_000, 1_500)).await;
        let mut mover = backend.pool().begin().await.expect("a transaction");
        let read = "SELECT pg_stat_get_xact_tuples_returned('ff_claimable_order_idx'::regclass)";
        let before: i64 = mover.fetch_one(read).await.expect("it is counted").get(0);
        mover.execute("UPDATE ff_claim_mark SET made_at_ms = 3").await.expect("it moves");
        let after: i64 = mover.fetch_one(read).await.expect("it is counted").get(0);
        assert!(after - before < 100, "{} entries of the lane's order", after - before);
        let place = "SELECT created_at_ms FROM ff_claim_mark WHERE priority = 0 AND execution_id IS NOT NULL";
        assert_eq!(mover.fetch_one(place).await.expect("it has a place").get::<i64, _>(0), 10_001);
        let taken = "SELECT core.created_at_ms FROM ff_take_from_lane('k', 3) AS taken \
                       JOIN ff_exec_core AS core USING (partition_key, execution_id) ORDER BY core.created_at_ms";
        let taken: Vec<i64> = sqlx::query_scalar(taken).fetch_all(&mut *mover).await.expect("they wait");
        assert_eq!(taken, [10_001, 10_002, 10_003]);
    })
    .await;
}

/// Executions that wait in one lane, created one after the other.
fn waiting(since: u32, count: u32) -> String {
    format!(
        "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state, \
         eligibility_state, public_state, attempt_state, created_at_ms) \
         SELECT 0, gen_random_uuid(), 'lane', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending', {since} + i \
           FROM generate_series(1, {count}) AS i"
    )
}

/// A transaction that has read: as long as it is open, what is claimed stays in the indexes.
async fn reader(pool: &PgPool) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut reader = pool.begin().await.expect("a transaction");
    reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await.expect("a level");
    reader.execute("SELECT count(*) FROM ff_claimable").await.expect("it reads");
    reader
}

/// Turns what a later version plans otherwise into what the oldest one plans, which the snapshot has.
async fn as_before(connection: &mut PgConnection, plans: &mut BTreeMap<String, Scans>) {
    let major = "SELECT current_setting('server_version_num')::integer / 10000";
    let major: i32 = connection.fetch_one(major).await.expect("the server has a version").get(0);
    for (statement, _, since, before) in READ_OTHERWISE_SINCE.iter().filter(|(_, first, ..)| *first <= major) {
        let scans = plans.get_mut(*statement).expect("a statement of this project");
        assert!(scans.remove(*since), "{statement} is not read so on Postgres {major}: {scans:?}");
        scans.insert((*before).to_owned());
    }
}

/// The partitioned table or index that each partition belongs to.
async fn parents(connection: &mut PgConnection) -> BTreeMap<String, String> {
    let sql = "SELECT inhrelid::regclass::text AS child, inhparent::regclass::text AS parent FROM pg_inherits";
    let rows = connection.fetch_all(sql).await.expect("the catalogue answers");
    rows.iter().map(|row| (row.get("child"), row.get("parent"))).collect()
}

async fn pg_plan(connection: &mut PgConnection, text: &EmittedText) -> Value {
    let list = |items: Vec<&str>| if items.is_empty() { String::new() } else { format!("({})", items.join(", ")) };
    let types: Vec<String> = text.params.iter().map(pg_type).collect();
    let types = list(types.iter().map(String::as_str).collect());
    let prepare = format!("PREPARE asked {types} AS {}", text.sql);
    connection.execute(AssertSqlSafe(prepare)).await.expect(&text.name);
    // The plan is for any values, but a NULL would leave every partition out of what is shown of it.
    let value = |param: &TextParam| match (&param.ty.base, &param.holds) {
        (Base::Int16, Holds::Value) => "0",
        _ => "NULL",
    };
    let values = list(text.params.iter().map(value).collect());
    let explain = format!("EXPLAIN (COSTS off, FORMAT json) EXECUTE asked {values}");
    let row = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_one(&mut *connection).await.expect(&text.name);
    connection.execute("DEALLOCATE asked").await.expect("it was prepared");
    let plan: &str = row.try_get_unchecked(0).expect("a plan");
    serde_json::from_str(plan).expect("the plan is JSON")
}

/// The type of a parameter; a field of a list of rows is an array.
fn pg_type(param: &TextParam) -> String {
    let name = type_name(&param.ty.base);
    if matches!(param.holds, Holds::Field(_) | Holds::Handed(..)) { format!("{name}[]") } else { name.to_owned() }
}

fn type_name(base: &Base) -> &'static str {
    match base {
        Base::Bool => "boolean",
        Base::Int16 => "smallint",
        Base::Int32 => "integer",
        Base::Int64 => "bigint",
        Base::Float64 => "double precision",
        Base::Text => "text",
        Base::Bytes => "bytea",
        Base::Uuid => "uuid",
        Base::Json => "jsonb",
        Base::TextArray => "text[]",
        Base::Int64Array => "bigint[]",
        Base::UuidArray => "uuid[]",
        Base::Numeric => "numeric",
        Base::Timestamp => "timestamptz",
        Base::DateTime => "timestamp",
        Base::Date => "date",
        Base::TimeOfDay => "time",
        Base::Interval => "interval",
        Base::Enum(_) | Base::Stored(_) => panic!("no parameter of this project is of {base:?}"),
    }
}

/// Collects the scans of a plan and of all plans below it.
fn pg_scans(plan: &Value, parents: &BTreeMap<String, String>, scans: &mut Scans) {
    match plan {
        Value::Array(plans) => plans.iter().for_each(|plan| pg_scans(plan, parents, scans)),
        Value::Object(node) => {
            let named = |key: &str| {
                let name = node.get(key)?.as_str()?;
                Some(parents.get(name).map_or(name, String::as_str))
            };
            let kind = node.get("Node Type").and_then(Value::as_str).unwrap_or_default();
            if kind.ends_with("Scan")
                // How a server reads its own tables follows from what else is in it.
                && let Some(table) = named("Relation Name").filter(|table| table.starts_with("ff_"))
            {
                scans.insert(match (named("Index Name"), node.contains_key("Index Cond")) {
                    (Some(index), true) => format!("{table} by {index}"),
                    (Some(index), false) => format!("{table} along {index}"),
                    (None, _) => format!("{table} whole"),
                });
            }
            node.values().for_each(|inner| pg_scans(inner, parents, scans));
        }
        _ => {}
    }
}
