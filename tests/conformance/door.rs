//! Every text that a caller hands in, judged at the door of its operation: U+0000, and what is too long.
//!
//! The table has a line for each text field of each method of the trait; [`the_table_has_every_text_of_every_method`]
//! compares it with the trait's source, so that a field that is new fails here until it has its line.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_core::backend::{
    BestEffortLiveConfig, CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Frame, FrameKind, ScannerFilter,
    StreamMode, TailVisibility,
};
use ff_core::contracts::*;
use ff_core::engine_error::EngineError;
use ff_core::policy::{
    BackoffStrategy, ExecutionPolicy, FallbackPolicy, FallbackTier, RetryPolicy, RoutingRequirements,
};
use ff_core::stream_subscribe::StreamCursor as EventCursor;
use ff_core::types::{
    AttemptIndex, BudgetId, CancelSource, FlowId, LaneId, Namespace, WaitpointToken, WorkerId, WorkerInstanceId,
};

use crate::every_method::*;
use crate::harness::{Harness as Opened, on_every_database, policy, refusal};
use crate::suspend::{fresh, named, partition_of, signal, suspended, suspending, triple};
use crate::{
    admission as blocking, budget, dependency, door_fields, edge, flow, flow_cancel, lease, operator, reclaim, resume,
    schedule, typed,
};

/// What is expected of a text.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// It may have any length.
    Any,
    /// It may have that many bytes.
    Most(usize),
    /// It has a form of its own; what has not is refused in words of its own.
    Own,
    /// Nothing reads it.
    Unread,
}
use Rule::{Any, Most, Own, Unread};

/// The longest text that stands in an index.
const KEY: usize = 2_600;

/// The table: scene, method and field, the name that a refusal gives the field, the rule, the arguments.
macro_rules! texts {
    ($($scene:ident as $s:ident => $method:ident[$field:literal] $name:literal $rule:expr,
       |$h:ident, $t:ident| ($($argument:expr),* $(,)?);)*) => {
        /// Method, field, the field's name in a refusal, and the rule.
        const LINES: &[(&str, &str, &str, Rule)] = &[$((stringify!($method), $field, $name, $rule)),*];

        /// What the lines of the table answer when the text is what `text` gives for their rule.
        async fn answers(h: &Opened, text: impl Fn(Rule) -> Option<String>) -> Vec<Option<Result<(), EngineError>>> {
            let mut answers = Vec::new();
            $(answers.push(match text($rule) {
                None => None,
                Some(text) => Some(
                    Box::pin(async {
                        let ($h, $t) = (h, text.as_str());
                        empty_lane($h).await;
                        let $s = $scene($h).await;
                        $h.backend.$method($($argument),*).await.map(drop)
                    })
                    .await,
                ),
            });)*
            answers
        }
    };
}

/// The arguments after a change.
fn put<T>(mut args: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut args);
    args
}

fn owned(text: &str) -> String {
    text.to_owned()
}

fn within(text: &str) -> ScannerFilter {
    ScannerFilter::new().with_namespace(text)
}

fn tagged(text: &str) -> ScannerFilter {
    ScannerFilter::new().with_instance_tag("cairn.instance_id", text)
}

fn routed(token: &str) -> Option<ExecutionPolicy> {
    let required_capabilities = BTreeSet::from([owned(token)]);
    let requirements = RoutingRequirements { required_capabilities, ..Default::default() };
    Some(ExecutionPolicy { routing_requirements: Some(requirements), ..Default::default() })
}

fn provided(provider: &str) -> Option<ExecutionPolicy> {
    let tier = FallbackTier { provider: owned(provider), model: owned("m"), timeout_ms: None };
    Some(ExecutionPolicy { fallback_policy: Some(FallbackPolicy { tiers: vec![tier] }), ..Default::default() })
}

/// A JSON document that holds the text.
fn json(text: &str) -> String {
    serde_json::json!({ "note": text }).to_string()
}

