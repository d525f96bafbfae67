//! Cancellation of flows.

use std::time::Duration;

use ff_core::backend::{CancelFlowPolicy, CancelFlowWait};
use ff_core::contracts::{CancelFlowArgs, CancelFlowHeader, CancelFlowResult};
use ff_core::engine_backend::wait_for_flow_cancellation;
use ff_core::engine_error::EngineError;
use ff_core::types::{ExecutionId, FlowId, TimestampMs};

use crate::edge::depends;
use crate::flow::{column, created, document, member, set};
use crate::harness::{Harness as Opened, LEASE_MS, LOST, T0, id_in, on_every_database, refusal, uuid_of};

/// Cancels a flow and answers the ids of the members that went with it.
async fn cancelled(h: &Opened, flow: &FlowId, policy: CancelFlowPolicy, text: &str) -> Vec<String> {
    match h.backend.cancel_flow(flow, policy, CancelFlowWait::NoWait).await.expect("the flow is cancelled") {
        CancelFlowResult::Cancelled { cancellation_policy, member_execution_ids } => {
            assert_eq!(cancellation_policy, text);
            member_execution_ids
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn asking(h: &Opened, flow: &FlowId, policy: &str) -> CancelFlowArgs {
    CancelFlowArgs {
        flow_id: flow.clone(),
        reason: "no longer needed".to_owned(),
        cancellation_policy: policy.to_owned(),
        now: TimestampMs::from_millis(h.clock.now_ms()),
    }
}

/// Cancels a flow's header and answers the ids of the members that went with it.
pub(crate) async fn header_cancelled(h: &Opened, flow: &FlowId, policy: &str) -> Vec<String> {
    match h.backend.cancel_flow_header(asking(h, flow, policy)).await.expect("the header is cancelled") {
        CancelFlowHeader::Cancelled { cancellation_policy, member_execution_ids } => {
            assert_eq!(cancellation_policy, policy);
            member_execution_ids
        }
        other => panic!("{other:?}"),
    }
}

fn sorted(ids: &[&ExecutionId]) -> Vec<String> {
    let mut texts: Vec<_> = ids.iter().map(ToString::to_string).collect();
    texts.sort_unstable();
    texts
}

async fn phase(h: &Opened, id: &ExecutionId) -> String {
    h.core(id, "lifecycle_phase").await
}

/// The members whose cancellation is noted.
pub(crate) async fn noted(h: &Opened) -> Vec<String> {
    let mut noted = h.texts("SELECT execution_id FROM ff_cancel_backlog_member").await;
    noted.sort_unstable();
    noted
}

pub(crate) async fn notes(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_cancel_backlog").await
}

on_every_database! {
    async fn cancelling_all_ends_every_member_and_tells_it(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        h.pass_ms(11);
        let members = cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(members, sorted(&[&a, &b, &c]));
        for id in [&a, &b, &c] {
            for (column, stored) in [
                ("lifecycle_phase", "cancelled"),
                ("ownership_state", "unowned"),
                ("eligibility_state", "cancelled"),
                ("public_state", "cancelled"),
                ("attempt_state", "cancelled"),
                ("blocking_reason", "null"),
                ("cancellation_reason", "flow_cancelled"),
                ("cancelled_by", "cancel_flow"),
                ("terminal_at_ms", (T0 + 11).to_string().as_str()),
            ] {
                assert_eq!(h.core(id, column).await, stored, "{column}");
            }
            assert_eq!(h.completions(id).await, ["cancelled space instance-1"]);
            assert_eq!(h.lease_events(id).await, ["revoked"]);
            assert_eq!(h.document(id).await["last_mutation_at"], (T0 + 11).to_string());
        }
        let (_, uuid) = h.flow_key(&flow);
        let of_flow = format!("SELECT count(*) FROM ff_completion_event WHERE flow_id = {uuid}");
        assert_eq!(h.number(&of_flow).await, 3);
        let tagged = "SELECT count(*) FROM ff_lease_event WHERE lease_id IS NULL AND namespace = 'space'
                      AND instance_tag = 'instance-1'";
        assert_eq!(h.number(tagged).await, 3);
        let seen = h.backend.describe_flow(&flow).await.unwrap().unwrap();
        assert_eq!((seen.public_flow_state.as_str(), seen.graph_revision), ("cancelled", 3));
        assert_eq!(seen.cancelled_at.map(|at| at.0), Some(T0 + 11));
        assert_eq!((seen.cancellation_policy.as_deref(), seen.cancel_reason), (Some("cancel_all"), None));
        assert_eq!(seen.last_mutation_at.0, T0);
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn a_worker_of_a_cancelled_member_is_fenced_off(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(h.attempts(&id, "outcome").await, ["null"]);
        assert_eq!(h.attempts(&id, "worker_instance_id").await, ["null"]);
        assert_eq!(h.attempts(&id, "worker_id").await, ["worker-a"]);
        assert_eq!(h.attempts(&id, "lease_expires_at_ms").await, ["null"]);
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["2"]);
        assert_eq!(h.lease_events(&id).await, ["acquired", "revoked"]);
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
        assert_eq!(refusal(h.backend.renew(&handle).await), LOST);
        assert_eq!(h.completions(&id).await, ["cancelled space instance-1"]);
        h.pass_ms(LEASE_MS);
        assert!(h.claim("worker-a").await.is_none());
    }

    async fn a_finished_member_is_neither_rewritten_nor_told_again(h) {
        let flow = created(&h).await;
        let done = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        h.backend.complete(&handle, None).await.unwrap();
        let open = member(&h, &flow).await;
        for phase in ["completed", "failed", "expired", "cancelled"] {
            let other = member(&h, &flow).await;
            h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = '{phase}' WHERE {}", h.of(&other))).await;
        }
        let members = cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(members, sorted(&[&open]));
        assert_eq!((phase(&h, &done).await.as_str(), h.core(&done, "public_state").await.as_str()), ("terminal", "completed"));
        assert_eq!(h.completions(&done).await, ["success space instance-1"]);
        assert_eq!(h.number("SELECT count(*) FROM ff_completion_event").await, 2);
    }

    async fn cancelling_what_is_pending_lets_the_rest_run(h) {
        let flow = created(&h).await;
        let running = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        let mut waiting = vec![member(&h, &flow).await, member(&h, &flow).await];
        assert_eq!(depends(&h, &flow, &waiting[0], &waiting[1]).await, 1);
        for phase in ["runnable", "pending", "blocked", "eligible"] {
            let other = member(&h, &flow).await;
            h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = '{phase}' WHERE {}", h.of(&other))).await;
            waiting.push(other);
        }
        let suspended = member(&h, &flow).await;
        h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'suspended' WHERE {}", h.of(&suspended))).await;
        let members = cancelled(&h, &flow, CancelFlowPolicy::CancelPending, "cancel_pending").await;
        assert_eq!(members, sorted(&waiting.iter().collect::<Vec<_>>()));
        assert_eq!((phase(&h, &running).await.as_str(), phase(&h, &suspended).await.as_str()), ("active", "suspended"));
        assert_eq!(h.lease_events(&running).await, ["acquired"]);
        h.backend.complete(&handle, None).await.unwrap();
        // A later, wider cancellation takes what the first one left.
        let members = cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(members, sorted(&[&suspended]));
        assert_eq!(document(&h, &flow).await["cancellation_policy"], "cancel_all");
    }

    async fn a_flow_alone_is_cancelled_without_its_members(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let members = cancelled(&h, &flow, CancelFlowPolicy::FlowOnly, "cancel_flow_only").await;
        assert_eq!((members.len(), phase(&h, &id).await.as_str()), (0, "submitted"));
        assert_eq!(column(&h, &flow, "public_flow_state").await, "cancelled");
        assert_eq!(h.number("SELECT count(*) FROM ff_completion_event").await, 0);
        h.pass_ms(5);
        cancelled(&h, &flow, CancelFlowPolicy::FlowOnly, "cancel_flow_only").await;
        assert_eq!(column(&h, &flow, "terminal_at_ms").await, T0.to_string());
    }

    async fn a_flow_that_ended_otherwise_or_was_never_there_stays_so(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        for state in ["completed", "failed", "terminal"] {
            set(&h, &flow, &format!("public_flow_state = '{state}'")).await;
            assert!(cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await.is_empty());
            assert_eq!(column(&h, &flow, "public_flow_state").await, state);
            assert_eq!(phase(&h, &id).await, "submitted");
        }
        assert!(cancelled(&h, &FlowId::new(), CancelFlowPolicy::CancelPending, "cancel_pending").await.is_empty());
    }

    async fn the_first_reason_of_a_members_end_stays(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        h.alter(&format!(
            "UPDATE ff_exec_core SET cancellation_reason = 'mine', cancelled_by = 'me', terminal_at_ms = 5 WHERE {}",
            h.of(&id)
        ))
        .await;
        cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        let kept = [h.core(&id, "cancellation_reason").await, h.core(&id, "cancelled_by").await];
        assert_eq!(kept, ["mine", "me"]);
        assert_eq!(h.core(&id, "terminal_at_ms").await, "5");
    }

    async fn an_attempt_that_ended_before_a_retry_keeps_its_outcome(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        let (reason, class) = (ff_core::backend::FailureReason::new("x"), ff_core::backend::FailureClass::Transient);
        h.backend.fail(&handle, reason, class).await.unwrap();
        cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(phase(&h, &id).await, "cancelled");
        assert_eq!(h.attempts(&id, "outcome").await, ["retry"]);
    }

    /// A typed claim leaves the execution's pointer one ahead of the attempt that runs.
    async fn the_attempt_that_runs_is_found_behind_the_pointer(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        h.alter(&format!("UPDATE ff_exec_core SET attempt_index = 1 WHERE {}", h.of(&id))).await;
        cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(h.attempts(&id, "lease_epoch").await, ["2"]);
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
    }

    async fn nothing_fires_for_a_cancelled_member_later(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        let (partition, uuid) = (id.partition(), h.of(&id).split_once("= ").expect("a condition").1.to_owned());
        let other = h.of(&id_in(0)).split_once("= ").expect("a condition").1.to_owned();
        for (execution, key) in [(&uuid, &uuid), (&other, &other)] {
            h.alter(&format!(
                "INSERT INTO ff_suspension_current (partition_key, execution_id, suspension_id, suspended_at_ms, condition)
                 VALUES ({partition}, {execution}, {key}, 1, '{{}}')"
            ))
            .await;
            h.alter(&format!(
                "INSERT INTO ff_waitpoint_pending (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms)
                 VALUES ({partition}, {key}, {execution}, 'k', 't', 1)"
            ))
            .await;
        }
        cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        for table in ["ff_suspension_current", "ff_waitpoint_pending"] {
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table}")).await, 1, "{table}");
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table} WHERE {}", h.of(&id))).await, 0, "{table}");
        }
    }

    async fn whoever_waits_for_a_cancellation_waits_for_nothing_more(h) {
        for wait in [CancelFlowWait::WaitTimeout(Duration::from_millis(500)), CancelFlowWait::WaitIndefinite] {
            let flow = created(&h).await;
            member(&h, &flow).await;
            let outcome = h.backend.cancel_flow(&flow, CancelFlowPolicy::CancelAll, wait).await.unwrap();
            let CancelFlowResult::Cancelled { member_execution_ids, .. } = outcome else { panic!("{outcome:?}") };
            assert_eq!(member_execution_ids.len(), 1);
            wait_for_flow_cancellation(h.backend.as_ref(), &flow, Duration::from_millis(500)).await.unwrap();
        }
        let open = created(&h).await;
        let budget = Duration::from_millis(1);
        let refused = wait_for_flow_cancellation(h.backend.as_ref(), &open, budget).await.unwrap_err();
        assert!(matches!(refused, EngineError::Timeout { op: "cancel_flow", elapsed } if elapsed == budget), "{refused}");
    }

    async fn a_member_joins_before_the_cancellation_or_not_at_all(h) {
        let flow = created(&h).await;
        let ids = [crate::flow::stranger(&h, &flow).await, crate::flow::stranger(&h, &flow).await];
        let joining = ids.clone().map(|id| {
            let (h, flow) = (Arc::clone(&h), flow.clone());
            tokio::spawn(async move { crate::flow::joined(&h, &flow, &id).await })
        });
        let members = cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        for (joining, id) in joining.into_iter().zip(&ids) {
            let joined = joining.await.unwrap();
            assert_eq!(joined.is_ok(), members.contains(&id.to_string()), "{joined:?}");
        }
    }

    async fn workers_that_claim_meanwhile_hold_nothing_afterwards(h) {
        let flow = created(&h).await;
        let mut ids = Vec::new();
        for _ in 0..30 {
            ids.push(member(&h, &flow).await);
        }
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                let h = Arc::clone(&h);
                tokio::spawn(async move {
                    let mut claimed = Vec::new();
                    while let Some(handle) = h.claim(&format!("worker-{worker}")).await {
                        claimed.push(handle);
                    }
                    claimed
                })
            })
            .collect();
        let members = cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(members, sorted(&ids.iter().collect::<Vec<_>>()));
        for worker in workers {
            for handle in worker.await.unwrap() {
                assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
            }
        }
        let (_, uuid) = h.flow_key(&flow);
        let left = format!("SELECT count(*) FROM ff_exec_core WHERE flow_id = {uuid} AND lifecycle_phase <> 'cancelled'");
        assert_eq!(h.number(&left).await, 0);
        assert_eq!(h.number("SELECT count(*) FROM ff_completion_event").await, 30);
    }

    async fn a_cancelled_header_notes_and_ends_its_live_members(h) {
        let flow = created(&h).await;
        let (held, free) = (member(&h, &flow).await, member(&h, &flow).await);
        let handle = h.claim("worker-a").await.unwrap();
        let (held, free) = if crate::harness::payload(&handle).execution_id == held { (held, free) } else { (free, held) };
        let done = member(&h, &flow).await;
        h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'terminal' WHERE {}", h.of(&done))).await;
        set(&h, &flow, "public_flow_state = 'active'").await;
        h.pass_ms(4);
        let members = header_cancelled(&h, &flow, "cancel_all").await;
        assert_eq!(members, sorted(&[&held, &free]));
        assert_eq!(noted(&h).await, members);
        let note = "SELECT cancellation_policy || ' ' || status || ' ' || reason || requester FROM ff_cancel_backlog";
        assert_eq!(h.texts(note).await, ["cancel_all pending no longer needed"]);
        assert_eq!(h.number("SELECT requested_at_ms FROM ff_cancel_backlog").await, T0 + 4);
        for id in [&held, &free] {
            for (column, stored) in [
                ("lifecycle_phase", "cancelled"),
                ("ownership_state", "unowned"),
                ("eligibility_state", "cancelled"),
                ("public_state", "cancelled"),
                ("attempt_state", "cancelled"),
                ("cancellation_reason", "no longer needed"),
                ("cancelled_by", "cancel_flow_header"),
                ("terminal_at_ms", (T0 + 4).to_string().as_str()),
            ] {
                assert_eq!(h.core(id, column).await, stored, "{column}");
            }
            assert_eq!(h.completions(id).await, ["cancelled space instance-1"]);
        }
        assert_eq!(h.lease_events(&held).await, ["acquired", "revoked"]);
        assert_eq!(h.lease_events(&free).await, [""; 0]);
        assert_eq!(h.attempts(&held, "lease_epoch").await, ["2"]);
        assert_eq!(refusal(h.backend.complete(&handle, None).await), LOST);
        assert_eq!(phase(&h, &done).await, "terminal");
        let seen = h.backend.describe_flow(&flow).await.unwrap().unwrap();
        assert_eq!((seen.public_flow_state.as_str(), seen.cancelled_at.map(|at| at.0)), ("cancelled", Some(T0 + 4)));
        assert_eq!(seen.cancel_reason.as_deref(), Some("no longer needed"));
    }

    async fn a_request_to_cancel_is_told_once_with_the_flows_namespace(h) {
        let flow = created(&h).await;
        member(&h, &flow).await;
        header_cancelled(&h, &flow, "cancel_all").await;
        h.backend.cancel_flow_header(asking(&h, &flow, "cancel_all")).await.unwrap();
        let columns = "execution_id || ' ' || event_type || ' ' || namespace || ' ' || coalesce(instance_tag, '-')";
        let events = h.texts(&format!("SELECT {columns} FROM ff_operator_event")).await;
        assert_eq!(events, [format!("{flow} flow_cancel_requested space -")]);
        let details = h.texts("SELECT CAST(details AS text) FROM ff_operator_event").await.remove(0);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&details).unwrap(),
            serde_json::json!({
                "flow_id": flow.to_string(), "cancellation_policy": "cancel_all", "reason": "no longer needed",
                "member_count": 1,
            })
        );
        let place = format!("SELECT count(*) FROM ff_operator_event WHERE partition_key = {}", h.flow_key(&flow).0);
        assert_eq!(h.number(&place).await, 1);
    }

    async fn a_header_that_has_ended_says_how(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        header_cancelled(&h, &flow, "cancel_all").await;
        let told = |members: Vec<String>| CancelFlowHeader::AlreadyTerminal {
            stored_cancellation_policy: Some("cancel_all".to_owned()),
            stored_cancel_reason: Some("no longer needed".to_owned()),
            member_execution_ids: members,
        };
        let again = || async {
            let other = CancelFlowArgs { reason: "other".to_owned(), ..asking(&h, &flow, "cancel_pending") };
            h.backend.cancel_flow_header(other).await.unwrap()
        };
        assert_eq!(again().await, told(sorted(&[&a, &b])));
        h.backend.ack_cancel_member(&flow, &a).await.unwrap();
        assert_eq!(again().await, told(sorted(&[&b])), "what is still noted");
        h.backend.ack_cancel_member(&flow, &b).await.unwrap();
        assert_eq!(again().await, told(sorted(&[&a, &b])), "all, once nothing is noted");
        let empty = created(&h).await;
        for state in ["completed", "failed", "terminal"] {
            set(&h, &empty, &format!("public_flow_state = '{state}'")).await;
            let outcome = h.backend.cancel_flow_header(asking(&h, &empty, "cancel_all")).await.unwrap();
            let nothing = CancelFlowHeader::AlreadyTerminal {
                stored_cancellation_policy: None,
                stored_cancel_reason: None,
                member_execution_ids: Vec::new(),
            };
            assert_eq!((outcome, column(&h, &empty, "public_flow_state").await.as_str()), (nothing, state));
        }
        assert_eq!(notes(&h).await, 0);
    }

    async fn a_headers_policy_says_whom_it_reaches(h) {
        for (policy, reaches_running, reaches_waiting) in [
            ("cancel_all", true, true),
            ("something else", true, true),
            ("cancel_pending", false, true),
            ("cancel_flow_only", false, false),
            ("flow_only", false, false),
        ] {
            let flow = created(&h).await;
            let running = member(&h, &flow).await;
            h.alter(&format!("UPDATE ff_exec_core SET lifecycle_phase = 'active' WHERE {}", h.of(&running))).await;
            let waiting = member(&h, &flow).await;
            let members = header_cancelled(&h, &flow, policy).await;
            assert_eq!(members.contains(&running.to_string()), reaches_running, "{policy}");
            assert_eq!(members.contains(&waiting.to_string()), reaches_waiting, "{policy}");
            assert_eq!(phase(&h, &running).await == "cancelled", reaches_running, "{policy}");
            assert_eq!(phase(&h, &waiting).await == "cancelled", reaches_waiting, "{policy}");
        }
    }

    async fn only_a_known_flow_and_plain_text_make_a_header_request(h) {
        let refused = h.backend.cancel_flow_header(asking(&h, &FlowId::new(), "cancel_all")).await.unwrap_err();
        assert!(matches!(refused, EngineError::NotFound { entity: "flow" }), "{refused}");
        let flow = created(&h).await;
        for (policy, reason, named) in [("a\0", "r", "cancellation_policy"), ("cancel_all", "\0", "reason")] {
            let args = CancelFlowArgs { reason: reason.to_owned(), ..asking(&h, &flow, policy) };
            let refused = refusal(h.backend.cancel_flow_header(args).await);
            assert!(refused.contains(named) && refused.contains("U+0000"), "{refused}");
        }
        assert_eq!((column(&h, &flow, "public_flow_state").await.as_str(), notes(&h).await), ("open", 0));
    }

    /// Only SQLite's column takes text that is no document.
    async fn a_damaged_flow_is_named(h) {
        if h.declared().label != "sqlite" {
            return;
        }
        let flow = created(&h).await;
        set(&h, &flow, "raw_fields = '{'").await;
        let refused = refusal(h.backend.cancel_flow_header(asking(&h, &flow, "cancel_all")).await);
        assert!(refused.starts_with("validation: Corruption: flow_core: raw_fields not valid JSON: "), "{refused}");
    }

    async fn the_last_acknowledgement_drops_the_note(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        header_cancelled(&h, &flow, "cancel_all").await;
        let events = h.number("SELECT count(*) FROM ff_operator_event").await;
        h.backend.ack_cancel_member(&flow, &a).await.unwrap();
        h.backend.ack_cancel_member(&flow, &a).await.unwrap();
        assert_eq!((noted(&h).await, notes(&h).await), (sorted(&[&b]), 1));
        h.backend.ack_cancel_member(&flow, &id_in(0)).await.unwrap();
        h.backend.ack_cancel_member(&FlowId::new(), &b).await.unwrap();
        assert_eq!((noted(&h).await.len(), notes(&h).await), (1, 1));
        h.backend.ack_cancel_member(&flow, &b).await.unwrap();
        assert_eq!((noted(&h).await.len(), notes(&h).await), (0, 0));
        assert_eq!(h.number("SELECT count(*) FROM ff_operator_event").await, events);
    }

    async fn last_acknowledgements_at_once_leave_no_note(h) {
        for _ in 0..5 {
            let flow = created(&h).await;
            let ids = [member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await];
            header_cancelled(&h, &flow, "cancel_all").await;
            let acknowledging = ids.map(|id| {
                let (h, flow) = (Arc::clone(&h), flow.clone());
                tokio::spawn(async move { h.backend.ack_cancel_member(&flow, &id).await.unwrap() })
            });
            for acknowledged in acknowledging {
                acknowledged.await.unwrap();
            }
            assert_eq!((noted(&h).await.len(), notes(&h).await), (0, 0));
        }
    }

    async fn lease_and_completion_events_name_the_member(h) {
        let flow = created(&h).await;
        let id = member(&h, &flow).await;
        cancelled(&h, &flow, CancelFlowPolicy::CancelAll, "cancel_all").await;
        assert_eq!(h.texts("SELECT execution_id FROM ff_lease_event").await, [uuid_of(&id)]);
        let place = format!("SELECT count(*) FROM ff_lease_event WHERE partition_key = {}", id.partition());
        assert_eq!(h.number(&place).await, 1);
    }
}
