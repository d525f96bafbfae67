//! What a scheduler does: finding work, granting it, holding it back.

use ff_core::contracts::{
    BlockExecutionForAdmissionArgs, BlockRouteArgs, BlockingReason, ClaimForWorkerArgs, ClaimForWorkerOutcome,
    EvaluateFlowEligibilityArgs, IssueClaimGrantArgs, IssueClaimGrantOutcome, ScanEligibleArgs,
};

use super::{operations, typed};
use crate::side::{lane, partition_of, some_partition, worker};

operations! {
    8 scan_eligible_executions: |s, n| {
        let args = ScanEligibleArgs::new(lane(n), some_partition(n), n.of([100, 1, 0, 2]));
        let r = s.backend.scan_eligible_executions(args).await;
        s.told(&r)
    };
    40 issue_claim_grant: |s, n| {
        let execution = s.execution(n);
        let (worker, partition) = (worker(n), partition_of(&execution, n));
        let can = n.of([&["gpu", "Ram"][..], &[]]).iter().map(|token| (*token).to_owned()).collect();
        let (ttl_ms, now, lane) = (n.of([10_000, 1, 0]), s.now(), s.lane_of(&execution, n));
        let (id, instance) = worker.clone();
        let mut args = IssueClaimGrantArgs::new(execution.clone(), lane, id, instance, partition, can, ttl_ms, now);
        args.route_snapshot_json = n.of([None, Some("{}")]).map(str::to_owned);
        let r = s.backend.issue_claim_grant(args).await;
        let told = s.told(&r);
        match r {
            // A grant is there to be used, mostly by whom it is for.
            Ok(IssueClaimGrantOutcome::Granted { .. }) if n.one_in(3) => {
                format!("{told}; {}", typed::claim(s, n, execution, worker).await)
            }
            Ok(IssueClaimGrantOutcome::Granted { .. }) => {
                s.known.grants.push((execution, worker));
                told
            }
            _ => told,
        }
    };
    30 claim_for_worker: |s, n| {
        let worker = worker(n);
        let can = n.of([&["gpu", "Ram"][..], &[]]).iter().map(|token| (*token).to_owned()).collect();
        let (id, instance) = worker.clone();
        let args = ClaimForWorkerArgs::new(lane(n), id, instance, can, n.of([10_000, 1, 0]));
        let r = s.backend.claim_for_worker(args).await;
        let told = s.told(&r);
        match r {
            Ok(ClaimForWorkerOutcome::Granted(grant)) if n.one_in(3) => {
                format!("{told}; {}", typed::claim(s, n, grant.execution_id, worker).await)
            }
            Ok(ClaimForWorkerOutcome::Granted(grant)) => {
                s.known.grants.push((grant.execution_id, worker));
                told
            }
            _ => told,
        }
    };
    12 block_execution_for_admission: |s, n| {
        let execution = s.execution(n);
        let partition = partition_of(&execution, n);
        let reason = match n.below(3) {
            0 => BlockingReason::WaitingForBudget,
            1 => BlockingReason::WaitingForQuota,
            _ => BlockingReason::WaitingForCapableWorker,
        };
        let detail = n.of([None, Some("the budget")]).map(str::to_owned);
        let args = BlockExecutionForAdmissionArgs::new(execution, lane(n), partition, reason, detail, s.now());
        let r = s.backend.block_execution_for_admission(args).await;
        s.told(&r)
    };
    8 block_route: |s, n| {
        let execution = s.execution(n);
        let partition = partition_of(&execution, n);
        let reason = n.of(["waiting_for_capable_worker", "waiting_for_budget", "no such reason"]).to_owned();
        let args = BlockRouteArgs::new(execution, lane(n), partition, reason, "detail".to_owned(), s.now());
        let r = s.backend.block_route(args).await;
        s.told(&r)
    };
    20 unblock_execution: |s, n| {
        let execution = s.execution(n);
        let partition = partition_of(&execution, n);
        let stored = s.blocking_reason(&execution).await;
        let expected = match stored {
            Some(reason) if !n.one_in(6) => reason,
            _ => n.of(["waiting_for_quota", "waiting_for_budget", ""]).to_owned(),
        };
        let (lane, now) = (lane(n), s.now());
        let r = s.backend.unblock_execution(partition, &lane, &execution, &expected, now).await;
        s.told(&r)
    };
    4 evaluate_flow_eligibility: |s, n| {
        let args = EvaluateFlowEligibilityArgs { execution_id: s.member(n).1 };
        let r = s.backend.evaluate_flow_eligibility(args).await;
        s.told(&r)
    };
}
