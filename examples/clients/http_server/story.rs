//! What the caller and the worker do, chapter by chapter.

use ff_core::contracts::{
    AddExecutionToFlowArgs, ApplyDependencyToChildArgs, CancelExecutionArgs, CancelFlowArgs, CreateBudgetArgs,
    CreateFlowArgs, CreateQuotaPolicyArgs, DeliverSignalArgs, ReclaimExecutionArgs, ReclaimExecutionOutcome,
    ResumeCondition, ResumePolicy, SignalMatcher, StageDependencyEdgeArgs, SuspensionReasonCode,
};
use ff_core::partition::{Partition, PartitionConfig, PartitionFamily, PartitionKey};
use ff_core::types::{
    AttemptId, AttemptIndex, BudgetId, CancelSource, EdgeId, ExecutionId, FlowId, LeaseId, Namespace, QuotaPolicyId,
    SignalId, TimestampMs, WaitpointId, WaitpointToken,
};
use ff_sdk::admin::{IssueReclaimGrantRequest, IssueReclaimGrantResponse};
use ff_sdk::task::ClaimedTask;
use ff_sdk::{FlowFabricAdminClient, FlowFabricWorker, ResumeGrant};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json, to_value};

use crate::api::Api;
use crate::shared::{Failure, LEASE_MS, Patience, Store, execution, lane, rotate_secret, tell};

