//! Puts rows into a database past the backend: the work to be measured, not how it came there.

use uuid::Uuid;

use crate::contender::Store;

/// How the ids of loaded executions are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// All in partition 0, the best case of a backend that tries partitions one by one.
    One,
    /// Over all 256 partitions.
    All,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Adds `count` claimable executions on the lane `bench`.
pub async fn claimable(store: &Store, count: u32, spread: Spread) -> Result<(), Failure> {
    let modulus = if spread == Spread::One { 1 } else { 256 };
    match store {
        Store::Sqlite(path) => {
            let db = rusqlite::Connection::open(path)?;
            db.busy_timeout(std::time::Duration::from_secs(30))?;
            db.execute(
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
                 INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                   eligibility_state, public_state, attempt_state, created_at_ms, raw_fields)
                 SELECT i % ?2, randomblob(16), 'bench', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending',
                   1700000000000 + i, '{\"namespace\":\"bench\",\"tags\":{}}' FROM n",
                (count, modulus),
            )?;
        }
        Store::Postgres(pool) => {
            sqlx::query(
                "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                   eligibility_state, public_state, attempt_state, created_at_ms, raw_fields)
                 SELECT i % $2, gen_random_uuid(), 'bench', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending',
                   1700000000000 + i, '{\"namespace\":\"bench\",\"tags\":{}}' FROM generate_series(0, $1 - 1) i",
            )
            .bind(count as i32)
            .bind(modulus)
            .execute(pool)
            .await?;
            sqlx::query("ANALYZE ff_exec_core, ff_attempt").execute(pool).await?;
        }
    }
    Ok(())
}

/// Adds `count` executions on the lane `bench`, before all others, that need a capability which no worker here has.
pub async fn blocked(store: &Store, count: u32) -> Result<(), Failure> {
    match store {
        Store::Sqlite(path) => {
            let db = rusqlite::Connection::open(path)?;
            db.busy_timeout(std::time::Duration::from_secs(30))?;
            db.execute(
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
                 INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                   eligibility_state, public_state, attempt_state, created_at_ms, raw_fields)
                 SELECT 0, randomblob(16), 'bench', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending',
                   1600000000000 + i, '{\"namespace\":\"bench\",\"tags\":{}}' FROM n WHERE i < ?1",
                (count,),
            )?;
            db.execute(
                "INSERT INTO ff_execution_capabilities (execution_id, capability)
                 SELECT execution_id, 'gpu' FROM ff_exec_core WHERE lane_id = 'bench' AND created_at_ms < 1700000000000
                   AND eligibility_state = 'eligible_now'",
                (),
            )?;
        }
        Store::Postgres(pool) => {
            sqlx::query(
                "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
                   eligibility_state, public_state, attempt_state, created_at_ms, raw_fields, required_capabilities)
                 SELECT 0, gen_random_uuid(), 'bench', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending',
                   1600000000000 + i, '{\"namespace\":\"bench\",\"tags\":{}}', ARRAY['gpu']
                 FROM generate_series(0, $1 - 1) i",
            )
            .bind(count as i32)
            .execute(pool)
            .await?;
        }
    }
    Ok(())
}

/// Adds executions that become claimable now to a database that others work on.
pub async fn arriving(pool: &sqlx::PgPool, count: u32) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO ff_exec_core (partition_key, execution_id, lane_id, lifecycle_phase, ownership_state,
           eligibility_state, public_state, attempt_state, created_at_ms, raw_fields)
         SELECT 0, gen_random_uuid(), 'bench', 'runnable', 'unowned', 'eligible_now', 'waiting', 'pending',
           CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint), '{\"namespace\":\"bench\",\"tags\":{}}'
         FROM generate_series(1, $1)",
    )
    .bind(count as i32)
    .execute(pool)
    .await?;
    Ok(())
}

/// Finishes what a load leaves to be done later: its log is moved to the tables, and its statistics are taken. A bulk
/// load is not part of the work, so neither is what comes after it.
pub async fn settle(store: &Store) -> Result<(), Failure> {
    match store {
        Store::Sqlite(path) => {
            let db = rusqlite::Connection::open(path)?;
            db.busy_timeout(std::time::Duration::from_secs(30))?;
            db.query_row("PRAGMA wal_checkpoint(FULL)", (), |_| Ok(()))?;
        }
        Store::Postgres(pool) => {
            for statement in ["VACUUM (ANALYZE) ff_exec_core, ff_claimable", "CHECKPOINT"] {
                sqlx::query(statement).execute(pool).await?;
            }
        }
    }
    Ok(())
}

/// Makes every waiting execution unclaimable, so that a claim finds nothing.
pub async fn clear(store: &Store) -> Result<(), Failure> {
    match store {
        Store::Sqlite(path) => {
            let db = rusqlite::Connection::open(path)?;
            db.busy_timeout(std::time::Duration::from_secs(30))?;
            db.execute("DELETE FROM ff_exec_core WHERE eligibility_state = 'eligible_now'", ())?;
        }
        Store::Postgres(pool) => {
            sqlx::query("DELETE FROM ff_exec_core WHERE eligibility_state = 'eligible_now'").execute(pool).await?;
        }
    }
    Ok(())
}

/// Adds `count` frames to attempt 0 of an execution, all older than any frame appended now.
pub async fn frames(store: &Store, partition: u16, execution: Uuid, count: u32) -> Result<(), Failure> {
    match store {
        Store::Sqlite(path) => {
            let db = rusqlite::Connection::open(path)?;
            db.busy_timeout(std::time::Duration::from_secs(30))?;
            db.execute(
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
                 INSERT INTO ff_stream_frame
                   (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
                 SELECT ?2, ?3, 0, 1600000000000 + i, 0, '{\"payload\":\"x\"}', 'durable', 1600000000000 + i FROM n",
                (count, partition, execution.as_bytes().as_slice()),
            )?;
        }
        Store::Postgres(pool) => {
            sqlx::query(
                "INSERT INTO ff_stream_frame
                   (partition_key, execution_id, attempt_index, ts_ms, seq, fields, mode, created_at_ms)
                 SELECT $2::smallint, $3, 0, 1600000000000 + i, 0, '{\"payload\":\"x\"}', 'durable', 1600000000000 + i
                 FROM generate_series(0, $1 - 1) i",
            )
            .bind(count as i32)
            .bind(partition as i16)
            .bind(execution)
            .execute(pool)
            .await?;
            sqlx::query("ANALYZE ff_stream_frame").execute(pool).await?;
        }
    }
    Ok(())
}
