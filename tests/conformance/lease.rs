//! Keeping a lease, losing it, taking it over on resumption, and listing those that ran out.

use ff_core::backend::{FailureClass, FailureReason, HandleKind, ResumeToken};
use ff_core::contracts::{ExpiredLeasesCursor, ListExpiredLeasesArgs, ResumeGrant};
use ff_core::engine_error::{ContentionKind, EngineError};
use ff_core::partition::{Partition, PartitionFamily, PartitionKey};
use ff_core::types::{ExecutionId, LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{Harness as Opened, Kind, LEASE_MS, T0, Tables, id_in, on_every_database, payload, run};
use ff_backend_sql::testing::Step;
use std::sync::{Mutex, mpsc};
use tokio::sync::oneshot;

/// A token to resume an execution as worker `resumer`.
pub(crate) fn token(id: &ExecutionId) -> ResumeToken {
    let partition = PartitionKey::from(Partition { family: PartitionFamily::Execution, index: id.partition() });
    let grant = ResumeGrant::new(id.clone(), partition, "unchecked".to_owned(), 0, LaneId::new("lane"));
    ResumeToken::new(grant, WorkerId::new("resumer"), WorkerInstanceId::new("resumer-1"), 5_000)
}

/// What a listing at that time asks for.
pub(crate) fn listing(as_of_ms: i64) -> ListExpiredLeasesArgs {
    ListExpiredLeasesArgs::new(TimestampMs::from_millis(as_of_ms))
}

/// The ids of a listing.
async fn expired(h: &Opened, args: ListExpiredLeasesArgs) -> Vec<ExecutionId> {
    let page = h.backend.list_expired_leases(args).await.unwrap();
    page.entries.into_iter().map(|entry| entry.execution_id).collect()
}

on_every_database! {
    async fn renewal_moves_the_end_of_the_lease(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(1_000);
        let renewed = h.backend.renew(&handle).await.unwrap();
        assert_eq!(renewed.expires_at_ms, (T0 + 1_000 + LEASE_MS) as u64);
        assert_eq!(renewed.lease_epoch, 1);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [(T0 + 1_000 + LEASE_MS).to_string()]);
        h.backend.renew(&handle).await.unwrap();
        assert_eq!(h.lease_events(&id).await, ["acquired", "renewed", "renewed"]);
    }

    async fn a_lease_that_ran_out_can_be_renewed_until_somebody_takes_it(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS * 10);
        h.backend.renew(&handle).await.unwrap();
        let swept = "lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now'";
        h.alter(&format!("UPDATE ff_exec_core SET {swept} WHERE {}", h.of(&id))).await;
        let refused = h.backend.renew(&handle).await.unwrap_err();
        assert!(matches!(refused, EngineError::Contention(ContentionKind::LeaseConflict)), "{refused}");
        let other = h.claim("worker-b").await.expect("it is free again");
        assert_eq!(payload(&other).lease_epoch.0, 2);
        assert!(h.backend.renew(&handle).await.is_err());
        h.backend.renew(&other).await.unwrap();
    }

    async fn a_lost_lease_writes_no_event(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        h.backend.renew(&handle).await.unwrap_err();
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
    }

    async fn an_attempt_whose_lease_ran_out_is_resumed_on_its_next_epoch(h) {
        let (id, first) = h.created_and_claimed().await;
        assert!(h.backend.claim_from_resume_grant(token(&id)).await.unwrap().is_none());
        h.pass_ms(LEASE_MS);
        let resumed = h.backend.claim_from_resume_grant(token(&id)).await.unwrap().expect("nobody holds it");
        assert_eq!(resumed.kind, HandleKind::Resumed);
        let held = payload(&resumed);
        assert_eq!((held.attempt_index.0, held.lease_epoch.0, held.lease_ttl_ms), (0, 2, 5_000));
        assert_eq!(h.attempts(&id, "worker_id").await, ["resumer"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [(T0 + LEASE_MS + 5_000).to_string()]);
        assert_eq!(h.core(&id, "public_state").await, "running");
        assert_eq!(h.core(&id, "started_at_ms").await, T0.to_string());
        assert_eq!(h.lease_events(&id).await, ["acquired", "reclaimed"]);
        assert!(h.backend.complete(&first, None).await.is_err());
        assert!(h.backend.claim_from_resume_grant(token(&id)).await.unwrap().is_none());
        h.backend.complete(&resumed, None).await.unwrap();
    }

    async fn a_finished_execution_is_not_resumed(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.fail(&handle, FailureReason::new("x"), FailureClass::Permanent).await.unwrap();
        h.pass_ms(LEASE_MS);
        assert!(h.backend.claim_from_resume_grant(token(&id)).await.unwrap().is_none());
        assert_eq!(h.core(&id, "lifecycle_phase").await, "terminal");
    }

    async fn what_was_never_claimed_is_not_resumed(h) {
        let id = h.create().await;
        let refused = h.backend.claim_from_resume_grant(token(&id)).await.unwrap_err();
        assert!(matches!(refused, EngineError::NotFound { entity: "attempt" }), "{refused}");
        assert!(h.backend.claim_from_resume_grant(token(&id_in(4))).await.is_err());
    }

    async fn leases_that_ran_out_are_listed_oldest_first(h) {
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(h.created_and_claimed().await.0);
            h.pass_ms(10);
        }
        assert!(expired(&h, listing(T0 + LEASE_MS - 1)).await.is_empty());
        assert_eq!(expired(&h, listing(T0 + LEASE_MS + 10)).await, ids[..2]);
        let page = h.backend.list_expired_leases(listing(T0 + LEASE_MS)).await.unwrap();
        let entry = &page.entries[0];
        assert_eq!((entry.attempt_index.0, entry.lease_epoch.0, entry.expires_at_ms.0), (0, 1, T0 + LEASE_MS));
        assert_eq!(entry.worker_instance_id.as_str(), "worker-a-1");
        assert!(page.cursor.is_none());
    }

    async fn the_listing_pages_through_equal_times(h) {
        let mut ids = Vec::new();
        for partition in [2, 10, 2, 10, 3] {
            h.create_with(|args| args.execution_id = id_in(partition)).await;
            ids.push(payload(&h.claim("worker-a").await.unwrap()).execution_id);
        }
        let key = |id: &ExecutionId| (id.partition(), id.to_string());
        ids.sort_by_key(key);
        let mut listed = Vec::new();
        let mut after: Option<ExpiredLeasesCursor> = None;
        loop {
            let mut args = listing(T0 + LEASE_MS);
            args.limit = Some(2);
            args.after = after;
            let page = h.backend.list_expired_leases(args).await.unwrap();
            listed.extend(page.entries.into_iter().map(|entry| entry.execution_id));
            after = page.cursor;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(listed, ids);
    }

    async fn the_listing_keeps_to_a_namespace(h) {
        let here = h.created_and_claimed().await.0;
        h.create_with(|args| args.namespace = Namespace::new("elsewhere")).await;
        h.claim("worker-a").await.unwrap();
        let mut args = listing(T0 + LEASE_MS);
        args.namespace = Some(Namespace::new("space"));
        assert_eq!(expired(&h, args).await, [here]);
        let mut args = listing(T0 + LEASE_MS);
        args.limit = Some(0);
        assert_eq!(expired(&h, args).await.len(), 1);
    }

    async fn ended_attempts_are_not_listed(h) {
        let (_, done) = h.created_and_claimed().await;
        h.backend.complete(&done, None).await.unwrap();
        let (_, delayed) = h.created_and_claimed().await;
        h.backend.delay(&delayed, TimestampMs::from_millis(T0 + 1)).await.unwrap();
        assert!(expired(&h, listing(T0 + LEASE_MS * 2)).await.is_empty());
    }
}

