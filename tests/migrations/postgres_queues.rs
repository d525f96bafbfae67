//! Postgres triggers: the work queues follow the executions, and notifications follow the setting.

use std::fmt::Write as _;

use ff_backend_sql::PgPool;
use sqlx::postgres::PgListener;

use super::postgres::{execute, lines, migrate, with_database};

/// What the queues lack or have too much, by the definition of what belongs in them.
const DIFFERENCES: &str = "
    WITH claimable AS (
        SELECT partition_key, execution_id, lane_id COLLATE \"C\" AS lane_id, priority, created_at_ms, attempt_index,
               required_capabilities
        FROM ff_exec_core
        WHERE lifecycle_phase IN ('submitted', 'runnable') AND eligibility_state = 'eligible_now'
          AND ownership_state = 'unowned'),
    delayed AS (
        SELECT partition_key, execution_id, lane_id COLLATE \"C\" AS lane_id, deadline_at_ms
        FROM ff_exec_core
        WHERE lifecycle_phase IN ('submitted', 'runnable') AND eligibility_state = 'not_eligible_until_time'
          AND deadline_at_ms IS NOT NULL),
    queued AS (
        SELECT partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index, required_capabilities
        FROM ff_claimable)
    SELECT 'claimable lacks ' || d::text FROM (TABLE claimable EXCEPT TABLE queued) AS d
    UNION ALL
    SELECT 'claimable has ' || d::text FROM (TABLE queued EXCEPT TABLE claimable) AS d
    UNION ALL
    SELECT 'delayed lacks ' || d::text FROM (SELECT * FROM delayed EXCEPT TABLE ff_delayed) AS d
    UNION ALL
    SELECT 'delayed has ' || d::text FROM (TABLE ff_delayed EXCEPT SELECT * FROM delayed) AS d";

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % end as u64).expect("a small number")
    }

    fn one_of<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[self.below(values.len())]
    }
}

/// One of the writes that the backends make, on one of eight executions.
fn write(numbers: &mut Numbers) -> String {
    let n = numbers.below(8);
    let id = format!("00000000-0000-0000-0000-00000000000{n}");
    let this_row = format!("partition_key = {n} AND execution_id = '{id}'");
    let phase = numbers.one_of(&["submitted", "runnable", "active", "terminal"]);
    let eligibility = numbers.one_of(&["eligible_now", "eligible_now", "not_eligible_until_time", "not_applicable"]);
    let owner = numbers.one_of(&["unowned", "unowned", "leased"]);
    let deadline = numbers.one_of(&["NULL", "10", "20"]);
    let small = numbers.below(3);
    match numbers.below(10) {
        0 => format!("DELETE FROM ff_exec_core WHERE {this_row}"),
        1 => format!(
            "UPDATE ff_exec_core SET lifecycle_phase = '{phase}', eligibility_state = '{eligibility}',
                    ownership_state = '{owner}', deadline_at_ms = {deadline}, attempt_index = {small}
             WHERE {this_row}"
        ),
        2 => format!("UPDATE ff_exec_core SET priority = {small} WHERE {this_row}"),
        3 => format!("UPDATE ff_exec_core SET lane_id = 'lane {small}' WHERE {this_row}"),
        4 => format!("UPDATE ff_exec_core SET lifecycle_phase = '{phase}' WHERE {this_row}"),
        5 => format!("UPDATE ff_exec_core SET eligibility_state = '{eligibility}' WHERE {this_row}"),
        6 => format!("UPDATE ff_exec_core SET ownership_state = '{owner}' WHERE {this_row}"),
        7 => format!("UPDATE ff_exec_core SET required_capabilities = ARRAY['c{small}'] WHERE {this_row}"),
        8 => format!("UPDATE ff_exec_core SET deadline_at_ms = {deadline} WHERE {this_row}"),
        _ => format!(
            "INSERT INTO ff_exec_core AS e (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                    eligibility_state, public_state, attempt_state, created_at_ms, deadline_at_ms)
             VALUES ({n}, '{id}', 'lane', '{phase}', '{owner}', '{eligibility}', 'waiting', 'pending', 1, {deadline})
             ON CONFLICT (partition_key, execution_id) DO UPDATE
             SET lifecycle_phase = excluded.lifecycle_phase, eligibility_state = excluded.eligibility_state,
                 created_at_ms = e.created_at_ms + 1"
        ),
    }
}

#[tokio::test]
async fn the_queues_hold_what_the_executions_say_after_any_write() {
    with_database(async |pool| {
        migrate(&pool, 3).await;
        let mut numbers = Numbers(42);
        let mut seen = 0;
        for _ in 0..400 {
            let sql = write(&mut numbers);
            execute(&pool, &sql).await;
            assert_eq!(lines(&pool, DIFFERENCES).await, Vec::<String>::new(), "after {sql}");
            seen += lines(&pool, "SELECT '' FROM ff_claimable UNION ALL SELECT '' FROM ff_delayed").await.len();
        }
        assert!(seen > 150, "the queues were mostly empty: {seen}");
    })
    .await;
}

/// The triggers that an update of every execution fires.
async fn fired(pool: &PgPool, set: &str) -> Vec<String> {
    let plan = lines(pool, &format!("EXPLAIN (ANALYZE, TIMING OFF) UPDATE ff_exec_core SET {set}")).await;
    plan.into_iter().filter(|line| line.starts_with("Trigger")).collect()
}

