//! Which operation of the engine answers which method of the trait.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use ff_core::backend::*;
use ff_core::capability::Capabilities;
use ff_core::contracts::*;
use ff_core::engine_backend::{EngineBackend, ExpirePhase, ReconcileCounts, SiblingCancelReconcileAction};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionKey};
use ff_core::state::PublicState;
use ff_core::stream_events::{CompletionSubscription, LeaseHistorySubscription, SignalDeliverySubscription};
use ff_core::stream_subscribe::StreamCursor as EventCursor;
use ff_core::types::*;

use super::Backend;
use super::traced::{traced, traced_as};
use crate::db::Dialect;
use crate::engine::claim::give_back::unless_dropped;
use crate::engine::{
    admission, attempt, budget, claim, dependency, describe, edge, execution, expiry, flow, flow_cancel, lease, named,
    operator, quota, resume, schedule, secret, server, sibling, signal, stream, suspend, tag, trim, waitpoint, worker,
};
use crate::events;

#[async_trait]
impl<D: Dialect> EngineBackend for Backend<D> {
    // The hot path: claim, work, end.
    async fn claim(
        &self,
        lane: &LaneId,
        capabilities: &CapabilitySet,
        policy: ClaimPolicy,
    ) -> Result<Option<Handle>, EngineError> {
        let wanted = claim::Wanted::new(lane, capabilities, policy);
        self.door().unless_closed(None, claim::next_within(self.engine(), &wanted)).await
    }
    async fn renew(&self, handle: &Handle) -> Result<LeaseRenewal, EngineError> {
        traced::<D, _>("renew", handle, lease::renew(self.engine(), handle)).await
    }
    async fn progress(&self, handle: &Handle, percent: Option<u8>, message: Option<String>) -> Result<(), EngineError> {
        traced::<D, _>("progress", handle, attempt::progress(self.engine(), handle, percent, message)).await
    }
    async fn append_frame(&self, handle: &Handle, frame: Frame) -> Result<AppendFrameOutcome, EngineError> {
        traced::<D, _>("append_frame", handle, stream::append(self.engine(), handle, &frame)).await
    }
    async fn complete(&self, handle: &Handle, payload: Option<Vec<u8>>) -> Result<(), EngineError> {
        traced::<D, _>("complete", handle, attempt::complete(self.engine(), handle, payload)).await
    }
    async fn fail(
        &self,
        handle: &Handle,
        reason: FailureReason,
        classification: FailureClass,
    ) -> Result<FailOutcome, EngineError> {
        traced::<D, _>("fail", handle, attempt::fail(self.engine(), handle, &reason, classification)).await
    }
    async fn cancel(&self, handle: &Handle, reason: &str) -> Result<(), EngineError> {
        traced::<D, _>("cancel", handle, attempt::cancel(self.engine(), handle, reason)).await
    }
    async fn delay(&self, handle: &Handle, delay_until: TimestampMs) -> Result<(), EngineError> {
        traced::<D, _>("delay", handle, attempt::delay(self.engine(), handle, delay_until)).await
    }
    async fn wait_children(&self, handle: &Handle) -> Result<(), EngineError> {
        traced::<D, _>("wait_children", handle, attempt::wait_children(self.engine(), handle)).await
    }
    async fn create_execution(&self, args: CreateExecutionArgs) -> Result<CreateExecutionResult, EngineError> {
        execution::create(self.engine(), &args).await
    }
    // Streams.
    async fn read_stream(
        &self,
        execution_id: &ExecutionId,
        attempt_index: AttemptIndex,
        from: StreamCursor,
        to: StreamCursor,
        count_limit: u64,
    ) -> Result<StreamFrames, EngineError> {
        stream::read(self.engine(), execution_id, attempt_index, &from, &to, count_limit).await
    }
    async fn tail_stream(
        &self,
        execution_id: &ExecutionId,
        attempt_index: AttemptIndex,
        after: StreamCursor,
        block_ms: u64,
        count_limit: u64,
        visibility: TailVisibility,
    ) -> Result<StreamFrames, EngineError> {
        stream::tail(self.engine(), execution_id, attempt_index, &after, block_ms, count_limit, visibility).await
    }
    async fn read_summary(
        &self,
        execution_id: &ExecutionId,
        attempt_index: AttemptIndex,
    ) -> Result<Option<SummaryDocument>, EngineError> {
        stream::read_summary(self.engine(), execution_id, attempt_index).await
    }
    // Executions: reads, tags, lists.
    async fn describe_execution(&self, id: &ExecutionId) -> Result<Option<ExecutionSnapshot>, EngineError> {
        describe::describe(self.engine(), id).await
    }
    async fn read_execution_info(&self, id: &ExecutionId) -> Result<Option<ExecutionInfo>, EngineError> {
        describe::info(self.engine(), id).await
    }
    async fn read_execution_state(&self, id: &ExecutionId) -> Result<Option<PublicState>, EngineError> {
        execution::read_state(self.engine(), id).await
    }
    async fn read_execution_context(&self, execution_id: &ExecutionId) -> Result<ExecutionContext, EngineError> {
        execution::read_context(self.engine(), execution_id).await
    }
    async fn get_execution_result(&self, id: &ExecutionId) -> Result<Option<Vec<u8>>, EngineError> {
        execution::read_result(self.engine(), id).await
    }
    async fn get_execution_namespace(&self, execution_id: &ExecutionId) -> Result<Option<String>, EngineError> {
        execution::read_namespace(self.engine(), execution_id).await
    }
    async fn read_current_attempt_index(&self, execution_id: &ExecutionId) -> Result<AttemptIndex, EngineError> {
        execution::read_current_attempt_index(self.engine(), execution_id).await
    }
    async fn read_total_attempt_count(&self, execution_id: &ExecutionId) -> Result<AttemptIndex, EngineError> {
        execution::read_total_attempt_count(self.engine(), execution_id).await
    }
    async fn resolve_execution_flow_id(&self, eid: &ExecutionId) -> Result<Option<FlowId>, EngineError> {
        execution::resolve_flow(self.engine(), eid).await
    }
    async fn read_exec_core_fields(
        &self,
        partition: Partition,
        execution_id: &ExecutionId,
        fields: &[&str],
    ) -> Result<HashMap<String, Option<String>>, EngineError> {
        execution::read_core_fields(self.engine(), &partition, execution_id, fields).await
    }
    async fn set_execution_tag(&self, execution_id: &ExecutionId, key: &str, value: &str) -> Result<(), EngineError> {
        tag::set_on_execution(self.engine(), execution_id, key, value).await
    }
    async fn get_execution_tag(&self, execution_id: &ExecutionId, key: &str) -> Result<Option<String>, EngineError> {
        tag::get_from_execution(self.engine(), execution_id, key).await
    }
    async fn list_executions(
        &self,
        partition: PartitionKey,
        cursor: Option<ExecutionId>,
        limit: usize,
    ) -> Result<ListExecutionsPage, EngineError> {
        execution::list(self.engine(), &partition, cursor.as_ref(), limit).await
    }
    async fn list_lanes(&self, cursor: Option<LaneId>, limit: usize) -> Result<ListLanesPage, EngineError> {
        execution::list_lanes(self.engine(), cursor.as_ref(), limit).await
    }
    async fn list_expired_leases(&self, args: ListExpiredLeasesArgs) -> Result<ListExpiredLeasesResult, EngineError> {
        lease::list_expired(self.engine(), &args).await
    }
    // Suspension and signals.
    async fn seed_waitpoint_hmac_secret(&self, args: SeedWaitpointHmacSecretArgs) -> Result<SeedOutcome, EngineError> {
        secret::seed(self.engine(), &args).await
    }
    async fn rotate_waitpoint_hmac_secret_all(
        &self,
        args: RotateWaitpointHmacSecretAllArgs,
    ) -> Result<RotateWaitpointHmacSecretAllResult, EngineError> {
        secret::rotate(self.engine(), &args).await
    }
    async fn suspend(&self, handle: &Handle, args: SuspendArgs) -> Result<SuspendOutcome, EngineError> {
        suspend::suspend(self.engine(), handle, &args).await
    }
    async fn suspend_by_triple(
        &self,
        exec_id: ExecutionId,
        triple: LeaseFence,
        args: SuspendArgs,
    ) -> Result<SuspendOutcome, EngineError> {
        suspend::suspend_by_triple(self.engine(), &exec_id, &triple, &args).await
    }
    async fn create_waitpoint(
        &self,
        handle: &Handle,
        waitpoint_key: &str,
        expires_in: Duration,
    ) -> Result<PendingWaitpoint, EngineError> {
        waitpoint::create(self.engine(), handle, waitpoint_key, expires_in).await
    }
    async fn read_waitpoint_token(
        &self,
        partition: PartitionKey,
        waitpoint_id: &WaitpointId,
    ) -> Result<Option<String>, EngineError> {
        waitpoint::read_token(self.engine(), &partition, waitpoint_id).await
    }
    async fn list_pending_waitpoints(
        &self,
        args: ListPendingWaitpointsArgs,
    ) -> Result<ListPendingWaitpointsResult, EngineError> {
        waitpoint::list_pending(self.engine(), &args).await
    }
    async fn list_suspended(
        &self,
        partition: PartitionKey,
        cursor: Option<ExecutionId>,
        limit: usize,
    ) -> Result<ListSuspendedPage, EngineError> {
        suspend::list(self.engine(), &partition, cursor.as_ref(), limit).await
    }
    async fn deliver_signal(&self, args: DeliverSignalArgs) -> Result<DeliverSignalResult, EngineError> {
        signal::deliver(self.engine(), &args).await
    }
    async fn deliver_approval_signal(
        &self,
        args: DeliverApprovalSignalArgs,
    ) -> Result<DeliverSignalResult, EngineError> {
        signal::deliver_approval(self.engine(), &args).await
    }
    async fn observe_signals(&self, handle: &Handle) -> Result<Vec<ResumeSignal>, EngineError> {
        signal::observe(self.engine(), handle).await
    }
    async fn close_waitpoint(
        &self,
        partition: Partition,
        _execution_id: &ExecutionId,
        waitpoint_id: &str,
        now_ms: TimestampMs,
    ) -> Result<(), EngineError> {
        waitpoint::close(self.engine(), &partition, waitpoint_id, now_ms).await
    }
    async fn expire_suspension(
        &self,
        partition: Partition,
        execution_id: &ExecutionId,
        _now_ms: TimestampMs,
    ) -> Result<(), EngineError> {
        resume::expire(self.engine(), &partition, execution_id).await
    }
    // Resumption and reclaim.
    async fn claim_from_resume_grant(&self, token: ResumeToken) -> Result<Option<Handle>, EngineError> {
        let claim = unless_dropped(self.engine(), |on| async move { claim::by_resume_grant(&on, &token).await });
        self.door().unless_closed(None, claim).await
    }
    async fn claim_resumed_execution(
        &self,
        args: ClaimResumedExecutionArgs,
    ) -> Result<ClaimResumedExecutionResult, EngineError> {
        unless_dropped(self.engine(), |on| async move { claim::resumed(&on, &args).await }).await
    }
    async fn resume_execution(&self, args: ResumeExecutionArgs) -> Result<ResumeExecutionResult, EngineError> {
        resume::resume(self.engine(), &args).await
    }
    async fn issue_reclaim_grant(&self, args: IssueReclaimGrantArgs) -> Result<IssueReclaimGrantOutcome, EngineError> {
        claim::reclaim::issue_grant(self.engine(), &args).await
    }
    async fn reclaim_execution(&self, args: ReclaimExecutionArgs) -> Result<ReclaimExecutionOutcome, EngineError> {
        unless_dropped(self.engine(), |on| async move { claim::reclaim::reclaim(&on, &args).await }).await
    }
    // Budgets, quotas and admission.
    async fn create_budget(&self, args: CreateBudgetArgs) -> Result<CreateBudgetResult, EngineError> {
        budget::create(self.engine(), &args).await
    }
    async fn reset_budget(&self, args: ResetBudgetArgs) -> Result<ResetBudgetResult, EngineError> {
        budget::reset(self.engine(), &args).await
    }
    async fn get_budget_status(&self, id: &BudgetId) -> Result<BudgetStatus, EngineError> {
        budget::status(self.engine(), id).await
    }
    async fn read_budget_usage_and_limits(&self, budget_id: &BudgetId) -> Result<BudgetUsageAndLimits, EngineError> {
        budget::read_usage_and_limits(self.engine(), budget_id).await
    }
    // A report needs no lease, so the handle may be anybody's.
    async fn report_usage(
        &self,
        _handle: &Handle,
        budget: &BudgetId,
        dimensions: UsageDimensions,
    ) -> Result<ReportUsageResult, EngineError> {
        budget::report(self.engine(), "report_usage", budget, &dimensions.custom, dimensions.dedup_key.as_deref()).await
    }
    async fn report_usage_admin(
        &self,
        budget: &BudgetId,
        args: ReportUsageAdminArgs,
    ) -> Result<ReportUsageResult, EngineError> {
        budget::report_admin(self.engine(), budget, &args).await
    }
    async fn record_spend(&self, args: RecordSpendArgs) -> Result<ReportUsageResult, EngineError> {
        budget::record_spend(self.engine(), &args).await
    }
    async fn release_budget(&self, args: ReleaseBudgetArgs) -> Result<(), EngineError> {
        budget::release(self.engine(), &args).await
    }
    async fn create_quota_policy(&self, args: CreateQuotaPolicyArgs) -> Result<CreateQuotaPolicyResult, EngineError> {
        quota::create(self.engine(), &args).await
    }
    async fn read_quota_policy_limits(
        &self,
        quota_policy_id: &QuotaPolicyId,
    ) -> Result<Option<QuotaPolicyLimits>, EngineError> {
        quota::read_limits(self.engine(), quota_policy_id).await
    }
    async fn check_admission(
        &self,
        quota_policy_id: &QuotaPolicyId,
        _dimension: &str,
        args: CheckAdmissionArgs,
    ) -> Result<CheckAdmissionResult, EngineError> {
        quota::admit(self.engine(), quota_policy_id, &args).await
    }
    async fn release_admission(&self, args: ReleaseAdmissionArgs) -> Result<ReleaseAdmissionResult, EngineError> {
        quota::release(self.engine(), &args).await
    }
    async fn block_execution_for_admission(
        &self,
        args: BlockExecutionForAdmissionArgs,
    ) -> Result<BlockExecutionForAdmissionOutcome, EngineError> {
        admission::block(self.engine(), &args).await
    }
    async fn block_route(&self, args: BlockRouteArgs) -> Result<BlockRouteOutcome, EngineError> {
        admission::block_route(self.engine(), &args).await
    }
    async fn unblock_execution(
        &self,
        partition: Partition,
        _lane_id: &LaneId,
        execution_id: &ExecutionId,
        expected_blocking_reason: &str,
        now_ms: TimestampMs,
    ) -> Result<(), EngineError> {
        admission::unblock(self.engine(), &partition, execution_id, expected_blocking_reason, now_ms).await
    }
    async fn reconcile_budget_counters(
        &self,
        partition: Partition,
        now_ms: TimestampMs,
    ) -> Result<ReconcileCounts, EngineError> {
        budget::reconcile(self.engine(), &partition, now_ms).await
    }
    async fn reconcile_quota_counters(
        &self,
        partition: Partition,
        now_ms: TimestampMs,
    ) -> Result<ReconcileCounts, EngineError> {
        quota::reconcile(self.engine(), &partition, now_ms).await
    }
    // Typed operations.
    async fn renew_lease(&self, args: RenewLeaseArgs) -> Result<RenewLeaseResult, EngineError> {
        let working = named::renew(self.engine(), &args);
        traced_as("renew_lease", &args.execution_id, args.attempt_index.0, working).await
    }
    async fn complete_execution(&self, args: CompleteExecutionArgs) -> Result<CompleteExecutionResult, EngineError> {
        let working = named::complete(self.engine(), &args);
        traced_as("complete_execution", &args.execution_id, args.attempt_index.0, working).await
    }
    async fn fail_execution(&self, args: FailExecutionArgs) -> Result<FailExecutionResult, EngineError> {
        let working = named::fail(self.engine(), &args);
        traced_as("fail_execution", &args.execution_id, args.attempt_index.0, working).await
    }
    async fn claim_execution(&self, args: ClaimExecutionArgs) -> Result<ClaimExecutionResult, EngineError> {
        unless_dropped(self.engine(), |on| async move { claim::by_grant(&on, &args).await }).await
    }
    async fn issue_grant_and_claim(&self, args: IssueGrantAndClaimArgs) -> Result<ClaimGrantOutcome, EngineError> {
        unless_dropped(self.engine(), |on| async move { claim::grant_and_claim(&on, &args).await }).await
    }
    // Scheduling.
    async fn evaluate_flow_eligibility(
        &self,
        args: EvaluateFlowEligibilityArgs,
    ) -> Result<EvaluateFlowEligibilityResult, EngineError> {
        schedule::evaluate(self.engine(), &args).await
    }
    async fn scan_eligible_executions(&self, args: ScanEligibleArgs) -> Result<Vec<ExecutionId>, EngineError> {
        schedule::scan(self.engine(), &args).await
    }
    async fn issue_claim_grant(&self, args: IssueClaimGrantArgs) -> Result<IssueClaimGrantOutcome, EngineError> {
        schedule::issue_grant(self.engine(), &args).await
    }
    async fn claim_for_worker(&self, args: ClaimForWorkerArgs) -> Result<ClaimForWorkerOutcome, EngineError> {
        let claim = unless_dropped(self.engine(), |on| async move { schedule::claim_for_worker(&on, &args).await });
        self.door().unless_closed(ClaimForWorkerOutcome::NoWork, claim).await
    }
    // Flows.
    async fn create_flow(&self, args: CreateFlowArgs) -> Result<CreateFlowResult, EngineError> {
        flow::create(self.engine(), &args).await
    }
    async fn add_execution_to_flow(
        &self,
        args: AddExecutionToFlowArgs,
    ) -> Result<AddExecutionToFlowResult, EngineError> {
        flow::add_execution(self.engine(), &args).await
    }
    async fn describe_flow(&self, id: &FlowId) -> Result<Option<FlowSnapshot>, EngineError> {
        flow::describe(self.engine(), id).await
    }
    async fn list_flows(
        &self,
        partition: PartitionKey,
        cursor: Option<FlowId>,
        limit: usize,
    ) -> Result<ListFlowsPage, EngineError> {
        flow::list(self.engine(), &partition, cursor.as_ref(), limit).await
    }
    async fn stage_dependency_edge(
        &self,
        args: StageDependencyEdgeArgs,
    ) -> Result<StageDependencyEdgeResult, EngineError> {
        edge::stage(self.engine(), &args).await
    }
    async fn apply_dependency_to_child(
        &self,
        args: ApplyDependencyToChildArgs,
    ) -> Result<ApplyDependencyToChildResult, EngineError> {
        edge::apply(self.engine(), &args).await
    }
    async fn set_edge_group_policy(
        &self,
        flow_id: &FlowId,
        downstream_execution_id: &ExecutionId,
        policy: EdgeDependencyPolicy,
    ) -> Result<SetEdgeGroupPolicyResult, EngineError> {
        edge::set_group_policy(self.engine(), flow_id, downstream_execution_id, &policy).await
    }
    async fn list_edges(&self, flow_id: &FlowId, direction: EdgeDirection) -> Result<Vec<EdgeSnapshot>, EngineError> {
        edge::list(self.engine(), flow_id, &direction).await
    }
    async fn describe_edge(&self, flow_id: &FlowId, edge_id: &EdgeId) -> Result<Option<EdgeSnapshot>, EngineError> {
        edge::describe(self.engine(), flow_id, edge_id).await
    }
    async fn project_flow_summary(
        &self,
        partition: Partition,
        flow_id: &FlowId,
        now_ms: TimestampMs,
    ) -> Result<bool, EngineError> {
        flow::project_summary(self.engine(), &partition, flow_id, now_ms).await
    }
    async fn set_flow_tag(&self, flow_id: &FlowId, key: &str, value: &str) -> Result<(), EngineError> {
        tag::set_on_flow(self.engine(), flow_id, key, value).await
    }
    async fn get_flow_tag(&self, flow_id: &FlowId, key: &str) -> Result<Option<String>, EngineError> {
        tag::get_from_flow(self.engine(), flow_id, key).await
    }
    // Dependencies between the members of a flow.
    async fn cascade_completion(&self, payload: &CompletionPayload) -> Result<CascadeOutcome, EngineError> {
        dependency::cascade(self.engine(), payload).await
    }
    async fn resolve_dependency(&self, args: ResolveDependencyArgs) -> Result<ResolveDependencyOutcome, EngineError> {
        dependency::resolve(self.engine(), &args).await
    }
    async fn drain_sibling_cancel_group(
        &self,
        flow_partition: Partition,
        flow_id: &FlowId,
        downstream_eid: &ExecutionId,
    ) -> Result<(), EngineError> {
        sibling::drain(self.engine(), &flow_partition, flow_id, downstream_eid).await
    }
    async fn reconcile_sibling_cancel_group(
        &self,
        flow_partition: Partition,
        flow_id: &FlowId,
        downstream_eid: &ExecutionId,
    ) -> Result<SiblingCancelReconcileAction, EngineError> {
        sibling::reconcile(self.engine(), &flow_partition, flow_id, downstream_eid).await
    }
    // Cancellation of flows.
    async fn cancel_flow(
        &self,
        id: &FlowId,
        policy: CancelFlowPolicy,
        _wait: CancelFlowWait,
    ) -> Result<CancelFlowResult, EngineError> {
        // Everything has happened by the answer: there is nothing to wait for.
        flow_cancel::cancel(self.engine(), id, policy).await
    }
    async fn cancel_flow_header(&self, args: CancelFlowArgs) -> Result<CancelFlowHeader, EngineError> {
        flow_cancel::cancel_header(self.engine(), &args).await
    }
    async fn ack_cancel_member(&self, flow_id: &FlowId, execution_id: &ExecutionId) -> Result<(), EngineError> {
        flow_cancel::ack_member(self.engine(), flow_id, execution_id).await
    }
    // Operator control.
    async fn cancel_execution(&self, args: CancelExecutionArgs) -> Result<CancelExecutionResult, EngineError> {
        operator::cancel(self.engine(), &args).await
    }
    async fn revoke_lease(&self, args: RevokeLeaseArgs) -> Result<RevokeLeaseResult, EngineError> {
        operator::revoke_lease(self.engine(), &args).await
    }
    async fn change_priority(&self, args: ChangePriorityArgs) -> Result<ChangePriorityResult, EngineError> {
        operator::change_priority(self.engine(), &args).await
    }
    async fn replay_execution(&self, args: ReplayExecutionArgs) -> Result<ReplayExecutionResult, EngineError> {
        operator::replay(self.engine(), &args).await
    }
    // Subscriptions. Tags of instances cannot be followed: nobody writes what happens to them.
    async fn subscribe_lease_history(
        &self,
        cursor: EventCursor,
        filter: &ScannerFilter,
    ) -> Result<LeaseHistorySubscription, EngineError> {
        events::lease_history(self.db(), self.lifetime(), &cursor, filter).await
    }
    async fn subscribe_completion(
        &self,
        cursor: EventCursor,
        filter: &ScannerFilter,
    ) -> Result<CompletionSubscription, EngineError> {
        events::completion(self.db(), self.lifetime(), &cursor, filter).await
    }
    async fn subscribe_signal_delivery(
        &self,
        cursor: EventCursor,
        filter: &ScannerFilter,
    ) -> Result<SignalDeliverySubscription, EngineError> {
        events::signal_delivery(self.db(), self.lifetime(), &cursor, filter).await
    }
    // Steps of the background sweeps.
    async fn mark_lease_expired_if_due(
        &self,
        partition: Partition,
        execution_id: &ExecutionId,
    ) -> Result<(), EngineError> {
        expiry::mark_lease_expired(self.engine(), &partition, execution_id).await
    }
    async fn promote_delayed(
        &self,
        partition: Partition,
        _lane: &LaneId,
        execution_id: &ExecutionId,
        now_ms: TimestampMs,
    ) -> Result<(), EngineError> {
        expiry::promote(self.engine(), &partition, execution_id, now_ms).await
    }
    async fn expire_execution(
        &self,
        partition: Partition,
        execution_id: &ExecutionId,
        phase: ExpirePhase,
        now_ms: TimestampMs,
    ) -> Result<(), EngineError> {
        expiry::expire(self.engine(), &partition, execution_id, phase, now_ms).await
    }
    async fn reconcile_execution_index(
        &self,
        partition: Partition,
        lanes: &[LaneId],
        filter: &ScannerFilter,
    ) -> Result<ReconcileCounts, EngineError> {
        expiry::check(self.engine(), &partition, lanes, filter).await
    }
    async fn trim_retention(
        &self,
        partition: Partition,
        lane_id: &LaneId,
        retention_ms: u64,
        now_ms: TimestampMs,
        batch_size: u32,
        filter: &ScannerFilter,
    ) -> Result<u32, EngineError> {
        trim::forget(self.engine(), &partition, lane_id, retention_ms, now_ms, batch_size, filter).await
    }
    // Workers.
    async fn register_worker(&self, args: RegisterWorkerArgs) -> Result<RegisterWorkerOutcome, EngineError> {
        worker::register(self.engine(), &args).await
    }
    async fn heartbeat_worker(&self, args: HeartbeatWorkerArgs) -> Result<HeartbeatWorkerOutcome, EngineError> {
        worker::heartbeat(self.engine(), &args).await
    }
    async fn mark_worker_dead(&self, args: MarkWorkerDeadArgs) -> Result<MarkWorkerDeadOutcome, EngineError> {
        worker::mark_dead(self.engine(), &args).await
    }
    async fn list_workers(&self, args: ListWorkersArgs) -> Result<ListWorkersResult, EngineError> {
        worker::list(self.engine(), &args).await
    }
    // The backend itself.
    async fn ping(&self) -> Result<(), EngineError> {
        server::ping(self.engine()).await
    }
    async fn server_time_ms(&self) -> Result<u64, EngineError> {
        server::time_ms(self.engine()).await
    }
    fn backend_label(&self) -> &'static str {
        D::LABEL
    }
    fn as_any(&self) -> &(dyn std::any::Any + 'static) {
        self
    }
    fn capabilities(&self) -> Capabilities {
        self.identity_and_supports()
    }
    async fn prepare(&self) -> Result<PrepareOutcome, EngineError> {
        self.prepared()
    }
    async fn shutdown_prepare(&self, grace: Duration) -> Result<(), EngineError> {
        self.drain(grace).await;
        Ok(())
    }
}
