//! U+0000, which not every database can hold in text: refused up front everywhere, by the field's name.

use std::collections::BTreeSet;

use ff_core::backend::{CapabilitySet, ClaimPolicy, FailureClass, FailureReason};
use ff_core::contracts::{
    CreateExecutionArgs, HeartbeatWorkerArgs, IssueReclaimGrantArgs, MarkWorkerDeadArgs, ReclaimExecutionArgs,
    RegisterWorkerArgs,
};
use ff_core::policy::{ExecutionPolicy, FallbackPolicy, FallbackTier, RoutingRequirements};
use ff_core::types::{AttemptId, AttemptIndex, LaneId, LeaseId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{LEASE_MS, on_every_database, policy, refusal};

/// A word that holds it.
const NUL: &str = "a\0b";

/// That the refusal is about the input, says why, and names the field.
fn names(refused: &str, field: &str) {
    assert_eq!(refused, format!("validation: InvalidInput: {field}: must not contain U+0000"));
}

on_every_database! {
    async fn creation_refuses_it_in_every_field(h) {
        type Change = fn(&mut CreateExecutionArgs);
        let cases: [(&str, Change); 9] = [
            ("namespace", |args| args.namespace = Namespace::new(NUL)),
            ("lane_id", |args| args.lane_id = LaneId::new(NUL)),
            ("execution_kind", |args| args.execution_kind = NUL.to_owned()),
            ("creator_identity", |args| args.creator_identity = NUL.to_owned()),
            ("payload_encoding", |args| args.payload_encoding = Some(NUL.to_owned())),
            ("idempotency_key", |args| args.idempotency_key = Some(NUL.to_owned())),
            ("tags", |args| drop(args.tags.insert(NUL.to_owned(), "v".to_owned()))),
            ("required_capabilities", |args| {
                let required_capabilities = BTreeSet::from([NUL.to_owned()]);
                let requirements = RoutingRequirements { required_capabilities, ..Default::default() };
                args.policy = Some(ExecutionPolicy { routing_requirements: Some(requirements), ..Default::default() });
            }),
            ("policy", |args| {
                let tier = FallbackTier { provider: NUL.to_owned(), model: "m".to_owned(), timeout_ms: None };
                let fallback_policy = Some(FallbackPolicy { tiers: vec![tier] });
                args.policy = Some(ExecutionPolicy { fallback_policy, ..Default::default() });
            }),
        ];
        for (field, change) in cases {
            let mut args = h.args();
            change(&mut args);
            names(&refusal(h.backend.create_execution(args).await), field);
        }
        for table in ["ff_exec_core", "ff_lane_registry", "ff_idempotency_key"] {
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
        }
    }

    async fn a_policy_may_spell_it_out(h) {
        let id = h
            .create_with(|args| {
                let tier = FallbackTier { provider: "\\u0000".to_owned(), model: "m".to_owned(), timeout_ms: None };
                let fallback_policy = Some(FallbackPolicy { tiers: vec![tier] });
                args.policy = Some(ExecutionPolicy { fallback_policy, ..Default::default() });
            })
            .await;
        let stored: ExecutionPolicy = serde_json::from_str(&h.core(&id, "policy").await).unwrap();
        assert_eq!(stored.fallback_policy.unwrap().tiers[0].provider, "\\u0000");
    }

    async fn bytes_of_input_and_result_may_hold_it(h) {
        let id = h.create_with(|args| args.input_payload = vec![0, 255, 0]).await;
        let handle = h.claim("worker-a").await.unwrap();
        h.backend.complete(&handle, Some(vec![0, 254])).await.unwrap();
        assert_eq!(h.backend.read_execution_context(&id).await.unwrap().input_payload, [0, 255, 0]);
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap().unwrap(), [0, 254]);
    }

    async fn claims_refuse_it(h) {
        h.create().await;
        let (lane, nothing) = (LaneId::new("lane"), CapabilitySet::default());
        let claim = h.backend.claim(&LaneId::new(NUL), &nothing, policy("w")).await;
        names(&refusal(claim), "lane_id");
        let claim = h.backend.claim(&lane, &CapabilitySet::new([NUL]), policy("w")).await;
        names(&refusal(claim), "capabilities");
        let as_worker = ClaimPolicy::new(WorkerId::new(NUL), WorkerInstanceId::new("i"), 1, None);
        names(&refusal(h.backend.claim(&lane, &nothing, as_worker).await), "worker_id");
        let as_instance = ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new(NUL), 1, None);
        names(&refusal(h.backend.claim(&lane, &nothing, as_instance).await), "worker_instance_id");
        assert!(h.claim("worker-a").await.is_some(), "it is still there");
    }

    async fn ends_of_an_attempt_refuse_it(h) {
        let (id, handle) = h.created_and_claimed().await;
        for class in [FailureClass::Transient, FailureClass::Permanent] {
            let failed = h.backend.fail(&handle, FailureReason::new(NUL), class).await;
            names(&refusal(failed), "failure message");
        }
        names(&refusal(h.backend.cancel(&handle, NUL).await), "reason");
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
        h.backend.complete(&handle, None).await.unwrap();
    }

    async fn the_worker_registry_refuses_it(h) {
        let now = TimestampMs::from_millis(0);
        let register = |worker: &str, instance: &str, namespace: &str, lane: &str, capability: &str| {
            RegisterWorkerArgs::new(
                WorkerId::new(worker),
                WorkerInstanceId::new(instance),
                [LaneId::new(lane)].into(),
                [capability.to_owned()].into(),
                9,
                Namespace::new(namespace),
                now,
            )
        };
        for (field, args) in [
            ("worker_id", register(NUL, "i", "n", "l", "c")),
            ("worker_instance_id", register("w", NUL, "n", "l", "c")),
            ("namespace", register("w", "i", NUL, "l", "c")),
            ("lane", register("w", "i", "n", NUL, "c")),
            ("capability", register("w", "i", "n", "l", NUL)),
        ] {
            names(&refusal(h.backend.register_worker(args).await), field);
        }
        let beat = HeartbeatWorkerArgs::new(WorkerInstanceId::new(NUL), Namespace::new("n"), now);
        names(&refusal(h.backend.heartbeat_worker(beat).await), "worker_instance_id");
        let death = MarkWorkerDeadArgs::new(WorkerInstanceId::new("i"), Namespace::new(NUL), String::new(), now);
        names(&refusal(h.backend.mark_worker_dead(death).await), "namespace");
        assert_eq!(h.number("SELECT count(*) FROM ff_worker_registry").await, 0);
    }

    async fn reclaims_refuse_it(h) {
        let (id, _) = h.created_and_claimed().await;
        h.pass_ms(LEASE_MS);
        let asking = |worker: &str, instance: &str, lane: &str, capability: &str, note: Option<&str>| {
            IssueReclaimGrantArgs::new(
                id.clone(),
                WorkerId::new(worker),
                WorkerInstanceId::new(instance),
                LaneId::new(lane),
                None,
                9_000,
                note.map(str::to_owned),
                None,
                [capability.to_owned()].into(),
                TimestampMs::from_millis(0),
            )
        };
        for (field, args) in [
            ("worker_id", asking(NUL, "i", "l", "c", None)),
            ("worker_instance_id", asking("w", NUL, "l", "c", None)),
            ("lane_id", asking("w", "i", NUL, "c", None)),
            ("worker_capabilities", asking("w", "i", "l", NUL, None)),
            ("route_snapshot_json", asking("w", "i", "l", "c", Some(NUL))),
        ] {
            names(&refusal(h.backend.issue_reclaim_grant(args).await), field);
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_claim_grant").await, 0);
        h.backend.issue_reclaim_grant(asking("w", "i", "l", "c", Some("{}"))).await.unwrap();
        let using = |instance: &str, policy: &str| {
            ReclaimExecutionArgs::new(
                id.clone(),
                WorkerId::new("w"),
                WorkerInstanceId::new(instance),
                LaneId::new("l"),
                None,
                LeaseId::new(),
                9,
                AttemptId::new(),
                policy.to_owned(),
                None,
                WorkerInstanceId::new("old"),
                AttemptIndex::new(0),
            )
        };
        names(&refusal(h.backend.reclaim_execution(using(NUL, "")).await), "worker_instance_id");
        let refused = refusal(h.backend.reclaim_execution(using("i", r#"{"a":"\u0000"}"#)).await);
        names(&refused, "attempt_policy_json");
        assert_eq!(h.number("SELECT count(*) FROM ff_claim_grant").await, 1);
    }
}
