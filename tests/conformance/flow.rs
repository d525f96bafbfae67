//! Flows: creation, members, reads.

use ff_core::contracts::{
    AddExecutionToFlowArgs, AddExecutionToFlowResult, CreateFlowArgs, CreateFlowResult, EdgeGroupState, FlowStatus,
};
use ff_core::engine_error::EngineError;
use ff_core::partition::{Partition, PartitionFamily, PartitionKey};
use ff_core::types::{ExecutionId, FlowId, Namespace, TimestampMs};

use crate::harness::{Harness as Opened, T0, id_in, on_every_database, refusal};

/// Creates a flow.
pub(crate) async fn created(h: &Opened) -> FlowId {
    let flow_id = FlowId::new();
    let outcome = h.backend.create_flow(creating(h, &flow_id)).await.expect("the flow is created");
    assert_eq!(outcome, CreateFlowResult::Created { flow_id: flow_id.clone() });
    flow_id
}

/// Creates an execution where a flow's members are.
pub(crate) async fn stranger(h: &Opened, flow: &FlowId) -> ExecutionId {
    let (partition, _) = h.flow_key(flow);
    let execution_id = id_in(partition);
    h.create_with(|args| {
        args.execution_id = execution_id;
        args.partition_id = partition;
    })
    .await
}

/// Creates an execution and makes it a flow's member.
pub(crate) async fn member(h: &Opened, flow: &FlowId) -> ExecutionId {
    let id = stranger(h, flow).await;
    let outcome = h.backend.add_execution_to_flow(adding(h, flow, &id)).await.expect("it joins");
    assert!(matches!(outcome, AddExecutionToFlowResult::Added { .. }), "{outcome:?}");
    id
}

/// Tries to make an execution a flow's member.
pub(crate) async fn joined(
    h: &Opened,
    flow: &FlowId,
    id: &ExecutionId,
) -> Result<AddExecutionToFlowResult, EngineError> {
    h.backend.add_execution_to_flow(adding(h, flow, id)).await
}

/// A column of a flow's row as text.
pub(crate) async fn column(h: &Opened, flow: &FlowId, column: &str) -> String {
    let (_, uuid) = h.flow_key(flow);
    h.texts(&format!("SELECT CAST({column} AS text) FROM ff_flow_core WHERE flow_id = {uuid}")).await.remove(0)
}

/// The open document of a flow.
pub(crate) async fn document(h: &Opened, flow: &FlowId) -> serde_json::Value {
    serde_json::from_str(&column(h, flow, "raw_fields").await).expect("the document is JSON")
}

/// Changes a column of a flow's row behind the backend's back.
pub(crate) async fn set(h: &Opened, flow: &FlowId, assignment: &str) {
    let (_, uuid) = h.flow_key(flow);
    h.alter(&format!("UPDATE ff_flow_core SET {assignment} WHERE flow_id = {uuid}")).await;
}

pub(crate) fn creating(h: &Opened, flow_id: &FlowId) -> CreateFlowArgs {
    CreateFlowArgs {
        flow_id: flow_id.clone(),
        flow_kind: "kind".to_owned(),
        namespace: Namespace::new("space"),
        now: TimestampMs::from_millis(h.clock.now_ms()),
    }
}

pub(crate) fn adding(h: &Opened, flow_id: &FlowId, execution_id: &ExecutionId) -> AddExecutionToFlowArgs {
    AddExecutionToFlowArgs {
        flow_id: flow_id.clone(),
        execution_id: execution_id.clone(),
        now: TimestampMs::from_millis(h.clock.now_ms()),
    }
}

/// Stores flows with these ids in one partition.
async fn stored(h: &Opened, partition: u16, flows: &[(FlowId, &str)]) {
    for (at, (flow, state)) in flows.iter().enumerate() {
        let (_, uuid) = h.flow_key(flow);
        h.alter(&format!(
            "INSERT INTO ff_flow_core (partition_key, flow_id, public_flow_state, created_at_ms)
             VALUES ({partition}, {uuid}, '{state}', {at})"
        ))
        .await;
    }
}

