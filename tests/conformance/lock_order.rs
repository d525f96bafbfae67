//! The order in which rows are locked, and whom nobody waits for. What only a server with many writers has is
//! looked at on Postgres alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use ff_core::contracts::{ClaimForWorkerOutcome, ReportUsageResult};
use ff_core::types::{BudgetId, ExecutionId, LaneId, TimestampMs};
use sqlx::{Connection as _, PgPool};

use crate::harness::{Harness as Opened, Kind, PATIENCE, T0, Tables, on_every_database, payload, run};
use crate::{budget, edge, flow, operator, schedule};

/// The pool of a backend on Postgres.
fn pool(h: &Opened) -> &PgPool {
    match h.tables() {
        Tables::Postgres(backend) => backend.pool(),
        Tables::Sqlite(..) => panic!("the test is about Postgres"),
    }
}

/// A transaction that has locked what the query finds, until it is dropped.
async fn holding(h: &Opened, query: &str) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut held = pool(h).begin().await.expect("a transaction begins");
    let found = sqlx::query(sqlx::AssertSqlSafe(format!("{query} FOR UPDATE"))).fetch_all(&mut *held).await;
    assert_eq!(found.expect("nobody else has it").len(), 1, "{query}");
    held
}

async fn holding_core(h: &Opened, id: &ExecutionId) -> sqlx::Transaction<'static, sqlx::Postgres> {
    holding(h, &format!("SELECT 1 FROM ff_exec_core WHERE {}", h.row_of(id))).await
}

/// How many rows the query finds that nobody has locked.
async fn free(h: &Opened, query: &str) -> usize {
    let unlocked = sqlx::AssertSqlSafe(format!("{query} FOR UPDATE SKIP LOCKED"));
    sqlx::query(unlocked).fetch_all(pool(h)).await.expect("an answer").len()
}

/// The query of one counter of a budget.
fn counter(budget: &BudgetId, dimension: &str) -> String {
    let partition = budget::partition(budget).index;
    format!("SELECT 1 FROM ff_budget_usage WHERE partition_key = {partition} AND dimensions_key = '{dimension}'")
}

/// Waits until a session of this database waits for a lock.
async fn until_somebody_waits(h: &Opened) {
    let seen = async {
        while h.sessions_that_wait().await == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, seen).await.expect("somebody waits for the lock");
}

/// Claims, and fails when the claim waits for somebody.
async fn claimed_at_once(h: &Opened) -> Option<ExecutionId> {
    let claim = tokio::time::timeout(PATIENCE, h.claim("worker-a")).await.expect("a claim waits for nobody");
    claim.map(|handle| payload(&handle).execution_id)
}

/// What a scheduler grants, which waits for nobody either.
async fn granted_at_once(h: &Opened) -> Option<ExecutionId> {
    let grant = tokio::time::timeout(PATIENCE, h.backend.claim_for_worker(schedule::wanting(&[]))).await;
    match grant.expect("a scheduler waits for nobody").expect("an answer") {
        ClaimForWorkerOutcome::Granted(grant) => Some(grant.execution_id),
        _ => None,
    }
}

