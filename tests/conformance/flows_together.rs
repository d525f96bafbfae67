//! Flows that are built and followed at the same moment: what becomes of each is what becomes of one alone, and what is
//! refused to one takes no other along.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ff_backend_sql::testing::Step;
use ff_core::contracts::{AddExecutionToFlowResult, ApplyDependencyToChildResult, StageDependencyEdgeResult};
use ff_core::types::{EdgeId, ExecutionId, FlowId};
use futures_util::future::join_all;
use tokio::sync::watch;

use crate::dependency::{claim, counts, downstream, settled};
use crate::edge::{applying, staging};
use crate::flow::{adding, column, created, joined, set, stranger};
use crate::harness::{Harness as Opened, Tables, on_every_database, refusal, uuid_of};
use crate::together::is_alone;

/// How many flows go at once.
const MANY: usize = 7;

/// Which members wait for which: the third for both that come before it, the last for the third.
const EDGES: [(usize, usize); 3] = [(0, 2), (1, 2), (2, 3)];

/// A flow and those that are to be its members.
struct Plan {
    flow: FlowId,
    members: Vec<ExecutionId>,
}

async fn planned(h: &Opened) -> Plan {
    let flow = created(h).await;
    let mut members = Vec::new();
    for _ in 0..4 {
        let id = stranger(h, &flow).await;
        h.alter(&format!("UPDATE ff_exec_core SET lane_id = '{}' WHERE {}", uuid_of(&id), h.of(&id))).await;
        members.push(id);
    }
    Plan { flow, members }
}

impl Plan {
    async fn join(&self, h: &Opened, member: usize) {
        let answer = joined(h, &self.flow, &self.members[member]).await.expect("it joins");
        let expected = AddExecutionToFlowResult::Added {
            execution_id: self.members[member].clone(),
            new_node_count: u32::try_from(member + 1).expect("few"),
        };
        assert_eq!(answer, expected);
    }

    async fn stage(&self, h: &Opened, edge: usize) -> EdgeId {
        let (up, down) = EDGES[edge];
        let revision = u64::try_from(self.members.len() + edge).expect("few");
        let args = staging(h, &self.flow, &self.members[up], &self.members[down], revision);
        let edge_id = args.edge_id.clone();
        let answer = h.backend.stage_dependency_edge(args).await.expect("it is staged");
        let expected = StageDependencyEdgeResult::Staged { edge_id: edge_id.clone(), new_graph_revision: revision + 1 };
        assert_eq!(answer, expected);
        edge_id
    }

    async fn apply(&self, h: &Opened, edge: usize, edge_id: &EdgeId) {
        let (up, down) = EDGES[edge];
        let args = applying(h, &self.flow, edge_id, &self.members[up], &self.members[down]);
        let answer = h.backend.apply_dependency_to_child(args).await.expect("it is applied");
        let unsatisfied_count = if edge == 1 { 2 } else { 1 };
        assert_eq!(answer, ApplyDependencyToChildResult::Applied { unsatisfied_count });
    }

    /// Everything that is stored of the flow, without ids.
    async fn picture(&self, h: &Opened) -> Vec<String> {
        let mut seen = vec![
            column(h, &self.flow, "graph_revision").await,
            column(h, &self.flow, "public_flow_state").await,
            column(h, &self.flow, "raw_fields").await,
        ];
        let (_, flow) = h.flow_key(&self.flow);
        for id in &self.members {
            for name in [
                "lifecycle_phase",
                "ownership_state",
                "eligibility_state",
                "public_state",
                "attempt_state",
                "blocking_reason",
                "deadline_at_ms",
                "raw_fields",
            ] {
                seen.push(h.core(id, name).await);
            }
            let belongs = format!("SELECT count(*) FROM ff_exec_core WHERE flow_id = {flow} AND {}", h.of(id));
            seen.push(h.number(&belongs).await.to_string());
            let into = format!("SELECT CAST(policy AS text) FROM ff_edge WHERE {} ORDER BY 1", downstream(h, id));
            seen.extend(h.texts(&into).await);
            let group = format!("SELECT CAST(policy AS text) FROM ff_edge_group WHERE {}", downstream(h, id));
            for policy in h.texts(&group).await {
                seen.extend([policy, counts(h, id).await]);
            }
            seen.extend(h.completions(id).await);
            seen.extend(h.lease_events(id).await);
            let followed = format!("SELECT CAST(dispatched_at_ms AS text) FROM ff_completion_event WHERE {}", h.of(id));
            seen.extend(h.texts(&followed).await);
        }
        seen
    }
}

/// What the door of Postgres does for the steps of flows.
#[derive(Clone)]
struct Watched {
    runs: Arc<Mutex<HashMap<&'static str, usize>>>,
    /// Whether hops may run.
    open: watch::Sender<bool>,
}

