//! What may run, and who is granted it.

use std::collections::BTreeSet;

use ff_core::contracts::{
    ClaimExecutionArgs, ClaimExecutionResult, ClaimForWorkerArgs, ClaimForWorkerOutcome, ClaimGrant,
    CreateQuotaPolicyArgs, EvaluateFlowEligibilityArgs, EvaluateFlowEligibilityResult, IssueClaimGrantArgs,
    IssueClaimGrantOutcome, ScanEligibleArgs,
};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily, budget_partition};
use ff_core::policy::{ExecutionPolicy, RoutingRequirements};
use ff_core::types::{
    AttemptId, AttemptIndex, BudgetId, ExecutionId, LaneId, LeaseId, QuotaPolicyId, TimestampMs, WorkerId,
    WorkerInstanceId,
};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal, uuid_of};

pub(crate) fn partition(index: u16) -> Partition {
    Partition { family: PartitionFamily::Execution, index }
}

fn set(tokens: &[&str]) -> BTreeSet<String> {
    tokens.iter().map(|token| (*token).to_owned()).collect()
}

/// Asks for a grant as worker `worker`, for a minute.
pub(crate) fn asking(h: &Opened, id: &ExecutionId, capabilities: &[&str]) -> IssueClaimGrantArgs {
    IssueClaimGrantArgs::new(
        id.clone(),
        LaneId::new("lane"),
        WorkerId::new("worker"),
        WorkerInstanceId::new("worker-1"),
        partition(id.partition()),
        set(capabilities),
        60_000,
        TimestampMs::from_millis(h.clock.now_ms()),
    )
}

pub(crate) fn wanting(capabilities: &[&str]) -> ClaimForWorkerArgs {
    ClaimForWorkerArgs::new(
        LaneId::new("lane"),
        WorkerId::new("worker"),
        WorkerInstanceId::new("worker-1"),
        set(capabilities),
        60_000,
    )
}

async fn granted(h: &Opened, capabilities: &[&str]) -> Option<ClaimGrant> {
    match h.backend.claim_for_worker(wanting(capabilities)).await.expect("an answer") {
        ClaimForWorkerOutcome::Granted(grant) => Some(grant),
        _ => None,
    }
}

pub(crate) fn claiming(h: &Opened, id: &ExecutionId) -> ClaimExecutionArgs {
    ClaimExecutionArgs::new(
        id.clone(),
        WorkerId::new("worker"),
        WorkerInstanceId::new("worker-1"),
        LaneId::new("lane"),
        LeaseId::new(),
        30_000,
        AttemptId::new(),
        AttemptIndex::new(0),
        String::new(),
        None,
        None,
        TimestampMs::from_millis(h.clock.now_ms()),
    )
}

async fn requiring(h: &Opened, capabilities: &[&str], priority: i32) -> ExecutionId {
    let required_capabilities = set(capabilities);
    h.create_with(|args| {
        args.priority = priority;
        args.policy = Some(ExecutionPolicy {
            routing_requirements: Some(RoutingRequirements { required_capabilities, ..Default::default() }),
            ..Default::default()
        });
    })
    .await
}

async fn scan(h: &Opened, index: u16, limit: u32) -> Vec<ExecutionId> {
    let args = ScanEligibleArgs::new(LaneId::new("lane"), partition(index), limit);
    h.backend.scan_eligible_executions(args).await.expect("a page")
}

async fn status(h: &Opened, id: &ExecutionId) -> String {
    let args = EvaluateFlowEligibilityArgs { execution_id: id.clone() };
    let EvaluateFlowEligibilityResult::Status { status } = h.backend.evaluate_flow_eligibility(args).await.unwrap();
    status
}

async fn alter_core(h: &Opened, id: &ExecutionId, set: &str) {
    h.alter(&format!("UPDATE ff_exec_core SET {set} WHERE {}", h.of(id))).await;
}

async fn grants(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_claim_grant").await
}

