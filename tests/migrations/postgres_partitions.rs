//! Databases whose tables get another number of partitions.

use std::time::Duration;

use ff_backend_sql::{MigrationError, PgPool, PostgresBackend, repartition};
use ff_core::partition::PartitionConfig;
use ff_core::types::LaneId;
use tokio::time::timeout;

use super::postgres::{CHILDREN, children, execute, lines, migrate, with_database};
use super::postgres_readers::{PATIENCE, make_one};

/// Everything about the tables but the partitions' own names and order: columns, constraints, indexes and triggers.
const SHAPE: &str = "
    SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
     WHERE conrelid IN (SELECT oid FROM pg_class WHERE relkind = 'p')
     UNION ALL
    SELECT format('%s %s %s', indrelid::regclass, indexrelid::regclass, indisvalid) FROM pg_index
     WHERE indrelid IN (SELECT oid FROM pg_class WHERE relkind = 'p')
     UNION ALL
    SELECT format('%s %s %s', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger
     WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relkind = 'p') AND NOT tgisinternal
     UNION ALL
    SELECT format('%s %s %s %s', attrelid::regclass, attname, atttypid::regtype, attidentity) FROM pg_attribute
     WHERE attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'p') AND attnum > 0
     ORDER BY 1";

/// The triggers that a row of a partition meets, which are those of its table.
const TRIGGERS: &str = "
    SELECT DISTINCT format('%s %s %s', i.inhparent::regclass, t.tgname, t.tgenabled)
      FROM pg_trigger AS t JOIN pg_inherits AS i ON i.inhrelid = t.tgrelid
      JOIN pg_class AS p ON p.oid = i.inhparent AND p.relkind = 'p'
     WHERE NOT t.tgisinternal ORDER BY 1";

/// Every row of every table that has partitions, and of the queues beside them.
async fn rows(pool: &PgPool) -> Vec<String> {
    let tables = "SELECT relname::text FROM pg_class WHERE relkind = 'p' AND relname LIKE 'ff\\_%'
                  UNION ALL SELECT unnest(ARRAY['ff_claimable', 'ff_delayed', 'ff_granted']) ORDER BY 1";
    let mut all = Vec::new();
    for table in lines(pool, tables).await {
        let rows = format!("SELECT format('%s %s', '{table}', row) FROM {table} AS row ORDER BY 1");
        all.extend(lines(pool, &rows).await);
    }
    all
}

#[tokio::test]
async fn rows_indexes_and_triggers_stay_when_the_number_of_partitions_changes() {
    with_database(async |pool| {
        migrate(&pool, 3).await;
        let lane = LaneId::new("lane");
        let backend = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
        for _ in 0..20 {
            make_one(&backend, &lane).await;
        }
        execute(
            &pool,
            "UPDATE ff_exec_core SET lifecycle_phase = 'runnable', ownership_state = 'unowned',
                        eligibility_state = 'eligible_now' WHERE execution_id IN
                        (SELECT execution_id FROM ff_exec_core LIMIT 5)",
        )
        .await;
        let (shape, triggers, before) = (lines(&pool, SHAPE).await, lines(&pool, TRIGGERS).await, rows(&pool).await);
        assert!(before.iter().any(|row| row.starts_with("ff_claimable")), "work waits");
        for count in [1, 8, 2] {
            repartition(&pool, count).await.expect("they are moved");
            let counts = "SELECT DISTINCT count(*)::text FROM pg_inherits AS i
                          JOIN pg_class AS p ON p.oid = i.inhparent AND p.relkind = 'p' GROUP BY i.inhparent";
            assert_eq!(lines(&pool, counts).await, [count.to_string()]);
            assert_eq!(lines(&pool, SHAPE).await, shape, "{count}");
            assert_eq!(lines(&pool, TRIGGERS).await, triggers, "{count}");
            assert_eq!(rows(&pool).await, before, "{count}");
        }
        // The backend was open all the time, and what it prepared was for other tables.
        make_one(&backend, &LaneId::new("another")).await;
        drop(backend);
    })
    .await;
}

#[tokio::test]
async fn the_number_that_there_is_moves_nothing() {
    with_database(async |pool| {
        migrate(&pool, 2).await;
        let identity = "SELECT inhrelid::text FROM pg_inherits ORDER BY 1";
        let before = lines(&pool, identity).await;
        repartition(&pool, 2).await.expect("nothing to do");
        assert_eq!(lines(&pool, identity).await, before);
        assert_eq!(lines(&pool, CHILDREN).await, children(2));
    })
    .await;
}

#[tokio::test]
async fn a_number_that_no_table_can_have_is_refused_before_anything_is_done() {
    with_database(async |pool| {
        for wrong in [0, 257] {
            let refused = repartition(&pool, wrong).await;
            assert!(matches!(refused, Err(MigrationError::PartitionCount(n)) if n == wrong), "{refused:?}");
        }
        let refused = repartition(&pool, 4).await.expect_err("there are no tables").to_string();
        assert!(refused.contains("ff_exec_core"), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn callers_wait_for_a_table_and_lose_nothing() {
    with_database(async |pool| {
        migrate(&pool, 4).await;
        let lane = LaneId::new("lane");
        let backend = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
        make_one(&backend, &lane).await;
        let moving = tokio::spawn({
            let pool = pool.clone();
            async move {
                for count in [2, 3, 1] {
                    repartition(&pool, count).await?;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Ok::<(), MigrationError>(())
            }
        });
        let mut made = 1_u32;
        while !moving.is_finished() {
            timeout(PATIENCE, make_one(&backend, &lane)).await.expect("callers go on");
            made += 1;
        }
        moving.await.expect("no panic").expect("they are moved");
        let ended = "SELECT count(*)::text FROM ff_exec_core WHERE lifecycle_phase = 'terminal'";
        assert_eq!(lines(&pool, ended).await, [made.to_string()]);
        assert_eq!(lines(&pool, "SELECT count(*)::text FROM ff_claimable").await, ["0"]);
        drop(backend);
    })
    .await;
}