/// Changes an execution and leaves its place in the queues, as a logical replica does, where no trigger fires.
async fn alter_beside_the_queues(h: &Opened, id: &ExecutionId, sql: &str) {
    let (mut keep, mut put_back) = (String::new(), String::new());
    for queue in ["ff_claimable", "ff_delayed"] {
        let of = h.row_of(id);
        keep.push_str(&format!("CREATE TEMP TABLE kept_{queue} ON COMMIT DROP AS SELECT * FROM {queue} WHERE {of};"));
        put_back.push_str(&format!("DELETE FROM {queue} WHERE {of}; INSERT INTO {queue} SELECT * FROM kept_{queue};"));
    }
    let mut changing = pool(h).begin().await.expect("a transaction begins");
    let whole = format!("{keep} {sql}; {put_back}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(whole)).execute(&mut *changing).await.expect("the tables take it");
    changing.commit().await.expect("the change is made");
}

const ENDED: &str = "lifecycle_phase = 'terminal', eligibility_state = 'not_applicable', public_state = 'completed',
                     attempt_state = 'attempt_terminal', terminal_at_ms = 1";

#[tokio::test]
async fn a_claim_passes_over_what_somebody_has_locked() {
    run(Kind::Postgres, async |h| {
        let first = h.create().await;
        let second = h.create().await;
        let mut held = holding_core(&h, &first).await;
        assert_eq!(claimed_at_once(&h).await, Some(second));
        assert_eq!(claimed_at_once(&h).await, None);
        // The trigger of this write locks the place in the queue, after the execution.
        let raised = format!("UPDATE ff_exec_core SET priority = 5 WHERE {}", h.of(&first));
        sqlx::query(sqlx::AssertSqlSafe(raised)).execute(&mut *held).await.expect("it is changed");
        assert_eq!(claimed_at_once(&h).await, None);
        held.commit().await.expect("it is kept");
        assert_eq!(claimed_at_once(&h).await, Some(first));
    })
    .await;
}

#[tokio::test]
async fn a_scheduler_passes_over_what_somebody_has_locked() {
    run(Kind::Postgres, async |h| {
        let first = h.create().await;
        let second = h.create().await;
        let held = holding_core(&h, &first).await;
        assert_eq!(granted_at_once(&h).await, Some(second));
        assert_eq!(granted_at_once(&h).await, None);
        held.rollback().await.expect("the rows are free");
        assert_eq!(granted_at_once(&h).await, Some(first));
    })
    .await;
}

#[tokio::test]
async fn a_due_execution_that_somebody_has_locked_holds_up_no_other() {
    run(Kind::Postgres, async |h| {
        let mut ids = Vec::new();
        for wait_ms in [10, 20] {
            let due = TimestampMs::from_millis(T0 + wait_ms);
            ids.push(h.create_with(|args| args.delay_until = Some(due)).await);
        }
        let held = holding_core(&h, &ids[0]).await;
        h.pass_ms(1_000);
        assert_eq!(claimed_at_once(&h).await.as_ref(), Some(&ids[1]));
        assert_eq!(claimed_at_once(&h).await, None);
        held.rollback().await.expect("the rows are free");
        h.pass_ms(1_000);
        assert_eq!(claimed_at_once(&h).await.as_ref(), Some(&ids[0]));
    })
    .await;
}

#[tokio::test]
async fn a_row_of_the_queue_that_its_execution_contradicts_reopens_nothing_and_is_put_right() {
    run(Kind::Postgres, async |h| {
        let queued = "SELECT count(*) FROM ff_claimable";
        let ended = h.create().await;
        alter_beside_the_queues(&h, &ended, &format!("UPDATE ff_exec_core SET {ENDED} WHERE {}", h.of(&ended))).await;
        let gone = h.create().await;
        alter_beside_the_queues(&h, &gone, &format!("DELETE FROM ff_exec_core WHERE {}", h.of(&gone))).await;
        let moved = h.create().await;
        alter_beside_the_queues(
            &h,
            &moved,
            &format!("UPDATE ff_exec_core SET lane_id = 'other' WHERE {}", h.of(&moved)),
        )
        .await;
        let sound = h.create().await;
        assert_eq!(h.number(queued).await, 4);
        assert_eq!(claimed_at_once(&h).await, Some(sound));
        assert_eq!(claimed_at_once(&h).await, None);
        assert_eq!(h.core(&ended, "public_state").await, "completed");
        assert_eq!(h.attempts(&ended, "lease_epoch").await, Vec::<String>::new());
        // On a cluster such a place stays where it is, and is passed over.
        if h.is_spread() {
            return;
        }
        assert_eq!(h.texts("SELECT lane_id FROM ff_claimable").await, ["other"]);
        let nothing = ff_core::backend::CapabilitySet::default();
        let there = h.backend.claim(&LaneId::new("other"), &nothing, crate::harness::policy("w")).await.unwrap();
        assert_eq!(payload(&there.expect("it waits there")).execution_id, moved);
    })
    .await;
}

#[tokio::test]
async fn a_delayed_row_that_its_execution_contradicts_is_put_right() {
    run(Kind::Postgres, async |h| {
        let due = TimestampMs::from_millis(T0 + 10);
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(h.create_with(|args| args.delay_until = Some(due)).await);
        }
        let late = format!("UPDATE ff_exec_core SET deadline_at_ms = {} WHERE {}", T0 + 60_000, h.of(&ids[1]));
        alter_beside_the_queues(&h, &ids[0], &format!("UPDATE ff_exec_core SET {ENDED} WHERE {}", h.of(&ids[0]))).await;
        alter_beside_the_queues(&h, &ids[1], &late).await;
        h.pass_ms(1_000);
        assert_eq!(claimed_at_once(&h).await.as_ref(), Some(&ids[2]));
        assert_eq!(claimed_at_once(&h).await, None);
        assert_eq!(h.core(&ids[0], "public_state").await, "completed");
        // On a cluster such a place stays where it is, and is passed over.
        if h.is_spread() {
            return;
        }
        assert_eq!(h.texts("SELECT CAST(due_at_ms AS text) FROM ff_delayed").await, [(T0 + 60_000).to_string()]);
        h.pass_ms(60_000);
        assert_eq!(claimed_at_once(&h).await.as_ref(), Some(&ids[1]));
    })
    .await;
}

