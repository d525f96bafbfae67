//! The floor: the writes of a claim and a completion in a bare loop, without a backend around them.
//!
//! SQLite: prepared statements on one connection in one thread, and as many operations per commit as there
//! are workers, because each worker waits for its answer before it asks again. Postgres: one function call
//! for the claims of half the workers and one for their completions, on two connections; renewals, appends and creations
//! likewise.

use std::time::Instant;

use tokio::task::JoinSet;

use crate::contender::Store;
use crate::load::{self, Spread};
use crate::work::Measured;

type Failure = Box<dyn std::error::Error>;

/// Claims and completions.
pub async fn pairs(store: &Store, workers: usize, count: u32) -> Result<Measured, Failure> {
    load::claimable(store, count, Spread::One).await.map_err(|e| e.to_string())?;
    match store {
        Store::Sqlite(path) => sqlite(path, workers, count),
        Store::Postgres(pool) => postgres(pool, workers, count).await,
    }
}

/// So many operations since then.
fn measured(count: usize, start: Instant) -> Measured {
    Measured { count, elapsed: start.elapsed(), latencies: Vec::new() }
}

fn sqlite(path: &std::path::Path, workers: usize, count: u32) -> Result<Measured, Failure> {
    let mut db = rusqlite::Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")?;
    db.busy_timeout(std::time::Duration::from_secs(30))?;
    let start = Instant::now();
    let mut done = 0;
    while done < count {
        let together = u32::try_from(workers)?.min(count - done);
        let mut claimed = Vec::new();
        let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for _ in 0..together {
            claimed.push(claim(&transaction)?);
        }
        transaction.commit()?;
        let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for (partition, id) in &claimed {
            complete(&transaction, *partition, id)?;
        }
        transaction.commit()?;
        done += together;
    }
    Ok(measured(count as usize, start))
}

fn claim(db: &rusqlite::Connection) -> rusqlite::Result<(i64, Vec<u8>)> {
    let (partition, id): (i64, Vec<u8>) = db
        .prepare_cached(
            "UPDATE ff_exec_core SET lifecycle_phase = 'active', ownership_state = 'leased',
               eligibility_state = 'not_applicable', public_state = 'running', attempt_state = 'running_attempt',
               started_at_ms = 1
             WHERE rowid = (SELECT rowid FROM ff_exec_core WHERE lane_id = 'bench'
               AND lifecycle_phase IN ('submitted', 'runnable') AND eligibility_state = 'eligible_now'
               AND ownership_state = 'unowned'
               ORDER BY priority DESC, created_at_ms, execution_id LIMIT 1)
             RETURNING partition_key, execution_id",
        )?
        .query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    db.prepare_cached(
        "INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, worker_id, worker_instance_id,
           lease_epoch, lease_expires_at_ms, started_at_ms) VALUES (?1, ?2, 0, 'w', 'w-1', 1, 2, 1)",
    )?
    .execute((partition, &id))?;
    lease_event(db, partition, &id, "acquired")?;
    Ok((partition, id))
}

fn complete(db: &rusqlite::Connection, partition: i64, id: &[u8]) -> rusqlite::Result<()> {
    lease_event(db, partition, id, "revoked")?;
    db.prepare_cached(
        "UPDATE ff_attempt SET terminal_at_ms = 1, outcome = 'success', lease_expires_at_ms = NULL
         WHERE partition_key = ?1 AND execution_id = ?2 AND attempt_index = 0",
    )?
    .execute((partition, id))?;
    db.prepare_cached(
        "UPDATE ff_exec_core SET lifecycle_phase = 'terminal', ownership_state = 'unowned',
           public_state = 'completed', attempt_state = 'attempt_terminal', terminal_at_ms = 1
         WHERE partition_key = ?1 AND execution_id = ?2",
    )?
    .execute((partition, id))?;
    db.prepare_cached(
        "INSERT INTO ff_completion_event (partition_key, execution_id, outcome, occurred_at_ms, committed_at_ms)
         VALUES (?1, ?2, 'success', 1, 1)",
    )?
    .execute((partition, id))?;
    Ok(())
}

fn lease_event(db: &rusqlite::Connection, partition: i64, id: &[u8], event: &str) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
         VALUES (hex(?2), ?3, 1, ?1)",
    )?
    .execute((partition, id, event))?;
    Ok(())
}

/// Many rows per statement, nothing but what has to be written, no fences, no NOTIFY and no triggers' conditions beyond the
/// schema's: the rows are all in one partition, so it is named.
const FUNCTIONS: &str = "
CREATE OR REPLACE FUNCTION bench_claim(wanted bigint, since bigint, OUT claimed uuid[], OUT reached bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan SET ff_sql.wakeups = 'after_commit' AS $$
BEGIN
  SELECT array_agg(picked.execution_id), max(picked.created_at_ms) INTO claimed, reached
    FROM (SELECT execution_id, created_at_ms FROM ff_claimable
           WHERE lane_id = 'bench' AND priority = 0 AND created_at_ms >= since
           ORDER BY created_at_ms, execution_id LIMIT wanted FOR UPDATE SKIP LOCKED) AS picked;
  INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, lease_epoch, started_at_ms)
  SELECT 0, id, 0, 1, 1 FROM unnest(claimed) AS id;
  INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
  SELECT id::text, 'acquired', 1, 0 FROM unnest(claimed) AS id;
  UPDATE ff_exec_core SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', started_at_ms = 1
   WHERE partition_key = 0 AND execution_id = ANY(claimed);
