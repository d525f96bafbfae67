//! Whoever was overtaken does nothing: a lease of an earlier attempt, and a call that waited for a row while others
//! changed what it had looked at.

use std::future::Future;

use ff_core::backend::{FailureClass, FailureReason, Frame, FrameKind};
use ff_core::contracts::{ClaimExecutionResult, RotateWaitpointHmacSecretAllArgs, SeedWaitpointHmacSecretArgs};
use ff_core::engine_error::EngineError;
use ff_core::types::{AttemptId, ExecutionId, LeaseFence};
use tokio::task::JoinHandle;

use crate::harness::{
    Harness as Opened, LEASE_MS, LOST, PATIENCE, Tables, on_every_database, payload, refusal, uuid_of,
};
use crate::suspend::{fresh, named, seed, suspending, taken, triple, written};
use crate::{lease, schedule, typed};

on_every_database! {
    async fn the_lease_of_an_earlier_attempt_suspends_nobody_elses_run(h) {
        seed(&h).await;
        let (id, old) = h.created_and_claimed().await;
        h.backend.fail(&old, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        let new = h.claim("worker-b").await.expect("it is tried again");
        assert_eq!(payload(&old).lease_epoch, payload(&new).lease_epoch);
        let args = || suspending(&h, fresh("key"), named("key", "go"));
        let rows = written(&h).await;
        assert_eq!(refusal(h.backend.suspend_by_triple(id.clone(), triple(&old), args()).await), LOST);
        assert_eq!(written(&h).await, rows);
        h.backend.renew(&new).await.unwrap();
        let (suspended, _) = taken(h.backend.suspend_by_triple(id, triple(&new), args()).await.unwrap());
        assert_eq!(payload(&suspended).attempt_index.0, 1);
    }

    async fn the_lease_of_an_earlier_attempt_that_its_caller_named_suspends_nobody_elses_run(h) {
        seed(&h).await;
        let (id, old) = typed::running(&h).await;
        let fence = typed::fence(&old).unwrap();
        h.backend.fail_execution(typed::failing(&old, typed::ONE_RETRY)).await.unwrap();
        h.pass_ms(1_000);
        let new = h.claim("worker-b").await.expect("it is tried again");
        assert_eq!((payload(&new).attempt_index.0, payload(&new).lease_epoch), (1, fence.lease_epoch));
        let args = || suspending(&h, fresh("key"), named("key", "go"));
        assert_eq!(refusal(h.backend.suspend_by_triple(id.clone(), fence, args()).await), LOST);
        h.backend.suspend_by_triple(id, triple(&new), args()).await.unwrap();
    }

    /// Leases that another program gave are known by their epoch alone.
    async fn the_lease_of_an_attempt_that_nobody_knows_is_judged_by_its_epoch(h) {
        seed(&h).await;
        let (id, handle) = h.created_and_claimed().await;
        let unknown = LeaseFence { attempt_id: AttemptId::new(), ..triple(&handle) };
        let args = suspending(&h, fresh("key"), named("key", "go"));
        h.backend.suspend_by_triple(id, unknown, args).await.unwrap();
    }
}

/// A session of somebody else on Postgres, in a transaction.
struct Other(sqlx::Transaction<'static, sqlx::Postgres>);

impl Other {
    async fn begin(h: &Opened) -> Self {
        let Tables::Postgres(backend) = h.tables() else { panic!("only there do sessions wait for rows") };
        Self(backend.pool().begin().await.expect("a transaction"))
    }

    async fn run(&mut self, sql: &str) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut *self.0).await.expect("the tables take it");
    }

    async fn number(&mut self, sql: &str) -> i64 {
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql.to_owned())).fetch_one(&mut *self.0).await.expect("a number")
    }

    async fn commit(self) {
        self.0.commit().await.expect("the commit");
    }
}

/// Begins a call and comes back when it waits for somebody's row, or is done.
async fn waiting<T: Send + 'static>(h: &Opened, call: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    until_waiting(h, 1, tokio::spawn(call)).await
}

async fn until_waiting<T>(h: &Opened, sessions: i64, call: JoinHandle<T>) -> JoinHandle<T> {
    let began = std::time::Instant::now();
    while !call.is_finished() && h.sessions_that_wait().await < sessions {
        assert!(began.elapsed() < PATIENCE, "the call neither waits nor ends");
        tokio::task::yield_now().await;
    }
    call
}

