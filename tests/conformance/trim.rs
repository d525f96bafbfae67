//! Forgetting executions that ended long ago.

use std::time::Duration;

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::{Frame, FrameKind, ScannerFilter};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs};

use crate::harness::{Harness as Opened, Kind, T0, Tables, id_in, on_every_database, run, uuid_of};

/// How long ended executions are kept in these tests.
const KEPT_MS: i64 = 1_000;

async fn trim(h: &Opened, id: &ExecutionId, batch_size: u32, filter: &ScannerFilter) -> u32 {
    let partition = Partition { family: PartitionFamily::Execution, index: id.partition() };
    let now = TimestampMs::from_millis(h.clock.now_ms());
    let lane = LaneId::new("lane");
    h.backend.trim_retention(partition, &lane, KEPT_MS as u64, now, batch_size, filter).await.unwrap()
}

/// How many rows of any table tell about an execution.
async fn traces(h: &Opened, id: &ExecutionId) -> i64 {
    let mut found = 0;
    for table in [
        "ff_exec_core",
        "ff_attempt",
        "ff_claim_grant",
        "ff_completion_event",
        "ff_stream_counter",
        "ff_stream_frame",
        "ff_stream_summary",
        "ff_suspension_current",
        "ff_waitpoint_pending",
    ] {
        found += h.number(&format!("SELECT count(*) FROM {table} WHERE {}", h.of(id))).await;
    }
    for table in ["ff_lease_event", "ff_signal_event", "ff_operator_event"] {
        found += h.number(&format!("SELECT count(*) FROM {table} WHERE execution_id = '{}'", uuid_of(id))).await;
    }
    for table in ["ff_cancel_backlog_member"] {
        found += h.number(&format!("SELECT count(*) FROM {table} WHERE execution_id = '{id}'")).await;
    }
    let used = format!("SELECT count(*) FROM ff_budget_usage_by_exec WHERE execution_id = '{}'", uuid_of(id));
    found + h.number(&used).await
}

async fn completed(h: &Opened) -> ExecutionId {
    let (id, handle) = h.created_and_claimed().await;
    h.backend.append_frame(&handle, Frame::new(b"bytes".to_vec(), FrameKind::Event)).await.unwrap();
    h.backend.complete(&handle, None).await.unwrap();
    id
}

/// Ends an execution of that partition and namespace on the lane `lane`, without a worker.
async fn ended_in(h: &Opened, partition: u16, namespace: &str) -> ExecutionId {
    let id = id_in(partition);
    let created = h.create_with(|args| {
        args.execution_id = id.clone();
        args.partition_id = partition;
        args.namespace = Namespace::new(namespace);
    });
    created.await;
    let ended = format!("lifecycle_phase = 'terminal', terminal_at_ms = {T0}");
    h.alter(&format!("UPDATE ff_exec_core SET {ended} WHERE {}", h.of(&id))).await;
    id
}

/// The expression of an id that no other row has.
pub(crate) fn random(h: &Opened) -> &'static str {
    match h.tables() {
        Tables::Sqlite(..) => "randomblob(16)",
        Tables::Postgres(_) => "gen_random_uuid()",
    }
}

/// Puts executions of a lane and partition into the tables that ended when the test began.
async fn many_ended(h: &Opened, count: u32, partition: u16, lane: &str, document: &str) {
    let random = random(h);
    h.alter(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
         INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                eligibility_state, public_state, attempt_state, created_at_ms, terminal_at_ms, raw_fields)
         SELECT {partition}, {random}, '{lane}', 'terminal', 'unowned', 'not_applicable', 'completed', 'attempt_terminal',
                {T0}, {T0}, '{document}' FROM n"
    ))
    .await;
}

#[tokio::test]
async fn a_trim_through_a_filter_holds_nothing_but_what_it_forgets() {
    run(Kind::Postgres, |h| async move {
        if h.is_spread() {
            // It moves a frame to another partition, which Citus refuses.
            return;
        }
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let pool = backend.pool().clone();
        let (others, own) = (ended_in(&h, 1, "others").await, ended_in(&h, 1, "own").await);
        let (_, handle) = h.created_and_claimed().await;
        h.backend.append_frame(&handle, Frame::new(b"{}".to_vec(), FrameKind::Stdout)).await.unwrap();
        h.alter(&format!("UPDATE ff_stream_frame SET partition_key = 1, execution_id = '{}'", uuid_of(&own))).await;
        h.pass_ms(KEPT_MS);
        // The trim stops in the middle, because somebody holds a frame whose stream nobody holds.
        let mut holder = pool.begin().await.unwrap();
        sqlx::raw_sql("SELECT 1 FROM ff_stream_frame FOR UPDATE").execute(&mut *holder).await.unwrap();
        let (trimming, id) = (h.clone(), own.clone());
        let filter = ScannerFilter::new().with_namespace("own");
        let trimmed = tokio::spawn(async move { trim(&trimming, &id, 10, &filter).await });
        let waits = "SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
                      WHERE NOT l.granted AND a.datname = current_database()";
        while h.number(waits).await == 0 {
            tokio::task::yield_now().await;
        }
        let free = format!(
            "SELECT count(*) FROM (SELECT 1 FROM ff_exec_core WHERE {} FOR UPDATE SKIP LOCKED) AS f",
            h.of(&others)
        );
        assert_eq!(h.number(&free).await, 1, "the execution that does not pass the filter is free");
        holder.rollback().await.unwrap();
        assert_eq!(trimmed.await.unwrap(), 1);
        assert_eq!(h.core(&others, "lifecycle_phase").await, "terminal");
    })
    .await;
}