END $$;
CREATE OR REPLACE FUNCTION bench_complete(claimed uuid[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan SET ff_sql.wakeups = 'after_commit' AS $$
BEGIN
  UPDATE ff_attempt SET terminal_at_ms = 1, outcome = 'success'
   WHERE partition_key = 0 AND execution_id = ANY(claimed) AND attempt_index = 0;
  INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
  SELECT id::text, 'revoked', 1, 0 FROM unnest(claimed) AS id;
  UPDATE ff_exec_core SET lifecycle_phase = 'terminal', ownership_state = 'unowned', public_state = 'completed',
         attempt_state = 'attempt_terminal', terminal_at_ms = 1
   WHERE partition_key = 0 AND execution_id = ANY(claimed);
  INSERT INTO ff_completion_event (partition_key, execution_id, outcome, occurred_at_ms, committed_at_ms)
  SELECT 0, id, 'success', 1, 1 FROM unnest(claimed) AS id;
END $$;
CREATE OR REPLACE FUNCTION bench_renew(held uuid[], round integer) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan SET ff_sql.wakeups = 'after_commit' AS $$
BEGIN
  UPDATE ff_attempt SET lease_expires_at_ms = round
   WHERE partition_key = 0 AND execution_id = ANY(held) AND attempt_index = 0;
  INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
  SELECT id::text, 'renewed', 1, 0 FROM unnest(held) AS id;
END $$;
CREATE OR REPLACE FUNCTION bench_append(held uuid[], round integer) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan SET ff_sql.wakeups = 'after_commit' AS $$
BEGIN
  INSERT INTO ff_stream_counter (partition_key, execution_id, attempt_index, last_ms, last_seq, frame_count)
  SELECT 0, id, 0, 1, round, 1 FROM unnest(held) AS id
      ON CONFLICT (partition_key, execution_id, attempt_index) DO UPDATE
     SET last_seq = excluded.last_seq, frame_count = ff_stream_counter.frame_count + 1;
  INSERT INTO ff_stream_frame (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
  SELECT 0, id, 0, 1, round, jsonb_build_object('payload', repeat('x', 200)), 'durable', 1 FROM unnest(held) AS id;
END $$;
CREATE OR REPLACE FUNCTION bench_create(held uuid[], round integer) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan SET ff_sql.wakeups = 'after_commit' AS $$
BEGIN
  INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
         eligibility_state, public_state, attempt_state, created_at_ms, payload, raw_fields)
  SELECT 0, gen_random_uuid(), 'created', 'submitted', 'unowned', 'eligible_now', 'waiting', 'pending', round,
         convert_to(repeat('x', 200), 'UTF8'), '{\"namespace\":\"bench\",\"tags\":{}}' FROM unnest(held);
END $$";

/// Where the last claim of the same connection ended, this one begins, so it does not read past what is taken.
const CLAIM: &str = "SELECT claimed, reached FROM bench_claim($1, $2)";

/// How many statements are on their way at once: while one waits for the disk, another works.
const CONNECTIONS: usize = 2;

/// Renewals, appends or creations (`kind`) on Postgres: each connection does `each` rounds of half the workers' rows in one
/// statement.
pub async fn singles(store: &Store, kind: &str, workers: usize, each: i32) -> Result<Measured, Failure> {
    let Store::Postgres(pool) = store else { return Err("a floor of single operations is Postgres's".into()) };
    sqlx::raw_sql(FUNCTIONS).execute(pool).await?;
    let together = workers.div_ceil(CONNECTIONS);
    load::claimable(store, u32::try_from(together * CONNECTIONS)?, Spread::One).await.map_err(|e| e.to_string())?;
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for _ in 0..CONNECTIONS {
        let (pool, call) = (pool.clone(), format!("SELECT bench_{kind}($1, $2)"));
        tasks.spawn(async move {
            let mut connection = pool.acquire().await?;
            let claim = sqlx::query_scalar::<_, Vec<uuid::Uuid>>("SELECT claimed FROM bench_claim($1, 0)");
            let claim = claim.bind(together as i64);
            let held = claim.fetch_one(&mut *connection).await?;
            for round in 0..each {
                sqlx::query(sqlx::AssertSqlSafe(call.as_str()))
                    .bind(&held)
                    .bind(round)
                    .execute(&mut *connection)
                    .await?;
            }
            Ok::<_, sqlx::Error>(())
        });
    }
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    Ok(measured(usize::try_from(each)? * together * CONNECTIONS, start))
}

async fn postgres(pool: &sqlx::PgPool, workers: usize, count: u32) -> Result<Measured, Failure> {
    sqlx::raw_sql(FUNCTIONS).execute(pool).await?;
    let connections = workers.min(CONNECTIONS);
    let together = i64::try_from(workers.div_ceil(connections))?;
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let pool = pool.clone();
        tasks.spawn(async move {
            let mut connection = pool.acquire().await?;
            let (mut done, mut since) = (0_usize, 0_i64);
            loop {
                let claim =
                    sqlx::query_as::<_, (Option<Vec<uuid::Uuid>>, Option<i64>)>(CLAIM).bind(together).bind(since);
                let (Some(claimed), Some(reached)) = claim.fetch_one(&mut *connection).await? else { break };
                (done, since) = (done + claimed.len(), reached);
                sqlx::query("SELECT bench_complete($1)").bind(claimed).execute(&mut *connection).await?;
            }
            Ok::<_, sqlx::Error>(done)
        });
    }
    let mut done = 0;
    while let Some(result) = tasks.join_next().await {
        done += result??;
    }
    debug_assert!(done <= count as usize);
    Ok(measured(done, start))
}
