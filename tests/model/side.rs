//! One backend, and what a test knows of it: what it gave, and what it was told.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::Handle;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::handle_codec::HandlePayload;
use ff_core::partition::{
    Partition, PartitionConfig, PartitionFamily, PartitionKey, budget_partition, flow_partition, quota_partition,
};
use ff_core::types::{
    AttemptIndex, BudgetId, EdgeId, ExecutionId, FlowId, LaneId, Namespace, QuotaPolicyId, TimestampMs, WaitpointId,
    WorkerId, WorkerInstanceId,
};
use uuid::Uuid;

use crate::harness::{Harness, Tables, payload, uuid_of};
use crate::mask::Mask;
use crate::numbers::Numbers;
use crate::tables::{Reading, Rows};

/// One of the two backends under test.
pub(crate) struct Side {
    h: Arc<Harness>,
    pub(crate) backend: Arc<dyn EngineBackend>,
    /// None for a caller.
    reading: Option<Reading>,
    mask: Mask,
    pub(crate) known: Known,
    /// What callers read before they call, as it was at one moment.
    seen: Option<Arc<Seen>>,
    /// An answer that no backend may give.
    failed: Option<String>,
}

/// What was given and told since the sequence began. Both sides know as much, apart from ids that a backend made.
#[derive(Clone, Default)]
pub(crate) struct Known {
    made: u64,
    pub(crate) executions: Vec<ExecutionId>,
    pub(crate) lanes: HashMap<ExecutionId, LaneId>,
    /// By when executions have to be done, by their uuids as rows are read.
    deadlines: HashMap<String, Option<i64>>,
    pub(crate) workers: Vec<(WorkerInstanceId, Namespace)>,
    pub(crate) grants: Vec<(ExecutionId, (WorkerId, WorkerInstanceId))>,
    pub(crate) takers: Vec<Taker>,
    pub(crate) handles: Vec<Handle>,
    pub(crate) spent: Vec<Handle>,
    pub(crate) waitpoints: Vec<Waitpoint>,
    pub(crate) resumables: Vec<ExecutionId>,
    pub(crate) members: Vec<(FlowId, ExecutionId)>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) groups: Vec<(FlowId, ExecutionId)>,
    pub(crate) rivals: Vec<ExecutionId>,
}

/// A lease that ended, and the worker that may take its execution over.
#[derive(Clone)]
pub(crate) struct Taker {
    pub(crate) old: Handle,
    pub(crate) worker: (WorkerId, WorkerInstanceId),
}

/// A waitpoint that was told of.
#[derive(Clone)]
pub(crate) struct Waitpoint {
    pub(crate) execution: ExecutionId,
    pub(crate) id: WaitpointId,
    pub(crate) token: String,
}

/// An edge that was staged, or was to be.
#[derive(Clone)]
pub(crate) struct Edge {
    pub(crate) flow: FlowId,
    pub(crate) id: EdgeId,
    pub(crate) up: ExecutionId,
    pub(crate) down: ExecutionId,
}

/// What callers read before they call.
#[derive(Default)]
struct Seen {
    attempts: HashMap<ExecutionId, Attempts>,
    blocked: HashMap<ExecutionId, String>,
    revisions: HashMap<FlowId, u64>,
}

/// How many attempts an execution has had, and which is its current one.
#[derive(Clone, Copy)]
struct Attempts {
    total: AttemptIndex,
    current: AttemptIndex,
}

/// The lanes, of which the first has most of the work.
pub(crate) const LANES: [&str; 2] = ["lane", "side"];

/// How many flows, budgets and quota policies there are at most.
const POOL: u64 = 3;

impl Side {
    pub(crate) fn new(h: Arc<Harness>, reading: Reading) -> Self {
        let backend = Arc::clone(&h.backend);
        let (mask, known) = (Mask::default(), Known::default());
        Self { h, backend, reading: Some(reading), mask, known, seen: None, failed: None }
    }

    /// Callers who know what this one knows and decide by what there is now. Their ids are their own, their answers
    /// are not masked, and time does not pass for them.
    #[allow(dead_code, reason = "for the interleavings, which share this file")]
    pub(crate) async fn callers<const N: usize>(&self) -> [Self; N] {
        let mut seen = Seen::default();
        for id in &self.known.executions {
            let attempts = Attempts { total: self.total_attempts(id).await, current: self.current_attempt(id).await };
            seen.attempts.insert(id.clone(), attempts);
            if let Some(reason) = self.blocking_reason(id).await {
                seen.blocked.insert(id.clone(), reason);
            }
        }
        for (flow, _) in &self.known.members {
            seen.revisions.insert(flow.clone(), self.graph_revision(flow).await);
        }
        let seen = Arc::new(seen);
        std::array::from_fn(|number| {
            let mut known = self.known.clone();
            known.made += (number as u64 + 1) << 20;
            let (h, backend, seen) = (Arc::clone(&self.h), Arc::clone(&self.backend), Some(Arc::clone(&seen)));
            Self { h, backend, reading: None, mask: Mask::off(), known, seen, failed: None }
        })
    }