/// A row that waits and one that runs.
const WAITING_AND_RUNNING: &str = "
    INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
           eligibility_state, public_state, attempt_state, created_at_ms)
    VALUES (0, gen_random_uuid(), 'a', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending', 1),
           (0, gen_random_uuid(), 'a', 'active', 'leased', 'not_applicable', 'running', 'running_attempt', 1)";

#[tokio::test]
async fn an_update_of_what_does_not_wait_calls_no_trigger_function() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        execute(&pool, WAITING_AND_RUNNING).await;
        for set in ["raw_fields = '{\"progress_pct\": 5}', deadline_at_ms = 7", "priority = 3"] {
            let fired = fired(&pool, set).await;
            assert_eq!(fired.len(), 1, "{fired:?}");
            assert!(
                fired[0].contains("ff_exec_core_claimable_update_trg") && fired[0].contains("calls=1"),
                "{fired:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn an_update_that_changes_nothing_of_the_queues_writes_nothing_there() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        execute(&pool, WAITING_AND_RUNNING).await;
        execute(&pool, WAITING_AND_RUNNING).await;
        let versions = "SELECT c.ctid || ' ' || c.xmin FROM ff_claimable AS c
                        UNION ALL SELECT d.ctid || ' ' || d.xmin FROM ff_delayed AS d";
        execute(
            &pool,
            "UPDATE ff_exec_core SET eligibility_state = 'not_eligible_until_time', deadline_at_ms = 9
             WHERE execution_id = (SELECT min(execution_id::text)::uuid FROM ff_claimable)",
        )
        .await;
        let before = lines(&pool, versions).await;
        assert_eq!(before.len(), 2, "one of each queue");
        execute(&pool, "UPDATE ff_exec_core SET raw_fields = '{\"progress_pct\": 5}', priority = priority").await;
        assert_eq!(lines(&pool, versions).await, before);
    })
    .await;
}

#[tokio::test]
async fn a_claim_is_one_index_seek() {
    with_database(async |pool| {
        migrate(&pool, 2).await;
        execute(
            &pool,
            "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                    eligibility_state, public_state, attempt_state, created_at_ms, priority)
             SELECT n % 256, gen_random_uuid(), 'lane ' || n % 3, 'runnable', 'unowned', 'eligible_now', 'waiting',
                    'pending', n, n % 5
             FROM generate_series(1, 3000) AS n;
             ANALYZE ff_claimable;",
        )
        .await;
        let plan = lines(
            &pool,
            "EXPLAIN SELECT execution_id
             FROM (SELECT partition_key, execution_id, attempt_index,
                          row_number() OVER (ORDER BY priority DESC, created_at_ms, execution_id) AS place
                   FROM ff_claimable
                   WHERE lane_id = 'lane 1' AND required_capabilities <@ ARRAY['gpu']
                   ORDER BY priority DESC, created_at_ms, execution_id OFFSET 0) AS ready
             WHERE ff_take_claimable(partition_key, execution_id, attempt_index, place, 'lane 1', ARRAY['gpu'])
                   IS NOT NULL
             LIMIT 1",
        )
        .await
        .join("\n");
        assert!(plan.contains("Index Scan using ff_claimable_order_idx") && !plan.contains("Sort"), "{plan}");
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_notifies_by_itself_is_not_notified_for() {
    with_database(async |pool| {
        migrate(&pool, 2).await;
        let execution = "00000000-0000-0000-0000-000000000001";
        let tables = [
            ("ff_lease_event", "ff_lease_event", "execution_id, event_type, occurred_at_ms", "'acquired', 1"),
            ("ff_signal_event", "ff_signal_event", "execution_id, signal_id, delivered_at_ms", "'s', 1"),
            ("ff_operator_event", "ff_operator_event", "execution_id, event_type, occurred_at_ms", "'replayed', 1"),
            ("ff_completion_event", "ff_completion", "execution_id, outcome, occurred_at_ms", "'success', 1"),
            (
                "ff_stream_frame",
                "ff_stream_00000000-0000-0000-0000-000000000001_0",
                "execution_id, attempt_index, ts_ms, fields, mode, created_at_ms, seq",
                "0, 1, '{}', 'durable', 1",
            ),
        ];
        let mut listener = PgListener::connect_with(&pool).await.expect("a listener");
        listener.listen_all(tables.map(|(_, channel, ..)| channel)).await.expect("listening");
        let mut expected = Vec::new();
        let mut quiet = String::from("SET ff_sql.wakeups = 'after_commit';");
        let mut loud = String::from("SET ff_sql.wakeups = '';");
        for (table, channel, columns, values) in tables {
            for (sql, n) in [(&mut quiet, 1), (&mut loud, 2)] {
                let seq = if table == "ff_stream_frame" { format!(", {n}") } else { String::new() };
                write!(sql, "INSERT INTO {table} (partition_key, {columns}) VALUES (0, '{execution}', {values}{seq});")
                    .expect("text");
            }
            // The second event of each table, and the second frame.
            let payload = if table == "ff_stream_frame" { "1-2" } else { "2" };
            expected.push((channel.to_owned(), payload.to_owned()));
        }
        execute(&pool, &quiet).await;
        execute(&pool, &loud).await;
        for expected in expected {
            let heard = listener.recv().await.expect("a notification");
            assert_eq!((heard.channel().to_owned(), heard.payload().to_owned()), expected);
        }
    })
    .await;
}