#[tokio::test]
async fn a_trim_leaves_what_somebody_holds_for_the_next_time() {
    run(Kind::Postgres, |h| async move {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let (held, free) = (ended_in(&h, 1, "own").await, ended_in(&h, 1, "own").await);
        h.pass_ms(KEPT_MS);
        let mut holder = backend.pool().begin().await.unwrap();
        let lock = format!("SELECT 1 FROM ff_exec_core WHERE {} FOR UPDATE", h.row_of(&held));
        sqlx::raw_sql(sqlx::AssertSqlSafe(lock)).execute(&mut *holder).await.unwrap();
        assert_eq!(trim(&h, &free, 10, &ScannerFilter::NOOP).await, 1);
        assert_eq!(h.backend.read_execution_state(&free).await.unwrap(), None);
        holder.rollback().await.unwrap();
        assert_eq!(trim(&h, &held, 10, &ScannerFilter::NOOP).await, 1);
    })
    .await;
}

on_every_database! {
    async fn the_sweep_reads_through_its_filter(h) {
        let own = ended_in(&h, 1, "own").await;
        h.alter(&format!("UPDATE ff_exec_core SET terminal_at_ms = {} WHERE {}", T0 + 1, h.of(&own))).await;
        many_ended(&h, 1_200, 1, "theirs", r#"{"namespace":"others"}"#).await;
        h.pass_ms(24 * 60 * 60 * 1_000 + 1);
        let mut config = FullScannerConfig::default();
        config.scanner_filter = ScannerFilter::new().with_namespace("own");
        assert_eq!(h.sweep_with("retention_trimmer", &config).await, (1, 0));
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core").await, 1_200);
    }

    async fn a_filter_by_tag_is_the_same_for_any_key(h) {
        for key in ["cairn.instance_id", "$.a", "[0]", "7", "with space"] {
            let id = h.create_with(|args| args.tags = [(key.to_owned(), "one".to_owned())].into()).await;
            let ended = format!("lifecycle_phase = 'terminal', terminal_at_ms = {T0}");
            h.alter(&format!("UPDATE ff_exec_core SET {ended} WHERE {}", h.of(&id))).await;
            h.clock.set(T0 + KEPT_MS);
            let other = ScannerFilter::new().with_instance_tag(key, "two");
            assert_eq!(trim(&h, &id, 10, &other).await, 0, "{key}");
            let own = ScannerFilter::new().with_instance_tag(key, "one");
            assert_eq!(trim(&h, &id, 10, &own).await, 1, "{key}");
        }
    }

    async fn an_execution_that_ended_long_ago_leaves_nothing_behind(h) {
        let id = completed(&h).await;
        let partition = id.partition();
        let (uuid, flow) = (uuid_of(&id), h.of(&id).replace("execution_id = ", ""));
        let member = "INSERT INTO ff_cancel_backlog_member (partition_key, flow_id, execution_id)";
        h.alter(&format!("{member} VALUES (0, {flow}, '{id}')")).await;
        let used = "INSERT INTO ff_budget_usage_by_exec";
        let columns = "(partition_key, budget_id, execution_id, dimensions_key, updated_at_ms)";
        h.alter(&format!("{used} {columns} VALUES (0, 'b', '{uuid}', 'd', 0)")).await;
        let happened = "INSERT INTO ff_operator_event (execution_id, event_type, occurred_at_ms, partition_key)";
        h.alter(&format!("{happened} VALUES ('{uuid}', 'replayed', 0, {partition})")).await;
        h.pass_ms(KEPT_MS - 1);
        assert_eq!(trim(&h, &id, 10, &ScannerFilter::NOOP).await, 0);
        assert!(traces(&h, &id).await >= 9);
        h.pass_ms(1);
        assert_eq!(trim(&h, &id, 10, &ScannerFilter::NOOP).await, 1);
        assert_eq!(traces(&h, &id).await, 0);
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), None);
        assert_eq!(trim(&h, &id, 10, &ScannerFilter::NOOP).await, 0);
    }

    async fn what_is_open_or_somebody_elses_stays(h) {
        let open = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 * 2))).await;
        h.pass_ms(KEPT_MS * 2);
        assert_eq!(trim(&h, &open, 10, &ScannerFilter::NOOP).await, 0);
        let ended = completed(&h).await;
        h.pass_ms(KEPT_MS);
        let elsewhere = ScannerFilter::new().with_namespace("elsewhere");
        assert_eq!(trim(&h, &ended, 10, &elsewhere).await, 0);
        let lane = LaneId::new("another");
        let partition = Partition { family: PartitionFamily::Execution, index: ended.partition() };
        let now = TimestampMs::from_millis(h.clock.now_ms());
        let noop = ScannerFilter::NOOP;
        assert_eq!(h.backend.trim_retention(partition, &lane, 0, now, 10, &noop).await.unwrap(), 0);
        assert_eq!(h.core(&ended, "lifecycle_phase").await, "terminal");
        let here = ScannerFilter::new().with_instance_tag("cairn.instance_id", "instance-1");
        assert_eq!(trim(&h, &ended, 10, &here).await, 1);
    }

    async fn a_batch_has_its_size_and_the_oldest_go_first(h) {
        let mut ids = Vec::new();
        for _ in 0..3 {
            let id = h.create_with(|args| {
                args.execution_id = crate::harness::id_in(1);
                args.partition_id = 1;
            });
            let id = id.await;
            let handle = h.claim("worker-a").await.unwrap();
            h.backend.complete(&handle, None).await.unwrap();
            h.pass_ms(1);
            ids.push(id);
        }
        h.pass_ms(KEPT_MS);
        assert_eq!(trim(&h, &ids[0], 0, &ScannerFilter::NOOP).await, 0);
        assert_eq!(trim(&h, &ids[0], 2, &ScannerFilter::NOOP).await, 2);
        assert_eq!(h.core(&ids[2], "terminal_at_ms").await, (T0 + 2).to_string());
        assert_eq!(trim(&h, &ids[0], 2, &ScannerFilter::NOOP).await, 1);
    }

    async fn cancelled_executions_are_forgotten_too(h) {
        let id = h.create().await;
        let ended = format!("lifecycle_phase = 'cancelled', terminal_at_ms = {T0}");
        h.alter(&format!("UPDATE ff_exec_core SET {ended} WHERE {}", h.of(&id))).await;
        h.pass_ms(KEPT_MS);
        assert_eq!(trim(&h, &id, 10, &ScannerFilter::NOOP).await, 1);
    }

    async fn a_completion_that_a_flow_has_not_followed_stays(h) {
        let id = completed(&h).await;
        let flow = h.of(&id).replace("execution_id = ", "flow_id = ");
        h.alter(&format!("UPDATE ff_completion_event SET {flow} WHERE {}", h.of(&id))).await;
        h.pass_ms(KEPT_MS);
        assert_eq!(trim(&h, &id, 10, &ScannerFilter::NOOP).await, 1);
        assert_eq!(h.completions(&id).await, ["success space instance-1"]);
        assert_eq!(traces(&h, &id).await, 1);
    }

    async fn the_sweep_finds_every_lane_and_keeps_a_day_by_default(h) {
        let first = completed(&h).await;
        let second = h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        let ended = format!("lifecycle_phase = 'terminal', terminal_at_ms = {T0}");
        h.alter(&format!("UPDATE ff_exec_core SET {ended} WHERE {}", h.of(&second))).await;
        h.pass_ms(24 * 60 * 60 * 1_000 - 1);
        assert_eq!(h.sweep("retention_trimmer").await, (0, 0));
        h.pass_ms(1);
        assert_eq!(h.sweep("retention_trimmer").await, (2, 0));
        assert_eq!(traces(&h, &first).await + traces(&h, &second).await, 0);
    }

    async fn the_sweep_goes_on_until_nothing_is_left_or_its_time_is_over(h) {
        many_ended(&h, 700, 1, "busy", "{}").await;
        many_ended(&h, 30, 0, "quiet", "{}").await;
        h.pass_ms(24 * 60 * 60 * 1_000 + 1);
        let mut config = FullScannerConfig::default();
        config.sweep_time_limit = Duration::ZERO;
        let (first, failed) = h.sweep_with("retention_trimmer", &config).await;
        assert_eq!(failed, 0);
        assert!((1..730).contains(&first), "a run whose time is over at once does one page: {first}");
        assert_eq!(h.sweep("retention_trimmer").await, (730 - first, 0));
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core").await, 0);
    }
}
