//! What may be claimed, also when rows were written by somebody else.

use std::collections::BTreeSet;

use ff_core::backend::{CapabilitySet, ClaimPolicy};
use ff_core::types::{LaneId, TimestampMs, WorkerId, WorkerInstanceId};

use crate::harness::{T0, id_in, on_every_database, payload};

on_every_database! {
    async fn rows_that_others_made_eligible_are_claimed(h) {
        for (lifecycle, ownership, eligibility, claimed) in [
            ("submitted", "unowned", "eligible_now", true),
            ("runnable", "unowned", "eligible_now", true),
            ("runnable", "released", "eligible_now", false),
            ("runnable", "leased", "eligible_now", false),
            ("runnable", "unowned", "blocked_by_dependencies", false),
            ("runnable", "unowned", "pending_claim", false),
            ("submitted", "unowned", "blocked_by_budget", false),
            ("active", "unowned", "eligible_now", false),
            ("suspended", "unowned", "eligible_now", false),
            ("terminal", "unowned", "eligible_now", false),
            ("cancelled", "unowned", "eligible_now", false),
        ] {
            let id = h.create().await;
            let state = format!("lifecycle_phase = '{lifecycle}', ownership_state = '{ownership}'");
            let state = format!("{state}, eligibility_state = '{eligibility}'");
            h.alter(&format!("UPDATE ff_exec_core SET {state} WHERE {}", h.of(&id))).await;
            let got = h.claim("worker-a").await.map(|handle| payload(&handle).execution_id);
            assert_eq!(got, claimed.then_some(id), "{lifecycle} {ownership} {eligibility}");
        }
    }

    async fn a_row_that_became_blocked_comes_back_when_it_is_free(h) {
        let id = h.create().await;
        for (eligibility, claimed) in [("blocked_by_operator", false), ("eligible_now", true)] {
            h.alter(&format!("UPDATE ff_exec_core SET eligibility_state = '{eligibility}' WHERE {}", h.of(&id))).await;
            assert_eq!(h.claim("worker-a").await.is_some(), claimed, "{eligibility}");
        }
    }

    async fn a_changed_priority_or_lane_counts_at_once(h) {
        let first = h.create().await;
        let second = h.create().await;
        let moved = h.create_with(|args| args.lane_id = LaneId::new("other")).await;
        h.alter(&format!("UPDATE ff_exec_core SET priority = 3 WHERE {}", h.of(&second))).await;
        h.alter(&format!("UPDATE ff_exec_core SET lane_id = 'lane', priority = 2 WHERE {}", h.of(&moved))).await;
        for expected in [second, moved, first] {
            assert_eq!(payload(&h.claim("worker-a").await.expect("there is one")).execution_id, expected);
        }
    }

    async fn a_deleted_row_is_not_claimed(h) {
        let id = h.create().await;
        h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(&id))).await;
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn a_moved_due_time_counts(h) {
        let id = h.create_with(|args| args.delay_until = Some(TimestampMs::from_millis(T0 + 60_000))).await;
        assert!(h.claim("worker-a").await.is_none());
        h.alter(&format!("UPDATE ff_exec_core SET deadline_at_ms = {} WHERE {}", T0 + 10, h.of(&id))).await;
        h.pass_ms(9);
        assert!(h.claim("worker-a").await.is_none());
        h.pass_ms(1);
        assert_eq!(payload(&h.claim("worker-a").await.expect("it is due")).execution_id, id);
    }

    async fn more_due_rows_than_a_batch_all_become_claimable(h) {
        let ids: BTreeSet<_> = {
            let mut ids = BTreeSet::new();
            for n in 0..150 {
                let due = TimestampMs::from_millis(T0 + 10 + n % 3);
                let id = h.create_with(|args| {
                    args.execution_id = id_in(u16::try_from(n % 5).unwrap());
                    args.delay_until = Some(due);
                });
                ids.insert(id.await.to_string());
            }
            ids
        };
        h.pass_ms(1_000);
        let mut claimed = BTreeSet::new();
        while let Some(handle) = h.claim("worker-a").await {
            claimed.insert(payload(&handle).execution_id.to_string());
        }
        assert_eq!(claimed, ids);
    }

    async fn capabilities_are_compared_as_whole_words(h) {
        let required_capabilities = ["gpu,big", "ünï \"x\""].map(str::to_owned).into();
        let requirements = ff_core::policy::RoutingRequirements { required_capabilities, ..Default::default() };
        h.create_with(|args| {
            let policy = ff_core::policy::ExecutionPolicy::default();
            args.policy =
                Some(ff_core::policy::ExecutionPolicy { routing_requirements: Some(requirements), ..policy });
        })
        .await;
        let lacking =
            [&["gpu", "big", "ünï \"x\""][..], &["gpu,big"], &["GPU,BIG", "ünï \"x\""], &["gpu,big", "ünï"]];
        for missing in lacking {
            assert!(h.claim_as("worker-a", missing).await.is_none(), "{missing:?}");
        }
        assert!(h.claim_as("worker-a", &["", "ünï \"x\"", "gpu,big", "gpu,big"]).await.is_some());
    }

    async fn a_lease_may_be_as_short_or_as_long_as_asked(h) {
        for ttl_ms in [0, 1, u32::MAX] {
            let id = h.create().await;
            let asked = ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new("i"), ttl_ms, None);
            let claimed = h.backend.claim(&LaneId::new("lane"), &CapabilitySet::default(), asked).await;
            let claimed = claimed.unwrap().expect("there is one");
            assert_eq!(payload(&claimed).lease_ttl_ms, u64::from(ttl_ms));
            assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, [(T0 + i64::from(ttl_ms)).to_string()]);
            let renewed = h.backend.renew(&claimed).await.unwrap();
            assert_eq!(renewed.expires_at_ms, T0 as u64 + u64::from(ttl_ms));
        }
    }

    async fn lanes_are_told_apart_by_their_bytes(h) {
        let id = h.create_with(|args| args.lane_id = LaneId::new("Lane")).await;
        assert!(h.claim("worker-a").await.is_none());
        let nothing = CapabilitySet::default();
        let claimed = h.backend.claim(&LaneId::new("Lane"), &nothing, crate::harness::policy("w")).await.unwrap();
        assert_eq!(payload(&claimed.expect("there is one")).execution_id, id);
    }

    async fn an_idempotency_key_holds_until_the_day_is_over(h) {
        let keyed = |args: &mut ff_core::contracts::CreateExecutionArgs| args.idempotency_key = Some("key".to_owned());
        let first = h.create_with(keyed).await;
        h.pass_ms(24 * 3_600_000 - 1);
        let mut again = h.args();
        keyed(&mut again);
        let ff_core::contracts::CreateExecutionResult::Duplicate { execution_id } =
            h.backend.create_execution(again).await.unwrap()
        else {
            panic!("the key is known")
        };
        assert_eq!(execution_id, first);
    }

    async fn a_policy_is_stored_as_it_was_given(h) {
        let policy = ff_core::policy::ExecutionPolicy { priority: 4, max_replay_count: 2, ..Default::default() };
        let id = h.create_with(|args| args.policy = Some(policy.clone())).await;
        let stored: ff_core::policy::ExecutionPolicy = serde_json::from_str(&h.core(&id, "policy").await).unwrap();
        assert_eq!(stored, policy);
        let without = h.create().await;
        assert_eq!(h.core(&without, "policy").await, "null");
    }

    async fn an_empty_input_stays_empty(h) {
        let id = h.create_with(|args| args.input_payload = Vec::new()).await;
        let stored = format!("SELECT count(*) FROM ff_exec_core WHERE payload IS NOT NULL AND {}", h.of(&id));
        assert_eq!(h.number(&stored).await, 1);
        assert!(h.backend.read_execution_context(&id).await.unwrap().input_payload.is_empty());
    }
}
