//! Marks: where a lane begins for a worker is remembered, and nothing that may be claimed is passed over by it. A mark is
//! made by the first claim of a process, and moved after eight more when that is a second ago.

use ff_core::backend::{CapabilitySet, FailOutcome, FailureClass, FailureReason};
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy};
use ff_core::types::{ExecutionId, LaneId, TimestampMs};
use sqlx::Acquire as _;

use crate::claim::requiring;
use crate::harness::{Harness as Opened, Kind, PATIENCE, T0, Tables, on_every_database, payload, policy, run};

/// Claims that find nothing on this lane, until the mark has moved.
async fn marked(h: &Opened) {
    assert!(h.claim("worker-a").await.is_none());
    h.pass_ms(1_000);
    for _ in 0..8 {
        assert!(h.claim("worker-a").await.is_none());
    }
    assert_eq!(marks(h).await, made(h));
}

/// How many marks claims made and moved of what one worker asks for: where the tables are spread they make none.
fn made(h: &Opened) -> i64 {
    i64::from(!h.is_spread())
}

async fn marks(h: &Opened) -> i64 {
    let moved = "SELECT count(*) FROM ff_claim_mark
                 WHERE lane_id = 'lane' AND capabilities = '[]' AND priority < 2147483647";
    h.number(moved).await
}

async fn claimed(h: &Opened, capabilities: &[&str]) -> Option<ExecutionId> {
    h.claim_as("worker-a", capabilities).await.map(|handle| payload(&handle).execution_id)
}

/// The pool of a backend on Postgres.
fn pool(h: &Opened) -> &sqlx::PgPool {
    match h.tables() {
        Tables::Postgres(backend) => backend.pool(),
        Tables::Sqlite(..) => panic!("the test is about Postgres"),
    }
}

