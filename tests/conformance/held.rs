//! Rows that somebody holds who does nothing: everybody else's work goes on without them, and comes back to them.
//!
//! A session locks rows and stays idle in its transaction, as a host that is cut off does. Only where rows have locks.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use ff_core::contracts::{
    ClaimForWorkerOutcome, EdgeDependencyPolicy, OnSatisfied, RegisterWorkerArgs, TimeoutBehavior,
};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::policy::{ExecutionPolicy, RetryPolicy};
use ff_core::types::{BudgetId, ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};
use sqlx::{Connection as _, PgConnection};

use crate::dependency::{claim, counts, downstream, ended_elsewhere, group, member, settled, succeed};
use crate::harness::{Harness, Kind, LEASE_MS, PATIENCE, Place, T0, run};
use crate::{admission, budget, flow, quota, schedule, sessions, suspend};

/// Locks a row of a table, which a cluster has done by its partition, and does nothing more.
pub(crate) async fn hold(h: &Harness, table: &str, which: &str) -> PgConnection {
    let partition = h.number(&format!("SELECT CAST(partition_key AS bigint) FROM {table} WHERE {which} LIMIT 1")).await;
    let locking = format!("SELECT 1 FROM {table} WHERE partition_key = {partition} AND {which} FOR UPDATE");
    let Place::Postgres { url } = h.place() else { panic!("the test is about row locks") };
    let mut connection = PgConnection::connect(url).await.expect("the server answers");
    let sql = format!("BEGIN; {locking}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.expect("the rows are locked");
    connection
}

/// Frees the rows again, before anything else is asked of the server.
pub(crate) async fn free(mut held: PgConnection) {
    sqlx::raw_sql("ROLLBACK").execute(&mut held).await.expect("the rows are free");
    held.close().await.expect("the session ends");
}

/// What must not wait for a session that does nothing.
async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(answer) => answer,
        Err(_) => panic!("{what} waits for somebody who does nothing"),
    }
}

/// Sweeps while somebody holds rows of one of two items, and again when they are free: one is handled each time, and
/// none is counted as failed.
async fn goes_on(h: &Harness, sweep: &str, table: &str, which: &str) {
    let held = hold(h, table, which).await;
    assert_eq!(in_time(sweep, h.sweep(sweep)).await, (1, 0), "{sweep} handles the other one past {table}");
    assert_eq!(in_time(sweep, h.sweep(sweep)).await, (0, 0), "{sweep} leaves the held one alone: {table}");
    free(held).await;
    comes_back(h, sweep).await;
}

/// Sweeps until the item that was passed over is handled. What ended in the meantime is followed in the background,
/// which holds rows for a moment as well.
async fn comes_back(h: &Harness, sweep: &str) {
    let began = Instant::now();
    loop {
        match in_time(sweep, h.sweep(sweep)).await {
            (0, 0) => assert!(began.elapsed() < PATIENCE, "{sweep} comes back to what it passed over"),
            handled => return assert_eq!(handled, (1, 0), "{sweep} comes back to what it passed over"),
        }
    }
}

async fn on_postgres<F: Future<Output = ()> + Send + 'static>(test: impl FnOnce(Arc<Harness>) -> F) {
    run(Kind::Postgres, test).await;
}

#[tokio::test]
async fn leases_of_others_expire_past_a_held_execution() {
    on_postgres(|h| async move {
        let (held, _) = h.created_and_claimed().await;
        h.created_and_claimed().await;
        h.pass_ms(LEASE_MS + 1);
        goes_on(&h, "lease_expiry", "ff_exec_core", &h.of(&held)).await;
    })
    .await;
}

#[tokio::test]
async fn leases_of_others_expire_past_a_held_attempt() {
    on_postgres(|h| async move {
        let (held, _) = h.created_and_claimed().await;
        h.created_and_claimed().await;
        h.pass_ms(LEASE_MS + 1);
        goes_on(&h, "lease_expiry", "ff_attempt", &h.of(&held)).await;
    })
    .await;
}

