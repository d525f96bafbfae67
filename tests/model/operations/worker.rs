//! The registry of workers, and taking over from one that is gone.

use ff_core::contracts::{
    HeartbeatWorkerArgs, IssueReclaimGrantArgs, ListWorkersArgs, MarkWorkerDeadArgs, ReclaimExecutionArgs,
    ReclaimExecutionOutcome, RegisterWorkerArgs,
};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::types::{AttemptId, LaneId, LeaseId, Namespace, WorkerInstanceId};

use super::work::fresh_lease;
use super::{NOTHING, operations};
use crate::harness::payload;
use crate::numbers::Numbers;
use crate::side::{Side, Taker, capabilities, lane, namespace, worker};

operations! {
    16 register_worker: |s, n| {
        let ((worker, instance), namespace) = (worker(n), namespace(n));
        let lanes = n.of([&["lane"][..], &["side", "lane"], &[]]).iter().map(|lane| LaneId::new(*lane)).collect();
        let can = capabilities(n).iter().map(|token| (*token).to_owned()).collect();
        let ttl_ms = n.of([60_000, 1_000, 0]);
        let args = RegisterWorkerArgs::new(worker, instance.clone(), lanes, can, ttl_ms, namespace.clone(), s.now());
        let r = s.backend.register_worker(args).await;
        if r.is_ok() { s.known.workers.push((instance, namespace)); }
        s.told(&r)
    };
    12 heartbeat_worker: |s, n| {
        let (instance, namespace) = registered(s, n);
        let args = HeartbeatWorkerArgs::new(instance, namespace, s.in_ms(n.of([0, -10])));
        let r = s.backend.heartbeat_worker(args).await;
        s.told(&r)
    };
    8 mark_worker_dead: |s, n| {
        let reason = match n.below(4) { 3 => "x".repeat(257), 2 => String::new(), _ => "gone".to_owned() };
        let (instance, namespace) = registered(s, n);
        let args = MarkWorkerDeadArgs::new(instance, namespace, reason, s.now());
        let r = s.backend.mark_worker_dead(args).await;
        s.told(&r)
    };
    4 list_workers: |s, n| {
        let mut args = ListWorkersArgs::new();
        args.namespace = Some(namespace(n)).filter(|_| !n.one_in(6));
        args.limit = n.of([None, Some(1), Some(0)]);
        args.after = n.of([None, Some("a-1")]).map(ff_core::types::WorkerInstanceId::new);
        let r = s.backend.list_workers(args).await;
        s.told(&r)
    };
    30 issue_reclaim_grant: |s, n| {
        // Which of two grants of one millisecond is the newer, nobody says.
        s.pass_ms(1);
        let execution = match s.held(n) {
            Some((_, held)) if !n.one_in(6) => held.execution_id,
            _ => s.execution(n),
        };
        let ((worker, instance), lane) = (worker(n), s.lane_of(&execution, n));
        let can = n.of([&["gpu", "Ram"][..], &[]]).iter().map(|token| (*token).to_owned()).collect();
        let args = IssueReclaimGrantArgs::new(
            execution, worker, instance, lane, n.of([None, Some("hash")]).map(str::to_owned),
            n.of([10_000, 1, 0]), None, n.of([None, Some("admitted")]).map(str::to_owned), can, s.now(),
        );
        let r = s.backend.issue_reclaim_grant(args).await;
        s.told(&r)
    };
    20 an_execution_to_reclaim: |s, n| match fresh_lease(s).await {
        Some(handle) => {
            s.pass_ms(30_001);
            let id = payload(&handle).execution_id;
            let partition = Partition { family: PartitionFamily::Execution, index: id.partition() };
            let r = s.backend.mark_lease_expired_if_due(partition, &id).await;
            let told = s.told(&r);
            let (worker, lane) = (worker(n), LaneId::new(format!("lane of {id}")));
            let args = IssueReclaimGrantArgs::new(
                id, worker.0.clone(), worker.1.clone(), lane, None, 60_000, None, None, Default::default(), s.now(),
            );
            let r = s.backend.issue_reclaim_grant(args).await;
            s.known.takers.push(Taker { old: handle, worker });
            format!("{told}; {}", s.told(&r))
        }
        None => NOTHING.to_owned(),
    };
    24 reclaim_execution: |s, n| {
        let is_granted = !n.one_in(4);
        let taker = n.from(&s.known.takers).cloned().filter(|_| is_granted);
        let other = || Some(Taker { old: s.handle(n)?, worker: worker(n) });
        let Some(Taker { old, worker: (worker, instance) }) = taker.or_else(other) else { return NOTHING.to_owned() };
        let held = payload(&old);
        let (lease, attempt) = (LeaseId::from_uuid(s.uuid()), AttemptId::from_uuid(s.uuid()));
        let current = if n.one_in(8) { held.attempt_index.next() } else { held.attempt_index };
        let args = ReclaimExecutionArgs::new(
            held.execution_id, worker, instance, if n.one_in(6) { lane(n) } else { held.lane_id },
            n.of([None, Some("hash")]).map(str::to_owned), lease, n.of([30_000, 1_000]), attempt, n.of(["", "{}"]).to_owned(), n.of([None, Some(1), Some(0)]),
            held.worker_instance_id, current,
        );
        let r = s.backend.reclaim_execution(args).await;
        match &r {
            Ok(ReclaimExecutionOutcome::Claimed(handle)) => {
                s.spend(&old);
                s.keep(handle)
            }
            Ok(ReclaimExecutionOutcome::ReclaimCapExceeded { execution_id, reclaim_count }) => {
                let counted = reclaim_count - s.harness().declared().refused_reclaim_counts;
                s.told_of(&("the cap is reached", execution_id, counted))
            }
            _ => s.told(&r),
        }
    };
}

/// An instance that was registered, with its namespace, or now and then any.
fn registered(s: &Side, n: &mut Numbers) -> (WorkerInstanceId, Namespace) {
    match n.from(&s.known.workers).cloned() {
        Some(known) if !n.one_in(6) => known,
        _ => (worker(n).1, namespace(n)),
    }
}
