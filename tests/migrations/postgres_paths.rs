//! Whoever writes to the tables, with whatever `search_path`: the trigger functions find what they mean.

use sqlx::postgres::PgPoolOptions;

use super::postgres::{execute, lines, migrate, with_database};

/// The functions of a schema that are found by the path of whoever calls them.
fn unfixed(schema: &str) -> String {
    format!(
        "SELECT proname::text FROM pg_proc
          WHERE pronamespace = '{schema}'::regnamespace
            AND NOT EXISTS (SELECT 1 FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=%')"
    )
}

/// An execution that waits, one that is delayed and one that is granted, and an event of every outbox, written to
/// tables that are named with their schema.
fn writes(schema: &str) -> String {
    format!(
        "INSERT INTO {schema}.ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                eligibility_state, public_state, attempt_state, created_at_ms, deadline_at_ms)
         VALUES (0, gen_random_uuid(), 'a', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending', 1, NULL),
                (0, gen_random_uuid(), 'a', 'runnable', 'unowned', 'not_eligible_until_time', 'delayed', 'pending', 1, 7),
                (0, gen_random_uuid(), 'a', 'runnable', 'unowned', 'pending_claim', 'waiting', 'pending', 1, NULL);
         INSERT INTO {schema}.ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
         VALUES ('e', 'renewed', 1, 0);
         INSERT INTO {schema}.ff_signal_event (execution_id, signal_id, delivered_at_ms, partition_key)
         VALUES ('e', 's', 1, 0);
         INSERT INTO {schema}.ff_operator_event (execution_id, event_type, occurred_at_ms, partition_key)
         VALUES ('e', 'replayed', 1, 0);
         INSERT INTO {schema}.ff_completion_event (partition_key, execution_id, outcome, occurred_at_ms)
         VALUES (0, gen_random_uuid(), 'success', 1);
         INSERT INTO {schema}.ff_stream_frame (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode,
                created_at_ms)
         VALUES (0, gen_random_uuid(), 0, 1, 0, '{{}}', 'durable', 1);
         UPDATE {schema}.ff_exec_core SET priority = 3;"
    )
}

fn queued(schema: &str) -> String {
    let count = |table: &str| format!("SELECT '{table} ' || count(*) FROM {schema}.{table}");
    ["ff_claimable", "ff_delayed", "ff_granted"].map(count).join(" UNION ALL ")
}

/// Takes the place of what the functions call and of the tables that they write to, as far as a path lets it.
const HOSTILE: &str = "
    CREATE SCHEMA hostile;
    CREATE FUNCTION hostile.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a function of somebody else was called'; END $$;
    CREATE FUNCTION hostile.refuse(text, text) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'an operator of somebody else was called'; END $$;
    CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.refuse);
    CREATE TABLE hostile.ff_claimable (LIKE ff_claimable INCLUDING ALL);
    CREATE TABLE hostile.ff_delayed (LIKE ff_delayed INCLUDING ALL);
    CREATE TABLE hostile.ff_granted (LIKE ff_granted INCLUDING ALL);";

#[tokio::test]
async fn a_path_that_leads_elsewhere_misleads_no_trigger() {
    with_database(async |pool| {
        migrate(&pool, 1).await;
        assert!(lines(&pool, &unfixed("public")).await.is_empty(), "{:?}", lines(&pool, &unfixed("public")).await);
        execute(&pool, HOSTILE).await;
        for path in ["''", "hostile, pg_catalog", "hostile, pg_catalog, public", "pg_temp, hostile, pg_catalog, public"]
        {
            execute(
                &pool,
                &format!(
                    "BEGIN;
                     CREATE TEMPORARY TABLE ff_claimable (LIKE public.ff_claimable INCLUDING ALL) ON COMMIT DROP;
                     SET LOCAL search_path = {path};
                     {}
                     COMMIT;",
                    writes("public")
                ),
            )
            .await;
            let expected = ["ff_claimable 1", "ff_delayed 1", "ff_granted 1"];
            assert_eq!(lines(&pool, &queued("public")).await, expected, "{path}");
            execute(&pool, "DELETE FROM ff_exec_core; DELETE FROM ff_stream_frame").await;
        }
    })
    .await;
}

#[tokio::test]
async fn tables_in_another_schema_are_found_there() {
    with_database(async |pool| {
        execute(&pool, "CREATE SCHEMA \"Flows\"").await;
        let options = (*pool.connect_options()).clone().options([("search_path", "\"Flows\"")]);
        let elsewhere = PgPoolOptions::new().max_connections(2).connect_with(options).await.expect("a pool");
        migrate(&elsewhere, 1).await;
        elsewhere.close().await;
        let schema = "\"Flows\"";
        assert!(lines(&pool, &unfixed(schema)).await.is_empty());
        execute(&pool, &writes(schema)).await;
        assert_eq!(lines(&pool, &queued(schema)).await, ["ff_claimable 1", "ff_delayed 1", "ff_granted 1"]);
    })
    .await;
}
