//! Dependency edges and the groups they form.

use ff_core::contracts::{
    ApplyDependencyToChildArgs, ApplyDependencyToChildResult, EdgeDependencyPolicy, EdgeDirection, OnSatisfied,
    SetEdgeGroupPolicyResult, StageDependencyEdgeArgs, StageDependencyEdgeResult,
};
use ff_core::engine_error::{ConflictKind, ContentionKind, EngineError, ValidationKind};
use ff_core::types::{EdgeId, ExecutionId, FlowId, TimestampMs};

use crate::flow::{column, created, document, member, set, stranger};
use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal};

/// Stages an edge at the flow's present revision.
pub(crate) async fn staged(h: &Opened, flow: &FlowId, up: &ExecutionId, down: &ExecutionId) -> EdgeId {
    let args = staging(h, flow, up, down, revision(h, flow).await);
    let edge_id = args.edge_id.clone();
    h.backend.stage_dependency_edge(args).await.expect("the edge is staged");
    edge_id
}

/// Stages an edge and applies it; answers how many dependencies are open then.
pub(crate) async fn depends(h: &Opened, flow: &FlowId, up: &ExecutionId, down: &ExecutionId) -> u32 {
    let edge_id = staged(h, flow, up, down).await;
    match h.backend.apply_dependency_to_child(applying(h, flow, &edge_id, up, down)).await.expect("it is applied") {
        ApplyDependencyToChildResult::Applied { unsatisfied_count } => unsatisfied_count,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn revision(h: &Opened, flow: &FlowId) -> u64 {
    column(h, flow, "graph_revision").await.parse().expect("a number")
}

pub(crate) fn staging(
    h: &Opened,
    flow: &FlowId,
    up: &ExecutionId,
    down: &ExecutionId,
    expected_graph_revision: u64,
) -> StageDependencyEdgeArgs {
    StageDependencyEdgeArgs {
        flow_id: flow.clone(),
        edge_id: EdgeId::new(),
        upstream_execution_id: up.clone(),
        downstream_execution_id: down.clone(),
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: None,
        expected_graph_revision,
        now: TimestampMs::from_millis(h.clock.now_ms()),
    }
}

pub(crate) fn applying(
    h: &Opened,
    flow: &FlowId,
    edge_id: &EdgeId,
    up: &ExecutionId,
    down: &ExecutionId,
) -> ApplyDependencyToChildArgs {
    ApplyDependencyToChildArgs {
        flow_id: flow.clone(),
        edge_id: edge_id.clone(),
        downstream_execution_id: down.clone(),
        upstream_execution_id: up.clone(),
        graph_revision: 0,
        dependency_kind: "success_only".to_owned(),
        data_passing_ref: None,
        now: TimestampMs::from_millis(h.clock.now_ms()),
    }
}

/// A uuid as the database writes it in a statement.
fn node(h: &Opened, id: &ExecutionId) -> String {
    h.of(id).split_once("= ").expect("a condition").1.to_owned()
}

async fn edges(h: &Opened) -> i64 {
    h.number("SELECT count(*) FROM ff_edge").await
}

async fn edge_document(h: &Opened) -> serde_json::Value {
    let text = h.texts("SELECT CAST(policy AS text) FROM ff_edge").await.remove(0);
    serde_json::from_str(&text).expect("JSON")
}

fn is_cycle(refused: &EngineError) -> bool {
    matches!(refused, EngineError::Conflict(ConflictKind::CycleDetected))
}

on_every_database! {
    async fn edges_move_the_graph_from_revision_to_revision(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        h.pass_ms(3);
        for (up, down, expected) in [(&a, &c, 4), (&b, &c, 5)] {
            let args = staging(&h, &flow, up, down, expected - 1);
            let edge_id = args.edge_id.clone();
            let outcome = h.backend.stage_dependency_edge(args).await.unwrap();
            assert_eq!(outcome, StageDependencyEdgeResult::Staged { edge_id, new_graph_revision: expected });
        }
        let document = document(&h, &flow).await;
        assert_eq!((&document["edge_count"], &document["last_mutation_at_ms"]), (&2.into(), &(T0 + 3).into()));
        assert_eq!(h.core(&c, "eligibility_state").await, "eligible_now");
    }

    async fn a_staged_edge_is_pending(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let edge_id = staged(&h, &flow, &a, &b).await;
        assert_eq!(
            edge_document(&h).await,
            serde_json::json!({
                "dependency_kind": "success_only", "satisfaction_condition": "all_required", "data_passing_ref": "",
                "edge_state": "pending", "created_at_ms": T0, "created_by": "engine", "staged_at_ms": T0,
                "applied_at_ms": null,
            })
        );
        assert_eq!(h.number("SELECT CAST(policy_version AS bigint) FROM ff_edge").await, 0);
        let seen = h.backend.describe_edge(&flow, &edge_id).await.unwrap().unwrap();
        assert_eq!((seen.edge_id, seen.flow_id.clone()), (edge_id.clone(), flow));
        assert_eq!((seen.upstream_execution_id, seen.downstream_execution_id), (a, b));
        assert_eq!((seen.edge_state.as_str(), seen.data_passing_ref, seen.created_at.0), ("pending", None, T0));
        assert_eq!(h.backend.describe_edge(&FlowId::new(), &edge_id).await.unwrap(), None);
        assert_eq!(h.backend.describe_edge(&seen.flow_id, &EdgeId::new()).await.unwrap(), None);
    }

    async fn an_edge_from_an_execution_to_itself_is_refused_before_anything_is_read(h) {
        let id = id_in(200);
        let refused = refusal(h.backend.stage_dependency_edge(staging(&h, &FlowId::new(), &id, &id, 0)).await);
        assert_eq!(refused, "validation: InvalidInput: self_referencing_edge");
    }

    async fn staging_needs_an_open_flow_at_the_expected_revision(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let nowhere = staging(&h, &FlowId::new(), &a, &b, 2);
        assert_eq!(refusal(h.backend.stage_dependency_edge(nowhere).await), "validation: InvalidInput: flow_not_found");
        for revision in [0, 1, 3, u64::MAX] {
            let refused = h.backend.stage_dependency_edge(staging(&h, &flow, &a, &b, revision)).await.unwrap_err();
            assert!(matches!(refused, EngineError::Contention(ContentionKind::StaleGraphRevision)), "{refused}");
        }
        for state in ["running", "blocked"] {
            set(&h, &flow, &format!("public_flow_state = '{state}'")).await;
            let refused = h.backend.stage_dependency_edge(staging(&h, &flow, &a, &b, 2)).await.unwrap_err();
            assert!(matches!(refused, EngineError::Contention(ContentionKind::StaleGraphRevision)), "{refused}");
        }
        for state in ["cancelled", "completed", "failed", "terminal"] {
            set(&h, &flow, &format!("public_flow_state = '{state}'")).await;
            let refused = refusal(h.backend.stage_dependency_edge(staging(&h, &flow, &a, &b, 0)).await);
            assert_eq!(refused, "validation: InvalidInput: flow_already_terminal", "{state}");
        }
        assert_eq!((edges(&h).await, column(&h, &flow, "graph_revision").await.as_str()), (0, "2"));
    }

    async fn both_ends_must_be_members(h) {
        let flow = created(&h).await;
        let (a, other) = (member(&h, &flow).await, stranger(&h, &flow).await);
        for (up, down) in [(&a, &other), (&other, &a)] {
            let refused = refusal(h.backend.stage_dependency_edge(staging(&h, &flow, up, down, 1)).await);
            assert_eq!(refused, "validation: InvalidInput: execution_not_in_flow");
        }
        assert_eq!((edges(&h).await, column(&h, &flow, "graph_revision").await.as_str()), (0, "1"));
    }

    /// SQLite keeps flows and their members in partition 0 and says so; Postgres looks where the flow is.
    async fn an_edge_into_another_partition_is_refused(h) {
        let flow = created(&h).await;
        let (a, elsewhere) = (member(&h, &flow).await, id_in(h.flow_key(&flow).0 + 1));
        let (staging_says, applying_says) = match h.declared().label {
            "sqlite" => {
                let says = "validation: InvalidInput: execution partition mismatch under single-writer SQLite";
                (says, says)
            }
            _ => ("validation: InvalidInput: execution_not_in_flow", "validation: InvalidInput: edge_not_found"),
        };
        let refused = refusal(h.backend.stage_dependency_edge(staging(&h, &flow, &a, &elsewhere, 1)).await);
        assert_eq!(refused, staging_says);
        let args = applying(&h, &flow, &EdgeId::new(), &a, &elsewhere);
        assert_eq!(refusal(h.backend.apply_dependency_to_child(args).await), applying_says);
    }

    async fn an_edge_id_is_used_once_and_the_refusal_shows_the_edge(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let mut args = staging(&h, &flow, &a, &b, 3);
        args.data_passing_ref = Some("out".to_owned());
        h.backend.stage_dependency_edge(args.clone()).await.unwrap();
        (args.downstream_execution_id, args.expected_graph_revision) = (c, 4);
        let refused = h.backend.stage_dependency_edge(args.clone()).await.unwrap_err();
        let EngineError::Conflict(ConflictKind::DependencyAlreadyExists { existing }) = refused else {
            panic!("{refused}")
        };
        assert_eq!((existing.edge_id, existing.downstream_execution_id), (args.edge_id, b));
        assert_eq!((existing.data_passing_ref.as_deref(), existing.edge_state.as_str()), (Some("out"), "pending"));
        assert_eq!((edges(&h).await, column(&h, &flow, "graph_revision").await.as_str()), (1, "4"));
    }

    async fn an_edge_that_closes_a_cycle_is_refused(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        staged(&h, &flow, &a, &b).await;
        staged(&h, &flow, &b, &c).await;
        for (up, down) in [(&b, &a), (&c, &a), (&c, &b)] {
            let refused = h.backend.stage_dependency_edge(staging(&h, &flow, up, down, 5)).await.unwrap_err();
            assert!(is_cycle(&refused), "{refused}");
        }
        assert_eq!((edges(&h).await, column(&h, &flow, "graph_revision").await.as_str()), (2, "5"));
        staged(&h, &flow, &a, &c).await;
    }

    async fn a_search_for_a_cycle_ends_and_a_loop_of_foreign_edges_does_not_hold_it(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let (partition, uuid) = h.flow_key(&flow);
        let others: Vec<_> = (0..1_000).map(|_| node(&h, &id_in(partition))).collect();
        let row = |from: &str, to: &str, edge: &str| format!("({partition}, {uuid}, {edge}, {from}, {to}, '{{}}')");
        let insert = "INSERT INTO ff_edge (partition_key, flow_id, edge_id, upstream_eid, downstream_eid, policy) VALUES ";
        let rows = others[..998].iter().map(|other| row(&node(&h, &b), other, other));
        h.alter(&format!("{insert}{}", rows.collect::<Vec<_>>().join(","))).await;
        // Back to the first one: a loop that goes round does not count again.
        h.alter(&format!("{insert}{}", row(&others[0], &node(&h, &b), &others[998]))).await;
        staged(&h, &flow, &a, &b).await;
        h.alter(&format!("{insert}{}", row(&others[0], &others[998], &others[999]))).await;
        let refused = h.backend.stage_dependency_edge(staging(&h, &flow, &a, &b, 3)).await.unwrap_err();
        assert!(is_cycle(&refused), "{refused}");
    }

    async fn of_edges_staged_at_once_one_wins(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let stagings: Vec<_> = [(a.clone(), b.clone()), (b, a)]
            .map(|(up, down)| {
                let (h, flow) = (Arc::clone(&h), flow.clone());
                tokio::spawn(async move {
                    let args = staging(&h, &flow, &up, &down, 2);
                    h.backend.stage_dependency_edge(args).await
                })
            })
            .into();
        let mut won = 0;
        for staging in stagings {
            match staging.await.unwrap() {
                Ok(_) => won += 1,
                Err(EngineError::Contention(ContentionKind::StaleGraphRevision)) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((won, edges(&h).await), (1, 1));
    }

    async fn text_that_no_document_can_hold_makes_no_edge(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let mut kind = staging(&h, &flow, &a, &b, 2);
        kind.dependency_kind = "\0".to_owned();
        let mut reference = staging(&h, &flow, &a, &b, 2);
        reference.data_passing_ref = Some("\0".to_owned());
        for (args, named) in [(kind, "dependency_kind"), (reference, "data_passing_ref")] {
            let refused = refusal(h.backend.stage_dependency_edge(args).await);
            assert!(refused.contains(named) && refused.contains("U+0000"), "{refused}");
        }
        assert_eq!(edges(&h).await, 0);
    }

    async fn an_applied_edge_blocks_its_child_until_it_is_met(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let first = staged(&h, &flow, &a, &c).await;
        h.pass_ms(9);
        let outcome = h.backend.apply_dependency_to_child(applying(&h, &flow, &first, &a, &c)).await.unwrap();
        assert_eq!(outcome, ApplyDependencyToChildResult::Applied { unsatisfied_count: 1 });
        let document = edge_document(&h).await;
        assert_eq!((&document["edge_state"], &document["applied_at_ms"]), (&"applied".into(), &(T0 + 9).into()));
        assert_eq!((&document["staged_at_ms"], &document["created_by"]), (&T0.into(), &"engine".into()));
        for (column, stored) in [
            ("lifecycle_phase", "submitted"),
            ("ownership_state", "unowned"),
            ("eligibility_state", "blocked_by_dependencies"),
            ("blocking_reason", "waiting_for_children"),
            ("public_state", "waiting_children"),
        ] {
            assert_eq!(h.core(&c, column).await, stored, "{column}");
        }
        h.pass_ms(9);
        let outcome = h.backend.apply_dependency_to_child(applying(&h, &flow, &first, &a, &c)).await.unwrap();
        assert_eq!(outcome, ApplyDependencyToChildResult::AlreadyApplied);
        assert_eq!(edge_document(&h).await["applied_at_ms"], T0 + 9);
        assert_eq!(depends(&h, &flow, &b, &c).await, 2);
        assert_eq!(h.texts("SELECT CAST(policy AS text) FROM ff_edge_group").await.len(), 1);
        assert_eq!(h.number("SELECT CAST(running_count AS bigint) FROM ff_edge_group").await, 2);
        let group = h.backend.describe_flow(&flow).await.unwrap().unwrap().edge_groups.remove(0);
        assert_eq!((group.downstream_execution_id, group.policy), (c.clone(), EdgeDependencyPolicy::AllOf));
        assert_eq!((group.total_deps, group.running_count), (2, 2));
        let claimed = [h.claim("worker-a").await, h.claim("worker-a").await];
        assert!(claimed.iter().all(Option::is_some), "the two upstream ones are claimable");
        assert!(h.claim("worker-a").await.is_none(), "the downstream one is not");
    }

    async fn a_runnable_child_is_blocked_and_a_claimed_or_finished_one_is_not(h) {
        let flow = created(&h).await;
        let child = member(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        let ups = [member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await];
        assert_eq!(depends(&h, &flow, &ups[0], &child).await, 1);
        assert_eq!(h.core(&child, "public_state").await, "running");
        h.alter(&format!(
            "UPDATE ff_exec_core SET lifecycle_phase = 'runnable', ownership_state = 'unowned',
                    eligibility_state = 'eligible_now' WHERE {}",
            h.of(&child)
        ))
        .await;
        assert_eq!(depends(&h, &flow, &ups[1], &child).await, 2);
        assert_eq!(h.core(&child, "lifecycle_phase").await, "runnable");
        assert_eq!(h.core(&child, "eligibility_state").await, "blocked_by_dependencies");
        h.alter(&format!(
            "UPDATE ff_exec_core SET lifecycle_phase = 'active', ownership_state = 'leased' WHERE {}",
            h.of(&child)
        ))
        .await;
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(depends(&h, &flow, &ups[2], &child).await, 3);
        assert_eq!(h.core(&child, "public_state").await, "completed");
    }

    async fn a_delayed_child_waits_for_its_dependencies_and_keeps_its_deadline(h) {
        let flow = created(&h).await;
        let (partition, _) = h.flow_key(&flow);
        let up = member(&h, &flow).await;
        let down = stranger(&h, &flow).await;
        h.alter(&format!(
            "UPDATE ff_exec_core SET eligibility_state = 'not_eligible_until_time', public_state = 'delayed',
                    deadline_at_ms = {}, flow_id = {} WHERE {}",
            T0 + 50,
            h.flow_key(&flow).1,
            h.of(&down)
        ))
        .await;
        assert_eq!(depends(&h, &flow, &up, &down).await, 1, "in partition {partition}");
        assert_eq!(h.core(&down, "eligibility_state").await, "blocked_by_dependencies");
        assert_eq!(h.core(&down, "deadline_at_ms").await, "null");
        assert_eq!(h.document(&down).await["delay_until"], (T0 + 50).to_string());
        h.pass_ms(1_000);
        assert!(h.claim("worker-a").await.is_some(), "the upstream one");
        assert!(h.claim("worker-a").await.is_none(), "the delay is over, the dependency is not met");
    }

    async fn a_group_that_is_satisfied_blocks_nobody_any_more(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let any = EdgeDependencyPolicy::any_of(OnSatisfied::LetRun);
        h.backend.set_edge_group_policy(&flow, &c, any).await.unwrap();
        assert_eq!(depends(&h, &flow, &a, &c).await, 1);
        h.alter("UPDATE ff_edge_group SET success_count = 1, running_count = 0").await;
        h.alter(&format!("UPDATE ff_exec_core SET eligibility_state = 'eligible_now' WHERE {}", h.of(&c))).await;
        assert_eq!(depends(&h, &flow, &b, &c).await, 1);
        assert_eq!(h.core(&c, "eligibility_state").await, "eligible_now");
    }

    async fn only_a_staged_edge_is_applied_and_only_to_its_child(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let args = applying(&h, &flow, &EdgeId::new(), &a, &b);
        assert_eq!(
            refusal(h.backend.apply_dependency_to_child(args).await),
            "validation: InvalidInput: edge_not_found"
        );
        let edge = staged(&h, &flow, &a, &b).await;
        let refused = h.backend.apply_dependency_to_child(applying(&h, &flow, &edge, &a, &c)).await.unwrap_err();
        let EngineError::Validation { kind: ValidationKind::InvalidDependency, detail } = refused else {
            panic!("{refused}")
        };
        assert!(detail.contains("leads to"), "{detail}");
        let elsewhere = h.flow_key(&FlowId::new()).1;
        h.alter(&format!("UPDATE ff_exec_core SET flow_id = {elsewhere} WHERE {}", h.of(&b))).await;
        let refused = h.backend.apply_dependency_to_child(applying(&h, &flow, &edge, &a, &b)).await.unwrap_err();
        assert!(matches!(refused, EngineError::Conflict(ConflictKind::ExecutionAlreadyInFlow)), "{refused}");
        assert_eq!(h.number("SELECT count(*) FROM ff_edge_group").await, 0);
        assert_eq!(edge_document(&h).await["edge_state"], "pending");
    }

    async fn edges_of_other_writers_are_applied_and_shown_with_defaults(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let edge = staged(&h, &flow, &a, &b).await;
        h.alter("UPDATE ff_edge SET policy = '{\"kind\":\"required\"}'").await;
        let seen = h.backend.describe_edge(&flow, &edge).await.unwrap().unwrap();
        assert_eq!((seen.dependency_kind.as_str(), seen.edge_state.as_str()), ("success_only", "pending"));
        assert_eq!((seen.satisfaction_condition.as_str(), seen.created_by.as_str()), ("all_required", "engine"));
        assert_eq!((seen.created_at.0, seen.data_passing_ref), (0, None));
        h.backend.apply_dependency_to_child(applying(&h, &flow, &edge, &a, &b)).await.unwrap();
        assert_eq!(
            edge_document(&h).await,
            serde_json::json!({"kind": "required", "edge_state": "applied", "applied_at_ms": T0})
        );
    }

    /// Only SQLite's column takes text that is no document.
    async fn a_damaged_edge_is_named(h) {
        if h.declared().label != "sqlite" {
            return;
        }
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let edge = staged(&h, &flow, &a, &b).await;
        h.alter("UPDATE ff_edge SET policy = '{'").await;
        let refused = refusal(h.backend.apply_dependency_to_child(applying(&h, &flow, &edge, &a, &b)).await);
        assert!(refused.starts_with("validation: Corruption: ff_edge.policy: "), "{refused}");
        let refused = refusal(h.backend.describe_edge(&flow, &edge).await);
        assert!(refused.starts_with("validation: Corruption: policy: "), "{refused}");
    }

    async fn edges_applied_at_once_are_all_counted(h) {
        let flow = created(&h).await;
        let child = member(&h, &flow).await;
        let mut edges = Vec::new();
        for _ in 0..6 {
            let up = member(&h, &flow).await;
            edges.push((staged(&h, &flow, &up, &child).await, up));
        }
        let applications: Vec<_> = edges
            .into_iter()
            .map(|(edge, up)| {
                let args = applying(&h, &flow, &edge, &up, &child);
                let h = Arc::clone(&h);
                tokio::spawn(async move { h.backend.apply_dependency_to_child(args).await.unwrap() })
            })
            .collect();
        for application in applications {
            application.await.unwrap();
        }
        assert_eq!(h.number("SELECT CAST(running_count AS bigint) FROM ff_edge_group").await, 6);
    }

    async fn a_groups_policy_is_set_before_its_edges(h) {
        let flow = created(&h).await;
        let (a, b) = (member(&h, &flow).await, member(&h, &flow).await);
        let any = EdgeDependencyPolicy::any_of(OnSatisfied::CancelRemaining);
        let quorum = EdgeDependencyPolicy::quorum(2, OnSatisfied::LetRun);
        for (policy, expected) in [
            (&any, SetEdgeGroupPolicyResult::Set),
            (&any, SetEdgeGroupPolicyResult::AlreadySet),
            (&quorum, SetEdgeGroupPolicyResult::Set),
        ] {
            let outcome = h.backend.set_edge_group_policy(&flow, &b, policy.clone()).await.unwrap();
            assert_eq!(outcome, expected);
        }
        let stored = h.texts("SELECT CAST(policy AS text) FROM ff_edge_group").await.remove(0);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&stored).unwrap(),
            serde_json::json!({"kind": "quorum", "k": 2, "on_satisfied": "let_run"})
        );
        assert_eq!(h.number("SELECT CAST(k_target + running_count AS bigint) FROM ff_edge_group").await, 0);
        staged(&h, &flow, &a, &b).await;
        for policy in [quorum.clone(), any] {
            let refused = refusal(h.backend.set_edge_group_policy(&flow, &b, policy).await);
            assert!(refused.contains("edge_group_policy_already_fixed: dependencies already staged"), "{refused}");
        }
        assert_eq!(h.backend.describe_flow(&flow).await.unwrap().unwrap().edge_groups[0].policy, quorum);
    }

    async fn a_policy_may_come_before_its_flow_and_its_execution(h) {
        let flow = FlowId::new();
        let id = id_in(h.flow_key(&flow).0);
        let outcome = h.backend.set_edge_group_policy(&flow, &id, EdgeDependencyPolicy::all_of()).await.unwrap();
        assert_eq!(outcome, SetEdgeGroupPolicyResult::Set);
        let none = EdgeDependencyPolicy::quorum(0, OnSatisfied::LetRun);
        let refused = refusal(h.backend.set_edge_group_policy(&flow, &id, none).await);
        assert_eq!(refused, "validation: InvalidInput: quorum k must be >= 1");
    }

    async fn edges_are_listed_from_either_end_in_the_order_of_their_ids(h) {
        let flow = created(&h).await;
        let (a, b, c) = (member(&h, &flow).await, member(&h, &flow).await, member(&h, &flow).await);
        let mut from_a = vec![staged(&h, &flow, &a, &b).await, staged(&h, &flow, &a, &c).await];
        let mut to_c = vec![from_a[1].clone(), staged(&h, &flow, &b, &c).await];
        from_a.sort_by_key(|edge| *edge.0.as_bytes());
        to_c.sort_by_key(|edge| *edge.0.as_bytes());
        for (direction, expected) in [
            (EdgeDirection::Outgoing { from_node: a.clone() }, from_a),
            (EdgeDirection::Incoming { to_node: c.clone() }, to_c),
            (EdgeDirection::Incoming { to_node: a }, vec![]),
            (EdgeDirection::Outgoing { from_node: c }, vec![]),
        ] {
            let seen = h.backend.list_edges(&flow, direction).await.unwrap();
            assert_eq!(seen.into_iter().map(|edge| edge.edge_id).collect::<Vec<_>>(), expected);
        }
        let elsewhere = h.backend.list_edges(&FlowId::new(), EdgeDirection::Outgoing { from_node: b }).await.unwrap();
        assert!(elsewhere.is_empty());
    }
}