on_every_database! {
    async fn a_flow_is_created_once(h) {
        let flow = created(&h).await;
        let first = document(&h, &flow).await;
        assert_eq!(
            first,
            serde_json::json!({
                "flow_kind": "kind", "namespace": "space", "node_count": 0, "edge_count": 0, "last_mutation_at_ms": T0,
            })
        );
        assert_eq!(column(&h, &flow, "graph_revision").await, "0");
        assert_eq!(column(&h, &flow, "public_flow_state").await, "open");
        h.pass_ms(5);
        let again = CreateFlowArgs { flow_kind: "other".to_owned(), ..creating(&h, &flow) };
        let outcome = h.backend.create_flow(again).await.unwrap();
        assert_eq!(outcome, CreateFlowResult::AlreadySatisfied { flow_id: flow.clone() });
        assert_eq!(document(&h, &flow).await, first);
        assert_eq!(column(&h, &flow, "created_at_ms").await, T0.to_string());
    }

    async fn text_that_no_document_can_hold_makes_no_flow(h) {
        let args = CreateFlowArgs { flow_kind: "a\0".to_owned(), ..creating(&h, &FlowId::new()) };
        let refused = refusal(h.backend.create_flow(args).await);
        assert!(refused.contains("flow_kind") && refused.contains("U+0000"), "{refused}");
        assert_eq!(h.number("SELECT count(*) FROM ff_flow_core").await, 0);
    }

    async fn an_execution_joins_a_flow_once(h) {
        let flow = created(&h).await;
        let id = stranger(&h, &flow).await;
        h.pass_ms(7);
        let outcome = h.backend.add_execution_to_flow(adding(&h, &flow, &id)).await.unwrap();
        assert_eq!(outcome, AddExecutionToFlowResult::Added { execution_id: id.clone(), new_node_count: 1 });
        assert_eq!(column(&h, &flow, "graph_revision").await, "1");
        assert_eq!(document(&h, &flow).await["last_mutation_at_ms"], T0 + 7);
        assert_eq!(h.backend.resolve_execution_flow_id(&id).await.unwrap(), Some(flow.clone()));
        for (column, stays) in [
            ("lifecycle_phase", "submitted"),
            ("eligibility_state", "eligible_now"),
            ("public_state", "waiting"),
        ] {
            assert_eq!(h.core(&id, column).await, stays, "{column}");
        }
        h.pass_ms(7);
        let outcome = h.backend.add_execution_to_flow(adding(&h, &flow, &id)).await.unwrap();
        assert_eq!(outcome, AddExecutionToFlowResult::AlreadyMember { execution_id: id, node_count: 1 });
        assert_eq!(column(&h, &flow, "graph_revision").await, "1");
        assert_eq!(document(&h, &flow).await["last_mutation_at_ms"], T0 + 7);
    }

    async fn an_execution_joins_no_second_flow(h) {
        let (first, second) = (created(&h).await, FlowId::new());
        let id = member(&h, &first).await;
        // The second one is where the execution is, whatever its id says.
        let (partition, uuid) = (h.flow_key(&first).0, h.flow_key(&second).1);
        h.alter(&format!("UPDATE ff_exec_core SET flow_id = {uuid} WHERE {}", h.of(&id))).await;
        let refused = refusal(h.backend.add_execution_to_flow(adding(&h, &first, &id)).await);
        assert_eq!(
            refused,
            format!("validation: InvalidInput: already_member_of_different_flow:{second}"),
            "in partition {partition}"
        );
        assert_eq!(column(&h, &first, "graph_revision").await, "1");
    }

    async fn joining_needs_a_flow_and_an_execution(h) {
        let flow = created(&h).await;
        let id = stranger(&h, &flow).await;
        let nowhere = FlowId::new();
        let refused = refusal(h.backend.add_execution_to_flow(adding(&h, &nowhere, &id)).await);
        assert_eq!(refused, "validation: InvalidInput: flow_not_found");
        let unknown = id_in(h.flow_key(&flow).0);
        let refused = refusal(h.backend.add_execution_to_flow(adding(&h, &flow, &unknown)).await);
        assert_eq!(refused, "validation: InvalidInput: execution_not_found");
        assert_eq!(column(&h, &flow, "graph_revision").await, "0");
    }

    async fn nothing_joins_a_flow_that_has_ended(h) {
        let flow = created(&h).await;
        let id = stranger(&h, &flow).await;
        for state in ["cancelled", "completed", "failed", "terminal"] {
            set(&h, &flow, &format!("public_flow_state = '{state}'")).await;
            let refused = refusal(h.backend.add_execution_to_flow(adding(&h, &flow, &id)).await);
            assert_eq!(refused, "validation: InvalidInput: flow_already_terminal", "{state}");
        }
        for state in ["running", "blocked", "active"] {
            set(&h, &flow, &format!("public_flow_state = '{state}'")).await;
            let id = stranger(&h, &flow).await;
            h.backend.add_execution_to_flow(adding(&h, &flow, &id)).await.unwrap();
        }
    }

    async fn a_finished_execution_may_join(h) {
        let flow = created(&h).await;
        let id = stranger(&h, &flow).await;
        let handle = h.claim("worker-a").await.unwrap();
        h.backend.complete(&handle, None).await.unwrap();
        let outcome = h.backend.add_execution_to_flow(adding(&h, &flow, &id)).await.unwrap();
        assert!(matches!(outcome, AddExecutionToFlowResult::Added { new_node_count: 1, .. }), "{outcome:?}");
    }

    /// SQLite keeps flows and their members in partition 0 and says so; Postgres looks where the flow is.
    async fn an_execution_of_another_partition_is_refused(h) {
        let flow = created(&h).await;
        let elsewhere = id_in(h.flow_key(&flow).0 + 1);
        let refused = refusal(h.backend.add_execution_to_flow(adding(&h, &flow, &elsewhere)).await);
        let expected = match h.declared().label {
            "sqlite" => "validation: InvalidInput: execution partition mismatch: expected 0, got 1",
            _ => "validation: InvalidInput: execution_not_found",
        };
        assert_eq!(refused, expected);
    }

    async fn members_that_join_at_once_are_all_counted(h) {
        let flow = created(&h).await;
        let mut joining = Vec::new();
        for _ in 0..8 {
            let id = stranger(&h, &flow).await;
            let (h, flow) = (Arc::clone(&h), flow.clone());
            joining.push(tokio::spawn(async move {
                h.backend.add_execution_to_flow(adding(&h, &flow, &id)).await.unwrap()
            }));
        }
        let mut counts = Vec::new();
        for joined in joining {
            match joined.await.unwrap() {
                AddExecutionToFlowResult::Added { new_node_count, .. } => counts.push(new_node_count),
                other => panic!("{other:?}"),
            }
        }
        counts.sort_unstable();
        assert_eq!(counts, (1..=8).collect::<Vec<_>>());
        let described = h.backend.describe_flow(&flow).await.unwrap().unwrap();
        assert_eq!((described.node_count, described.graph_revision), (8, 8));
    }

    async fn a_flow_is_described(h) {
        let flow = created(&h).await;
        member(&h, &flow).await;
        h.backend.set_flow_tag(&flow, "cairn.task_id", "t-1").await.unwrap();
        let seen = h.backend.describe_flow(&flow).await.unwrap().unwrap();
        assert_eq!((seen.flow_id, seen.flow_kind.as_str(), seen.namespace.as_str()), (flow, "kind", "space"));
        assert_eq!((seen.public_flow_state.as_str(), seen.graph_revision), ("open", 1));
        assert_eq!((seen.node_count, seen.edge_count), (1, 0));
        assert_eq!((seen.created_at.0, seen.last_mutation_at.0, seen.cancelled_at), (T0, T0, None));
        assert_eq!((seen.cancel_reason, seen.cancellation_policy), (None, None));
        assert_eq!(seen.tags, [("cairn.task_id".to_owned(), "t-1".to_owned())].into());
        assert!(seen.edge_groups.is_empty());
        assert_eq!(h.backend.describe_flow(&FlowId::new()).await.unwrap(), None);
    }

    async fn a_flow_that_says_little_is_described_with_defaults(h) {
        let flow = created(&h).await;
        set(&h, &flow, "raw_fields = '{\"node_count\": \"4\", \"edge_count\": -1, \"Upper.case\": \"x\"}'").await;
        let seen = h.backend.describe_flow(&flow).await.unwrap().unwrap();
        assert_eq!((seen.flow_kind.as_str(), seen.namespace.as_str()), ("", "default"));
        assert_eq!((seen.node_count, seen.edge_count, seen.last_mutation_at.0), (4, 0, T0));
        assert!(seen.tags.is_empty());
    }

    async fn a_described_flow_shows_how_its_groups_stand(h) {
        let flow = created(&h).await;
        let (partition, uuid) = h.flow_key(&flow);
        let mut expected = Vec::new();
        for (policy, [success, fail, skip, running], total, state) in [
            (r#"{"kind":"all_of"}"#, [1, 0, 0, 1], 2, EdgeGroupState::Pending),
            (r#"{"kind":"any_of"}"#, [1, 1, 0, 1], 3, EdgeGroupState::Satisfied),
            (r#"{"kind":"quorum","k":2}"#, [1, 1, 1, -4], 3, EdgeGroupState::Impossible),
        ] {
            let downstream = id_in(partition);
            let node = h.of(&downstream).split_once("= ").expect("a condition").1.to_owned();
            h.alter(&format!(
                "INSERT INTO ff_edge_group (partition_key, flow_id, downstream_eid, policy,
                                            success_count, fail_count, skip_count, running_count)
                 VALUES ({partition}, {uuid}, {node}, '{policy}', {success}, {fail}, {skip}, {running})"
            ))
            .await;
            expected.push((downstream, total, state));
        }
        expected.sort_by_key(|(id, ..)| id.as_str().to_owned());
        let seen = h.backend.describe_flow(&flow).await.unwrap().unwrap().edge_groups;
        let seen: Vec<_> = seen.into_iter().map(|g| (g.downstream_execution_id, g.total_deps, g.group_state)).collect();
        assert_eq!(seen, expected);
    }

    async fn flows_are_listed_page_by_page(h) {
        let mut flows: Vec<_> = ["open", "running", "blocked", "completed", "failed", "cancelled", "odd"]
            .map(|state| (FlowId::new(), state))
            .to_vec();
        stored(&h, 0, &flows).await;
        stored(&h, 1, &[(FlowId::new(), "open")]).await;
        flows.sort_by_key(|(flow, _)| *flow.0.as_bytes());
        let partition = PartitionKey::from(Partition { family: PartitionFamily::Flow, index: 0 });
        let (mut cursor, mut seen) = (None, Vec::new());
        loop {
            let page = h.backend.list_flows(partition.clone(), cursor, 3).await.unwrap();
            assert!(page.flows.len() == 3 || page.next_cursor.is_none());
            seen.extend(page.flows);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let ids: Vec<_> = seen.iter().map(|flow| flow.flow_id.clone()).collect();
        assert_eq!(ids, flows.iter().map(|(flow, _)| flow.clone()).collect::<Vec<_>>());
        for (summary, (_, state)) in seen.iter().zip(&flows) {
            assert_eq!(summary.status, FlowStatus::from_public_flow_state(state));
        }
        let exact = h.backend.list_flows(partition.clone(), None, 7).await.unwrap();
        assert_eq!((exact.flows.len(), exact.next_cursor), (7, None));
        let none = h.backend.list_flows(partition.clone(), None, 0).await.unwrap();
        assert_eq!((none.flows.len(), none.next_cursor), (0, None));
        let all = h.backend.list_flows(partition, None, usize::MAX).await.unwrap();
        assert_eq!(all.flows.len(), 7);
        let nonsense: PartitionKey = serde_json::from_value("nonsense".into()).expect("any text");
        let refused = refusal(h.backend.list_flows(nonsense, None, 1).await);
        assert!(refused.starts_with("validation: InvalidInput: partition_key: "), "{refused}");
    }

    async fn a_flows_members_are_summed_up(h) {
        let flow = created(&h).await;
        let (index, uuid) = h.flow_key(&flow);
        let partition = Partition { family: PartitionFamily::Flow, index };
        let now = TimestampMs::from_millis(T0 + 1);
        assert!(!h.backend.project_flow_summary(partition, &flow, now).await.unwrap());
        assert_eq!(h.number("SELECT count(*) FROM ff_flow_summary").await, 0);
        for state in [
            "completed", "failed", "cancelled", "expired", "skipped", "active", "running", "suspended", "waiting",
            "resumable", "pending", "delayed", "rate_limited", "waiting_children", "odd",
        ] {
            let id = member(&h, &flow).await;
            h.alter(&format!("UPDATE ff_exec_core SET public_state = '{state}' WHERE {}", h.of(&id))).await;
        }
        assert!(h.backend.project_flow_summary(partition, &flow, now).await.unwrap());
        let counts = "CAST(total_members AS text) || ' ' || sampled_members || ' ' || members_completed
            || members_failed || members_cancelled || members_expired || members_skipped || members_active
            || members_suspended || members_waiting || members_delayed || members_rate_limited
            || members_waiting_children || ' ' || public_flow_state || ' ' || last_summary_update_at";
        let summary = format!("SELECT {counts} FROM ff_flow_summary WHERE partition_key = {index} AND flow_id = {uuid}");
        assert_eq!(h.texts(&summary).await, [format!("15 15 11111213111 running {}", T0 + 1)]);
        let all = format!("UPDATE ff_exec_core SET public_state = 'completed' WHERE flow_id = {uuid}");
        h.alter(&all).await;
        let later = TimestampMs::from_millis(T0 + 2);
        assert!(h.backend.project_flow_summary(partition, &flow, later).await.unwrap());
        assert_eq!(h.texts(&summary).await, [format!("15 15 150000000000 completed {}", T0 + 2)]);
        assert_eq!(column(&h, &flow, "public_flow_state").await, "open", "the flow's own state is not the summary's");
        let beyond = Partition { family: PartitionFamily::Flow, index: 40_000 };
        let refused = refusal(h.backend.project_flow_summary(beyond, &flow, now).await);
        assert_eq!(refused, "validation: InvalidInput: partition index 40000 exceeds i16 range (max 32767)");
    }
}
