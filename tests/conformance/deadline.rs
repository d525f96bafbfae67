//! The deadline of a delayed execution: its wake-up time has the deadline's place only while it waits for it.

use ff_core::backend::Handle;
use ff_core::contracts::{EdgeDependencyPolicy, IssueGrantAndClaimArgs, OnSatisfied};
use ff_core::types::{ExecutionId, LaneId, TimestampMs};

use crate::admission::route;
use crate::attempt::forged;
use crate::dependency::{claim, edge, group, member, settled};
use crate::flow::created;
use crate::flow_cancel::header_cancelled;
use crate::harness::{Harness as Opened, T0, on_every_database};
use crate::lease::token;
use crate::operator::cancelling;

/// When an execution of these tests is delayed until, and when it has to be done.
const WAKE: i64 = T0 + 60_000;
const DEADLINE: i64 = T0 + 3_600_000;

/// Creates an execution with a deadline.
async fn created_with_deadline(h: &Opened) -> ExecutionId {
    h.create_with(|args| args.execution_deadline_at = Some(TimestampMs::from_millis(DEADLINE))).await
}

/// An execution with a deadline whose worker delayed it.
async fn delayed(h: &Opened) -> ExecutionId {
    let id = created_with_deadline(h).await;
    let handle = h.claim("worker-a").await.expect("it may be claimed");
    delay(h, &id, &handle).await;
    id
}

async fn delay(h: &Opened, id: &ExecutionId, handle: &Handle) {
    h.backend.delay(handle, TimestampMs::from_millis(WAKE)).await.unwrap();
    assert_eq!(h.core(id, "deadline_at_ms").await, WAKE.to_string());
}

/// The same for a flow's member.
async fn delay_member(h: &Opened, id: &ExecutionId) {
    h.alter(&format!("UPDATE ff_exec_core SET deadline_at_ms = {DEADLINE} WHERE {}", h.of(id))).await;
    let handle = claim(h, id).await.expect("it may be claimed");
    delay(h, id, &handle).await;
}

/// The execution waits for no time any more, and its deadline is what it was.
async fn has_its_deadline(h: &Opened, id: &ExecutionId) {
    assert_ne!(h.core(id, "eligibility_state").await, "not_eligible_until_time");
    assert_eq!(h.core(id, "deadline_at_ms").await, DEADLINE.to_string());
}

/// The execution runs when its wake-up time passes, and goes on.
async fn runs_on(h: &Opened, id: &ExecutionId) {
    has_its_deadline(h, id).await;
    h.clock.set(WAKE + 1);
    assert_eq!(h.sweep("execution_deadline").await, (0, 0));
    assert_eq!(h.core(id, "lifecycle_phase").await, "active");
}

on_every_database! {
    async fn comes_back_when_the_time_has_come(h) {
        let id = delayed(&h).await;
        h.clock.set(WAKE);
        assert_eq!(h.sweep("delayed_promoter").await, (1, 0));
        has_its_deadline(&h, &id).await;
    }

    async fn comes_back_when_the_attempt_is_resumed_early(h) {
        let id = delayed(&h).await;
        h.backend.claim_from_resume_grant(token(&id)).await.unwrap().expect("nobody holds it");
        runs_on(&h, &id).await;
    }

    async fn comes_back_when_an_operator_takes_the_execution(h) {
        let id = delayed(&h).await;
        let args = IssueGrantAndClaimArgs::new(id.clone(), LaneId::new("lane"), 600_000);
        h.backend.issue_grant_and_claim(args).await.unwrap();
        runs_on(&h, &id).await;
    }

    async fn comes_back_when_the_execution_is_blocked(h) {
        let id = delayed(&h).await;
        h.backend.block_route(route(&id, "waiting_for_capable_worker")).await.unwrap();
        has_its_deadline(&h, &id).await;
    }

    async fn comes_back_when_the_worker_cancels(h) {
        let (_, template) = h.created_and_claimed().await;
        let id = h
            .create_with(|args| {
                args.execution_deadline_at = Some(TimestampMs::from_millis(DEADLINE));
                args.delay_until = Some(TimestampMs::from_millis(WAKE));
            })
            .await;
        assert_eq!(h.core(&id, "deadline_at_ms").await, WAKE.to_string());
        h.backend.cancel(&forged(&template, |held| held.execution_id = id.clone()), "early").await.unwrap();
        has_its_deadline(&h, &id).await;
    }

    async fn comes_back_when_an_operator_cancels(h) {
        let id = delayed(&h).await;
        h.backend.cancel_execution(cancelling(&id)).await.unwrap();
        has_its_deadline(&h, &id).await;
    }

    async fn comes_back_when_the_flow_is_cancelled(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        delay_member(&h, &id).await;
        header_cancelled(&h, &flow, "cancel_all").await;
        has_its_deadline(&h, &id).await;
    }

    async fn comes_back_when_a_sibling_has_won(h) {
        let flow = created(&h).await;
        let policy = EdgeDependencyPolicy::any_of(OnSatisfied::cancel_remaining());
        let (_, ups) = group(&h, &flow, Some(policy), 2).await;
        delay_member(&h, &ups[1]).await;
        let winner = claim(&h, &ups[0]).await.expect("it may be claimed");
        h.backend.complete(&winner, None).await.unwrap();
        settled(&h).await;
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (1, 0));
        assert_eq!(h.core(&ups[1], "public_state").await, "cancelled");
        has_its_deadline(&h, &ups[1]).await;
    }

    async fn comes_back_when_the_execution_is_skipped(h) {
        let flow = created(&h).await;
        let (up, down) = (member(&h, &flow).await, member(&h, &flow).await);
        h.alter(&format!("UPDATE ff_exec_core SET deadline_at_ms = {DEADLINE} WHERE {}", h.of(&down))).await;
        let handle = claim(&h, &down).await.expect("it may be claimed");
        edge(&h, &flow, &up, &down).await;
        delay(&h, &down, &handle).await;
        h.backend.cancel_execution(cancelling(&up)).await.unwrap();
        settled(&h).await;
        assert_eq!(h.core(&down, "public_state").await, "skipped");
        has_its_deadline(&h, &down).await;
    }

    async fn is_gone_for_good_where_there_was_none(h) {
        let (id, handle) = h.created_and_claimed().await;
        delay(&h, &id, &handle).await;
        h.backend.claim_from_resume_grant(token(&id)).await.unwrap().expect("nobody holds it");
        assert_eq!(h.core(&id, "deadline_at_ms").await, "null");
    }
}