    /// The same caller once more, from where it began.
    #[allow(dead_code, reason = "for the interleavings, which share this file")]
    pub(crate) fn again(&self) -> Self {
        let (h, backend, known) = (Arc::clone(&self.h), Arc::clone(&self.backend), self.known.clone());
        Self { h, backend, reading: None, mask: Mask::off(), known, seen: self.seen.clone(), failed: None }
    }

    /// How many attempts an execution has had.
    pub(crate) async fn total_attempts(&self, id: &ExecutionId) -> AttemptIndex {
        match &self.seen {
            Some(seen) => seen.attempts.get(id).map_or(AttemptIndex::new(0), |attempts| attempts.total),
            None => self.backend.read_total_attempt_count(id).await.unwrap_or(AttemptIndex::new(0)),
        }
    }

    /// Which attempt of an execution is its current one.
    pub(crate) async fn current_attempt(&self, id: &ExecutionId) -> AttemptIndex {
        match &self.seen {
            Some(seen) => seen.attempts.get(id).map_or(AttemptIndex::new(0), |attempts| attempts.current),
            None => self.backend.read_current_attempt_index(id).await.unwrap_or(AttemptIndex::new(0)),
        }
    }

    /// What an execution waits for.
    pub(crate) async fn blocking_reason(&self, id: &ExecutionId) -> Option<String> {
        if let Some(seen) = &self.seen {
            return seen.blocked.get(id).cloned();
        }
        let partition = Partition { family: PartitionFamily::Execution, index: id.partition() };
        let stored = self.backend.read_exec_core_fields(partition, id, &["blocking_reason"]).await;
        stored.ok().and_then(|mut fields| fields.remove("blocking_reason").flatten())
    }

    /// The revision of a flow's graph, which counts its edges and members.
    pub(crate) async fn graph_revision(&self, flow: &FlowId) -> u64 {
        match &self.seen {
            Some(seen) => seen.revisions.get(flow).copied().unwrap_or(0),
            None => self.backend.describe_flow(flow).await.ok().flatten().map_or(0, |flow| flow.graph_revision),
        }
    }

    /// Forgets everything, in the tables too. Time goes on: a backend remembers when it last looked for what is due.
    pub(crate) async fn begin(&mut self, now_ms: i64) {
        self.delete().await;
        // What an execution requires is rows of a table on one database, and is left over without it.
        self.delete().await;
        let left = self.rows().await;
        assert!(left.texts.is_empty(), "rows stay: {:#?}", left.texts);
        (self.mask, self.known) = (Mask::default(), Known::default());
        self.h.clock.set(now_ms);
    }

    async fn delete(&mut self) {
        let tables = self.rows().await.tables;
        let tables = tables.iter().filter(|table| !QUEUES.contains(&table.as_str()));
        let deleting: Vec<String> = tables.map(|table| format!("DELETE FROM {table}")).collect();
        if !deleting.is_empty() {
            self.h.alter(&deleting.join("; ")).await;
        }
    }

    pub(crate) async fn rows(&mut self) -> Rows {
        self.outcome(&[]).await.1
    }

    /// Masks the answers of callers, all at once, and reads the tables with the ids that they told.
    pub(crate) async fn outcome(&mut self, answers: &[String]) -> (Vec<String>, Rows) {
        let mut mask = self.mask.clone();
        let answers = answers.iter().map(|answer| mask.answer(answer)).collect();
        let reading = self.reading.as_mut().expect("this one reads the tables");
        (answers, reading.rows(&mask).await)
    }

    pub(crate) async fn close(&self) {
        if let Some(reading) = &self.reading {
            reading.close().await;
        }
    }

    /// Notes by when an execution has to be done; nothing but a creation and a typed claim say so.
    pub(crate) fn is_due(&mut self, execution: &ExecutionId, deadline_at_ms: Option<i64>) {
        self.known.deadlines.insert(uuid_of(execution).replace('-', ""), deadline_at_ms);
    }