/// Nobody gets in without the token, and what is not there is not found.
pub(crate) async fn health(api: &Api, url: &str) -> Result<(), Failure> {
    let healthy = reqwest::get(format!("{url}/healthz")).await?;
    assert_eq!(healthy.status(), StatusCode::OK);
    let stranger = reqwest::get(format!("{url}/v1/executions?partition=0")).await?;
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    let nobody = execution("nobody").execution_id.to_string();
    for path in [&["executions", nobody.as_str()][..], &["executions", &nobody, "state"]] {
        let (status, _) = api.call(Method::GET, path, &[], None).await?;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
    tell("", "it is healthy, and it knows whom it may answer");
    Ok(())
}

/// Prometheus reads what the chapters before did, and how much there is.
pub(crate) async fn measured(api: &Api, url: &str) -> Result<(), Failure> {
    // Of a queue in which nothing is there is nothing to tell.
    create(api, "left").await?;
    let waiting = Patience::begin();
    loop {
        let text = reqwest::get(format!("{url}/metrics")).await?.error_for_status()?.text().await?;
        let has = |name: &str| text.lines().any(|line| line.starts_with(name) && !line.ends_with(" 0"));
        let names = ["ff_completions_total", "ff_sweep_duration_seconds_bucket", "ff_queue_depth"];
        if names.into_iter().all(has) {
            tell("", "Prometheus reads completions, sweeps and depths at /metrics");
            return Ok(());
        }
        waiting.more(|| format!("/metrics lacks some of {names:?}:\n{text}")).await?;
    }
}

/// Creates an execution, twice, which makes one.
async fn create(api: &Api, kind: &str) -> Result<ExecutionId, Failure> {
    let args = execution(kind);
    let body = to_value(&args)?;
    let created = api.post(StatusCode::CREATED, &["executions"], &body).await?;
    assert_eq!(created["Created"]["execution_id"], json!(args.execution_id), "{created}");
    let again = api.post(StatusCode::OK, &["executions"], &body).await?;
    assert_eq!(again["Duplicate"]["execution_id"], json!(args.execution_id), "{again}");
    tell("caller", &format!("creates {kind} as {}", args.execution_id));
    Ok(args.execution_id)
}

/// Asks the server for a task until there is one; the grant is used on the backend.
async fn claim(admin: &FlowFabricAdminClient, worker: &FlowFabricWorker) -> Result<ClaimedTask, Failure> {
    let waiting = Patience::begin();
    loop {
        if let Some(task) = worker.claim_via_server(admin, &lane(), 30_000).await? {
            tell(
                worker.config().worker_id.as_str(),
                &format!("claims {} by the server's grant", task.execution_kind()),
            );
            return Ok(task);
        }
        waiting.more(|| "no task came".to_owned()).await?;
    }
}

async fn state(api: &Api, id: &ExecutionId, expected: &str) -> Result<(), Failure> {
    let state = api.get(&["executions", &id.to_string(), "state"], &[]).await?;
    if state != expected {
        return Err(format!("{id} is {state}, not {expected}").into());
    }
    tell("caller", &format!("reads that it is {expected}"));
    Ok(())
}

/// From creation through an approval to the result.
pub(crate) async fn approval(
    api: &Api,
    admin: &FlowFabricAdminClient,
    north: &FlowFabricWorker,
) -> Result<(), Failure> {
    rotate_secret(admin).await?;
    let id = create(api, "publish").await?;
    let id_text = id.to_string();
    state(api, &id, "waiting").await?;
    let info = api.get(&["executions", &id_text], &[]).await?;
    assert_eq!((&info["lane_id"], &info["priority"]), (&json!(lane().as_str()), &json!(0)), "{info}");
    listed(api, &id).await?;
    let task = claim(admin, north).await?;
    assert_eq!(task.execution_id(), &id);
    state(api, &id, "active").await?;
    task.append_frame("line", b"page 1", None).await?;
    stream(api, &id_text).await?;
    let condition = ResumeCondition::Single {
        waitpoint_key: "approval".to_owned(),
        matcher: SignalMatcher::ByName("approved".to_owned()),
    };
    task.suspend(SuspensionReasonCode::WaitingForApproval, condition, None, ResumePolicy::normal()).await?;
    state(api, &id, "suspended").await?;

    let (waitpoint, token) = waitpoint(api, &id_text).await?;
    let signal = signal(&id, &waitpoint, &token);
    let refused = DeliverSignalArgs { waitpoint_token: WaitpointToken::new("k:00"), ..signal.clone() };
    let path = ["executions", id_text.as_str(), "signal"];
    let (status, _) = api.call(Method::POST, &path, &[], Some(&to_value(&refused)?)).await?;
    assert_eq!(status, StatusCode::BAD_REQUEST, "a token that nobody signed");
    let accepted = api.post(StatusCode::OK, &path, &to_value(&signal)?).await?;
    assert_eq!(accepted["Accepted"]["effect"], "resume_condition_satisfied", "{accepted}");
    tell("caller", "approves");

    let partition = PartitionKey::from(Partition { family: PartitionFamily::Execution, index: id.partition() });
    let until_ms = u64::try_from(TimestampMs::now().0)? + 60_000;
    let task = north.claim_from_resume_grant(ResumeGrant::new(id.clone(), partition, String::new(), until_ms, lane()));
    let task = task.await?;
    assert_eq!(task.resume_signals().await?.len(), 1);
    task.complete(Some(b"https://example.org/report".to_vec())).await?;
    state(api, &id, "completed").await?;
    let (status, result) = api.call(Method::GET, &["executions", &id_text, "result"], &[], None).await?;
    assert_eq!((status, result.as_slice()), (StatusCode::OK, &b"https://example.org/report"[..]));

    api.post(StatusCode::OK, &["executions", &id_text, "replay"], &json!({})).await?;
    api.put(&["executions", &id_text, "priority"], &json!({ "new_priority": 7 })).await?;
    assert_eq!(api.get(&["executions", &id_text], &[]).await?["priority"], 7);
    let task = claim(admin, north).await?;
    assert_eq!(task.execution_id(), &id);
    task.complete(None).await?;
    tell("caller", "had it replayed");
    Ok(())
}

/// The execution is in the pages of its partition.
async fn listed(api: &Api, id: &ExecutionId) -> Result<(), Failure> {
    let partition = id.partition().to_string();
    let mut cursor = String::new();
    loop {
        let query = [("partition", partition.as_str()), ("limit", "100"), ("cursor", &cursor)];
        let page = api.get(&["executions"], &query).await?;
        let ids = page["executions"].as_array().ok_or("a page has ids")?;
        if ids.contains(&json!(id)) {
            return Ok(());
        }
        cursor = page["next_cursor"].as_str().ok_or("the execution is not listed")?.to_owned();
    }
}

/// The output is read, and followed.
async fn stream(api: &Api, id: &str) -> Result<(), Failure> {
    let path = ["executions", id, "attempts", "0", "stream"];
    let read = api.get(&path, &[]).await?;
    assert_eq!(read["count"], 1, "{read}");
    let first = read["frames"][0]["id"].as_str().ok_or("a frame has an id")?;
    let path = ["executions", id, "attempts", "0", "stream", "tail"];
    let from_start = api.get(&path, &[("after", "0-0"), ("block_ms", "1000")]).await?;
    assert_eq!(from_start["frames"], read["frames"]);
    let nothing_new = api.get(&path, &[("after", first), ("block_ms", "0")]).await?;
    assert_eq!(nothing_new["count"], 0);
    tell("caller", "reads the output");
    Ok(())
}

/// The open waitpoint, and its token, which only an operator sees.
async fn waitpoint(api: &Api, id: &str) -> Result<(WaitpointId, WaitpointToken), Failure> {
    let pending = api.get(&["executions", id, "pending-waitpoints"], &[]).await?;
    let [only] = pending.as_array().ok_or("a list")?.as_slice() else {
        return Err(format!("one waitpoint, not {pending}").into());
    };
    let waitpoint_id = only["waitpoint_id"].as_str().ok_or("a waitpoint has an id")?;
    let path = ["executions", id, "waitpoints", waitpoint_id, "token"];
    let token = api.get(&path, &[]).await?;
    let token = token["token"].as_str().ok_or("a token")?;
    Ok((WaitpointId::parse(waitpoint_id)?, WaitpointToken::new(token)))
}

fn signal(id: &ExecutionId, waitpoint: &WaitpointId, token: &WaitpointToken) -> DeliverSignalArgs {
    DeliverSignalArgs {
        execution_id: id.clone(),
        waitpoint_id: waitpoint.clone(),
        signal_id: SignalId::new(),
        signal_name: "approved".to_owned(),
        signal_category: "approval".to_owned(),
        source_type: "human".to_owned(),
        source_identity: "reviewer".to_owned(),
        payload: Some(b"looks good".to_vec()),
        payload_encoding: None,
        correlation_id: None,
        idempotency_key: None,
        target_scope: "waitpoint".to_owned(),
        created_at: None,
        dedup_ttl_ms: None,
        resume_delay_ms: None,
        max_signals_per_execution: None,
        signal_maxlen: None,
        waitpoint_token: token.clone(),
        now: TimestampMs::now(),
    }
}

/// Revokes a lease and gives the execution to another worker; cancels another execution.
pub(crate) async fn control(
    api: &Api,
    admin: &FlowFabricAdminClient,
    backend: &Store,
    north: &FlowFabricWorker,
) -> Result<(), Failure> {
    let id = create(api, "index").await?;
    let id_text = id.to_string();
    let lost = claim(admin, north).await?;
    api.post(StatusCode::OK, &["executions", &id_text, "revoke-lease"], &json!({})).await?;
    tell("caller", "revokes the lease");
    let refused = lost.complete(None).await;
    assert!(refused.is_err(), "the worker has lost it");
    let south = crate::shared::worker("south", backend).await?;
    let config = south.config();
    let asked = IssueReclaimGrantRequest {
        worker_id: config.worker_id.to_string(),
        worker_instance_id: config.worker_instance_id.to_string(),
        lane_id: lane().to_string(),
        capability_hash: None,
        grant_ttl_ms: 30_000,
        route_snapshot_json: None,
        admission_summary: None,
        worker_capabilities: Vec::new(),
    };
    let granted: IssueReclaimGrantResponse = admin.issue_reclaim_grant(&id_text, asked).await?;
    let grant = granted.into_grant()?;
    let using = ReclaimExecutionArgs::new(
        id.clone(),
        config.worker_id.clone(),
        config.worker_instance_id.clone(),
        lane(),
        None,
        LeaseId::new(),
        LEASE_MS,
        AttemptId::new(),
        String::new(),
        None,
        north.config().worker_instance_id.clone(),
        AttemptIndex::new(0),
    );
    match south.claim_from_reclaim_grant(grant, using).await? {
        ReclaimExecutionOutcome::Claimed(handle) => backend.complete(&handle, None).await?,
        other => return Err(format!("{other:?}").into()),
    }
    tell("south", "takes it over");
    state(api, &id, "completed").await?;

    let id = create(api, "upload").await?;
    let id_text = id.to_string();
    let cancelling = CancelExecutionArgs {
        execution_id: id.clone(),
        reason: "not needed".to_owned(),
        source: CancelSource::OperatorOverride,
        lease_id: None,
        lease_epoch: None,
        attempt_id: None,
        now: TimestampMs::now(),
    };
    let path = ["executions", id_text.as_str(), "cancel"];
    let cancelled = api.post(StatusCode::OK, &path, &to_value(&cancelling)?).await?;
    assert_eq!(cancelled["Cancelled"]["execution_id"], json!(id), "{cancelled}");
    state(api, &id, "cancelled").await?;
    let other = CancelExecutionArgs { execution_id: execution("other").execution_id, ..cancelling };
    let (status, _) = api.call(Method::POST, &path, &[], Some(&to_value(&other)?)).await?;
    assert_eq!(status, StatusCode::BAD_REQUEST, "the path names another execution than the body");
    Ok(())
}

/// Creates an execution as a flow's member.
async fn member(api: &Api, flow: &FlowId, partitions: &PartitionConfig, kind: &str) -> Result<ExecutionId, Failure> {
    let mut args = execution(kind);
    args.execution_id = ExecutionId::for_flow(flow, partitions);
    args.partition_id = args.execution_id.partition();
    api.post(StatusCode::CREATED, &["executions"], &to_value(&args)?).await?;
    let joining = AddExecutionToFlowArgs {
        flow_id: flow.clone(),
        execution_id: args.execution_id.clone(),
        now: TimestampMs::now(),
    };
    api.post(StatusCode::CREATED, &["flows", &flow.to_string(), "members"], &to_value(&joining)?).await?;
    Ok(args.execution_id)
}

/// Two steps, the second after the first; then the flow is cancelled.
pub(crate) async fn flow(
    api: &Api,
    admin: &FlowFabricAdminClient,
    north: &FlowFabricWorker,
    partitions: &PartitionConfig,
) -> Result<(), Failure> {
    let flow = FlowId::new();
    let creating = CreateFlowArgs {
        flow_id: flow.clone(),
        flow_kind: "report".to_owned(),
        namespace: Namespace::new("clients"),
        now: TimestampMs::now(),
    };
    api.post(StatusCode::CREATED, &["flows"], &to_value(&creating)?).await?;
    let first = member(api, &flow, partitions, "collect").await?;
    let second = member(api, &flow, partitions, "print").await?;
    let edge_id = EdgeId::new();
    let staging = StageDependencyEdgeArgs {
        flow_id: flow.clone(),
        edge_id: edge_id.clone(),
        upstream_execution_id: first.clone(),
        downstream_execution_id: second.clone(),
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: None,
        expected_graph_revision: 2,
        now: TimestampMs::now(),
    };
    let flow_text = flow.to_string();
    let staged = api.post(StatusCode::CREATED, &["flows", &flow_text, "edges"], &to_value(&staging)?).await?;
    let applying = ApplyDependencyToChildArgs {
        flow_id: flow.clone(),
        edge_id,
        downstream_execution_id: second.clone(),
        upstream_execution_id: first.clone(),
        graph_revision: staged["Staged"]["new_graph_revision"].as_u64().ok_or("a revision")?,
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: None,
        now: TimestampMs::now(),
    };
    api.post(StatusCode::OK, &["flows", &flow_text, "edges", "apply"], &to_value(&applying)?).await?;
    state(api, &second, "waiting_children").await?;

    let task = claim(admin, north).await?;
    assert_eq!(task.execution_id(), &first, "the second step waits for the first");
    task.complete(None).await?;
    let task = claim(admin, north).await?;
    assert_eq!(task.execution_id(), &second, "and follows it");

    let cancelling = CancelFlowArgs {
        flow_id: flow.clone(),
        reason: "not needed".to_owned(),
        cancellation_policy: "cancel_all".to_owned(),
        now: TimestampMs::now(),
    };
    let path = ["flows", flow_text.as_str(), "cancel"];
    let body = to_value(&cancelling)?;
    let (status, answer) = api.call(Method::POST, &path, &[("wait", "true")], Some(&body)).await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["Cancelled"]["member_execution_ids"], json!([second]), "{answer}");
    tell("caller", "cancels the flow");
    assert!(task.complete(None).await.is_err(), "the worker has lost it");
    state(api, &first, "completed").await?;
    state(api, &second, "cancelled").await
}

