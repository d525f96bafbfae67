//! Creating executions, claiming them, and what a worker does with its handle.

use ff_core::backend::{
    BestEffortLiveConfig, CapabilitySet, ClaimPolicy, FailureClass, FailureReason, Frame, FrameKind, Handle, PatchKind,
    StreamMode,
};
use ff_core::contracts::{CreateExecutionArgs, CreateExecutionResult};
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy, RoutingRequirements, TimeoutPolicy};
use ff_core::types::{LaneId, WorkerId, WorkerInstanceId};

use super::{NOTHING, operations};
use crate::numbers::Numbers;
use crate::side::{Side, capabilities, lane, namespace, worker};

operations! {
    100 create: |s, n| {
        let args = creation(s, n);
        create(s, args).await
    };
    4 create_again: |s, n| {
        let (mut args, id) = (creation(s, n), s.execution(n));
        args.partition_id = id.partition();
        args.execution_id = id;
        create(s, args).await
    };
    120 claim: |s, n| claim(s, n).await;
    60 a_claimed_execution: |s, n| match fresh_lease(s).await {
        Some(handle) => s.told_of(&crate::harness::payload(&handle)),
        None => NOTHING.to_owned(),
    };
    12 renew: |s, n| match s.handle(n) {
        Some(handle) => { let r = s.backend.renew(&handle).await; s.told(&r) }
        None => NOTHING.to_owned(),
    };
    20 progress: |s, n| match s.handle(n) {
        Some(handle) => {
            let percent = n.of([None, Some(50), Some(100), Some(255)]);
            let message = n.of([None, Some("half way"), Some("")]).map(str::to_owned);
            let r = s.backend.progress(&handle, percent, message).await;
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    40 append: |s, n| match s.handle(n) {
        Some(handle) => {
            let frame = frame(n);
            let r = s.backend.append_frame(&handle, frame).await;
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    40 complete: |s, n| match s.handle(n) {
        Some(handle) => {
            let result = n.of([None, Some(&b"result"[..]), Some(&[]), Some(&[0, 255])]);
            let r = s.backend.complete(&handle, result.map(<[u8]>::to_vec)).await;
            ended(s, &handle, r.is_ok());
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    40 fail: |s, n| match s.handle(n) {
        Some(handle) => {
            let class = n.of([
                FailureClass::Transient, FailureClass::Permanent, FailureClass::InfraCrash, FailureClass::Timeout,
                FailureClass::Cancelled,
            ]);
            let reason = match n.one_in(3) {
                true => FailureReason::with_detail("broken", vec![1, 2]),
                false => FailureReason::new("broken"),
            };
            let r = s.backend.fail(&handle, reason, class).await;
            ended(s, &handle, r.is_ok());
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    8 cancel: |s, n| match s.handle(n) {
        Some(handle) => {
            let r = s.backend.cancel(&handle, n.of(["no longer wanted", ""])).await;
            ended(s, &handle, r.is_ok());
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    16 delay: |s, n| match s.handle(n) {
        Some(handle) => {
            let until = s.in_ms(n.of([1_000, 0, -5, 60_000]));
            let r = s.backend.delay(&handle, until).await;
            ended(s, &handle, r.is_ok());
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    8 wait_children: |s, n| match s.handle(n) {
        Some(handle) => {
            let r = s.backend.wait_children(&handle).await;
            ended(s, &handle, r.is_ok());
            s.told(&r)
        }
        None => NOTHING.to_owned(),
    };
    6 keep_using_a_spent_handle: |s, n| match n.from(&s.known.spent).cloned() {
        Some(handle) => {
            let mut told = Vec::new();
            let r = s.backend.renew(&handle).await;
            told.push(s.told(&r));
            let r = s.backend.progress(&handle, Some(1), None).await;
            told.push(s.told(&r));
            let r = s.backend.append_frame(&handle, Frame::new(b"late".to_vec(), FrameKind::Event)).await;
            told.push(s.told(&r));
            let r = s.backend.observe_signals(&handle).await;
            told.push(s.told(&r));
            told.join("; ")
        }
        None => NOTHING.to_owned(),
    };
    40 pass_time: |s, n| {
        let ms = n.of([1, 10, 100, 1_000, 5_000, 30_001, 61_000, 600_000]);
        s.pass_ms(ms);
        format!("{ms} ms later")
    };
}

/// A lease of a new execution that is alone on its lane.
pub(super) async fn fresh_lease(s: &mut Side) -> Option<Handle> {
    let args = in_own_lane(creation(s, &mut Numbers::new([0; crate::numbers::PER_STEP])));
    let lane = args.lane_id.clone();
    create(s, args).await;
    lease(s, &lane).await
}

/// The same execution in a lane where no other is, so that a claim finds it.
pub(super) fn in_own_lane(mut args: CreateExecutionArgs) -> CreateExecutionArgs {
    args.lane_id = LaneId::new(format!("lane of {}", args.execution_id));
    args
}

/// Claims what is in a lane, and keeps the handle.
pub(super) async fn lease(s: &mut Side, lane: &LaneId) -> Option<Handle> {
    let policy = ClaimPolicy::new(WorkerId::new("a"), WorkerInstanceId::new("a-1"), 30_000, None);
    let claimed = s.backend.claim(lane, &CapabilitySet::new(std::iter::empty::<&str>()), policy).await;
    let handle = claimed.ok().flatten()?;
    s.keep(&handle);
    Some(handle)
}

/// Notes that a handle has done what it was for.
fn ended(s: &mut Side, handle: &Handle, is_done: bool) {
    if is_done {
        s.spend(handle);
    }
}

/// Claims, and keeps the handle.
pub(super) async fn claim(s: &mut Side, n: &mut Numbers) -> String {
    let ((worker, instance), lane) = (worker(n), lane(n));
    let capabilities = CapabilitySet::new(n.of([&["gpu", "Ram", "more"][..], &[], &["gpu"]]).iter().copied());
    let policy = ClaimPolicy::new(worker, instance, n.of([30_000, 1_000, 120_000, 1]), None);
    let r = s.backend.claim(&lane, &capabilities, policy).await;
    match &r {
        Ok(Some(handle)) => s.keep(handle),
        _ => s.told(&r),
    }
}

pub(super) async fn create(s: &mut Side, args: CreateExecutionArgs) -> String {
    let (id, lane) = (args.execution_id.clone(), args.lane_id.clone());
    let deadline_at_ms = args.execution_deadline_at.map(|at| at.0);
    let r = s.backend.create_execution(args).await;
    if matches!(&r, Ok(CreateExecutionResult::Created { .. })) {
        s.known.lanes.insert(id.clone(), lane);
        s.is_due(&id, deadline_at_ms);
        s.known.executions.push(id);
    }
    s.told(&r)
}

/// The arguments of an execution: mostly a plain one.
pub(super) fn creation(s: &mut Side, n: &mut Numbers) -> CreateExecutionArgs {
    let execution_id = s.fresh_execution(n);
    let (plain, now) = (n.below(8), s.now());
    let mut args = CreateExecutionArgs {
        partition_id: execution_id.partition(),
        execution_id,
        namespace: namespace(n),
        lane_id: lane(n),
        execution_kind: "kind".to_owned(),
        input_payload: n.of([&b"input"[..], &[], &[0, 255, 34]]).to_vec(),
        payload_encoding: None,
        priority: n.of([0, 0, 5, -1, i32::MAX]),
        creator_identity: "tester".to_owned(),
        idempotency_key: None,
        tags: Default::default(),
        policy: None,
        delay_until: None,
        execution_deadline_at: None,
        now,
    };
    match plain {
        1 => args.delay_until = Some(s.in_ms(n.of([1_000, 0, -1, 60_000]))),
        2 => args.execution_deadline_at = Some(s.in_ms(n.of([20_000, 0, -1, 90_000]))),
        3 => args.idempotency_key = Some(n.of(["key", "other key"]).to_owned()),
        4 => args.tags = [("cairn.instance_id".to_owned(), n.of(["one", "two"]).to_owned())].into(),
        5 => {
            args.payload_encoding = Some("json".to_owned());
            args.policy = Some(policy(n));
            args.delay_until = n.of([None, Some(700)]).map(|ms| s.in_ms(ms));
            args.execution_deadline_at = n.of([None, Some(50_000)]).map(|ms| s.in_ms(ms));
        }
        6 | 7 => args.policy = Some(policy(n)),
        _ => {}
    }
    args
}

fn policy(n: &mut Numbers) -> ExecutionPolicy {
    // Waiting times with jitter are random by what they are for.
    let backoff = match n.one_in(3) {
        true => {
            BackoffStrategy::Exponential { initial_delay_ms: 500, max_delay_ms: 4_000, multiplier: 2.0, jitter: false }
        }
        false => BackoffStrategy::Fixed { delay_ms: n.of([0, 5_000]) },
    };
    let retry = RetryPolicy { max_retries: n.of([2, 0, 1]).min(2), backoff, retryable_categories: Vec::new() };
    let timeout = TimeoutPolicy {
        attempt_timeout_ms: n.of([None, Some(10_000)]),
        execution_deadline_ms: None,
        max_reclaim_count: n.of([100, 0, 1]),
    };
    let required = capabilities(n).iter().map(|token| (*token).to_owned()).collect();
    ExecutionPolicy {
        retry_policy: n.of([Some(()), None]).map(|()| retry),
        timeout_policy: n.of([None, Some(())]).map(|()| timeout),
        routing_requirements: Some(RoutingRequirements {
            required_capabilities: required,
            preferred_locality: None,
            isolation_level: None,
        }),
        max_replay_count: n.of([10, 1]),
        ..Default::default()
    }
}

fn frame(n: &mut Numbers) -> Frame {
    let mode = match n.below(5) {
        0 | 1 => StreamMode::Durable,
        2 => StreamMode::DurableSummary { patch_kind: PatchKind::JsonMergePatch },
        3 => StreamMode::BestEffortLive { config: BestEffortLiveConfig::new(1_000).with_maxlen_floor(2) },
        _ => StreamMode::best_effort_live(60_000),
    };
    let bytes = match matches!(mode, StreamMode::DurableSummary { .. }) {
        true => n.of([
            &br#"{"a":1,"b":{"c":[1,2]}}"#[..],
            br#"{"a":"__ff_null__","b":{"d":1.5}}"#,
            br#"{"b":null}"#,
            b"[1]",
            b"no json",
        ]),
        false => n.of([&b"bytes"[..], &[], &[0xff, 0, 0xfe, 0x61], b"{\"a\":1}"]),
    };
    let kind = n.of([FrameKind::Event, FrameKind::Stdout, FrameKind::Stderr, FrameKind::Blob]);
    let mut frame = Frame::new(bytes.to_vec(), kind).with_mode(mode);
    frame.frame_type = n.of(["delta", "", "log"]).to_owned();
    frame.correlation_id = n.of([None, Some("c")]).map(str::to_owned);
    frame
}