    /// A row that has another deadline than its execution was given. Only while an execution is delayed its wake-up
    /// time has the deadline's place.
    pub(crate) fn wrong_deadline(&self, rows: &Rows) -> Option<String> {
        let wrong =
            rows.deadlines.iter().find(|(execution, has)| self.known.deadlines.get(*execution) != Some(*has))?;
        let given = self.known.deadlines.get(wrong.0);
        Some(format!("execution {} was given the deadline {given:?} and has {:?}", wrong.0, wrong.1))
    }

    /// An answer that may never be given, if one was.
    pub(crate) fn failed(&mut self) -> Option<String> {
        self.failed.take()
    }

    /// A result in comparable words.
    pub(crate) fn told<T: Debug>(&mut self, result: &Result<T, EngineError>) -> String {
        match result {
            Ok(answer) => self.mask.answer(&format!("{answer:?}")),
            Err(error) => {
                if let EngineError::Transport { source, .. } = error {
                    self.failed = Some(format!("{error}: {source:?}"));
                }
                self.mask.answer(&format!("refused: {error}"))
            }
        }
    }

    /// What a backend told beside its answer.
    pub(crate) fn told_of(&mut self, what: &impl Debug) -> String {
        self.mask.answer(&format!("{what:?}"))
    }

    /// Keeps a handle for later, and says what is in it.
    pub(crate) fn keep(&mut self, handle: &Handle) -> String {
        self.known.handles.push(handle.clone());
        let (kind, held) = (handle.kind, payload(handle));
        self.told_of(&(kind, held))
    }

    /// A handle that has done what it was for.
    pub(crate) fn spend(&mut self, handle: &Handle) {
        self.known.handles.retain(|kept| kept != handle);
        self.known.spent.push(handle.clone());
    }

    /// A handle: one that should work, or now and then an old one.
    pub(crate) fn handle(&self, n: &mut Numbers) -> Option<Handle> {
        let of_the_spent = n.one_in(12);
        let (first, second) = (&self.known.handles, &self.known.spent);
        let list = if of_the_spent && !second.is_empty() { second } else { first };
        n.from(list).cloned()
    }

    /// The same and what is in it.
    pub(crate) fn held(&self, n: &mut Numbers) -> Option<(Handle, HandlePayload)> {
        self.handle(n).map(|handle| (handle.clone(), payload(&handle)))
    }

    pub(crate) fn now(&self) -> TimestampMs {
        self.in_ms(0)
    }

    /// A moment that far away.
    pub(crate) fn in_ms(&self, ms: i64) -> TimestampMs {
        TimestampMs::from_millis(self.h.clock.now_ms() + ms)
    }

    pub(crate) fn pass_ms(&self, ms: i64) {
        if self.seen.is_none() {
            self.h.pass_ms(ms);
        }
    }

    pub(crate) fn harness(&self) -> &Harness {
        &self.h
    }

    /// Runs a sweep once. The sweeps of two callers are those of two processes, since a process's own take turns.
    pub(crate) async fn sweep(&self, name: &str, config: &FullScannerConfig) -> Result<(u32, u32), EngineError> {
        match self.h.tables() {
            Tables::Postgres(backend) if self.seen.is_some() => backend.sweep_elsewhere_for_test(name, config).await,
            _ => self.h.try_sweep(name, config).await,
        }
    }

    /// A uuid of ours that no other call gives.
    pub(crate) fn uuid(&mut self) -> Uuid {
        self.known.made += 1;
        ours(self.known.made.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16)
    }

    /// An id that nobody has, in a partition that it says; flows and their members are in the first.
    pub(crate) fn fresh_execution(&mut self, n: &mut Numbers) -> ExecutionId {
        let partition = n.of([0, 0, 0, 1]);
        execution_in(partition, self.uuid())
    }

    /// An execution: one of those that were made, or now and then nobody's.
    pub(crate) fn execution(&mut self, n: &mut Numbers) -> ExecutionId {
        let is_unknown = n.one_in(24);
        match n.from(&self.known.executions) {
            Some(id) if !is_unknown => id.clone(),
            _ => execution_in(0, ours(0xffff)),
        }
    }

    /// The lane that an execution is in, and now and then any.
    pub(crate) fn lane_of(&self, execution: &ExecutionId, n: &mut Numbers) -> LaneId {
        match self.known.lanes.get(execution) {
            Some(lane) if !n.one_in(12) => lane.clone(),
            _ => lane(n),
        }
    }

