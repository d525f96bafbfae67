//! Cancelling what a satisfied group no longer needs.

use std::sync::Arc;
use std::time::Duration;

use ff_core::contracts::{EdgeDependencyPolicy, OnSatisfied};
use ff_core::engine_backend::SiblingCancelReconcileAction;
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{ExecutionId, FlowId};

use crate::dependency::{claim, downstream, group, settled};
use crate::flow::created;
use crate::harness::{Harness as Opened, LOST, T0, on_every_database, refusal, uuid_of};

/// A group of three of which the first has succeeded, so that the other two are to be cancelled.
async fn won(h: &Opened) -> (FlowId, ExecutionId, Vec<ExecutionId>) {
    let flow = created(h).await;
    let policy = EdgeDependencyPolicy::any_of(OnSatisfied::cancel_remaining());
    let (down, ups) = group(h, &flow, Some(policy), 3).await;
    let handle = claim(h, &ups[0]).await.expect("it may be claimed");
    h.backend.complete(&handle, None).await.expect("it completes");
    settled(h).await;
    (flow, down, ups)
}

/// Flag and members of a group.
async fn marked(h: &Opened, down: &ExecutionId) -> (bool, Vec<String>) {
    let condition = downstream(h, down);
    let flag = format!("SELECT count(*) FROM ff_edge_group WHERE {condition} AND cancel_siblings_pending_flag = true");
    let members = format!("SELECT CAST(cancel_siblings_pending_members AS text) FROM ff_edge_group WHERE {condition}");
    let members = h.texts(&members).await.remove(0);
    let members = members.trim_matches(['{', '}', '[', ']']).split(',').filter(|member| !member.is_empty());
    (h.number(&flag).await > 0, members.map(|member| member.trim_matches('"').to_owned()).collect())
}

async fn pending(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_pending_cancel_groups").await
}

async fn end(h: &Opened, id: &ExecutionId) {
    h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'cancelled' WHERE {}", h.of(id))).await;
}

/// Runs a statement on Postgres whose locks are held for a while; returns once they are.
pub(crate) async fn holding(h: &Arc<Opened>, sql: &str) -> tokio::task::JoinHandle<()> {
    let sql = format!("BEGIN; {sql}; SELECT pg_sleep(1); COMMIT");
    let holder = Arc::clone(h);
    let holder = tokio::spawn(async move { holder.alter(&sql).await });
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while h.number(asleep).await == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    holder
}

fn partition(id: &ExecutionId) -> Partition {
    Partition { family: PartitionFamily::Flow, index: id.partition() }
}