#[tokio::test]
async fn a_replay_locks_the_edges_of_a_member_before_the_member() {
    run(Kind::Postgres, async |h| {
        let id = operator::completed(&h).await;
        operator::as_child(&h, &id).await;
        h.alter(&format!("UPDATE ff_attempt SET outcome = 'skipped' WHERE {}", h.of(&id))).await;
        let of_child = h.row_of(&id).replace("execution_id", "downstream_eid");
        let held = holding(&h, &format!("SELECT 1 FROM ff_edge_group WHERE {of_child}")).await;
        let replay = tokio::spawn({
            let (h, id) = (h.clone(), id.clone());
            async move { h.backend.replay_execution(operator::replaying(&id)).await }
        });
        until_somebody_waits(&h).await;
        // Whoever follows an edge has the group and asks for the member next.
        let member = format!("SELECT 1 FROM ff_exec_core WHERE {}", h.row_of(&id));
        assert_eq!(free(&h, &member).await, 1, "the replay has locked the member");
        held.rollback().await.expect("the rows are free");
        replay.await.expect("it ends").expect("it is replayed");
    })
    .await;
}

#[tokio::test]
async fn a_report_locks_counters_in_the_order_of_their_bytes() {
    run(Kind::Postgres, async |h| {
        // A database that sorts as people do has `cost` before `Tokens`; their bytes say the opposite.
        let people = "ALTER TABLE ff_budget_usage ALTER COLUMN dimensions_key TYPE text COLLATE \"en-x-icu\"";
        h.alter(people).await;
        let limits: budget::Limits = &[("cost", 50, 40), ("Tokens", 50, 40)];
        let id = budget::created(&h, limits).await;
        let both = [("cost", 1), ("Tokens", 1)];
        budget::report(&h, &id, &both).await;
        let sorted = "SELECT dimensions_key FROM ff_budget_usage ORDER BY dimensions_key";
        assert_eq!(h.texts(sorted).await, ["cost", "Tokens"]);
        for deltas in [both, [("cost", 45), ("Tokens", 1)]] {
            let held = holding(&h, &counter(&id, "Tokens")).await;
            let reporting = tokio::spawn({
                let (h, id) = (h.clone(), id.clone());
                async move { budget::report(&h, &id, &deltas).await }
            });
            until_somebody_waits(&h).await;
            assert_eq!(free(&h, &counter(&id, "cost")).await, 1, "the report has locked `cost` before `Tokens`");
            held.rollback().await.expect("the rows are free");
            reporting.await.expect("it ends");
        }
    })
    .await;
}

