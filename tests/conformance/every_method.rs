//! Every method of the trait is called once, on what it needs, and answers.
//!
//! [`the_table_has_every_method_of_the_trait`] compares the table with the trait's source, so that a method
//! that is new to the trait fails here until it has its line.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use ff_core::backend::{
    CancelFlowPolicy, CancelFlowWait, CapabilitySet, FailureClass, FailureReason, Frame, FrameKind, Handle,
    ScannerFilter, TailVisibility,
};
use ff_core::contracts::{
    BlockExecutionForAdmissionArgs, BlockingReason, CheckAdmissionArgs, DeliverApprovalSignalArgs,
    EdgeDependencyPolicy, EdgeDirection, EvaluateFlowEligibilityArgs, HeartbeatWorkerArgs, IssueGrantAndClaimArgs,
    ListPendingWaitpointsArgs, ListWorkersArgs, MarkWorkerDeadArgs, OnSatisfied, RecordSpendArgs, RegisterWorkerArgs,
    ReleaseAdmissionArgs, ReleaseBudgetArgs, ReportUsageAdminArgs, ResetBudgetArgs, RotateWaitpointHmacSecretAllArgs,
    ScanEligibleArgs, SeedWaitpointHmacSecretArgs, StreamCursor,
};
use ff_core::engine_backend::ExpirePhase;
use ff_core::engine_error::EngineError;
use ff_core::partition::{
    Partition, PartitionConfig, PartitionFamily, PartitionKey, budget_partition, quota_partition,
};
use ff_core::stream_subscribe::StreamCursor as EventCursor;
use ff_core::types::{
    AttemptIndex, BudgetId, EdgeId, ExecutionId, FlowId, LaneId, Namespace, QuotaPolicyId, TimestampMs, WorkerId,
    WorkerInstanceId,
};

use crate::dependency::{payload as completion, resolving};
use crate::harness::{Harness as Opened, LEASE_MS, on_every_database, policy};
use crate::suspend::{fresh, named, partition_of, signal, suspended, suspending, triple};
use crate::{
    admission, budget, dependency, edge, flow, flow_cancel, lease, operator, quota, reclaim, resume, schedule, typed,
};

/// A secret that nobody else installs.
pub(crate) const SECRET: &str = "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf";

/// The methods that are looked at beside the table: three that answer at once, and one after which nothing is claimed.
const BESIDE: [&str; 4] = ["as_any", "backend_label", "capabilities", "shutdown_prepare"];

/// The one method that nothing stands behind: nobody writes what happens to the tags of instances.
const ABSENT: &str = "subscribe_instance_tags";

/// The flags that are not named after a method, and what they speak of.
const GROUPS: [(&str, &str); 6] = [
    ("budget_admin", "create_budget"),
    ("quota_admin", "create_quota_policy"),
    ("cancel_flow_wait_timeout", "cancel_flow"),
    ("cancel_flow_wait_indefinite", "cancel_flow"),
    ("stream_durable_summary", "read_summary"),
    ("stream_best_effort_live", "tail_stream"),
];

/// The table: scene, method, arguments. Each line sets its scene in an empty lane and calls the method that it names.
macro_rules! calls {
    ($($scene:ident as $s:ident => $method:ident |$h:ident| ($($argument:expr),* $(,)?);)*) => {
        /// The methods of the table.
        const CALLED: &[&str] = &[$(stringify!($method)),*];

        /// What the methods of the table answer, in its order.
        pub(crate) async fn answers(h: &Opened) -> Vec<Result<(), EngineError>> {
            called(h, &Unwatched).await
        }

        /// The same, while somebody watches.
        pub(crate) async fn called(h: &Opened, watch: &impl Watch) -> Vec<Result<(), EngineError>> {
            let mut answers = Vec::new();
            $(answers.push(
                Box::pin(async {
                    let $h = h;
                    empty_lane($h).await;
                    let $s = $scene($h).await;
                    watch.begin().await;
                    let answer = $h.backend.$method($($argument),*).await.map(drop);
                    watch.end(stringify!($method), &answer).await;
                    answer
                })
                .await,
            );)*
            answers
        }
    };
}