#[tokio::test]
async fn attempts_of_others_time_out_past_a_held_execution() {
    on_postgres(|h| async move {
        let retry_policy = Some(RetryPolicy { max_retries: 3, ..Default::default() });
        let policy = ExecutionPolicy { retry_policy, ..Default::default() };
        let mut ids = Vec::new();
        for _ in 0..2 {
            ids.push(h.create_with(|args| args.policy = Some(policy.clone())).await);
            h.claim("worker-a").await.expect("it is claimed");
        }
        h.pass_ms(LEASE_MS + 1);
        goes_on(&h, "attempt_timeout", "ff_exec_core", &h.of(&ids[0])).await;
    })
    .await;
}

#[tokio::test]
async fn deadlines_of_others_pass_past_held_rows() {
    on_postgres(|h| async move {
        for (turn, table) in (1..).zip(["ff_exec_core", "ff_claimable"]) {
            let deadline = Some(TimestampMs::from_millis(T0 + 5 * turn));
            let held = h.create_with(|args| args.execution_deadline_at = deadline).await;
            h.create_with(|args| args.execution_deadline_at = deadline).await;
            h.pass_ms(5 * turn + 1);
            goes_on(&h, "execution_deadline", table, &h.of(&held)).await;
            h.pass_ms(-(5 * turn + 1));
        }
    })
    .await;
}

#[tokio::test]
async fn suspensions_of_others_end_past_held_rows() {
    on_postgres(|h| async move {
        for (turn, table) in (1..).zip(["ff_exec_core", "ff_attempt", "ff_suspension_current", "ff_waitpoint_pending"])
        {
            let end = TimestampMs::from_millis(T0 + 5 * turn);
            let held = suspend::suspended_with(&h, |args| args.with_timeout(end, TimeoutBehavior::Fail)).await;
            suspend::suspended_with(&h, |args| args.with_timeout(end, TimeoutBehavior::Fail)).await;
            h.pass_ms(5 * turn + 1);
            goes_on(&h, "suspension_timeout", table, &h.of(&held.id)).await;
            h.pass_ms(-(5 * turn + 1));
        }
    })
    .await;
}

#[tokio::test]
async fn ended_executions_are_forgotten_past_held_rows() {
    on_postgres(|h| async move {
        for table in ["ff_exec_core", "ff_attempt", "ff_completion_event"] {
            let mut ids = Vec::new();
            for _ in 0..2 {
                let (id, handle) = h.created_and_claimed().await;
                h.backend.complete(&handle, None).await.expect("it completes");
                ids.push(id);
            }
            h.pass_ms(40 * 86_400_000);
            goes_on(&h, "retention_trimmer", table, &h.of(&ids[0])).await;
        }
    })
    .await;
}

#[tokio::test]
async fn waitpoints_of_others_are_closed_past_a_held_execution() {
    on_postgres(|h| async move {
        suspend::seed(&h).await;
        let mut ids = Vec::new();
        for _ in 0..2 {
            let (id, handle) = h.created_and_claimed().await;
            let end = std::time::Duration::from_millis(5);
            h.backend.create_waitpoint(&handle, "key", end).await.expect("a waitpoint");
            ids.push(id);
        }
        h.pass_ms(6);
        goes_on(&h, "pending_wp_expiry", "ff_exec_core", &h.of(&ids[0])).await;
    })
    .await;
}

/// Two executions with a grant each whose time is over; the first of them.
async fn granted_in_vain(h: &Harness) -> ExecutionId {
    let (first, second) = (h.create().await, h.create().await);
    for id in [&first, &second] {
        h.backend.issue_claim_grant(schedule::asking(h, id, &[])).await.expect("it is granted");
    }
    h.pass_ms(60_001);
    first
}