texts! {
    // Work.
    created as _s => claim["lane"] "lane_id" Any, |h, t| (&LaneId::new(t), &CapabilitySet::default(), policy("w"));
    created as _s => claim["capabilities.tokens"] "capabilities" Any, |h, t| (&lane(), &CapabilitySet::new([t]), policy("w"));
    created as _s => claim["policy.worker_id"] "worker_id" Most(KEY), |h, t| (&lane(), &CapabilitySet::default(), ClaimPolicy::new(WorkerId::new(t), WorkerInstanceId::new("i"), 1, None));
    created as _s => claim["policy.worker_instance_id"] "worker_instance_id" Any, |h, t| (&lane(), &CapabilitySet::default(), ClaimPolicy::new(WorkerId::new("w"), WorkerInstanceId::new(t), 1, None));
    claimed as s => progress["message"] "progress message" Any, |h, t| (&s.1, None, Some(owned(t)));
    claimed as s => append_frame["frame.frame_type"] "frame_type" Any, |h, t| (&s.1, Frame::new(vec![1], FrameKind::Event).with_frame_type(t));
    claimed as s => append_frame["frame.correlation_id"] "correlation_id" Any, |h, t| (&s.1, put(Frame::new(vec![1], FrameKind::Event), |a| a.correlation_id = Some(owned(t))));
    claimed as s => fail["reason.message"] "failure message" Any, |h, t| (&s.1, FailureReason::new(t), FailureClass::Permanent);
    claimed as s => cancel["reason"] "reason" Any, |h, t| (&s.1, t);
    nothing as _s => create_execution["args.namespace"] "namespace" Any, |h, t| (put(h.args(), |a| a.namespace = Namespace::new(t)));
    nothing as _s => create_execution["args.lane_id"] "lane_id" Most(64), |h, t| (put(h.args(), |a| a.lane_id = LaneId::new(t)));
    nothing as _s => create_execution["args.execution_kind"] "execution_kind" Any, |h, t| (put(h.args(), |a| a.execution_kind = owned(t)));
    nothing as _s => create_execution["args.payload_encoding"] "payload_encoding" Any, |h, t| (put(h.args(), |a| a.payload_encoding = Some(owned(t))));
    nothing as _s => create_execution["args.creator_identity"] "creator_identity" Any, |h, t| (put(h.args(), |a| a.creator_identity = owned(t)));
    nothing as _s => create_execution["args.idempotency_key"] "idempotency_key" Any, |h, t| (put(h.args(), |a| a.idempotency_key = Some(owned(t))));
    nothing as _s => create_execution["args.tags"] "tags" Any, |h, t| (put(h.args(), |a| drop(a.tags.insert(owned(t), owned(t)))));
    nothing as _s => create_execution["args.policy"] "policy" Any, |h, t| (put(h.args(), |a| a.policy = provided(t)));
    nothing as _s => create_execution["args.policy.required_capabilities"] "required_capabilities" Most(KEY), |h, t| (put(h.args(), |a| a.policy = routed(t)));
    // Streams.
    claimed as s => read_stream["from"] "" Own, |h, t| (&s.0, AttemptIndex::new(0), StreamCursor::At(owned(t)), StreamCursor::End, 10);
    claimed as s => read_stream["to"] "" Own, |h, t| (&s.0, AttemptIndex::new(0), StreamCursor::Start, StreamCursor::At(owned(t)), 10);
    claimed as s => tail_stream["after"] "" Own, |h, t| (&s.0, AttemptIndex::new(0), StreamCursor::At(owned(t)), 0, 10, TailVisibility::All);
    // Executions: reads, tags, lists.
    created as s => read_exec_core_fields["fields"] "" Unread, |h, t| (partition_of(&s), &s, &[t]);
    created as s => set_execution_tag["key"] "" Own, |h, t| (&s, t, "blue");
    created as s => set_execution_tag["value"] "tag value" Any, |h, t| (&s, "team.color", t);
    created as s => get_execution_tag["key"] "" Own, |h, t| (&s, t);
    created as _s => list_lanes["cursor"] "cursor" Any, |h, t| (Some(LaneId::new(t)), 10);
    abandoned as _s => list_expired_leases["args.namespace"] "namespace" Any, |h, t| (put(lease::listing(h.clock.now_ms()), |a| a.namespace = Some(Namespace::new(t))));
    // Suspension and signals.
    unseeded as _s => seed_waitpoint_hmac_secret["args.kid"] "kid" Most(KEY), |h, t| (SeedWaitpointHmacSecretArgs::new(t, SECRET));
    unseeded as _s => seed_waitpoint_hmac_secret["args.secret_hex"] "" Own, |h, t| (SeedWaitpointHmacSecretArgs::new("k", t));
    nothing as _s => rotate_waitpoint_hmac_secret_all["args.new_kid"] "kid" Most(KEY), |h, t| (RotateWaitpointHmacSecretAllArgs::new(t, SECRET, 1_000));
    nothing as _s => rotate_waitpoint_hmac_secret_all["args.new_secret_hex"] "" Own, |h, t| (RotateWaitpointHmacSecretAllArgs::new("k", t, 1_000));
    claimed as s => suspend["args.resume_condition"] "resume_condition" Any, |h, t| (&s.1, suspending(h, fresh("key"), named(t, t)));
    claimed as s => suspend["args.waitpoints"] "waitpoint_key" Any, |h, t| (&s.1, suspending(h, fresh(t), named("key", "go")));
    claimed as s => suspend["args.continuation_metadata_pointer"] "" Unread, |h, t| (&s.1, put(suspending(h, fresh("key"), named("key", "go")), |a| a.continuation_metadata_pointer = Some(owned(t))));
    claimed as s => suspend["args.idempotency_key"] "idempotency_key" Most(KEY), |h, t| (&s.1, put(suspending(h, fresh("key"), named("key", "go")), |a| a.idempotency_key = Some(IdempotencyKey::new(t))));
    claimed as s => suspend_by_triple["args.resume_condition"] "resume_condition" Any, |h, t| (s.0.clone(), triple(&s.1), suspending(h, fresh("key"), named(t, t)));
    claimed as s => suspend_by_triple["args.waitpoints"] "waitpoint_key" Any, |h, t| (s.0.clone(), triple(&s.1), suspending(h, fresh(t), named("key", "go")));
    claimed as s => suspend_by_triple["args.continuation_metadata_pointer"] "" Unread, |h, t| (s.0.clone(), triple(&s.1), put(suspending(h, fresh("key"), named("key", "go")), |a| a.continuation_metadata_pointer = Some(owned(t))));
    claimed as s => suspend_by_triple["args.idempotency_key"] "idempotency_key" Most(KEY), |h, t| (s.0.clone(), triple(&s.1), put(suspending(h, fresh("key"), named("key", "go")), |a| a.idempotency_key = Some(IdempotencyKey::new(t))));
    claimed as s => create_waitpoint["waitpoint_key"] "waitpoint_key" Any, |h, t| (&s.1, t, Duration::from_secs(1));
    suspended as s => deliver_signal["args.signal_name"] "signal_name" Any, |h, t| (signal(h, &s, t));
    suspended as s => deliver_signal["args.signal_category"] "signal_category" Any, |h, t| (put(signal(h, &s, "go"), |a| a.signal_category = owned(t)));
    suspended as s => deliver_signal["args.source_type"] "source_type" Any, |h, t| (put(signal(h, &s, "go"), |a| a.source_type = owned(t)));
    suspended as s => deliver_signal["args.source_identity"] "source_identity" Any, |h, t| (put(signal(h, &s, "go"), |a| a.source_identity = owned(t)));
    suspended as s => deliver_signal["args.payload_encoding"] "" Unread, |h, t| (put(signal(h, &s, "go"), |a| a.payload_encoding = Some(owned(t))));
    suspended as s => deliver_signal["args.correlation_id"] "correlation_id" Any, |h, t| (put(signal(h, &s, "go"), |a| a.correlation_id = Some(owned(t))));
    suspended as s => deliver_signal["args.idempotency_key"] "idempotency_key" Any, |h, t| (put(signal(h, &s, "go"), |a| a.idempotency_key = Some(owned(t))));
    suspended as s => deliver_signal["args.target_scope"] "" Unread, |h, t| (put(signal(h, &s, "go"), |a| a.target_scope = owned(t)));
    suspended as s => deliver_signal["args.waitpoint_token"] "" Own, |h, t| (put(signal(h, &s, "go"), |a| a.waitpoint_token = WaitpointToken::new(t)));
    suspended as s => deliver_approval_signal["args.lane_id"] "" Unread, |h, t| (DeliverApprovalSignalArgs::new(s.id.clone(), LaneId::new(t), s.details.waitpoint_id.clone(), "approved", "once", 1_000, None, None));
    suspended as s => deliver_approval_signal["args.signal_name"] "signal_name" Any, |h, t| (DeliverApprovalSignalArgs::new(s.id.clone(), lane(), s.details.waitpoint_id.clone(), t, "once", 1_000, None, None));
    suspended as s => deliver_approval_signal["args.idempotency_suffix"] "idempotency_key" Any, |h, t| (DeliverApprovalSignalArgs::new(s.id.clone(), lane(), s.details.waitpoint_id.clone(), "approved", t, 1_000, None, None));
    suspended as s => close_waitpoint["waitpoint_id"] "" Own, |h, t| (partition_of(&s.id), &s.id, t, later(h));
    // Resumption and reclaim.
    resumable as s => claim_from_resume_grant["token.grant"] "" Unread, |h, t| (put(lease::token(&s), |a| { a.grant.grant_key = owned(t); a.grant.lane_id = LaneId::new(t) }));
    resumable as s => claim_from_resume_grant["token.worker_id"] "worker_id" Most(KEY), |h, t| (put(lease::token(&s), |a| a.worker_id = WorkerId::new(t)));
    resumable as s => claim_from_resume_grant["token.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(lease::token(&s), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    resumable as s => claim_resumed_execution["args.worker_id"] "worker_id" Most(KEY), |h, t| (put(resume::claiming(&s), |a| a.worker_id = WorkerId::new(t)));
    resumable as s => claim_resumed_execution["args.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(resume::claiming(&s), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    resumable as s => claim_resumed_execution["args.lane_id"] "" Unread, |h, t| (put(resume::claiming(&s), |a| a.lane_id = LaneId::new(t)));
    suspended as s => resume_execution["args.trigger_type"] "" Unread, |h, t| (put(resume::resuming(&s.id, 0), |a| a.trigger_type = owned(t)));
    abandoned as s => issue_reclaim_grant["args.worker_id"] "worker_id" Most(KEY), |h, t| (put(reclaim::asking(&s), |a| a.worker_id = WorkerId::new(t)));
    abandoned as s => issue_reclaim_grant["args.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(reclaim::asking(&s), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    abandoned as s => issue_reclaim_grant["args.lane_id"] "lane_id" Any, |h, t| (put(reclaim::asking(&s), |a| a.lane_id = LaneId::new(t)));
    abandoned as s => issue_reclaim_grant["args.capability_hash"] "capability_hash" Any, |h, t| (put(reclaim::asking(&s), |a| a.capability_hash = Some(owned(t))));
    abandoned as s => issue_reclaim_grant["args.route_snapshot_json"] "route_snapshot_json" Any, |h, t| (put(reclaim::asking(&s), |a| a.route_snapshot_json = Some(owned(t))));
    abandoned as s => issue_reclaim_grant["args.admission_summary"] "admission_summary" Any, |h, t| (put(reclaim::asking(&s), |a| a.admission_summary = Some(owned(t))));
    abandoned as s => issue_reclaim_grant["args.worker_capabilities"] "worker_capabilities" Any, |h, t| (put(reclaim::asking(&s), |a| a.worker_capabilities = [owned(t)].into()));
    granted_again as s => reclaim_execution["args.worker_id"] "worker_id" Own, |h, t| (put(reclaim::using(&s), |a| a.worker_id = WorkerId::new(t)));
    granted_again as s => reclaim_execution["args.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(reclaim::using(&s), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    granted_again as s => reclaim_execution["args.lane_id"] "" Unread, |h, t| (put(reclaim::using(&s), |a| a.lane_id = LaneId::new(t)));
    granted_again as s => reclaim_execution["args.capability_hash"] "" Unread, |h, t| (put(reclaim::using(&s), |a| a.capability_hash = Some(owned(t))));
    granted_again as s => reclaim_execution["args.attempt_policy_json"] "attempt_policy_json" Any, |h, t| (put(reclaim::using(&s), |a| a.attempt_policy_json = json(t)));
    granted_again as s => reclaim_execution["args.old_worker_instance_id"] "" Unread, |h, t| (put(reclaim::using(&s), |a| a.old_worker_instance_id = WorkerInstanceId::new(t)));
    // Budgets, quotas and admission.
    nothing as _s => create_budget["args.scope_type"] "scope_type" Any, |h, t| (put(budgeting(), |a| a.scope_type = owned(t)));
    nothing as _s => create_budget["args.scope_id"] "scope_id" Any, |h, t| (put(budgeting(), |a| a.scope_id = owned(t)));
    nothing as _s => create_budget["args.enforcement_mode"] "enforcement_mode" Any, |h, t| (put(budgeting(), |a| a.enforcement_mode = owned(t)));
    nothing as _s => create_budget["args.on_hard_limit"] "on_hard_limit" Any, |h, t| (put(budgeting(), |a| a.on_hard_limit = owned(t)));
    nothing as _s => create_budget["args.on_soft_limit"] "on_soft_limit" Any, |h, t| (put(budgeting(), |a| a.on_soft_limit = owned(t)));
    nothing as _s => create_budget["args.dimensions"] "dimensions" Most(KEY), |h, t| (put(budgeting(), |a| a.dimensions = vec![owned(t)]));
    budgeted as s => report_usage["dimensions.custom"] "dimension" Most(KEY), |h, t| (&budget::garbage(), &s, budget::used(&[(t, 1)]));
    budgeted as s => report_usage["dimensions.dedup_key"] "dedup_key" Most(KEY), |h, t| (&budget::garbage(), &s, put(budget::used(&[("tokens", 1)]), |a| a.dedup_key = Some(owned(t))));
    budgeted as s => report_usage_admin["args.dimensions"] "dimension" Most(KEY), |h, t| (&s, ReportUsageAdminArgs::new(vec![owned(t)], vec![1], later(h)));
    budgeted as s => report_usage_admin["args.dedup_key"] "dedup_key" Most(KEY), |h, t| (&s, put(ReportUsageAdminArgs::new(vec![owned("tokens")], vec![1], later(h)), |a| a.dedup_key = Some(owned(t))));
    budgeted as s => record_spend["args.deltas"] "dimension" Most(KEY), |h, t| (RecordSpendArgs::new(s.clone(), some_id(), [(owned(t), 1)].into(), "key"));
    budgeted as s => record_spend["args.idempotency_key"] "dedup_key" Most(KEY), |h, t| (RecordSpendArgs::new(s.clone(), some_id(), [(owned("tokens"), 1)].into(), t));
    limited as s => check_admission["dimension"] "" Unread, |h, t| (&s, t, admission(h));
    created as s => block_execution_for_admission["args.lane_id"] "" Unread, |h, t| (BlockExecutionForAdmissionArgs::new(s.clone(), LaneId::new(t), partition_of(&s), BlockingReason::WaitingForQuota, None, later(h)));
    created as s => block_execution_for_admission["args.reason_detail"] "reason_detail" Any, |h, t| (BlockExecutionForAdmissionArgs::new(s.clone(), lane(), partition_of(&s), BlockingReason::WaitingForQuota, Some(owned(t)), later(h)));
    created as s => block_route["args.lane_id"] "" Unread, |h, t| (put(blocking::route(&s, "waiting_for_capable_worker"), |a| a.lane_id = LaneId::new(t)));
    created as s => block_route["args.reason_code"] "" Unread, |h, t| (blocking::route(&s, t));
    created as s => block_route["args.reason_detail"] "reason_detail" Any, |h, t| (put(blocking::route(&s, "waiting_for_capable_worker"), |a| a.reason_detail = owned(t)));
    blocked as s => unblock_execution["lane_id"] "" Unread, |h, t| (partition_of(&s), &LaneId::new(t), &s, "waiting_for_capable_worker", later(h));
    blocked as s => unblock_execution["expected_blocking_reason"] "" Own, |h, t| (partition_of(&s), &lane(), &s, t, later(h));
    // Typed operations.
    typed_claim as s => complete_execution["args.result_encoding"] "" Unread, |h, t| (put(typed::completing(h, &s), |a| a.result_encoding = Some(owned(t))));
    typed_claim as s => complete_execution["args.source"] "" Unread, |h, t| (put(typed::completing(h, &s), |a| a.source = CancelSource::Custom(owned(t))));
    typed_claim as s => fail_execution["args.failure_reason"] "failure_reason" Any, |h, t| (put(typed::failing(&s, ""), |a| a.failure_reason = owned(t)));
    typed_claim as s => fail_execution["args.failure_category"] "" Unread, |h, t| (put(typed::failing(&s, ""), |a| a.failure_category = owned(t)));
    typed_claim as s => fail_execution["args.retry_policy_json"] "" Own, |h, t| (typed::failing(&s, t));
    typed_claim as s => fail_execution["args.next_attempt_policy_json"] "" Unread, |h, t| (put(typed::failing(&s, ""), |a| a.next_attempt_policy_json = owned(t)));
    typed_claim as s => fail_execution["args.source"] "" Unread, |h, t| (put(typed::failing(&s, ""), |a| a.source = CancelSource::Custom(owned(t))));
    granted as s => claim_execution["args.worker_id"] "worker_id" Most(KEY), |h, t| (put(schedule::claiming(h, &s), |a| a.worker_id = WorkerId::new(t)));
    granted as s => claim_execution["args.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(schedule::claiming(h, &s), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    granted as s => claim_execution["args.lane_id"] "" Unread, |h, t| (put(schedule::claiming(h, &s), |a| a.lane_id = LaneId::new(t)));
    granted as s => claim_execution["args.attempt_policy_json"] "attempt_policy_json" Any, |h, t| (put(schedule::claiming(h, &s), |a| a.attempt_policy_json = json(t)));
    created as s => issue_grant_and_claim["args.lane_id"] "" Unread, |h, t| (IssueGrantAndClaimArgs::new(s.clone(), LaneId::new(t), 30_000));
    // Scheduling.
    created as s => scan_eligible_executions["args.lane_id"] "lane_id" Any, |h, t| (ScanEligibleArgs::new(LaneId::new(t), partition_of(&s), 10));
    created as s => issue_claim_grant["args.lane_id"] "lane_id" Any, |h, t| (put(schedule::asking(h, &s, &[]), |a| a.lane_id = LaneId::new(t)));
    created as s => issue_claim_grant["args.worker_id"] "worker_id" Most(KEY), |h, t| (put(schedule::asking(h, &s, &[]), |a| a.worker_id = WorkerId::new(t)));
    created as s => issue_claim_grant["args.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(schedule::asking(h, &s, &[]), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    created as s => issue_claim_grant["args.capability_hash"] "capability_hash" Any, |h, t| (put(schedule::asking(h, &s, &[]), |a| a.capability_hash = Some(owned(t))));
    created as s => issue_claim_grant["args.route_snapshot_json"] "route_snapshot_json" Any, |h, t| (put(schedule::asking(h, &s, &[]), |a| a.route_snapshot_json = Some(owned(t))));
    created as s => issue_claim_grant["args.admission_summary"] "admission_summary" Any, |h, t| (put(schedule::asking(h, &s, &[]), |a| a.admission_summary = Some(owned(t))));
    created as s => issue_claim_grant["args.worker_capabilities"] "" Own, |h, t| (schedule::asking(h, &s, &[t]));
    created as _s => claim_for_worker["args.lane_id"] "lane_id" Any, |h, t| (put(schedule::wanting(&[]), |a| a.lane_id = LaneId::new(t)));
    created as _s => claim_for_worker["args.worker_id"] "worker_id" Most(KEY), |h, t| (put(schedule::wanting(&[]), |a| a.worker_id = WorkerId::new(t)));
    created as _s => claim_for_worker["args.worker_instance_id"] "worker_instance_id" Any, |h, t| (put(schedule::wanting(&[]), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    created as _s => claim_for_worker["args.worker_capabilities"] "" Own, |h, t| (schedule::wanting(&[t]));
    // Flows.
    nothing as _s => create_flow["args.flow_kind"] "flow_kind" Any, |h, t| (put(flow::creating(h, &FlowId::new()), |a| a.flow_kind = owned(t)));
    nothing as _s => create_flow["args.namespace"] "namespace" Any, |h, t| (put(flow::creating(h, &FlowId::new()), |a| a.namespace = Namespace::new(t)));
    unrelated as s => stage_dependency_edge["args.dependency_kind"] "dependency_kind" Any, |h, t| (put(edge::staging(h, &s.0, &s.1, &s.2, s.3), |a| a.dependency_kind = owned(t)));
    unrelated as s => stage_dependency_edge["args.data_passing_ref"] "data_passing_ref" Any, |h, t| (put(edge::staging(h, &s.0, &s.1, &s.2, s.3), |a| a.data_passing_ref = Some(owned(t))));
    staged as s => apply_dependency_to_child["args.dependency_kind"] "" Unread, |h, t| (put(edge::applying(h, &s.flow, &s.edge, &s.up, &s.down), |a| a.dependency_kind = owned(t)));
    staged as s => apply_dependency_to_child["args.data_passing_ref"] "" Unread, |h, t| (put(edge::applying(h, &s.flow, &s.edge, &s.up, &s.down), |a| a.data_passing_ref = Some(owned(t))));
    in_flow as s => set_flow_tag["key"] "" Own, |h, t| (&s.flow, t, "blue");
    in_flow as s => set_flow_tag["value"] "tag value" Any, |h, t| (&s.flow, "team.color", t);
    in_flow as s => get_flow_tag["key"] "" Own, |h, t| (&s.flow, t);
    in_flow as s => cascade_completion["payload.outcome"] "" Unread, |h, t| (&put(dependency::payload(h, &s.up, 0), |a| a.outcome = owned(t)));
    in_flow as s => resolve_dependency["args.lane_id"] "" Unread, |h, t| (put(dependency::resolving(h, &s.flow, &s.edge, &s.up, &s.down, "success"), |a| a.lane_id = LaneId::new(t)));
    in_flow as s => resolve_dependency["args.upstream_outcome"] "" Unread, |h, t| (dependency::resolving(h, &s.flow, &s.edge, &s.up, &s.down, t));
    in_flow as s => cancel_flow_header["args.reason"] "reason" Any, |h, t| (put(flow_cancel::asking(h, &s.flow, "cancel_all"), |a| a.reason = owned(t)));
    in_flow as s => cancel_flow_header["args.cancellation_policy"] "cancellation_policy" Any, |h, t| (flow_cancel::asking(h, &s.flow, t));
    // Operator control.
    created as s => cancel_execution["args.reason"] "reason" Any, |h, t| (put(operator::cancelling(&s), |a| a.reason = owned(t)));
    created as s => cancel_execution["args.source"] "source" Any, |h, t| (put(operator::cancelling(&s), |a| a.source = CancelSource::Custom(owned(t))));
    claimed as s => revoke_lease["args.expected_lease_id"] "" Unread, |h, t| (put(operator::revoking(&s.0), |a| a.expected_lease_id = Some(owned(t))));
    claimed as s => revoke_lease["args.worker_instance_id"] "" Unread, |h, t| (put(operator::revoking(&s.0), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    claimed as s => revoke_lease["args.reason"] "" Unread, |h, t| (put(operator::revoking(&s.0), |a| a.reason = owned(t)));
    runnable as s => change_priority["args.lane_id"] "" Unread, |h, t| (put(operator::prioritizing(&s, 7), |a| a.lane_id = LaneId::new(t)));
    // Subscriptions.
    nothing as _s => subscribe_lease_history["filter.namespace"] "" Unread, |h, t| (EventCursor::empty(), &within(t));
    nothing as _s => subscribe_lease_history["filter.instance_tag"] "" Unread, |h, t| (EventCursor::empty(), &tagged(t));
    nothing as _s => subscribe_completion["filter.namespace"] "" Unread, |h, t| (EventCursor::empty(), &within(t));
    nothing as _s => subscribe_completion["filter.instance_tag"] "" Unread, |h, t| (EventCursor::empty(), &tagged(t));
    nothing as _s => subscribe_signal_delivery["filter.namespace"] "" Unread, |h, t| (EventCursor::empty(), &within(t));
    nothing as _s => subscribe_signal_delivery["filter.instance_tag"] "" Unread, |h, t| (EventCursor::empty(), &tagged(t));
    // Steps of the background sweeps.
    delayed as s => promote_delayed["lane"] "" Unread, |h, t| (partition_of(&s), &LaneId::new(t), &s, later(h));
    created as s => reconcile_execution_index["lanes"] "" Unread, |h, t| (partition_of(&s), &[LaneId::new(t)], &ScannerFilter::NOOP);
    created as s => reconcile_execution_index["filter.namespace"] "" Unread, |h, t| (partition_of(&s), &[lane()], &within(t));
    created as s => reconcile_execution_index["filter.instance_tag"] "" Unread, |h, t| (partition_of(&s), &[lane()], &tagged(t));
    completed as s => trim_retention["lane_id"] "lane_id" Any, |h, t| (partition_of(&s), &LaneId::new(t), 0, later(h), 10, &ScannerFilter::NOOP);
    completed as s => trim_retention["filter.namespace"] "filter.namespace" Any, |h, t| (partition_of(&s), &lane(), 0, later(h), 10, &within(t));
    completed as s => trim_retention["filter.instance_tag"] "filter.instance_tag" Any, |h, t| (partition_of(&s), &lane(), 0, later(h), 10, &tagged(t));
    // Workers.
    nothing as _s => register_worker["args.worker_id"] "worker_id" Most(KEY), |h, t| (put(registration(h), |a| { a.worker_id = WorkerId::new(t); a.worker_instance_id = another_instance() }));
    nothing as _s => register_worker["args.worker_instance_id"] "worker_instance_id" Most(KEY - 5), |h, t| (put(registration(h), |a| a.worker_instance_id = WorkerInstanceId::new(t)));
    nothing as _s => register_worker["args.lanes"] "lane" Any, |h, t| (put(registration(h), |a| a.lanes = [LaneId::new(t)].into()));
    nothing as _s => register_worker["args.capabilities"] "capability" Any, |h, t| (put(registration(h), |a| a.capabilities = [owned(t)].into()));
    nothing as _s => register_worker["args.namespace"] "namespace" Most(KEY - 6), |h, t| (put(registration(h), |a| a.namespace = Namespace::new(t)));
    registered as _s => heartbeat_worker["args.worker_instance_id"] "worker_instance_id" Most(KEY - 5), |h, t| (HeartbeatWorkerArgs::new(WorkerInstanceId::new(t), space(), later(h)));
    registered as s => heartbeat_worker["args.namespace"] "namespace" Most(KEY - 6), |h, t| (HeartbeatWorkerArgs::new(s.clone(), Namespace::new(t), later(h)));
    registered as _s => mark_worker_dead["args.worker_instance_id"] "worker_instance_id" Most(KEY - 5), |h, t| (MarkWorkerDeadArgs::new(WorkerInstanceId::new(t), space(), owned("gone"), later(h)));
    registered as s => mark_worker_dead["args.namespace"] "namespace" Most(KEY - 6), |h, t| (MarkWorkerDeadArgs::new(s.clone(), Namespace::new(t), owned("gone"), later(h)));
    registered as s => mark_worker_dead["args.reason"] "" Own, |h, t| (MarkWorkerDeadArgs::new(s.clone(), space(), owned(t), later(h)));
    registered as _s => list_workers["args.namespace"] "namespace" Any, |h, t| (put(in_space(), |a| a.namespace = Some(Namespace::new(t))));
    registered as _s => list_workers["args.after"] "after" Any, |h, t| (put(in_space(), |a| a.after = Some(WorkerInstanceId::new(t))));
}

fn budgeting() -> CreateBudgetArgs {
    budget::definition(&BudgetId::new(), &[("tokens", 10, 5)], 0)
}

/// An instance that is nobody's.
fn another_instance() -> WorkerInstanceId {
    WorkerInstanceId::new(uuid::Uuid::new_v4().to_string())
}

/// Text of that many bytes which no index makes shorter.
fn noise(bytes: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let letters = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'A' + u8::try_from(state % 26).expect("a letter"))
    });
    letters.take(bytes).collect()
}

/// The answers of the lines with that text, where they have one, with what names the line.
async fn told(
    h: &Opened,
    text: impl Fn(Rule) -> Option<String>,
) -> Vec<(&'static str, &'static str, &'static str, Rule, Result<(), EngineError>)> {
    let answers = answers(h, text).await;
    let told = LINES.iter().zip(answers).filter_map(|(line, answer)| Some((line.0, line.1, line.2, line.3, answer?)));
    told.collect()
}

fn is_validation(answer: &Result<(), EngineError>) -> bool {
    matches!(answer, Err(EngineError::Validation { .. }))
}

fn is_transport(answer: &Result<(), EngineError>) -> bool {
    matches!(answer, Err(EngineError::Transport { .. }))
}

#[test]
fn the_table_has_every_text_of_every_method() {
    let lines: BTreeSet<String> = LINES.iter().map(|(method, field, ..)| format!("{method}[{field}]")).collect();
    assert_eq!(lines.len(), LINES.len(), "each field has one line");
    let declared = door_fields::declared();
    assert!(declared.len() > 100, "the sources are read: {declared:#?}");
    let missing: Vec<_> = declared.difference(&lines).collect();
    assert!(missing.is_empty(), "texts without a line in the table: {missing:#?}");
}

on_every_database! {
    async fn u_0000_is_refused_by_the_fields_name(h) {
        let mut wrong = Vec::new();
        for (method, field, name, rule, answer) in told(&h, |_| Some("a\0b".to_owned())).await {
            let is_right = match rule {
                Any | Most(_) => {
                    let refused = format!("validation: InvalidInput: {name}: must not contain U+0000");
                    answer.as_ref().is_err_and(|error| error.to_string() == refused)
                }
                Own => is_validation(&answer),
                Unread => !is_transport(&answer) && !answer.as_ref().is_err_and(|error| error.to_string().contains("U+0000")),
            };
            if !is_right {
                wrong.push(format!("{method}[{field}]: {answer:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    async fn a_text_has_a_limit_or_none(h) {
        let mut wrong = Vec::new();
        let at_limit = |rule| Some(noise(if let Most(most) = rule { most } else { 20_000 }));
        for (method, field, _, rule, answer) in told(&h, at_limit).await {
            let is_right = match rule {
                Any | Most(_) => !is_transport(&answer) && !is_validation(&answer),
                Own | Unread => !is_transport(&answer),
            };
            if !is_right {
                wrong.push(format!("{method}[{field}]: {answer:?}"));
            }
        }
        let above = |rule| if let Most(most) = rule { Some(noise(most + 1)) } else { None };
        for (method, field, name, rule, answer) in told(&h, above).await {
            let Most(most) = rule else { continue };
            let said = answer.as_ref().err().map(ToString::to_string).unwrap_or_default();
            let limit = if most > KEY - 10 { KEY } else { most };
            let length = if most > KEY - 10 { KEY + 1 } else { most + 1 };
            let names_them = [name, &limit.to_string(), &length.to_string()].iter().all(|part| said.contains(part));
            if !(said.starts_with("validation: InvalidInput: ") && names_them) {
                wrong.push(format!("{method}[{field}] above: {answer:?}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    async fn an_execution_with_long_words_is_claimed_and_ends(h) {
        let (namespace, tag) = (noise(20_000), noise(19_000));
        let (spaced, tagged) = (Namespace::new(namespace.as_str()), tag.clone());
        let id = h
            .create_with(|args| {
                args.namespace = spaced;
                args.tags = [("cairn.instance_id".to_owned(), tagged)].into();
                args.idempotency_key = Some(noise(18_000));
            })
            .await;
        let mut again = h.args();
        again.namespace = Namespace::new(namespace.as_str());
        again.idempotency_key = Some(noise(18_000));
        let answer = h.backend.create_execution(again).await.unwrap();
        assert!(matches!(answer, CreateExecutionResult::Duplicate { execution_id } if execution_id == id));
        let handle = h.claim("worker-a").await.expect("it is claimed");
        h.backend.progress(&handle, None, None).await.unwrap();
        h.backend.renew(&handle).await.unwrap();
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(h.completions(&id).await, [format!("success {namespace} {tag}")]);
    }

    async fn nothing_is_stored_of_what_is_refused(h) {
        let long = LaneId::new(noise(65));
        let said = refusal(h.backend.create_execution(put(h.args(), |a| a.lane_id = long)).await);
        assert_eq!(said, "validation: InvalidInput: lane_id: 65 bytes exceed the limit of 64");
        for lane in ["", "a\nb", "größe"] {
            let args = put(h.args(), |a| a.lane_id = LaneId::new(lane));
            let said = refusal(h.backend.create_execution(args).await);
            assert!(said.starts_with("validation: InvalidInput: lane_id: "), "{said}");
        }
        for table in ["ff_exec_core", "ff_lane_registry"] {
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
        }
        h.create_with(|args| args.lane_id = LaneId::new(noise(64))).await;
        assert_eq!(h.backend.list_lanes(None, 10).await.unwrap().lanes, [LaneId::new(noise(64))]);
    }

    async fn a_rate_or_a_backoff_that_is_no_number_is_refused(h) {
        for multiplier in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            let backoff =
                BackoffStrategy::Exponential { initial_delay_ms: 1, max_delay_ms: 2, multiplier, jitter: false };
            let retry_policy = Some(RetryPolicy { backoff, ..RetryPolicy::default() });
            let policy = Some(ExecutionPolicy { retry_policy, ..Default::default() });
            let said = refusal(h.backend.create_execution(put(h.args(), |a| a.policy = policy)).await);
            assert!(said.starts_with("validation: InvalidInput: policy.retry_policy.backoff.multiplier: "), "{said}");
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core").await, 0);
        let (_, handle) = h.created_and_claimed().await;
        for alpha in [f64::NAN, f64::INFINITY, -0.1, 1.1] {
            let config = BestEffortLiveConfig::new(1_000).with_ema_alpha(alpha);
            let frame = Frame::new(vec![1], FrameKind::Event).with_mode(StreamMode::BestEffortLive { config });
            let said = refusal(h.backend.append_frame(&handle, frame).await);
            assert!(said.starts_with("validation: InvalidInput: ema_alpha: "), "{said}");
        }
        assert_eq!(h.number("SELECT count(*) FROM ff_stream_frame").await, 0);
    }

    async fn a_retry_policy_that_cannot_be_read_ends_nothing(h) {
        let (id, claimed) = typed::running(&h).await;
        for policy in ["{", "[]", r#"{"max_retries":"1"}"#, r#"{"max_retries":1,"backoff":{"delay_ms":-1,"type":"fixed"}}"#] {
            let said = refusal(h.backend.fail_execution(typed::failing(&claimed, policy)).await);
            assert!(said.starts_with("validation: InvalidPolicyJson: retry_policy_json: "), "{policy}: {said}");
        }
        assert_eq!(h.lease_events(&id).await, ["acquired"]);
        let policy = r#"{"max_retries":1,"backoff":{"delay_ms":5,"type":"fixed"}}"#;
        let failed = h.backend.fail_execution(typed::failing(&claimed, policy)).await.unwrap();
        assert!(matches!(failed, FailExecutionResult::RetryScheduled { .. }), "{failed:?}");
    }
}