    /// One that waits for the claim of a resumed execution, or any.
    pub(crate) fn resumable(&mut self, n: &mut Numbers) -> ExecutionId {
        match n.from(&self.known.resumables).cloned() {
            Some(id) if !n.one_in(6) => id,
            _ => self.execution(n),
        }
    }

    /// An execution in the first partition, which is where flows are here; one database has them nowhere else.
    pub(crate) fn companion(&mut self, n: &mut Numbers) -> ExecutionId {
        let id = self.execution(n);
        if id.partition() == 0 { id } else { execution_in(0, ours(0xfffe)) }
    }

    /// A member of a flow with the flow, or an execution of no flow with one of another.
    pub(crate) fn member(&mut self, n: &mut Numbers) -> (FlowId, ExecutionId) {
        match n.from(&self.known.members).cloned() {
            Some(member) if !n.one_in(12) => member,
            _ => (flow(n), self.companion(n)),
        }
    }

    /// A flow and a member that waits for others until one of them has ended well, or any member.
    pub(crate) fn group(&mut self, n: &mut Numbers) -> (FlowId, ExecutionId) {
        match n.from(&self.known.groups).cloned() {
            Some(group) if !n.one_in(6) => group,
            _ => self.member(n),
        }
    }
}

/// Kept by triggers, or another view of rows.
const QUEUES: [&str; 3] = ["ff_claimable", "ff_delayed", "ff_granted"];

fn ours(number: u64) -> Uuid {
    Uuid::from_u128(0x0000_0000_0000_4000_8000_0000_0000_0000 | u128::from(number & 0xffff_ffff_ffff))
}

fn execution_in(partition: u16, uuid: Uuid) -> ExecutionId {
    ExecutionId::parse(&format!("{{fp:{partition}}}:{uuid}")).expect("an execution id")
}

/// The partition of an execution, now and then another one.
pub(crate) fn partition_of(id: &ExecutionId, n: &mut Numbers) -> Partition {
    let index = if n.one_in(16) { 1 - id.partition().min(1) } else { id.partition() };
    Partition { family: PartitionFamily::Execution, index }
}

/// The partition of the flows, and now and then the other one.
pub(crate) fn some_partition(n: &mut Numbers) -> Partition {
    Partition { family: PartitionFamily::Flow, index: n.of([0, 0, 0, 1]) }
}

pub(crate) fn some_partition_key(n: &mut Numbers) -> PartitionKey {
    PartitionKey::from(some_partition(n))
}

/// The id of that number whose rows are in the first partition, as they all are on SQLite.
fn in_first_partition(number: u64, index: impl Fn(Uuid) -> u16) -> Uuid {
    let candidates = (0..).map(|at| ours((number << 32) | at)).filter(|uuid| index(*uuid) == 0);
    candidates.take(1).last().expect("one in 256 is")
}

/// A flow's id. There may be no such flow.
pub(crate) fn flow(n: &mut Numbers) -> FlowId {
    flow_of(u64::try_from(n.below(4)).expect("a small number") % POOL)
}

pub(crate) fn flow_of(number: u64) -> FlowId {
    let config = PartitionConfig::default();
    FlowId(in_first_partition(number + 1, |uuid| flow_partition(&FlowId(uuid), &config).index))
}

pub(crate) fn budget(n: &mut Numbers) -> BudgetId {
    let (config, number) = (PartitionConfig::default(), n.below(3) as u64);
    BudgetId(in_first_partition(number + 11, |uuid| budget_partition(&BudgetId(uuid), &config).index))
}

pub(crate) fn quota(n: &mut Numbers) -> QuotaPolicyId {
    let (config, number) = (PartitionConfig::default(), n.below(3) as u64);
    QuotaPolicyId(in_first_partition(number + 21, |uuid| quota_partition(&QuotaPolicyId(uuid), &config).index))
}

pub(crate) fn lane(n: &mut Numbers) -> LaneId {
    LaneId::new(n.of([LANES[0], LANES[0], LANES[0], LANES[0], LANES[1]]))
}

pub(crate) fn namespace(n: &mut Numbers) -> Namespace {
    Namespace::new(n.of(["space", "space", "space", "other"]))
}

/// A worker and its instance.
pub(crate) fn worker(n: &mut Numbers) -> (WorkerId, WorkerInstanceId) {
    let name = n.of(["a", "b", "c"]);
    (WorkerId::new(name), WorkerInstanceId::new(format!("{name}-1")))
}

/// What a worker can do, or an execution requires.
pub(crate) fn capabilities(n: &mut Numbers) -> &'static [&'static str] {
    n.of([&[][..], &[], &[], &["gpu"], &["gpu", "Ram"]])
}
