//! What the functions over a pool do, on a database of their own.

use std::collections::BTreeSet;

use ff_backend_sql::PgPool;
use ff_backend_sql::dispatch::{DispatchOutcome, dispatch_completion};
use ff_backend_sql::reconcilers::{ScanReport, attempt_timeout, dependency, lease_expiry};
use ff_backend_sql::scheduler::{GrantVerifyError, PostgresScheduler, verify_grant};
use ff_backend_sql::signal::{current_active_kid, fetch_kid, seed_waitpoint_hmac_secret_impl};
use ff_backend_sql::worker_registry::{list_workers, register_worker, ttl_sweep_tick, worker_partition_key};
use ff_core::backend::ScannerFilter;
use ff_core::contracts::{ListWorkersArgs, RegisterWorkerArgs, SeedWaitpointHmacSecretArgs};
use ff_core::types::{LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness, Kind, PATIENCE, Tables, run};

fn pool(h: &Harness) -> PgPool {
    match h.tables() {
        Tables::Postgres(backend) => backend.pool().clone(),
        Tables::Sqlite(..) => panic!("these tests run on Postgres"),
    }
}

#[tokio::test]
async fn a_grant_of_the_scheduler_verifies_until_it_expires() {
    run(Kind::Postgres, |h| async move {
        let pool = pool(&h);
        let scheduler = PostgresScheduler::new(pool.clone());
        let (lane, worker, instance) = (LaneId::new("lane"), WorkerId::new("w"), WorkerInstanceId::new("w-1"));
        let capabilities = BTreeSet::new();
        assert!(scheduler.claim_for_worker(&lane, &worker, &instance, &capabilities, 1).await.unwrap().is_none());
        let (first, second) = (h.create().await, h.create().await);
        let grant = scheduler.claim_for_worker(&lane, &worker, &instance, &capabilities, 600_000).await.unwrap();
        let mut grant = grant.expect("a grant");
        assert!([&first, &second].contains(&&grant.execution_id));
        assert!(grant.grant_key.starts_with("pg:"));
        verify_grant(&pool, &grant).await.expect("it is ours");

        let forged = grant.grant_key.clone() + "0";
        let genuine = std::mem::replace(&mut grant.grant_key, forged);
        assert!(matches!(verify_grant(&pool, &grant).await, Err(GrantVerifyError::SignatureMismatch)));
        grant.grant_key = "pg:nothing".to_owned();
        assert!(matches!(verify_grant(&pool, &grant).await, Err(GrantVerifyError::Malformed)));
        grant.grant_key = genuine;
        sqlx::query("UPDATE ff_waitpoint_hmac SET kid = 'other'").execute(&pool).await.unwrap();
        assert!(matches!(verify_grant(&pool, &grant).await, Err(GrantVerifyError::UnknownKid)));
        sqlx::query("DELETE FROM ff_claim_grant").execute(&pool).await.unwrap();
        sqlx::query("UPDATE ff_waitpoint_hmac SET kid = $1")
            .bind(grant.grant_key.rsplit(':').nth(1).unwrap())
            .execute(&pool)
            .await
            .unwrap();
        assert!(matches!(verify_grant(&pool, &grant).await, Err(GrantVerifyError::UnknownGrant)));

        let short = scheduler.claim_for_worker(&lane, &worker, &instance, &capabilities, 1).await.unwrap();
        let short = short.expect("a grant");
        let expired = async {
            while !matches!(verify_grant(&pool, &short).await, Err(GrantVerifyError::Expired)) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, expired).await.expect("it expires");
    })
    .await;
}

#[tokio::test]
async fn a_tick_of_a_sweep_is_about_one_partition() {
    run(Kind::Postgres, |h| async move {
        let (pool, filter) = (pool(&h), ScannerFilter::default());
        // The clock of the harness stands in the past, so the lease is over by that of the ticks.
        let (id, _) = h.created_and_claimed().await;
        let partition = i16::try_from(id.partition()).expect("a small number");
        let nothing = ScanReport { processed: 0, errors: 0 };
        assert_eq!(lease_expiry::scan_tick(&pool, (partition + 1) % 256, &filter).await.unwrap(), nothing);
        assert_eq!(attempt_timeout::scan_tick(&pool, partition, &filter).await.unwrap(), nothing);
        let swept = lease_expiry::scan_tick(&pool, partition, &filter).await.unwrap();
        assert_eq!(swept, ScanReport { processed: 1, errors: 0 });
        assert_eq!(h.attempts(&id, "outcome").await, ["lease_expired_reclaimable"]);
    })
    .await;
}

#[tokio::test]
async fn a_completion_outside_a_flow_moves_nothing() {
    run(Kind::Postgres, |h| async move {
        let pool = pool(&h);
        let (_, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let event_id = h.number("SELECT max(event_id) FROM ff_completion_event").await;
        assert_eq!(dispatch_completion(&pool, event_id).await.unwrap(), DispatchOutcome::NoOp);
        let report = dependency::reconcile_tick(&pool, &ScannerFilter::default(), 0).await.unwrap();
        assert_eq!(report, dependency::ReconcileReport::default());
    })
    .await;
}

#[tokio::test]
async fn secrets_and_workers_are_reached_through_a_pool() {
    run(Kind::Postgres, |h| async move {
        let pool = pool(&h);
        assert_eq!(current_active_kid(&pool).await.unwrap(), None);
        let seed = SeedWaitpointHmacSecretArgs::new("k1", "00".repeat(32));
        seed_waitpoint_hmac_secret_impl(&pool, seed, 7).await.unwrap();
        assert_eq!(current_active_kid(&pool).await.unwrap(), Some(("k1".to_owned(), vec![0; 32])));
        assert_eq!(fetch_kid(&pool, "k1").await.unwrap(), Some(vec![0; 32]));
        assert_eq!(fetch_kid(&pool, "k2").await.unwrap(), None);
        assert_eq!(h.number("SELECT rotated_at_ms FROM ff_waitpoint_hmac").await, 7);

        let (instance, space) = (WorkerInstanceId::new("w-1"), Namespace::new("space"));
        let (lanes, at) = ([LaneId::new("lane")].into(), TimestampMs::from_millis(1));
        let args = RegisterWorkerArgs::new(
            WorkerId::new("w"),
            instance.clone(),
            lanes,
            BTreeSet::new(),
            60_000,
            space.clone(),
            at,
        );
        register_worker(&pool, args).await.unwrap();
        let mut listing = ListWorkersArgs::new();
        listing.namespace = Some(space);
        assert_eq!(list_workers(&pool, listing.clone()).await.unwrap().entries.len(), 1);
        let partition = worker_partition_key(instance.as_str());
        assert_eq!(ttl_sweep_tick(&pool, (partition + 1) % 256).await.unwrap(), ScanReport { processed: 0, errors: 0 });
        assert_eq!(ttl_sweep_tick(&pool, partition).await.unwrap(), ScanReport { processed: 1, errors: 0 });
        assert!(list_workers(&pool, listing).await.unwrap().entries.is_empty());
    })
    .await;
}