#[tokio::test]
async fn grants_of_others_are_taken_back_past_a_held_execution() {
    on_postgres(|h| async move {
        let mut kept = Vec::new();
        for _ in 0..2 {
            h.create().await;
            let grant = h.backend.claim_for_worker(schedule::wanting(&[])).await.expect("an answer");
            let ClaimForWorkerOutcome::Granted(grant) = grant else { panic!("it is granted, not {grant:?}") };
            kept.push(grant.execution_id);
        }
        h.pass_ms(60_001);
        let held = kept.remove(0);
        goes_on(&h, "grant_expiry", "ff_exec_core", &h.of(&held)).await;
    })
    .await;
}

#[tokio::test]
async fn grants_are_taken_back_past_many_places_that_no_execution_has() {
    on_postgres(|h| async move {
        h.create().await;
        h.backend.claim_for_worker(schedule::wanting(&[])).await.expect("it is granted");
        h.alter("INSERT INTO ff_granted SELECT 0, gen_random_uuid(), 1 FROM generate_series(1, 250)").await;
        h.pass_ms(60_001);
        assert_eq!(h.sweep("grant_expiry").await, (1, 0));
    })
    .await;
}

#[tokio::test]
async fn grants_of_others_are_forgotten_past_a_held_execution() {
    on_postgres(|h| async move {
        let held = granted_in_vain(&h).await;
        goes_on(&h, "growth", "ff_exec_core", &h.of(&held)).await;
    })
    .await;
}

#[tokio::test]
async fn others_are_put_back_past_a_held_execution() {
    on_postgres(|h| async move {
        let (held, other) = (h.create().await, h.create().await);
        for id in [&held, &other] {
            h.backend.block_route(admission::route(id, "waiting_for_budget")).await.expect("it is blocked");
        }
        goes_on(&h, "unblock", "ff_exec_core", &h.of(&held)).await;
    })
    .await;
}