impl Watched {
    /// None where there is no such door.
    fn over(h: &Opened) -> Option<Self> {
        let Tables::Postgres(backend) = h.tables() else { return None };
        let watched = Self { runs: Arc::default(), open: watch::Sender::new(true) };
        let (runs, open) = (Arc::clone(&watched.runs), watched.open.subscribe());
        backend.hold_for_test(Box::new(move |step, name| {
            if step == Step::Run {
                *runs.lock().expect("nobody panics with it").entry(name).or_default() += 1;
            }
            if step != Step::Run || name != "dependency_hop" {
                return None;
            }
            let mut open = open.clone();
            Some(Box::pin(async move { open.wait_for(|open| *open).await.map_or((), |_| ()) }))
        }));
        Some(watched)
    }

    /// How often that ran since it was asked last.
    fn runs(&self, name: &'static str) -> usize {
        self.runs.lock().expect("nobody panics with it").remove(name).unwrap_or_default()
    }
}

/// Holds that what was asked for at once ran once.
fn ran_together(h: &Opened, watched: Option<&Watched>, name: &'static str, asked: usize) {
    if let Some(watched) = watched {
        assert_eq!(watched.runs(name), if is_alone(h) { asked } else { 1 }, "{name}");
    }
}

/// Completes that member of each flow at the same moment, and waits until all are followed.
async fn completed(h: &Opened, watched: Option<&Watched>, plans: &[Plan], member: usize) {
    let mut handles = Vec::new();
    for plan in plans {
        handles.push(claim(h, &plan.members[member]).await.expect("it may be claimed"));
    }
    let closed = watched.map(|watched| watched.open.send_replace(false));
    let answers = join_all(handles.iter().map(|handle| h.backend.complete(handle, Some(b"done".to_vec())))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    if let (Some(watched), Some(_)) = (watched, closed) {
        // Less than a run keeps others waiting, and more than they take to come.
        tokio::time::sleep(Duration::from_millis(50)).await;
        watched.open.send_replace(true);
    }
    settled(h).await;
}

/// Builds flows and lets their members complete; answers what is stored after each stage.
async fn played(h: &Opened, watched: Option<&Watched>, plans: &[Plan]) -> Vec<Vec<Vec<String>>> {
    let mut stages = Vec::new();
    for member in 0..4 {
        join_all(plans.iter().map(|plan| plan.join(h, member))).await;
        ran_together(h, watched, "flow_member_join", plans.len());
    }
    stages.push(pictures(h, plans).await);
    for edge in 0..EDGES.len() {
        let edges = join_all(plans.iter().map(|plan| plan.stage(h, edge))).await;
        ran_together(h, watched, "stage_dependency_edge", plans.len());
        join_all(plans.iter().zip(&edges).map(|(plan, edge_id)| plan.apply(h, edge, edge_id))).await;
        ran_together(h, watched, "apply_dependency_to_child", plans.len());
        stages.push(pictures(h, plans).await);
    }
    for member in 0..4 {
        completed(h, watched, plans, member).await;
        stages.push(pictures(h, plans).await);
    }
    stages
}

async fn pictures(h: &Opened, plans: &[Plan]) -> Vec<Vec<String>> {
    let mut seen = Vec::new();
    for plan in plans {
        seen.push(plan.picture(h).await);
    }
    seen
}

on_every_database! {
    async fn flows_at_the_same_moment_are_as_one_alone(h) {
        let watched = Watched::over(&h);
        let hops = || watched.as_ref().map_or(0, |watched| watched.runs("dependency_hop"));
        let alone = played(&h, watched.as_ref(), &[planned(&h).await]).await;
        let hops_of_one = hops();
        let mut plans = Vec::new();
        for _ in 0..MANY {
            plans.push(planned(&h).await);
        }
        let together = played(&h, watched.as_ref(), &plans).await;
        // One that comes late goes alone, and some do on a slow machine; never all of them.
        let (asked, ran) = (MANY * hops_of_one, hops());
        assert!(ran < asked || asked == 0 || is_alone(&h), "hops that wait go together: {ran} runs of {asked}");
        assert_eq!(alone.len(), together.len());
        for (stage, (alone, together)) in alone.iter().zip(&together).enumerate() {
            for seen in together {
                assert_eq!(seen, &alone[0], "stage {stage}");
            }
        }
    }

    async fn a_refused_member_takes_no_other_along(h) {
        let mut plans = Vec::new();
        for _ in 0..MANY {
            plans.push(planned(&h).await);
        }
        set(&h, &plans[1].flow, "public_flow_state = 'cancelled'").await;
        joined(&h, &plans[3].flow, &plans[3].members[0]).await.expect("it joins");
        let (unknown, foreign) = (FlowId::new(), stranger(&h, &plans[4].flow).await);
        let gone = plans[5].members[0].clone();
        h.alter(&format!("DELETE FROM ff_exec_core WHERE {}", h.of(&gone))).await;
        // A count that another program wrote counts as none.
        set(&h, &plans[6].flow, "raw_fields = '{\"node_count\": \"many\"}'").await;
        let h = &h;
        let mut asked: Vec<_> = plans.iter().map(|plan| (&plan.flow, &plan.members[0])).collect();
        asked.push((&unknown, &foreign));
        let answers = join_all(asked.iter().map(|(flow, member)| {
            let adding = adding(h, flow, member);
            h.backend.add_execution_to_flow(adding)
        }))
        .await;
        let mut answers = answers.into_iter();
        let mut next = || answers.next().expect("an answer for each");
        let added = |plan: usize| AddExecutionToFlowResult::Added {
            execution_id: plans[plan].members[0].clone(),
            new_node_count: 1,
        };
        assert_eq!(next().expect("it joins"), added(0));
        assert!(refusal(next()).contains("flow_already_terminal"));
        assert_eq!(next().expect("it joins"), added(2));
        assert_eq!(
            next().expect("it is one"),
            AddExecutionToFlowResult::AlreadyMember { execution_id: plans[3].members[0].clone(), node_count: 1 }
        );
        assert_eq!(next().expect("it joins"), added(4));
        assert!(refusal(next()).contains("execution_not_found"));
        assert_eq!(next().expect("it joins"), added(6));
        assert!(refusal(next()).contains("flow_not_found"));
        assert_eq!(h.number("SELECT count(*) FROM ff_flow_core").await, i64::try_from(MANY).expect("few"));
        assert_eq!(h.number(&format!("SELECT count(*) FROM ff_exec_core WHERE {}", h.of(&gone))).await, 0);
    }

    async fn a_refused_edge_takes_no_other_along(h) {
        let mut plans = Vec::new();
        for _ in 0..MANY {
            let plan = planned(&h).await;
            for member in 0..4 {
                plan.join(&h, member).await;
            }
            plans.push(plan);
        }
        let staged = plans[1].stage(&h, 0).await;
        let (h, members) = (&h, |plan: usize| &plans[plan].members);
        let mut asked = [
            staging(h, &plans[0].flow, &members(0)[0], &members(0)[2], 4),
            // Back to where an edge comes from, and another edge of one that is there.
            staging(h, &plans[1].flow, &members(1)[2], &members(1)[0], 5),
            staging(h, &plans[2].flow, &members(2)[0], &members(2)[2], 3),
            staging(h, &plans[3].flow, &members(3)[0], &members(4)[2], 4),
            staging(h, &plans[4].flow, &members(4)[0], &members(4)[2], u64::MAX),
            staging(h, &plans[5].flow, &members(5)[0], &members(5)[2], 4),
            staging(h, &FlowId::new(), &members(0)[0], &members(0)[2], 0),
        ];
        asked[5].data_passing_ref = Some("result".to_owned());
        let answers = join_all(asked.iter().map(|args| h.backend.stage_dependency_edge(args.clone()))).await;
        let shown: Vec<String> =
            answers.iter().map(|answer| answer.as_ref().map_or_else(ToString::to_string, |_| "ok".to_owned())).collect();
        let [first, cycle, stale, other, too_great, passes, unknown] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!((first.as_str(), passes.as_str()), ("ok", "ok"));
        assert!(cycle.contains("CycleDetected"), "{cycle}");
        assert!(stale.contains("StaleGraphRevision") && too_great.contains("StaleGraphRevision"), "{stale} {too_great}");
        assert!(other.contains("execution_not_in_flow"), "{other}");
        assert!(unknown.contains("flow_not_found"), "{unknown}");
        assert_eq!(h.number("SELECT count(*) FROM ff_edge").await, 3);
        let revisions = join_all(plans.iter().map(|plan| column(h, &plan.flow, "graph_revision"))).await;
        assert_eq!(revisions, ["5", "5", "4", "4", "4", "5", "4"]);

        // One that is applied already, one that is not staged, one that leads elsewhere, one that was claimed.
        let own = |plan: usize| asked[plan].edge_id.clone();
        plans[1].apply(h, 0, &staged).await;
        let late = plans[6].stage(h, 0).await;
        let held = claim(h, &members(6)[2]).await;
        assert!(held.is_some());
        let applies = [
            applying(h, &plans[0].flow, &own(0), &members(0)[0], &members(0)[2]),
            applying(h, &plans[1].flow, &staged, &members(1)[0], &members(1)[2]),
            applying(h, &plans[2].flow, &own(2), &members(2)[0], &members(2)[2]),
            applying(h, &plans[5].flow, &own(5), &members(5)[0], &members(5)[3]),
            applying(h, &plans[6].flow, &late, &members(6)[0], &members(6)[2]),
        ];
        let answers = join_all(applies.iter().map(|args| h.backend.apply_dependency_to_child(args.clone()))).await;
        let mut answers = answers.into_iter();
        let mut next = || answers.next().expect("an answer for each");
        let one = ApplyDependencyToChildResult::Applied { unsatisfied_count: 1 };
        assert_eq!(next().expect("it is applied"), one);
        assert_eq!(next().expect("it was"), ApplyDependencyToChildResult::AlreadyApplied);
        assert!(refusal(next()).contains("edge_not_found"));
        assert!(refusal(next()).contains("leads to"));
        assert_eq!(next().expect("it is applied"), one);
        assert_eq!(h.core(&members(0)[2], "eligibility_state").await, "blocked_by_dependencies");
        assert_eq!(h.core(&members(5)[2], "eligibility_state").await, "eligible_now");
        assert_eq!(h.core(&members(6)[2], "public_state").await, "running");
        assert_eq!(h.number("SELECT count(*) FROM ff_edge_group").await, 3);
    }
}