/// Hears of each call when its scene is set, and of its answer.
pub(crate) trait Watch {
    async fn begin(&self);
    async fn end(&self, method: &'static str, answer: &Result<(), EngineError>);
}

/// Nobody watches.
struct Unwatched;

impl Watch for Unwatched {
    async fn begin(&self) {}
    async fn end(&self, _: &'static str, _: &Result<(), EngineError>) {}
}

calls! {
    // Work.
    created as _s => claim |h| (&lane(), &CapabilitySet::new::<_, String>([]), policy("worker"));
    claimed as s => renew |h| (&s.1);
    claimed as s => progress |h| (&s.1, Some(50), Some("half".to_owned()));
    claimed as s => append_frame |h| (&s.1, Frame::new(b"bytes".to_vec(), FrameKind::Event));
    claimed as s => complete |h| (&s.1, Some(b"result".to_vec()));
    claimed as s => fail |h| (&s.1, FailureReason::new("broken"), FailureClass::Transient);
    claimed as s => cancel |h| (&s.1, "no longer wanted");
    claimed as s => delay |h| (&s.1, later(h));
    claimed as s => wait_children |h| (&s.1);
    nothing as _s => create_execution |h| (h.args());
    // Streams.
    claimed as s => read_stream |h| (&s.0, AttemptIndex::new(0), StreamCursor::Start, StreamCursor::End, 10);
    claimed as s => tail_stream |h| (&s.0, AttemptIndex::new(0), StreamCursor::At("0-0".to_owned()), 0, 10, TailVisibility::All);
    claimed as s => read_summary |h| (&s.0, AttemptIndex::new(0));
    // Executions: reads, tags, lists.
    created as s => describe_execution |h| (&s);
    created as s => read_execution_info |h| (&s);
    created as s => read_execution_state |h| (&s);
    created as s => read_execution_context |h| (&s);
    completed as s => get_execution_result |h| (&s);
    created as s => get_execution_namespace |h| (&s);
    claimed as s => read_current_attempt_index |h| (&s.0);
    claimed as s => read_total_attempt_count |h| (&s.0);
    in_flow as s => resolve_execution_flow_id |h| (&s.down);
    created as s => read_exec_core_fields |h| (partition_of(&s), &s, &["public_state"]);
    created as s => set_execution_tag |h| (&s, "team.color", "blue");
    created as s => get_execution_tag |h| (&s, "team.color");
    created as s => list_executions |h| (PartitionKey::from(partition_of(&s)), None, 10);
    created as _s => list_lanes |h| (None, 10);
    abandoned as _s => list_expired_leases |h| (lease::listing(h.clock.now_ms()));
    // Suspension and signals.
    unseeded as _s => seed_waitpoint_hmac_secret |h| (SeedWaitpointHmacSecretArgs::new("every", SECRET));
    nothing as _s => rotate_waitpoint_hmac_secret_all |h| (RotateWaitpointHmacSecretAllArgs::new("next", SECRET, 1_000));
    claimed as s => suspend |h| (&s.1, suspending(h, fresh("key"), named("key", "go")));
    claimed as s => suspend_by_triple |h| (s.0.clone(), triple(&s.1), suspending(h, fresh("key"), named("key", "go")));
    claimed as s => create_waitpoint |h| (&s.1, "key", Duration::from_secs(1));
    suspended as s => read_waitpoint_token |h| (PartitionKey::from(partition_of(&s.id)), &s.details.waitpoint_id);
    suspended as s => list_pending_waitpoints |h| (ListPendingWaitpointsArgs::new(s.id.clone()));
    suspended as s => list_suspended |h| (PartitionKey::from(partition_of(&s.id)), None, 10);
    suspended as s => deliver_signal |h| (signal(h, &s, "go"));
    suspended as s => deliver_approval_signal |h| (DeliverApprovalSignalArgs::new(s.id.clone(), lane(), s.details.waitpoint_id.clone(), "approved", "once", 1_000, None, None));
    suspended as s => observe_signals |h| (&s.handle);
    suspended as s => close_waitpoint |h| (partition_of(&s.id), &s.id, &s.details.waitpoint_id.to_string(), later(h));
    suspended as s => expire_suspension |h| (partition_of(&s.id), &s.id, later(h));
    // Resumption and reclaim.
    resumable as s => claim_from_resume_grant |h| (lease::token(&s));
    resumable as s => claim_resumed_execution |h| (resume::claiming(&s));
    suspended as s => resume_execution |h| (resume::resuming(&s.id, 0));
    abandoned as s => issue_reclaim_grant |h| (reclaim::asking(&s));
    granted_again as s => reclaim_execution |h| (reclaim::using(&s));
    // Budgets, quotas and admission.
    nothing as _s => create_budget |h| (budget::definition(&BudgetId::new(), &[("tokens", 10, 5)], 0));
    budgeted as s => reset_budget |h| (ResetBudgetArgs { budget_id: s.clone(), now: later(h) });
    budgeted as s => get_budget_status |h| (&s);
    budgeted as s => read_budget_usage_and_limits |h| (&s);
    budgeted as s => report_usage |h| (&budget::garbage(), &s, budget::used(&[("tokens", 1)]));
    budgeted as s => report_usage_admin |h| (&s, ReportUsageAdminArgs::new(vec!["tokens".to_owned()], vec![1], later(h)));
    budgeted as s => record_spend |h| (RecordSpendArgs::new(s.clone(), some_id(), [("tokens".to_owned(), 1)].into(), "key"));
    budgeted as s => release_budget |h| (ReleaseBudgetArgs::new(s.clone(), some_id()));
    nothing as _s => create_quota_policy |h| (quota::definition(&QuotaPolicyId::new(), 10, 1, 1));
    limited as s => read_quota_policy_limits |h| (&s);
    limited as s => check_admission |h| (&s, "default", admission(h));
    limited as s => release_admission |h| (ReleaseAdmissionArgs::new(s.clone(), some_id()));
    created as s => block_execution_for_admission |h| (BlockExecutionForAdmissionArgs::new(s.clone(), lane(), partition_of(&s), BlockingReason::WaitingForQuota, None, later(h)));
    created as s => block_route |h| (admission::route(&s, "waiting_for_capable_worker"));
    blocked as s => unblock_execution |h| (partition_of(&s), &lane(), &s, "waiting_for_capable_worker", later(h));
    budgeted as s => reconcile_budget_counters |h| (budget_partition(&s, &PartitionConfig::default()), later(h));
    limited as s => reconcile_quota_counters |h| (quota_partition(&s, &PartitionConfig::default()), later(h));
    // Typed operations.
    typed_claim as s => renew_lease |h| (typed::renewing(&s));
    typed_claim as s => complete_execution |h| (typed::completing(h, &s));
    typed_claim as s => fail_execution |h| (typed::failing(&s, ""));
    granted as s => claim_execution |h| (schedule::claiming(h, &s));
    created as s => issue_grant_and_claim |h| (IssueGrantAndClaimArgs::new(s.clone(), lane(), 30_000));
    // Scheduling.
    created as s => evaluate_flow_eligibility |h| (EvaluateFlowEligibilityArgs { execution_id: s.clone() });
    created as s => scan_eligible_executions |h| (ScanEligibleArgs::new(lane(), partition_of(&s), 10));
    created as s => issue_claim_grant |h| (schedule::asking(h, &s, &[]));
    created as _s => claim_for_worker |h| (schedule::wanting(&[]));
    // Flows.
    nothing as _s => create_flow |h| (flow::creating(h, &FlowId::new()));
    joining as s => add_execution_to_flow |h| (flow::adding(h, &s.0, &s.1));
    in_flow as s => describe_flow |h| (&s.flow);
    in_flow as s => list_flows |h| (PartitionKey::from(s.partition()), None, 10);
    unrelated as s => stage_dependency_edge |h| (edge::staging(h, &s.0, &s.1, &s.2, s.3));
    staged as s => apply_dependency_to_child |h| (edge::applying(h, &s.flow, &s.edge, &s.up, &s.down));
    unrelated as s => set_edge_group_policy |h| (&s.0, &s.2, EdgeDependencyPolicy::any_of(OnSatisfied::let_run()));
    in_flow as s => list_edges |h| (&s.flow, EdgeDirection::Incoming { to_node: s.down.clone() });
    in_flow as s => describe_edge |h| (&s.flow, &s.edge);
    in_flow as s => project_flow_summary |h| (s.partition(), &s.flow, later(h));
    in_flow as s => set_flow_tag |h| (&s.flow, "team.color", "blue");
    in_flow as s => get_flow_tag |h| (&s.flow, "team.color");
    in_flow as s => cascade_completion |h| (&completion(h, &s.up, 0));
    in_flow as s => resolve_dependency |h| (resolving(h, &s.flow, &s.edge, &s.up, &s.down, "success"));
    in_flow as s => drain_sibling_cancel_group |h| (s.partition(), &s.flow, &s.down);
    in_flow as s => reconcile_sibling_cancel_group |h| (s.partition(), &s.flow, &s.down);
    in_flow as s => cancel_flow |h| (&s.flow, CancelFlowPolicy::CancelAll, CancelFlowWait::WaitIndefinite);
    in_flow as s => cancel_flow_header |h| (flow_cancel::asking(h, &s.flow, "cancel_all"));
    in_flow as s => ack_cancel_member |h| (&s.flow, &s.down);
    // Operator control.
    created as s => cancel_execution |h| (operator::cancelling(&s));
    claimed as s => revoke_lease |h| (operator::revoking(&s.0));
    runnable as s => change_priority |h| (operator::prioritizing(&s, 7));
    completed as s => replay_execution |h| (operator::replaying(&s));
    // Subscriptions.
    nothing as _s => subscribe_lease_history |h| (EventCursor::empty(), &ScannerFilter::NOOP);
    nothing as _s => subscribe_completion |h| (EventCursor::empty(), &ScannerFilter::NOOP);
    nothing as _s => subscribe_signal_delivery |h| (EventCursor::empty(), &ScannerFilter::NOOP);
    nothing as _s => subscribe_instance_tags |h| (EventCursor::empty());
    // Steps of the background sweeps.
    abandoned as s => mark_lease_expired_if_due |h| (partition_of(&s), &s);
    delayed as s => promote_delayed |h| (partition_of(&s), &lane(), &s, later(h));
    abandoned as s => expire_execution |h| (partition_of(&s), &s, ExpirePhase::AttemptTimeout, later(h));
    created as s => reconcile_execution_index |h| (partition_of(&s), &[lane()], &ScannerFilter::NOOP);
    completed as s => trim_retention |h| (partition_of(&s), &lane(), 0, later(h), 10, &ScannerFilter::NOOP);
    // Workers.
    nothing as _s => register_worker |h| (registration(h));
    registered as s => heartbeat_worker |h| (HeartbeatWorkerArgs::new(s.clone(), space(), later(h)));
    registered as s => mark_worker_dead |h| (MarkWorkerDeadArgs::new(s.clone(), space(), "gone".to_owned(), later(h)));
    registered as _s => list_workers |h| (in_space());
    // The backend itself.
    nothing as _s => ping |h| ();
    nothing as _s => server_time_ms |h| ();
    nothing as _s => prepare |h| ();
}

/// Leaves nothing to claim in the lane of the scenes.
pub(crate) async fn empty_lane(h: &Opened) {
    h.alter("UPDATE ff_exec_core SET lane_id = 'aside' WHERE lane_id = 'lane'").await;
}

pub(crate) fn lane() -> LaneId {
    LaneId::new("lane")
}

pub(crate) fn space() -> Namespace {
    Namespace::new("space")
}

pub(crate) fn later(h: &Opened) -> TimestampMs {
    TimestampMs::from_millis(h.clock.now_ms() + 1_000)
}

pub(crate) fn some_id() -> ExecutionId {
    crate::harness::id_in(1)
}

pub(crate) fn admission(h: &Opened) -> CheckAdmissionArgs {
    CheckAdmissionArgs {
        execution_id: some_id(),
        now: later(h),
        window_seconds: 10,
        rate_limit: 1,
        concurrency_cap: 1,
        jitter_ms: None,
    }
}

pub(crate) fn registration(h: &Opened) -> RegisterWorkerArgs {
    let (worker, lanes) = (WorkerId::new("pool"), [lane()].into());
    RegisterWorkerArgs::new(worker, instance(), lanes, BTreeSet::new(), 60_000, space(), later(h))
}

pub(crate) fn instance() -> WorkerInstanceId {
    WorkerInstanceId::new("pool-1")
}

pub(crate) fn in_space() -> ListWorkersArgs {
    let mut args = ListWorkersArgs::new();
    args.namespace = Some(space());
    args
}

/// The scene of a method that needs nothing.
pub(crate) struct Nothing;

pub(crate) async fn nothing(_h: &Opened) -> Nothing {
    Nothing
}

pub(crate) async fn unseeded(h: &Opened) -> Nothing {
    h.alter("DELETE FROM ff_waitpoint_hmac").await;
    Nothing
}

pub(crate) async fn created(h: &Opened) -> ExecutionId {
    h.create().await
}

pub(crate) async fn claimed(h: &Opened) -> (ExecutionId, Handle) {
    if h.number("SELECT count(*) FROM ff_waitpoint_hmac").await == 0 {
        crate::suspend::seed(h).await;
    }
    h.created_and_claimed().await
}

pub(crate) async fn completed(h: &Opened) -> ExecutionId {
    operator::completed(h).await
}

pub(crate) async fn runnable(h: &Opened) -> ExecutionId {
    operator::runnable(h).await
}

pub(crate) async fn delayed(h: &Opened) -> ExecutionId {
    let until = TimestampMs::from_millis(h.clock.now_ms() + 500);
    h.create_with(|args| args.delay_until = Some(until)).await
}

pub(crate) async fn abandoned(h: &Opened) -> ExecutionId {
    let (id, _) = h.created_and_claimed().await;
    h.pass_ms(LEASE_MS + 1);
    id
}

pub(crate) async fn granted_again(h: &Opened) -> ExecutionId {
    let id = abandoned(h).await;
    reclaim::granted(h, &id).await;
    id
}

pub(crate) async fn granted(h: &Opened) -> ExecutionId {
    let id = h.create().await;
    h.backend.issue_claim_grant(schedule::asking(h, &id, &[])).await.expect("a grant");
    id
}

pub(crate) async fn typed_claim(h: &Opened) -> ff_core::contracts::ClaimedExecution {
    typed::running(h).await.1
}

pub(crate) async fn resumable(h: &Opened) -> ExecutionId {
    resume::resumable(h).await.id
}

pub(crate) async fn blocked(h: &Opened) -> ExecutionId {
    let id = h.create().await;
    h.backend.block_route(admission::route(&id, "waiting_for_capable_worker")).await.expect("it is blocked");
    id
}

pub(crate) async fn budgeted(h: &Opened) -> BudgetId {
    budget::created(h, &[("tokens", 100, 50)]).await
}

pub(crate) async fn limited(h: &Opened) -> QuotaPolicyId {
    quota::created(h, 10, 1, 1).await
}

pub(crate) async fn registered(h: &Opened) -> WorkerInstanceId {
    h.backend.register_worker(registration(h)).await.expect("it is registered");
    instance()
}

/// A flow with two members and the edge between them.
pub(crate) struct InFlow {
    pub(crate) flow: FlowId,
    pub(crate) edge: EdgeId,
    pub(crate) up: ExecutionId,
    pub(crate) down: ExecutionId,
}

impl InFlow {
    pub(crate) fn partition(&self) -> Partition {
        Partition { family: PartitionFamily::Flow, index: self.down.partition() }
    }
}

pub(crate) async fn in_flow(h: &Opened) -> InFlow {
    let flow = flow::created(h).await;
    let (up, down) = (dependency::member(h, &flow).await, dependency::member(h, &flow).await);
    let edge = dependency::edge(h, &flow, &up, &down).await;
    InFlow { flow, edge, up, down }
}

pub(crate) async fn staged(h: &Opened) -> InFlow {
    let (flow, up, down, _) = unrelated(h).await;
    let edge = edge::staged(h, &flow, &up, &down).await;
    InFlow { flow, edge, up, down }
}

/// A flow, two members, and its revision.
pub(crate) async fn unrelated(h: &Opened) -> (FlowId, ExecutionId, ExecutionId, u64) {
    let flow = flow::created(h).await;
    let (up, down) = (flow::member(h, &flow).await, flow::member(h, &flow).await);
    let revision = edge::revision(h, &flow).await;
    (flow, up, down, revision)
}

pub(crate) async fn joining(h: &Opened) -> (FlowId, ExecutionId) {
    let flow = flow::created(h).await;
    let id = flow::stranger(h, &flow).await;
    (flow, id)
}

/// The flags of a backend, by their names.
fn flags(supports: ff_core::capability::Supports) -> Vec<(String, bool)> {
    let shown = format!("{supports:?}");
    let fields = shown.trim_start_matches("Supports {").trim_end_matches('}').split(',');
    let pairs = fields.filter_map(|field| field.trim().split_once(": "));
    pairs.map(|(name, value)| (name.to_owned(), value == "true")).collect()
}

/// A source file of ff-core: where this build has it from.
pub(crate) fn core_source(file: &str) -> String {
    // Dependencies of other systems were never fetched.
    let version = cargo(&["-vV"]);
    let version = String::from_utf8_lossy(&version);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let asked = cargo(&["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host]);
    let metadata: serde_json::Value = serde_json::from_slice(&asked).expect("cargo answers with JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let core = packages.iter().find(|package| package["name"] == "ff-core").expect("ff-core is a dependency");
    let manifest = PathBuf::from(core["manifest_path"].as_str().expect("a path"));
    std::fs::read_to_string(manifest.with_file_name("src").join(file)).expect("a source of ff-core")
}

/// What cargo answers.
fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked =
        Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    asked.stdout
}

/// The names of the methods that a trait declares.
fn methods_of(source: &str) -> BTreeSet<String> {
    let (_, rest) = source.split_once("\npub trait EngineBackend").expect("the trait");
    let (body, _) = rest.split_once("\n}\n").expect("its end");
    let heads = body.lines().filter_map(|line| {
        let head = line.strip_prefix("    ")?;
        head.strip_prefix("async fn ").or_else(|| head.strip_prefix("fn "))
    });
    heads.map(|head| head.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

#[test]
fn the_table_has_every_method_of_the_trait() {
    let called: BTreeSet<String> = CALLED.iter().chain(&BESIDE).map(|name| (*name).to_owned()).collect();
    assert_eq!(called.len(), CALLED.len() + BESIDE.len(), "each method has one line");
    let declared = methods_of(&core_source("engine_backend.rs"));
    let missing: Vec<_> = declared.difference(&called).collect();
    assert!(missing.is_empty(), "the trait has methods without a line in the table: {missing:?}");
    assert_eq!(called, declared, "the table names methods that the trait does not have");
}

on_every_database! {
    async fn every_method_answers_and_the_capabilities_say_so(h) {
        let answers = answers(&h).await;
        let mut refused = Vec::new();
        for (method, answer) in CALLED.iter().zip(answers) {
            if let Err(error) = answer {
                refused.push((*method, matches!(error, EngineError::Unavailable { .. }), error.to_string()));
            }
        }
        let [(method, is_unavailable, _)] = refused.as_slice() else { panic!("{refused:#?}") };
        assert_eq!((*method, *is_unavailable), (ABSENT, true));

        // Workers of all namespaces are listed by neither, as declared.
        match h.backend.list_workers(ListWorkersArgs::new()).await {
            Err(EngineError::Unavailable { op }) => assert_eq!(op, h.declared().listing_across_namespaces),
            other => panic!("{other:?}"),
        }

        assert_eq!(h.backend.backend_label(), h.declared().label);
        assert!(!h.backend.as_any().is::<()>());
        let flags = flags(h.backend.capabilities().supports);
        assert!(flags.iter().any(|(name, _)| name == "list_workers"), "{flags:?}");
        for (flag, is_set) in flags {
            let method = GROUPS.iter().find(|(group, _)| *group == flag).map_or(flag.as_str(), |(_, method)| method);
            assert!(CALLED.contains(&method), "the flag {flag} speaks of no method");
            let is_understated = h.declared().understated.contains(&flag.as_str());
            assert_eq!(is_set, method != ABSENT && !is_understated, "the flag {flag}");
        }
    }
}