#[tokio::test]
async fn a_report_that_waits_for_a_new_counter_keeps_no_other_from_anybody() {
    run(Kind::Postgres, async |h| {
        let id = budget::created(&h, &[("tokens", 50, 40)]).await;
        budget::report(&h, &id, &[("tokens", 1)]).await;
        let mut other = pool(&h).begin().await.expect("a transaction begins");
        let adding =
            "INSERT INTO ff_budget_usage (partition_key, budget_id, dimensions_key, current_value, updated_at_ms)
                      SELECT partition_key, budget_id, 'cost', 0, updated_at_ms FROM ff_budget_usage";
        sqlx::query(adding).execute(&mut *other).await.expect("a counter is added");
        let reporting = tokio::spawn({
            let (h, id) = (h.clone(), id.clone());
            async move { budget::report_keyed(&h, &id, &[("cost", 1), ("tokens", 1)], "key").await }
        });
        until_somebody_waits(&h).await;
        assert_eq!(
            free(&h, &counter(&id, "tokens")).await,
            1,
            "the report waits for `cost` and has not locked `tokens`"
        );
        other.rollback().await.expect("the counter is not added");
        assert_eq!(reporting.await.expect("it ends"), ReportUsageResult::Ok);
        let counters = "SELECT dimensions_key || current_value FROM ff_budget_usage ORDER BY dimensions_key";
        assert_eq!(h.texts(counters).await, ["cost1", "tokens2"]);
    })
    .await;
}

/// How many deadlocks the server has broken in this database. A session tells what it counted when it ends at the
/// latest, so all others are ended first.
async fn deadlocks(h: &Opened) -> i64 {
    let mut server = sqlx::PgConnection::connect_with(&pool(h).connect_options()).await.expect("the server answers");
    let others = "FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let pids: Vec<i32> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT pid {others}")))
        .fetch_all(&mut server)
        .await
        .expect("the sessions are listed");
    for pid in &pids {
        sqlx::query("SELECT pg_terminate_backend($1)").bind(pid).execute(&mut server).await.expect("it is ended");
    }
    let ended = async {
        loop {
            let left: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1)")
                .bind(&pids)
                .fetch_one(&mut server)
                .await
                .expect("an answer");
            if left == 0 {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("the sessions end");
    sqlx::query_scalar("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        .fetch_one(&mut server)
        .await
        .expect("the server counts")
}

const CREATORS: usize = 6;
const EACH: usize = 20;

on_every_database! {
    async fn those_who_block_executions_and_those_who_claim_them_do_not_wait_for_each_other(h) {
        let at_work = Arc::new(AtomicUsize::new(CREATORS));
        let mut tasks = Vec::new();
        for _ in 0..CREATORS {
            let (h, at_work) = (Arc::clone(&h), Arc::clone(&at_work));
            tasks.push(tokio::spawn(async move {
                for n in 0..EACH {
                    let of = flow::created(&h).await;
                    let (up, down) = (flow::member(&h, &of).await, flow::member(&h, &of).await);
                    edge::depends(&h, &of, &up, &down).await;
                    let loose = h.create().await;
                    // What was claimed meanwhile has no priority to change.
                    let priority = i32::try_from(n).expect("a small number");
                    let _ = h.backend.change_priority(operator::prioritizing(&loose, priority)).await;
                }
                at_work.fetch_sub(1, Ordering::SeqCst);
            }));
        }
        for worker in 0..8 {
            let (h, at_work) = (Arc::clone(&h), Arc::clone(&at_work));
            tasks.push(tokio::spawn(async move {
                loop {
                    let last_look = at_work.load(Ordering::SeqCst) == 0;
                    match h.claim(&format!("worker-{worker}")).await {
                        Some(handle) => h.backend.complete(&handle, None).await.expect("it is completed"),
                        None if last_look => break,
                        None => tokio::task::yield_now().await,
                    }
                }
            }));
        }
        for task in tasks {
            task.await.expect("every operation is answered as it should be");
        }
        if matches!(h.tables(), Tables::Postgres(_)) {
            assert_eq!(deadlocks(&h).await, 0);
        }
    }
}