/// A uuid as the dialect writes one.
fn literal(h: &Opened, uuid: &str) -> String {
    if h.declared().label == "sqlite" { format!("x'{}'", uuid.replace('-', "")) } else { format!("'{uuid}'") }
}

/// Makes an execution depend on another one, in a flow.
async fn depend(h: &Opened, downstream: &ExecutionId, upstream: &ExecutionId, policy: &str) {
    let flow = literal(h, "00000000-0000-4000-8000-00000000000f");
    let edge = literal(h, &uuid::Uuid::new_v4().to_string());
    let (up, down) = (literal(h, &uuid_of(upstream)), literal(h, &uuid_of(downstream)));
    alter_core(h, downstream, &format!("flow_id = {flow}, lifecycle_phase = 'runnable'")).await;
    let pk = downstream.partition();
    h.alter(&format!(
        "INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy) \
         VALUES ({pk}, {flow}, {edge}, {up}, {down}, '{policy}')"
    ))
    .await;
}

/// Puts a budget into the document of an execution, with that policy and that use of dimension `default`.
async fn budgeted(h: &Opened, id: &ExecutionId, policy: &str, used: i64) {
    let budget = BudgetId::new();
    let sqlite = h.declared().label == "sqlite";
    let pk = if sqlite { 0 } else { budget_partition(&budget, &PartitionConfig::default()).index };
    h.alter(&format!(
        "INSERT INTO ff_budget_policy (partition_key, budget_id, policy_json, created_at_ms, updated_at_ms) \
         VALUES ({pk}, '{budget}', '{policy}', 0, 0)"
    ))
    .await;
    h.alter(&format!(
        "INSERT INTO ff_budget_usage (partition_key, budget_id, dimensions_key, current_value, updated_at_ms) \
         VALUES ({pk}, '{budget}', 'default', {used}, 0)"
    ))
    .await;
    alter_core(h, id, &format!(r#"raw_fields = '{{"budget_ids": "{budget}"}}'"#)).await;
}

on_every_database! {
    async fn a_newer_grant_takes_the_place_of_one_of_the_same_millisecond(h) {
        let id = h.create().await;
        h.backend.issue_claim_grant(asking(&h, &id, &[])).await.unwrap();
        let mut other = wanting(&[]);
        other.worker_id = WorkerId::new("other");
        let granted = h.backend.claim_for_worker(other).await.unwrap();
        assert!(matches!(granted, ClaimForWorkerOutcome::Granted(_)), "{granted:?}");
        assert_eq!(h.texts("SELECT worker_id FROM ff_claim_grant").await, ["other"]);
        h.backend.claim_execution(claiming(&h, &id)).await.unwrap_err();
        let mut args = claiming(&h, &id);
        args.worker_id = WorkerId::new("other");
        h.backend.claim_execution(args).await.unwrap();
    }

    async fn a_partition_offers_its_best_first(h) {
        let mut ids = Vec::new();
        for priority in [1, 10, 5, 5] {
            let id = id_in(7);
            ids.push(h.create_with(|args| {
                args.partition_id = 7;
                args.execution_id = id;
                args.priority = priority;
            }).await);
            h.pass_ms(1);
        }
        let elsewhere = id_in(8);
        h.create_with(|args| {
            args.partition_id = 8;
            args.execution_id = elsewhere;
        }).await;
        let expected = [&ids[1], &ids[2], &ids[3], &ids[0]].map(Clone::clone);
        assert_eq!(scan(&h, 7, 9).await, expected);
        assert_eq!(scan(&h, 7, 2).await, expected[..2]);
        assert!(scan(&h, 7, 0).await.is_empty());
        assert!(scan(&h, 9, 9).await.is_empty());
        alter_core(&h, &ids[1], "lifecycle_phase = 'runnable'").await;
        alter_core(&h, &ids[2], "ownership_state = 'leased'").await;
        alter_core(&h, &ids[3], "lifecycle_phase = 'runnable', public_state = 'resumable'").await;
        assert_eq!(scan(&h, 7, 9).await, [ids[1].clone(), ids[0].clone()]);
        alter_core(&h, &ids[1], "attempt_state = 'attempt_interrupted'").await;
        assert_eq!(scan(&h, 7, 9).await, [ids[0].clone()]);
        let args = ScanEligibleArgs::new(LaneId::new("lane"), partition(40_000), 1);
        let said = refusal(h.backend.scan_eligible_executions(args).await);
        assert_eq!(said, "validation: InvalidInput: partition index 40000 exceeds i16 range (max 32767)");
    }

    async fn what_is_due_is_offered_without_anybody_else(h) {
        let id = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 + 1_000))).await;
        assert!(scan(&h, id.partition(), 9).await.is_empty());
        assert!(granted(&h, &[]).await.is_none());
        h.pass_ms(1_000);
        assert_eq!(scan(&h, id.partition(), 9).await, [id]);
        assert!(granted(&h, &[]).await.is_some());
    }

    async fn a_grant_is_issued_once_and_leaves_the_execution_eligible(h) {
        let id = h.create().await;
        let outcome = h.backend.issue_claim_grant(asking(&h, &id, &["x"])).await.unwrap();
        assert_eq!(outcome, IssueClaimGrantOutcome::Granted { execution_id: id.clone() });
        assert_eq!(h.core(&id, "eligibility_state").await, "eligible_now");
        for (column, stored) in [
            ("kind", "claim"), ("worker_id", "worker"), ("worker_instance_id", "worker-1"), ("lane_id", "lane"),
            ("worker_capabilities", r#"["x"]"#), ("grant_ttl_ms", "60000"),
        ] {
            let found = h.texts(&format!("SELECT CAST({column} AS text) FROM ff_claim_grant")).await;
            assert_eq!(found, [stored], "{column}");
        }
        assert_eq!(h.number("SELECT expires_at_ms FROM ff_claim_grant").await, T0 + 60_000);
        let again = refusal(h.backend.issue_claim_grant(asking(&h, &id, &[])).await);
        assert_eq!(again, "state: GrantAlreadyExists");
        h.pass_ms(60_000);
        h.backend.issue_claim_grant(asking(&h, &id, &[])).await.unwrap();
        assert_eq!(grants(&h).await, 1);
    }

    async fn only_one_of_many_grants_is_issued(h) {
        let id = h.create().await;
        let mut asks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (backend, args) = (h.backend.clone(), asking(&h, &id, &[]));
            asks.spawn(async move { backend.issue_claim_grant(args).await.is_ok() });
        }
        let won = asks.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!((won, grants(&h).await), (1, 1));
    }

    async fn a_grant_says_why_it_is_refused(h) {
        assert!(matches!(
            h.backend.issue_claim_grant(asking(&h, &id_in(3), &[])).await,
            Err(EngineError::NotFound { entity: "execution" })
        ));
        let id = requiring(&h, &["gpu", "arm"], 0).await;
        let mut elsewhere = asking(&h, &id, &["gpu", "arm"]);
        elsewhere.lane_id = LaneId::new("other");
        assert_eq!(refusal(h.backend.issue_claim_grant(elsewhere).await), "contention: ExecutionNotInEligibleSet");
        h.pass_ms(3);
        let lacking = refusal(h.backend.issue_claim_grant(asking(&h, &id, &["cpu"])).await);
        assert_eq!(lacking, "validation: CapabilityMismatch: arm,gpu");
        assert_eq!(h.document(&id).await["last_capability_mismatch_at"], (T0 + 3).to_string());
        let bad = refusal(h.backend.issue_claim_grant(asking(&h, &id, &["a,b"])).await);
        assert!(bad.starts_with("validation: InvalidCapabilities: "), "{bad}");
        for change in ["eligibility_state = 'blocked_by_route'", "eligibility_state = 'eligible_now', lifecycle_phase = 'active'"] {
            alter_core(&h, &id, change).await;
            let said = refusal(h.backend.issue_claim_grant(asking(&h, &id, &["gpu", "arm"])).await);
            assert_eq!(said, "contention: ExecutionNotEligible");
        }
        assert_eq!(grants(&h).await, 0);
    }

    async fn a_worker_is_granted_the_best_it_can_run_and_claims_it(h) {
        let plain = requiring(&h, &[], 5).await;
        let gpu = requiring(&h, &["gpu"], 9).await;
        let grant = granted(&h, &["cpu"]).await.expect("one it can run");
        assert_eq!(grant.execution_id, plain);
        assert_eq!(grant.expires_at_ms, (T0 + 60_000) as u64);
        assert_eq!(grant.partition_key.as_str(), format!("{{fp:{}}}", plain.partition()));
        let prefix = if h.declared().label == "sqlite" { "sqlite" } else { "pg" };
        assert!(grant.grant_key.starts_with(&format!("{prefix}:{plain}:{}:", T0 + 60_000)), "{}", grant.grant_key);
        assert_eq!(h.core(&plain, "eligibility_state").await, "pending_claim");
        let mirror = &h.document(&plain).await["claim_grant"];
        assert_eq!((mirror["grant_key"].as_str(), mirror["worker_id"].as_str()), (Some(grant.grant_key.as_str()), Some("worker")));
        assert_eq!((mirror["expires_at_ms"].as_i64(), mirror["issued_at_ms"].as_i64()), (Some(T0 + 60_000), Some(T0)));
        assert!(granted(&h, &["cpu"]).await.is_none());
        assert_eq!(scan(&h, plain.partition(), 9).await, std::slice::from_ref(&gpu));

        let mut thief = claiming(&h, &plain);
        thief.worker_id = WorkerId::new("thief");
        assert_eq!(refusal(h.backend.claim_execution(thief).await), "contention: InvalidClaimGrant");
        let ClaimExecutionResult::Claimed(claimed) = h.backend.claim_execution(claiming(&h, &plain)).await.unwrap() else {
            panic!("claimed")
        };
        assert_eq!(h.document(&plain).await.get("claim_grant"), None);
        assert_eq!(grants(&h).await, 0);
        h.backend.complete(&claimed.handle, None).await.unwrap();
        assert_eq!(granted(&h, &["gpu", "cpu"]).await.expect("the other one").execution_id, gpu);
    }

    async fn higher_priorities_are_granted_first_and_older_ones_before_younger(h) {
        let mut ids = Vec::new();
        for priority in [1, 10, 5, 5] {
            ids.push(h.create_with(|args| args.priority = priority).await);
            h.pass_ms(1);
        }
        for expected in [1, 2, 3, 0] {
            assert_eq!(granted(&h, &[]).await.expect("work").execution_id, ids[expected]);
        }
        assert!(granted(&h, &[]).await.is_none());
    }

    async fn workers_at_the_same_time_are_granted_different_executions(h) {
        for _ in 0..8 {
            h.create().await;
        }
        let mut asks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let backend = h.backend.clone();
            asks.spawn(async move { backend.claim_for_worker(wanting(&[])).await });
        }
        let mut seen = BTreeSet::new();
        for answer in asks.join_all().await {
            let ClaimForWorkerOutcome::Granted(grant) = answer.unwrap() else { panic!("there is work for everybody") };
            assert!(seen.insert(grant.execution_id.to_string()));
        }
    }

    async fn any_number_of_executions_for_others_hides_nothing(h) {
        for _ in 0..120 {
            requiring(&h, &["gpu"], 9).await;
        }
        let plain = h.create().await;
        assert_eq!(granted(&h, &[]).await.expect("the last one").execution_id, plain);
    }

    async fn an_execution_without_budget_stays_eligible_and_hides_nothing(h) {
        let spent = h.create_with(|args| args.priority = 9).await;
        budgeted(&h, &spent, r#"{"hard_limit": 10, "dimension": "default"}"#, 10).await;
        assert!(granted(&h, &[]).await.is_none());
        assert_eq!(h.core(&spent, "eligibility_state").await, "eligible_now");
        let maps = h.create_with(|args| args.priority = 8).await;
        budgeted(&h, &maps, r#"{"hard_limits": {"other": 1, "default": 10}, "soft_limits": {}}"#, 11).await;
        let unlimited = h.create_with(|args| args.priority = 7).await;
        budgeted(&h, &unlimited, r#"{"hard_limits": {"default": 0}}"#, 11).await;
        let left = h.create_with(|args| args.priority = 6).await;
        budgeted(&h, &left, r#"{"hard_limits": {"default": 10}}"#, 9).await;
        assert_eq!(granted(&h, &[]).await.expect("work").execution_id, unlimited);
        assert_eq!(granted(&h, &[]).await.expect("work").execution_id, left);
        assert!(granted(&h, &[]).await.is_none());
        alter_core(&h, &spent, r#"raw_fields = '{"budget_ids": "nobody, "}'"#).await;
        assert_eq!(granted(&h, &[]).await.expect("an unknown budget admits").execution_id, spent);
    }

    async fn a_quota_admits_so_many_at_once(h) {
        let quota = QuotaPolicyId::new();
        let policy = CreateQuotaPolicyArgs {
            quota_policy_id: quota.clone(),
            window_seconds: 10,
            max_requests_per_window: 1,
            max_concurrent: 0,
            now: TimestampMs::from_millis(T0),
        };
        h.backend.create_quota_policy(policy).await.unwrap();
        let limited = format!(r#"raw_fields = '{{"quota_policy_id": "{quota}"}}'"#);
        let (first, second) = (h.create_with(|args| args.priority = 9).await, h.create_with(|args| args.priority = 8).await);
        let free = h.create().await;
        alter_core(&h, &first, &limited).await;
        alter_core(&h, &second, &limited).await;
        assert_eq!(granted(&h, &[]).await.expect("the first is admitted").execution_id, first);
        assert_eq!(granted(&h, &[]).await.expect("one without a quota").execution_id, free);
        assert!(granted(&h, &[]).await.is_none());
        assert_eq!(h.core(&second, "eligibility_state").await, "eligible_now");
        h.pass_ms(10_001);
        assert_eq!(granted(&h, &[]).await.expect("the window has passed").execution_id, second);
    }

    async fn a_grant_that_nobody_used_is_taken_back(h) {
        let id = h.create().await;
        let first = granted(&h, &[]).await.expect("work");
        h.pass_ms(59_999);
        assert!(granted(&h, &[]).await.is_none());
        h.pass_ms(1_001);
        let second = granted(&h, &[]).await.expect("it is offered again");
        assert_eq!((second.execution_id.clone(), grants(&h).await), (id.clone(), 1));
        assert_ne!(first.grant_key, second.grant_key);
        h.pass_ms(61_000);
        assert_eq!(scan(&h, id.partition(), 9).await, std::slice::from_ref(&id));
        assert_eq!((h.document(&id).await.get("claim_grant"), grants(&h).await), (None, 0));
    }

    async fn a_grant_without_a_time_in_the_document_is_judged_by_its_row(h) {
        let id = h.create().await;
        granted(&h, &[]).await.expect("work");
        alter_core(&h, &id, "raw_fields = '{}'").await;
        h.pass_ms(2_000);
        assert!(granted(&h, &[]).await.is_none());
        h.pass_ms(60_000);
        assert!(granted(&h, &[]).await.is_some());
    }

    async fn the_sweep_takes_grants_back_that_nobody_used(h) {
        let id = h.create().await;
        granted(&h, &[]).await.expect("work");
        assert_eq!(h.sweep("grant_expiry").await, (0, 0));
        h.pass_ms(60_000);
        assert_eq!(h.sweep("grant_expiry").await, (1, 0));
        assert_eq!((h.core(&id, "eligibility_state").await, grants(&h).await), ("eligible_now".to_owned(), 0));
        assert_eq!(h.sweep("grant_expiry").await, (0, 0));
    }

    async fn an_interrupted_attempt_is_not_granted(h) {
        let id = h.create().await;
        alter_core(&h, &id, "lifecycle_phase = 'runnable', attempt_state = 'attempt_interrupted'").await;
        assert!(granted(&h, &[]).await.is_none());
        assert!(h.claim("worker").await.is_some());
    }

    async fn a_worker_whose_capabilities_no_list_can_hold_is_refused(h) {
        let said = refusal(h.backend.claim_for_worker(wanting(&["a b"])).await);
        assert!(said.starts_with("validation: InvalidCapabilities: "), "{said}");
    }

    async fn nul_is_refused_and_the_field_named(h) {
        let id = h.create().await;
        let mut asked = asking(&h, &id, &[]);
        asked.admission_summary = Some("a\0".to_owned());
        assert!(refusal(h.backend.issue_claim_grant(asked).await).contains("admission_summary"));
        let mut wanted = wanting(&[]);
        wanted.worker_instance_id = WorkerInstanceId::new("a\0");
        assert!(refusal(h.backend.claim_for_worker(wanted).await).contains("worker_instance_id"));
        h.backend.issue_claim_grant(asking(&h, &id, &[])).await.unwrap();
        let mut claiming = claiming(&h, &id);
        claiming.worker_instance_id = WorkerInstanceId::new("a\0");
        assert!(refusal(h.backend.claim_execution(claiming).await).contains("worker_instance_id"));
        let args = ScanEligibleArgs::new(LaneId::new("a\0"), partition(0), 1);
        assert!(refusal(h.backend.scan_eligible_executions(args).await).contains("lane_id"));
    }

    async fn eligibility_goes_by_states_first(h) {
        assert_eq!(status(&h, &id_in(3)).await, "not_found");
        let id = h.create().await;
        assert_eq!(status(&h, &id).await, "not_runnable");
        for (change, expected) in [
            ("lifecycle_phase = 'runnable', ownership_state = 'released'", "owned"),
            (r#"ownership_state = 'unowned', raw_fields = '{"terminal_outcome": "success"}'"#, "terminal"),
            (r#"raw_fields = '{"terminal_outcome": "none"}'"#, "eligible"),
        ] {
            alter_core(&h, &id, change).await;
            assert_eq!(status(&h, &id).await, expected, "{change}");
        }
    }

    async fn eligibility_goes_by_required_dependencies(h) {
        let member = |id: ExecutionId| {
            let h = h.clone();
            async move {
                h.create_with(|args| {
                    args.partition_id = 0;
                    args.execution_id = id;
                }).await
            }
        };
        let down = member(id_in(0)).await;
        let (first, second) = (member(id_in(0)).await, member(id_in(0)).await);
        depend(&h, &down, &first, r#"{"kind": "required"}"#).await;
        assert_eq!(status(&h, &down).await, "blocked_by_dependencies");
        alter_core(&h, &first, r#"raw_fields = '{"terminal_outcome": "success"}'"#).await;
        assert_eq!(status(&h, &down).await, "eligible");
        depend(&h, &down, &second, r#"{"kind": "optional"}"#).await;
        assert_eq!(status(&h, &down).await, "eligible");
        depend(&h, &down, &id_in(0), r#"{"dependency_kind": "success_only"}"#).await;
        assert_eq!(status(&h, &down).await, "blocked_by_dependencies");
        depend(&h, &down, &second, r#"{"kind": "all_of"}"#).await;
        alter_core(&h, &second, "lifecycle_phase = 'terminal', public_state = 'expired'").await;
        assert_eq!(status(&h, &down).await, "impossible");
    }
}