#[tokio::test]
async fn completions_of_others_are_followed_past_held_rows() {
    on_postgres(|h| async move {
        for table in ["ff_edge", "ff_edge_group", "ff_exec_core"] {
            let flow = flow::created(&h).await;
            let (held, ups) = group(&h, &flow, None, 1).await;
            let (other, more) = group(&h, &flow, None, 1).await;
            ended_elsewhere(&h, &flow, &ups[0], "success", 20_000).await;
            ended_elsewhere(&h, &flow, &more[0], "success", 20_000).await;
            let of = if table == "ff_exec_core" { h.of(&held) } else { downstream(&h, &held) };
            goes_on(&h, "dependency", table, &of).await;
            assert_eq!([counts(&h, &held).await, counts(&h, &other).await], ["1 0 0 0", "1 0 0 0"], "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn siblings_are_cancelled_past_a_held_one() {
    on_postgres(|h| async move {
        let flow = flow::created(&h).await;
        let policy = || Some(EdgeDependencyPolicy::any_of(OnSatisfied::cancel_remaining()));
        let mut groups = Vec::new();
        for _ in 0..2 {
            let (_, ups) = group(&h, &flow, policy(), 3).await;
            let handle = claim(&h, &ups[0]).await.expect("it may be claimed");
            h.backend.complete(&handle, None).await.expect("it completes");
            groups.push(ups);
        }
        settled(&h).await;
        let held = &groups[0][1];
        goes_on(&h, "edge_cancel_dispatcher", "ff_exec_core", &h.of(held)).await;
        for up in groups.iter().flat_map(|ups| &ups[1..]) {
            assert_eq!(h.core(up, "public_state").await, "cancelled");
        }
    })
    .await;
}

#[tokio::test]
async fn the_siblings_of_a_held_one_are_cancelled() {
    on_postgres(|h| async move {
        let flow = flow::created(&h).await;
        let policy = Some(EdgeDependencyPolicy::any_of(OnSatisfied::cancel_remaining()));
        let (_, ups) = group(&h, &flow, policy, 12).await;
        let handle = claim(&h, &ups[0]).await.expect("it may be claimed");
        h.backend.complete(&handle, None).await.expect("it completes");
        settled(&h).await;
        let held = hold(&h, "ff_exec_core", &h.of(&ups[1])).await;
        assert_eq!(in_time("the dispatcher", h.sweep("edge_cancel_dispatcher")).await, (0, 0));
        for up in &ups[2..] {
            assert_eq!(h.core(up, "public_state").await, "cancelled");
        }
        free(held).await;
        comes_back(&h, "edge_cancel_dispatcher").await;
        assert_eq!(h.core(&ups[1], "public_state").await, "cancelled");
    })
    .await;
}

#[tokio::test]
async fn other_budgets_are_reset_past_a_held_one() {
    on_postgres(|h| async move {
        for (turn, table) in ["ff_budget_policy", "ff_budget_usage"].into_iter().enumerate() {
            let (held, other) = (BudgetId::new(), BudgetId::new());
            for id in [&held, &other] {
                let made = budget::definition(id, &[("tokens", 9, 0)], 1_000_000);
                h.backend.create_budget(made).await.expect("a budget");
                budget::report(&h, id, &[("tokens", 3)]).await;
            }
            let rows = "UPDATE ff_budget_policy SET next_reset_at_ms";
            h.alter(&format!("{rows} = {} WHERE budget_id IN ('{held}', '{other}')", T0 - 1)).await;
            goes_on(&h, "budget_reset", table, &format!("budget_id = '{held}'")).await;
            h.pass_ms(i64::try_from(turn).expect("a small number"));
        }
    })
    .await;
}

#[tokio::test]
async fn other_breaches_are_noted_past_a_held_budget() {
    on_postgres(|h| async move {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let id = budget::created(&h, &[("tokens", 9, 0)]).await;
            budget::report(&h, &id, &[("tokens", 3)]).await;
            h.alter(&format!("UPDATE ff_budget_usage SET current_value = 20 WHERE budget_id = '{id}'")).await;
            ids.push(id);
        }
        goes_on(&h, "budget_reconciler", "ff_budget_policy", &format!("budget_id = '{}'", ids[0])).await;
    })
    .await;
}

#[tokio::test]
async fn other_quotas_are_set_right_past_a_held_one() {
    on_postgres(|h| async move {
        let (held, _other) = (quota::created(&h, 5, 0, 3).await, quota::created(&h, 5, 0, 3).await);
        h.alter("UPDATE ff_quota_policy SET active_concurrency = 7").await;
        goes_on(&h, "quota_reconciler", "ff_quota_policy", &format!("quota_policy_id = '{held}'")).await;
    })
    .await;
}

#[tokio::test]
async fn other_workers_lapse_past_a_held_one() {
    on_postgres(|h| async move {
        for name in ["w-1", "w-2"] {
            let (instance, lanes) = (WorkerInstanceId::new(name), [LaneId::new("lane")].into());
            let (space, now) = (Namespace::new("space"), TimestampMs::from_millis(T0));
            let worker = WorkerId::new("pool");
            let args = RegisterWorkerArgs::new(worker, instance, lanes, Default::default(), 1_000, space, now);
            h.backend.register_worker(args).await.expect("it is registered");
        }
        h.pass_ms(1_001);
        goes_on(&h, "worker_registry_ttl_sweep", "ff_worker_registry", "worker_instance_id = 'w-1'").await;
    })
    .await;
}

#[tokio::test]
async fn summaries_of_other_flows_are_written_past_a_held_one() {
    on_postgres(|h| async move {
        if h.is_spread() {
            return; // A node has time limits of its own, whatever a session of the coordinator is set to.
        }
        let mut flows = Vec::new();
        for _ in 0..2 {
            let flow = flow::created(&h).await;
            let only = member(&h, &flow).await;
            assert_eq!(h.sweep("flow_projector").await.1, 0);
            succeed(&h, &only).await;
            flows.push(flow);
        }
        settled(&h).await;
        h.alter("UPDATE ff_flow_summary SET public_flow_state = 'open'").await;
        goes_on(&h, "flow_projector", "ff_flow_summary", &format!("flow_id = {}", h.flow_key(&flows[0]).1)).await;
    })
    .await;
}

#[tokio::test]
async fn other_delays_end_past_a_held_execution() {
    on_postgres(|h| async move {
        let until = Some(TimestampMs::from_millis(T0 + 5));
        let held = h.create_with(|args| args.delay_until = until).await;
        h.create_with(|args| args.delay_until = until).await;
        h.pass_ms(6);
        goes_on(&h, "delayed_promoter", "ff_exec_core", &h.of(&held)).await;
    })
    .await;
}

#[tokio::test]
async fn cancellations_of_others_go_on_past_a_held_member() {
    on_postgres(|h| async move {
        if h.is_spread() {
            return; // A node has time limits of its own, whatever a session of the coordinator is set to.
        }
        let mut members = Vec::new();
        for _ in 0..2 {
            let flow = flow::created(&h).await;
            members.push(member(&h, &flow).await);
            crate::flow_cancel::header_cancelled(&h, &flow, "cancel_all").await;
        }
        for id in &members {
            h.alter(&format!(
                "UPDATE ff_exec_core SET lifecycle_phase = 'runnable', public_state = 'waiting',
                        eligibility_state = 'eligible_now', terminal_at_ms = NULL WHERE {}",
                h.of(id)
            ))
            .await;
        }
        h.pass_ms(30_000);
        goes_on(&h, "cancel_reconciler", "ff_exec_core", &h.of(&members[0])).await;
    })
    .await;
}

/// An operation on the row itself waits, for a while.
#[tokio::test]
async fn an_operation_on_a_held_row_ends_by_its_time_limit() {
    on_postgres(|h| async move {
        if h.is_spread() {
            return; // A node has time limits of its own, whatever a session of the coordinator is set to.
        }
        let id = h.create().await;
        let backend = sessions::single(&sessions::with_options(&sessions::url(&h), &[("lock_timeout", "20")])).await;
        let backend: Arc<dyn ff_core::engine_backend::EngineBackend> = backend;
        let held = hold(&h, "ff_exec_core", &h.of(&id)).await;
        let tagged = in_time("a unit", backend.set_execution_tag(&id, "team.color", "blue")).await;
        assert!(matches!(tagged, Err(EngineError::Contention(ContentionKind::RetryExhausted))), "{tagged:?}");
        let args = schedule::asking(&h, &id, &[]);
        let granted = in_time("a transaction", backend.issue_claim_grant(args)).await;
        assert!(matches!(granted, Err(EngineError::Contention(ContentionKind::RetryExhausted))), "{granted:?}");
        free(held).await;
        backend.set_execution_tag(&id, "team.color", "blue").await.expect("the row is free");
        assert_eq!(h.document(&id).await["tags"]["team.color"], "blue");
    })
    .await;
}

/// Following completions as they happen waits for nobody either: what is held is left to the sweep.
#[tokio::test]
async fn completions_of_others_are_followed_at_once_past_a_held_execution() {
    on_postgres(|h| async move {
        let flow = flow::created(&h).await;
        let (held, ups) = group(&h, &flow, None, 9).await;
        let (other, more) = group(&h, &flow, None, 1).await;
        let holder = hold(&h, "ff_edge_group", &downstream(&h, &held)).await;
        for up in &ups {
            succeed(&h, up).await;
        }
        succeed(&h, &more[0]).await;
        let followed = async {
            while counts(&h, &other).await != "1 0 0 0" {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        in_time("the follower", followed).await;
        free(holder).await;
        h.alter(&format!("UPDATE ff_completion_event SET committed_at_ms = {}", T0 - 20_000)).await;
        let swept = async {
            while counts(&h, &held).await != "9 0 0 0" {
                h.sweep("dependency").await;
            }
        };
        in_time("the sweep", swept).await;
    })
    .await;
}