/// Usage is counted up to the limit and starts again after a reset.
pub(crate) async fn limits(api: &Api) -> Result<(), Failure> {
    let creating = CreateBudgetArgs {
        budget_id: BudgetId::new(),
        scope_type: "tenant".to_owned(),
        scope_id: "one".to_owned(),
        enforcement_mode: "strict".to_owned(),
        on_hard_limit: "fail".to_owned(),
        on_soft_limit: "warn".to_owned(),
        reset_interval_ms: 60_000,
        dimensions: vec!["tokens".to_owned()],
        hard_limits: vec![100],
        soft_limits: vec![50],
        now: TimestampMs::now(),
    };
    let budget = creating.budget_id.to_string();
    api.post(StatusCode::CREATED, &["budgets"], &to_value(&creating)?).await?;
    for (tokens, expected) in [(40, "Ok"), (20, "SoftBreach"), (60, "HardBreach")] {
        let body = json!({ "dimensions": { "tokens": tokens }, "now": TimestampMs::now() });
        let answer = api.post(StatusCode::OK, &["budgets", &budget, "usage"], &body).await?;
        let said = answer.as_str().or_else(|| answer.as_object()?.keys().next().map(String::as_str));
        assert_eq!(said, Some(expected), "{answer}");
    }
    let status = api.get(&["budgets", &budget], &[]).await?;
    assert_eq!(status["usage"]["tokens"], 60, "{status}");
    api.post(StatusCode::OK, &["budgets", &budget, "reset"], &json!({})).await?;
    let status = api.get(&["budgets", &budget], &[]).await?;
    assert_eq!(status["usage"]["tokens"], 0, "{status}");
    let quota = CreateQuotaPolicyArgs {
        quota_policy_id: QuotaPolicyId::new(),
        window_seconds: 60,
        max_requests_per_window: 10,
        max_concurrent: 2,
        now: TimestampMs::now(),
    };
    api.post(StatusCode::CREATED, &["quotas"], &to_value(&quota)?).await?;
    tell("caller", "spends a budget up to its limit and resets it");
    Ok(())
}
