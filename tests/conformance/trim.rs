//! Forgetting executions that ended long ago.

use ff_core::backend::{Frame, FrameKind, ScannerFilter};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, LaneId, TimestampMs};

use crate::harness::{Harness as Opened, T0, on_every_database, uuid_of};

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

on_every_database! {
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
}