on_every_database! {
    async fn what_comes_behind_a_mark_is_claimed_in_its_order(h) {
        let mut ids = Vec::new();
        for _ in 0..12 {
            h.pass_ms(1);
            ids.push(h.create().await);
        }
        for id in &ids[..10] {
            assert_eq!(claimed(&h, &[]).await.as_ref(), Some(id));
            h.pass_ms(200);
        }
        assert_eq!(marks(&h).await, made(&h));
        let later = h.create().await;
        for id in [&ids[10], &ids[11], &later] {
            assert_eq!(claimed(&h, &[]).await.as_ref(), Some(id));
        }
        assert!(claimed(&h, &[]).await.is_none());
    }

    async fn what_comes_before_a_mark_is_claimed_first(h) {
        let retry_policy = Some(RetryPolicy {
            max_retries: 3,
            backoff: BackoffStrategy::Fixed { delay_ms: 0 },
            retryable_categories: Vec::new(),
        });
        let retried = h.create_with(|args| {
            args.policy = Some(ExecutionPolicy { retry_policy, ..Default::default() });
        });
        let retried = retried.await;
        let handle = h.claim("worker-a").await.expect("it waits");
        marked(&h).await;
        let plain = h.create().await;
        let urgent = h.create_with(|args| args.priority = 9).await;
        let reason = FailureReason::new("again");
        let failed = h.backend.fail(&handle, reason, FailureClass::Transient).await.expect("it fails");
        assert!(matches!(failed, FailOutcome::RetryScheduled { .. }), "{failed:?}");
        h.pass_ms(1);
        for id in [&urgent, &retried, &plain] {
            assert_eq!(claimed(&h, &[]).await.as_ref(), Some(id));
        }
    }

    async fn what_a_mark_passed_over_is_there_for_who_has_the_capability(h) {
        let blocked = h.create_with(|args| args.policy = requiring(&["gpu"])).await;
        marked(&h).await;
        let plain = h.create().await;
        marks_again(&h, &plain).await;
        assert_eq!(claimed(&h, &["gpu"]).await, Some(blocked));
    }

    async fn an_execution_that_moves_to_a_lane_is_found_there(h) {
        marked(&h).await;
        let moved = h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        h.alter(&format!("UPDATE ff_exec_core SET lane_id = 'lane' WHERE {}", h.of(&moved))).await;
        assert_eq!(claimed(&h, &[]).await, Some(moved));
    }

    async fn capabilities_of_any_length_have_a_mark(h) {
        let long = "c".repeat(10_000);
        for _ in 0..9 {
            let id = h.create().await;
            assert_eq!(claimed(&h, &[&long]).await, Some(id));
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_claim_mark").await, made(&h));
    }

    async fn capabilities_in_another_order_have_the_same_mark(h) {
        for capabilities in [["a", "b"], ["b", "a"]] {
            let id = h.create().await;
            assert_eq!(claimed(&h, &capabilities).await, Some(id));
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_claim_mark").await, made(&h));
    }

    async fn marks_that_nobody_makes_anew_are_forgotten(h) {
        marked(&h).await;
        h.pass_ms(24 * 60 * 60 * 1_000);
        assert_eq!(h.sweep("growth").await, (0, 0));
        assert_eq!(marks(&h).await, made(&h));
        h.pass_ms(1);
        assert_eq!(h.sweep("growth").await, (0, 0), "a mark is no row of the engine's state");
        assert_eq!(h.number("SELECT count(*) FROM ff_claim_mark").await, 0);
        let id = h.create().await;
        assert_eq!(claimed(&h, &[]).await, Some(id), "whoever claims again makes it again");
    }

    async fn many_that_come_before_a_mark_are_claimed_in_their_order_and_move_it(h) {
        let early = h.create().await;
        let urgent = h.create_with(|args| args.priority = 9).await;
        assert_eq!(claimed(&h, &[]).await.as_ref(), Some(&urgent));
        assert_eq!(claimed(&h, &[]).await.as_ref(), Some(&early));
        marked(&h).await;
        add(&h, 1_500, T0 + 10, None).await;
        h.pass_ms(1_000);
        for place in 0..10 {
            let id = claimed(&h, &[]).await.expect("it waits");
            assert_eq!(h.core(&id, "created_at_ms").await, (T0 + 10 + place).to_string());
        }
        let moved = "SELECT count(*) FROM ff_claim_mark WHERE priority = 0 AND created_at_ms >= 0 AND execution_id IS NOT NULL";
        assert_eq!(h.number(moved).await, made(&h));
        let urgent = h.create_with(|args| args.priority = 9).await;
        assert_eq!(claimed(&h, &[]).await, Some(urgent));
        let id = claimed(&h, &[]).await.expect("it waits");
        assert_eq!(h.core(&id, "created_at_ms").await, (T0 + 20).to_string());
    }

    async fn a_priority_that_rises_over_a_mark_is_seen(h) {
        let mut ids = Vec::new();
        for _ in 0..13 {
            h.pass_ms(1);
            ids.push(h.create_with(|args| args.priority = 5).await);
        }
        for id in &ids[..9] {
            assert_eq!(claimed(&h, &[]).await.as_ref(), Some(id));
            h.pass_ms(200);
        }
        assert_eq!(marks(&h).await, made(&h));
        for (place, priority) in [(11, 7), (10, 3), (12, 3), (12, 5)] {
            h.alter(&format!("UPDATE ff_exec_core SET priority = {priority} WHERE {}", h.of(&ids[place]))).await;
        }
        for place in [11, 9, 12, 10] {
            assert_eq!(claimed(&h, &[]).await.as_ref(), Some(&ids[place]));
        }
    }

    async fn what_was_created_before_a_mark_and_is_due_after_it_is_claimed_first(h) {
        let delayed = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 + 3_600_000))).await;
        h.pass_ms(1);
        let blocked = h.create_with(|args| args.policy = requiring(&["gpu"])).await;
        marked(&h).await;
        h.pass_ms(3_600_000);
        let plain = h.create().await;
        h.sweep("delayed_promoter").await;
        let found = [claimed(&h, &[]).await, claimed(&h, &[]).await];
        assert!(found.contains(&Some(delayed)) && found.contains(&Some(plain)), "{found:?}");
        assert_eq!(claimed(&h, &["gpu"]).await, Some(blocked));
    }

    async fn what_needs_less_than_when_a_mark_passed_over_it_is_claimed(h) {
        let blocked = h.create_with(|args| args.policy = requiring(&["gpu"])).await;
        marked(&h).await;
        let of = h.of(&blocked);
        h.alter(&match h.tables() {
            Tables::Postgres(_) => format!("UPDATE ff_exec_core SET required_capabilities = '{{}}' WHERE {of}"),
            Tables::Sqlite(..) => format!("DELETE FROM ff_execution_capabilities WHERE {of}"),
        })
        .await;
        assert_eq!(claimed(&h, &[]).await, Some(blocked));
    }

    async fn marks_of_two_processes_are_of_one_queue(h) {
        let (other, lane) = (h.another_handle().await, LaneId::new("lane"));
        let nothing = CapabilitySet::new(Vec::<String>::new());
        let blocked = h.create_with(|args| args.policy = requiring(&["gpu"])).await;
        marked(&h).await;
        let mut ids = Vec::new();
        for _ in 0..20 {
            h.pass_ms(100);
            ids.push(h.create().await);
        }
        for (turn, id) in ids.iter().enumerate() {
            let found = if turn % 2 == 0 {
                claimed(&h, &[]).await
            } else {
                let found = other.claim(&lane, &nothing, policy("worker-b")).await.expect("it is answered");
                found.map(|handle| payload(&handle).execution_id)
            };
            assert_eq!(found.as_ref(), Some(id), "turn {turn}");
        }
        assert_eq!(claimed(&h, &["gpu"]).await, Some(blocked));
    }
}