/// Holds whoever begins an operation of that name until the other end is dropped; the first one only. SQLite's writer
/// waits on its own thread, and Postgres's door in a future: a thread that waits there may be the one that hears from
/// the server.
fn hold(h: &Opened, operation: &'static str) -> (mpsc::Receiver<()>, Box<dyn Send>) {
    let (came, comes) = mpsc::channel();
    let is_held = move |step, name| matches!(step, Step::Begin | Step::Run) && name == operation;
    if let Tables::Postgres(backend) = h.tables() {
        let (goes_on, may_go) = oneshot::channel::<()>();
        let held = Mutex::new(Some((came, may_go)));
        backend.hold_for_test(Box::new(move |step, name| {
            let (came, may_go) = is_held(step, name).then(|| held.lock().expect("nobody panics here").take())??;
            came.send(()).expect("somebody waits for it");
            Some(Box::pin(async move { may_go.await.unwrap_or_default() }))
        }));
        return (comes, Box::new(goes_on));
    }
    let (goes_on, may_go) = mpsc::channel::<()>();
    let held = Mutex::new(Some((came, may_go)));
    h.fail(Box::new(move |step, name| {
        let (came, may_go) = is_held(step, name).then(|| held.lock().expect("nobody panics here").take())??;
        came.send(()).expect("somebody waits for it");
        let _ = may_go.recv();
        None
    }));
    (comes, Box::new(goes_on))
}

/// The lease had run out, and its worker renewed it before the resumption began to write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_was_renewed_meanwhile_is_not_taken() {
    for kind in [Kind::SqliteFile, Kind::SqliteMemory, Kind::Postgres] {
        run(kind, |h| async move {
            let (id, first) = h.created_and_claimed().await;
            h.pass_ms(LEASE_MS);
            let (comes, goes_on) = hold(&h, "lease_reseat");
            let backend = std::sync::Arc::clone(&h.backend);
            let asked = token(&id);
            let resuming = tokio::spawn(async move { backend.claim_from_resume_grant(asked).await });
            tokio::task::block_in_place(|| comes.recv()).expect("the resumption begins to write");
            let renewed = T0 + 3 * LEASE_MS;
            h.alter(&format!("UPDATE ff_attempt SET lease_expires_at_ms = {renewed} WHERE {}", h.of(&id))).await;
            drop(goes_on);
            assert!(resuming.await.unwrap().unwrap().is_none(), "{kind:?}: the lease is live");
            assert_eq!(h.attempts(&id, "worker_id").await, ["worker-a"]);
            assert_eq!(h.lease_events(&id).await, ["acquired"]);
            h.backend.complete(&first, None).await.unwrap();
        })
        .await;
    }
}