on_every_database! {
    async fn the_deciding_success_names_those_that_are_still_at_work(h) {
        let (_, down, ups) = won(&h).await;
        let mut expected = vec![uuid_of(&ups[1]), uuid_of(&ups[2])];
        expected.sort();
        assert_eq!(marked(&h, &down).await, (true, expected));
        assert_eq!(pending(&h).await, 1);
        assert!(claim(&h, &down).await.is_some());
    }

    async fn a_success_without_others_at_work_is_drained_as_well(h) {
        let flow = created(&h).await;
        let policy = EdgeDependencyPolicy::any_of(OnSatisfied::cancel_remaining());
        let (down, ups) = group(&h, &flow, Some(policy), 1).await;
        let handle = claim(&h, &ups[0]).await.expect("it may be claimed");
        h.backend.complete(&handle, None).await.unwrap();
        settled(&h).await;
        assert_eq!((marked(&h, &down).await, pending(&h).await), ((true, vec![]), 1));
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (1, 0));
        assert_eq!((marked(&h, &down).await, pending(&h).await), ((false, vec![]), 0));
    }

    async fn the_dispatcher_cancels_the_named_ones_once(h) {
        let (_, down, ups) = won(&h).await;
        let handle = claim(&h, &ups[1]).await.expect("it may be claimed");
        h.pass_ms(3);
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (1, 0));
        for up in &ups[1..] {
            for (column, stored) in [
                ("lifecycle_phase", "terminal"),
                ("ownership_state", "unowned"),
                ("eligibility_state", "not_applicable"),
                ("public_state", "cancelled"),
                ("attempt_state", "cancelled"),
                ("cancellation_reason", "sibling_quorum_satisfied"),
                ("cancelled_by", "engine"),
            ] {
                assert_eq!(h.core(up, column).await, stored, "{column}");
            }
            assert_eq!(h.core(up, "terminal_at_ms").await, (T0 + 3).to_string());
            assert_eq!(h.document(up).await["last_mutation_at"], (T0 + 3).to_string());
            assert_eq!(h.completions(up).await, ["cancelled space instance-1"]);
        }
        // The one at work loses its lease.
        assert_eq!(h.lease_events(&ups[1]).await, ["acquired", "revoked"]);
        assert_eq!(h.attempts(&ups[1], "lease_expires_at_ms").await, ["null"]);
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
        assert!(h.lease_events(&ups[2]).await.is_empty());
        assert_eq!((marked(&h, &down).await, pending(&h).await), ((false, vec![]), 0));
        // Their ends are followed, and the child stays as it is.
        settled(&h).await;
        assert_eq!(h.core(&down, "eligibility_state").await, "eligible_now");
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (0, 0));
        assert_eq!(h.completions(&ups[1]).await.len(), 1);
    }

    async fn a_member_that_ended_meanwhile_keeps_its_end(h) {
        let (_, _, ups) = won(&h).await;
        let handle = claim(&h, &ups[1]).await.expect("it may be claimed");
        h.backend.complete(&handle, None).await.unwrap();
        settled(&h).await;
        h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(&ups[2]))).await;
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (1, 0));
        assert_eq!(h.core(&ups[1], "public_state").await, "completed");
        assert_eq!((pending(&h).await, h.completions(&ups[2]).await.len()), (0, 0));
    }

    async fn names_that_are_none_are_ignored(h) {
        let (_, down, ups) = won(&h).await;
        let members = if h.declared().label == "sqlite" { "'[\"x\", 5]'" } else { "'{x,y}'" };
        h.alter(&format!("UPDATE ff_edge_group SET cancel_siblings_pending_members = {members}")).await;
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (1, 0));
        assert_eq!(marked(&h, &down).await, (false, vec![]));
        assert_eq!(h.core(&ups[1], "lifecycle_phase").await, "submitted");
    }

    async fn the_dispatcher_forgets_groups_that_are_gone_and_leaves_those_without_a_flag(h) {
        let (_, down, ups) = won(&h).await;
        h.alter("UPDATE ff_edge_group SET cancel_siblings_pending_flag = false").await;
        assert_eq!((h.sweep("edge_cancel_dispatcher").await, pending(&h).await), ((0, 0), 1));
        assert_eq!(h.core(&ups[1], "lifecycle_phase").await, "submitted");
        h.alter(&format!("DELETE FROM ff_edge_group WHERE {}", downstream(&h, &down))).await;
        assert_eq!((h.sweep("edge_cancel_dispatcher").await, pending(&h).await), ((1, 0), 0));
    }

    /// Only where rows have locks.
    async fn a_group_that_another_transaction_works_on_is_left_to_it(h) {
        if h.declared().label == "sqlite" {
            return;
        }
        let (flow, down, ups) = won(&h).await;
        let group = format!("partition_key = {} AND {}", down.partition(), downstream(&h, &down));
        let holder = holding(&h, &format!("SELECT 1 FROM ff_edge_group WHERE {group} FOR UPDATE")).await;
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (0, 0));
        assert_eq!(h.sweep("edge_cancel_reconciler").await, (0, 0));
        let action = h.backend.reconcile_sibling_cancel_group(partition(&down), &flow, &down).await.unwrap();
        assert_eq!((action, pending(&h).await), (SiblingCancelReconcileAction::NoOp, 1));
        assert_eq!(h.core(&ups[1], "lifecycle_phase").await, "submitted");
        holder.await.unwrap();
        assert_eq!(h.sweep("edge_cancel_dispatcher").await, (1, 0));
    }

    async fn the_reconciler_leaves_the_dispatchers_work_alone(h) {
        let (flow, down, ups) = won(&h).await;
        let before = marked(&h, &down).await;
        assert_eq!(h.sweep("edge_cancel_reconciler").await, (0, 0));
        let action = h.backend.reconcile_sibling_cancel_group(partition(&down), &flow, &down).await.unwrap();
        assert_eq!(action, SiblingCancelReconcileAction::NoOp);
        assert_eq!((marked(&h, &down).await, pending(&h).await), (before, 1));
        assert_eq!(h.core(&ups[1], "lifecycle_phase").await, "submitted");
    }

    async fn the_reconciler_ends_a_drain_whose_members_have_all_ended(h) {
        for by_sweep in [true, false] {
            let (flow, down, ups) = won(&h).await;
            end(&h, &ups[1]).await;
            h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(&ups[2]))).await;
            if by_sweep {
                assert_eq!(h.sweep("edge_cancel_reconciler").await, (1, 0));
            } else {
                let action = h.backend.reconcile_sibling_cancel_group(partition(&down), &flow, &down).await.unwrap();
                assert_eq!(action, SiblingCancelReconcileAction::CompletedDrain);
            }
            assert_eq!((marked(&h, &down).await, pending(&h).await), ((false, vec![]), 0));
        }
    }

    async fn the_reconciler_forgets_what_is_stale(h) {
        let (flow, down, _) = won(&h).await;
        h.alter("UPDATE ff_edge_group SET cancel_siblings_pending_flag = false").await;
        let reconcile = || h.backend.reconcile_sibling_cancel_group(partition(&down), &flow, &down);
        assert_eq!(reconcile().await.unwrap(), SiblingCancelReconcileAction::SremmedStale);
        assert_eq!(reconcile().await.unwrap(), SiblingCancelReconcileAction::NoOp);
        let (_, down, _) = won(&h).await;
        h.alter(&format!("DELETE FROM ff_edge_group WHERE {}", downstream(&h, &down))).await;
        assert_eq!((h.sweep("edge_cancel_reconciler").await, pending(&h).await), ((1, 0), 0));
    }

    async fn draining_takes_everything_away_and_may_be_repeated(h) {
        let (flow, down, ups) = won(&h).await;
        for _ in 0..2 {
            h.backend.drain_sibling_cancel_group(partition(&down), &flow, &down).await.unwrap();
            assert_eq!((marked(&h, &down).await, pending(&h).await), ((false, vec![]), 0));
        }
        assert_eq!(h.core(&ups[1], "lifecycle_phase").await, "submitted");
        h.backend.drain_sibling_cancel_group(partition(&ups[2]), &flow, &ups[2]).await.unwrap();
        let beyond = Partition { family: PartitionFamily::Flow, index: 40_000 };
        let refused = refusal(h.backend.drain_sibling_cancel_group(beyond, &flow, &down).await);
        assert!(refused.contains("partition index 40000 exceeds i16 range"), "{refused}");
    }
}
