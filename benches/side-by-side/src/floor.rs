//! The floor: the writes of a claim and a completion in a bare loop, without a backend around them.
//!
//! SQLite: prepared statements on one connection in one thread, and as many operations per commit as there
//! are workers, because each worker waits for its answer before it asks again. Postgres: one function call
//! for the claim and one for the completion, one connection per worker.

use std::time::Instant;

use tokio::task::JoinSet;

use crate::contender::Store;
use crate::load::{self, Spread};

type Failure = Box<dyn std::error::Error>;

/// Pairs per second.
pub async fn pairs(store: &Store, workers: usize, count: u32) -> Result<f64, Failure> {
    load::claimable(store, count, Spread::One).await.map_err(|e| e.to_string())?;
    match store {
        Store::Sqlite(path) => sqlite(path, workers, count),
        Store::Postgres(pool) => postgres(pool, workers, count).await,
    }
}

fn sqlite(path: &std::path::Path, workers: usize, count: u32) -> Result<f64, Failure> {
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
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
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

const FUNCTIONS: &str = "
CREATE OR REPLACE FUNCTION bench_claim(OUT claimed_in smallint, OUT claimed uuid) LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  SELECT partition_key, execution_id INTO claimed_in, claimed FROM ff_claimable WHERE lane_id = 'bench'
   ORDER BY priority DESC, created_at_ms, execution_id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, lease_epoch, started_at_ms)
  VALUES (claimed_in, claimed, 0, 1, 1);
  INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
  VALUES (claimed::text, 'acquired', 1, claimed_in);
  UPDATE ff_exec_core SET lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
         public_state = 'running', attempt_state = 'running_attempt', started_at_ms = 1
   WHERE partition_key = claimed_in AND execution_id = claimed;
END $$;
CREATE OR REPLACE FUNCTION bench_complete(claimed_in smallint, claimed uuid) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan AS $$
BEGIN
  UPDATE ff_attempt SET terminal_at_ms = 1, outcome = 'success'
   WHERE partition_key = claimed_in AND execution_id = claimed AND attempt_index = 0;
  INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
  VALUES (claimed::text, 'revoked', 1, claimed_in);
  UPDATE ff_exec_core SET lifecycle_phase = 'terminal', ownership_state = 'unowned', public_state = 'completed',
         attempt_state = 'attempt_terminal', terminal_at_ms = 1
   WHERE partition_key = claimed_in AND execution_id = claimed;
  INSERT INTO ff_completion_event (partition_key, execution_id, outcome, occurred_at_ms, committed_at_ms)
  VALUES (claimed_in, claimed, 'success', 1, 1);
END $$";

async fn postgres(pool: &sqlx::PgPool, workers: usize, count: u32) -> Result<f64, Failure> {
    sqlx::raw_sql(FUNCTIONS).execute(pool).await?;
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        let pool = pool.clone();
        tasks.spawn(async move {
            let mut connection = pool.acquire().await?;
            let mut done = 0_u32;
            loop {
                let claim = sqlx::query_as::<_, (Option<i16>, Option<uuid::Uuid>)>("SELECT * FROM bench_claim()");
                let (Some(partition), Some(id)) = claim.fetch_one(&mut *connection).await? else { break };
                let complete = sqlx::query("SELECT bench_complete($1, $2)").bind(partition).bind(id);
                complete.execute(&mut *connection).await?;
                done += 1;
            }
            Ok::<_, sqlx::Error>(done)
        });
    }
    let mut done = 0;
    while let Some(result) = tasks.join_next().await {
        done += result??;
    }
    debug_assert!(done <= count);
    Ok(f64::from(done) / start.elapsed().as_secs_f64())
}