/// Adds executions that may be claimed, created one millisecond after the other.
async fn add(h: &Opened, count: u32, from_ms: i64, capability: Option<&str>) {
    let (made, needs, needed) = match (h.tables(), capability) {
        (Tables::Sqlite(..), _) => ("randomblob(16)", "", String::new()),
        (Tables::Postgres(_), None) => ("gen_random_uuid()", "", String::new()),
        (Tables::Postgres(_), Some(token)) => {
            ("gen_random_uuid()", ", required_capabilities", format!(", CAST('{{{token}}}' AS text[])"))
        }
    };
    h.alter(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})
         INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
           eligibility_state, public_state, attempt_state, created_at_ms, raw_fields{needs})
         SELECT 0, {made}, 'lane', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending', {from_ms} + i,
           '{{\"namespace\":\"ns\",\"tags\":{{}}}}'{needed} FROM n"
    ))
    .await;
}

/// Waits until every transaction that is under way on the server, those of other tests included, began after this: for an
/// older one what is dead stays in an index, and a mark is as old as the oldest that writes.
async fn until_nobody_is_older(h: &Opened) {
    let now = h.number("SELECT CAST(CAST(pg_current_xact_id() AS text) AS bigint)").await;
    let older = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE pid <> pg_backend_pid()
           AND LEAST(CAST(CAST(backend_xid AS text) AS bigint), CAST(CAST(backend_xmin AS text) AS bigint)) <= {now}"
    );
    let seen = async {
        while h.number(&older).await > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, seen).await.expect("other transactions end");
}

/// How many pages of 8 KiB a claim of this worker reads to find what it takes.
async fn pages_read(h: &Opened) -> i64 {
    let mut reading = pool(h).acquire().await.expect("there is a connection");
    let mut read = 0;
    // The first time the functions are read as well.
    for _ in 0..2 {
        let mut claiming = reading.begin().await.expect("a transaction begins");
        let look = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
                    SELECT next.* FROM ff_claim_next AS next
                     WHERE next.mark_key = (SELECT mark.mark_key FROM ff_claim_mark AS mark
                                             WHERE mark.lane_id = 'lane' AND mark.capabilities = '[]')";
        let told: serde_json::Value =
            sqlx::query_scalar(look).fetch_one(&mut *claiming).await.expect("it is explained");
        let pages = |name: &str| told[0]["Plan"][name].as_i64().expect("it counts them");
        read = pages("Shared Hit Blocks") + pages("Shared Read Blocks");
        claiming.rollback().await.expect("it is given up");
    }
    read
}