/// Each behaviour on Postgres, where a call can wait for a row of somebody else.
macro_rules! on_postgres {
    ($(async fn $name:ident($h:ident) $body:block)*) => {
        $(#[tokio::test]
        async fn $name() {
            crate::harness::run(crate::harness::Kind::Postgres, |$h| async move { $body }).await;
        })*
    };
}

fn execution_row(h: &Opened, id: &ExecutionId) -> String {
    format!("SELECT 1 FROM ff_exec_core WHERE {} FOR UPDATE", h.row_of(id))
}

/// What a claim by a grant answers that waited while somebody did something about the grants of its execution.
async fn claimed_after(h: &Opened, id: &ExecutionId, meanwhile: &str) -> Result<ClaimExecutionResult, EngineError> {
    typed::grant(h, id).await;
    let mut other = Other::begin(h).await;
    other.run(&execution_row(h, id)).await;
    let (backend, args) = (h.backend.clone(), typed::claiming(h, id, 0));
    let call = waiting(h, async move { backend.claim_execution(args).await }).await;
    other.run(meanwhile).await;
    other.commit().await;
    call.await.expect("the claim ends")
}

on_postgres! {
    async fn a_grant_that_is_gone_meanwhile_is_not_used(h) {
        let ways: [fn(&str) -> String; 2] = [
            |of| format!("DELETE FROM ff_claim_grant WHERE {of}"),
            |of| format!("UPDATE ff_claim_grant SET worker_id = 'another' WHERE {of}"),
        ];
        for meanwhile in ways {
            let id = h.create().await;
            let claimed = claimed_after(&h, &id, &meanwhile(&h.of(&id))).await;
            assert_eq!(refusal(claimed), "contention: InvalidClaimGrant");
            assert_eq!(h.attempts(&id, "lease_epoch").await, [""; 0]);
        }
    }

    async fn a_grant_in_the_place_of_another_is_used(h) {
        let id = h.create().await;
        let meanwhile = format!("UPDATE ff_claim_grant SET grant_id = '\\x01' WHERE {}", h.of(&id));
        claimed_after(&h, &id, &meanwhile).await.expect("the new grant is this worker's");
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["1"]);
    }

    async fn an_execution_that_was_granted_anew_meanwhile_is_not_offered(h) {
        let id = h.create().await;
        h.backend.claim_for_worker(schedule::wanting(&[])).await.unwrap();
        h.pass_ms(60_001);
        let mut other = Other::begin(&h).await;
        other.run(&execution_row(&h, &id)).await;
        let sweeping = h.clone();
        let call = waiting(&h, async move { sweeping.sweep("grant_expiry").await }).await;
        let live = h.clock.now_ms() + 60_000;
        other.run(&format!("UPDATE ff_claim_grant SET expires_at_ms = {live} WHERE {}", h.of(&id))).await;
        other.commit().await;
        call.await.unwrap();
        assert_eq!(h.core(&id, "eligibility_state").await, "pending_claim");
        let grants = format!("SELECT count(*) FROM ff_claim_grant WHERE {}", h.of(&id));
        assert_eq!(h.number(&grants).await, 1);
    }

    async fn an_attempt_that_has_a_successor_meanwhile_is_not_resumed(h) {
        let (id, old) = h.created_and_claimed().await;
        h.backend.fail(&old, FailureReason::new("no"), FailureClass::Transient).await.unwrap();
        let mut other = Other::begin(&h).await;
        other.run(&execution_row(&h, &id)).await;
        let (backend, token) = (h.backend.clone(), lease::token(&id));
        let call = waiting(&h, async move { backend.claim_from_resume_grant(token).await }).await;
        let lease = format!("'worker-b', 'worker-b-1', 1, {}", h.clock.now_ms() + LEASE_MS);
        other
            .run(&format!(
                "INSERT INTO ff_attempt (partition_key, execution_id, attempt_index, worker_id, worker_instance_id, \
                 lease_epoch, lease_expires_at_ms) VALUES ({}, '{}', 1, {lease}); \
                 UPDATE ff_exec_core SET lifecycle_phase = 'active', ownership_state = 'leased', \
                 eligibility_state = 'not_applicable', public_state = 'running' WHERE {}",
                id.partition(),
                uuid_of(&id),
                h.of(&id)
            ))
            .await;
        other.commit().await;
        assert!(call.await.unwrap().unwrap().is_none(), "the next attempt runs");
        assert_eq!(h.attempts(&id, "worker_id").await, ["worker-a", "worker-b"]);
    }

    async fn a_frame_of_a_lease_that_is_over_does_not_follow_those_of_the_next(h) {
        let (id, handle) = h.created_and_claimed().await;
        let frame = || Frame::new(b"{}".to_vec(), FrameKind::Stdout);
        h.backend.append_frame(&handle, frame()).await.unwrap();
        let mut another_append = Other::begin(&h).await;
        another_append.run(&format!("SELECT 1 FROM ff_stream_counter WHERE {} FOR UPDATE", h.row_of(&id))).await;
        let backend = h.backend.clone();
        let append = waiting(&h, async move { backend.append_frame(&handle, frame()).await }).await;
        let (taking, of) = (h.clone(), h.row_of(&id));
        let take = tokio::spawn(async move {
            let mut taker = Other::begin(&taking).await;
            taker.run(&format!("SELECT 1 FROM ff_exec_core WHERE {of} FOR UPDATE")).await;
            taker.run(&format!("UPDATE ff_attempt SET lease_epoch = lease_epoch + 1 WHERE {of}")).await;
            let frames = taker.number(&format!("SELECT count(*) FROM ff_stream_frame WHERE {of}")).await;
            taker.commit().await;
            frames
        });
        let take = until_waiting(&h, 2, take).await;
        another_append.commit().await;
        let (appended, before) = (append.await.unwrap(), take.await.unwrap());
        let after = h.number(&format!("SELECT count(*) FROM ff_stream_frame WHERE {}", h.of(&id))).await;
        assert_eq!(after, before, "{appended:?}");
    }

    async fn of_two_secrets_that_are_installed_at_once_one_signs(h) {
        seed(&h).await;
        let mut other = Other::begin(&h).await;
        other.run("UPDATE ff_waitpoint_hmac SET active = false WHERE active").await;
        let args = RotateWaitpointHmacSecretAllArgs::new("k2", "ab".repeat(32), 0);
        let backend = h.backend.clone();
        let call = waiting(&h, async move { backend.rotate_waitpoint_hmac_secret_all(args).await }).await;
        let theirs = "INSERT INTO ff_waitpoint_hmac (kid, secret, rotated_at_ms, active) VALUES ('k3', 'x', 1, true)";
        other.run(theirs).await;
        other.commit().await;
        let rotated = call.await.unwrap().unwrap().entries.remove(0).result;
        assert!(format!("{rotated:?}").contains("previous_kid: Some(\"k3\")"), "{rotated:?}");
        assert_eq!(h.texts("SELECT kid FROM ff_waitpoint_hmac WHERE active").await, ["k2"]);
    }

    async fn of_first_secrets_that_are_installed_at_once_one_signs(h) {
        h.create().await;
        let mut other = Other::begin(&h).await;
        other.run("SELECT pg_advisory_xact_lock(hashtextextended('ff_waitpoint_hmac', 0))").await;
        let backend = h.backend.clone();
        let rotating = async move {
            let args = RotateWaitpointHmacSecretAllArgs::new("k2", "ab".repeat(32), 0);
            drop(backend.rotate_waitpoint_hmac_secret_all(args).await);
        };
        let rotating = until_waiting(&h, 1, tokio::spawn(rotating)).await;
        let backend = h.backend.clone();
        let granting = async move { drop(backend.claim_for_worker(schedule::wanting(&[])).await) };
        let granting = until_waiting(&h, 2, tokio::spawn(granting)).await;
        let backend = h.backend.clone();
        let seeding = async move {
            let args = SeedWaitpointHmacSecretArgs::new("k1", "cd".repeat(32));
            drop(backend.seed_waitpoint_hmac_secret(args).await);
        };
        let seeding = until_waiting(&h, 3, tokio::spawn(seeding)).await;
        other.commit().await;
        for call in [rotating, granting, seeding] {
            call.await.expect("it ends");
        }
        assert_eq!(h.texts("SELECT kid FROM ff_waitpoint_hmac WHERE active").await.len(), 1);
    }
}