/// A mark spares a claim what other capabilities need, and does not make it read all that entered since.
#[tokio::test]
async fn a_claim_reads_little_with_a_mark_and_after_a_burst() {
    run(Kind::Postgres, async |h| {
        if h.is_spread() {
            return;
        }
        add(&h, 10_000, T0, Some("gpu")).await;
        assert!(claimed(&h, &[]).await.is_none(), "the mark is made, and stands before everything");
        h.create().await;
        let without = pages_read(&h).await;
        assert!(without > 200, "{without} pages");
        let claim = claimed(&h, &[]).await;
        assert!(claim.is_some());
        until_nobody_is_older(&h).await;
        marked(&h).await;
        h.create().await;
        let with = pages_read(&h).await;
        assert!(with * 4 < without, "{with} pages with a mark, {without} without");
        h.alter("DELETE FROM ff_exec_core").await;
        until_nobody_is_older(&h).await;
        sqlx::query("VACUUM ff_claimable").execute(pool(&h)).await.expect("dead entries are removed");
        marked(&h).await;
        add(&h, 10_000, T0, None).await;
        let burst = pages_read(&h).await;
        assert!(burst * 2 < without, "{burst} pages after a burst");
        until_nobody_is_older(&h).await;
        h.pass_ms(1_000);
        for _ in 0..8 {
            assert!(claimed(&h, &[]).await.is_some());
        }
        let settled = pages_read(&h).await;
        assert!(settled * 4 < without, "{settled} pages when the mark is made anew");
    })
    .await;
}

/// A claim of what waits, and a mark behind it.
async fn marks_again(h: &Opened, id: &ExecutionId) {
    assert_eq!(claimed(h, &[]).await.as_ref(), Some(id));
    marked(h).await;
}

/// A plan that sorts all the same is taken for so expensive that a server would compile it at each claim.
#[tokio::test]
async fn functions_that_rule_plans_out_are_not_compiled() {
    run(Kind::Postgres, async |h| {
        let ruling = "SELECT count(*) FROM pg_proc WHERE proname LIKE 'ff%' AND 'enable_sort=off' = ANY (proconfig)";
        assert_eq!(h.number(ruling).await, 3);
        assert_eq!(h.number(&format!("{ruling} AND NOT 'jit=off' = ANY (proconfig)")).await, 0);
    })
    .await;
}

/// What was written before a mark and committed after it.
#[tokio::test]
async fn what_was_under_way_when_a_mark_was_made_is_claimed() {
    run(Kind::Postgres, async |h| {
        let early = h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        let mut moving = pool(&h).begin().await.expect("a transaction begins");
        let moved = format!("UPDATE ff_exec_core SET lane_id = 'lane' WHERE {}", h.of(&early));
        sqlx::query(sqlx::AssertSqlSafe(moved)).execute(&mut *moving).await.expect("it moves");
        h.pass_ms(1);
        let later = h.create().await;
        assert_eq!(claimed(&h, &[]).await, Some(later));
        marked(&h).await;
        marked(&h).await;
        moving.commit().await.expect("it is stored");
        assert_eq!(claimed(&h, &[]).await, Some(early));
    })
    .await;
}

/// What somebody was about to take when a mark was made, and did not.
#[tokio::test]
async fn what_is_not_taken_after_all_is_claimed() {
    run(Kind::Postgres, async |h| {
        let early = h.create().await;
        let mut taking = pool(&h).begin().await.expect("a transaction begins");
        let taken = format!("UPDATE ff_exec_core SET ownership_state = 'leased' WHERE {}", h.of(&early));
        sqlx::query(sqlx::AssertSqlSafe(taken)).execute(&mut *taking).await.expect("it is taken");
        h.pass_ms(1);
        let later = h.create().await;
        assert_eq!(claimed(&h, &[]).await, Some(later));
        marked(&h).await;
        marked(&h).await;
        taking.rollback().await.expect("it is given up");
        assert_eq!(claimed(&h, &[]).await, Some(early));
    })
    .await;
}

/// A mark holds under the start of the server that it was made under.
#[tokio::test]
async fn a_mark_of_another_start_of_the_server_is_not_believed() {
    run(Kind::Postgres, async |h| {
        if h.is_spread() {
            return;
        }
        marked(&h).await;
        let early = h.create().await;
        h.alter(&format!("UPDATE ff_claimable SET entered = 0 WHERE {}", h.of(&early))).await;
        h.alter("UPDATE ff_claim_mark SET entered = 9000000000000000000").await;
        assert_eq!(claimed(&h, &[]).await, None, "a mark of this start is believed");
        h.alter("UPDATE ff_claim_mark SET server_started_at = 'epoch'").await;
        assert_eq!(claimed(&h, &[]).await, Some(early));
    })
    .await;
}
