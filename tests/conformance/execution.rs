//! Creation and its repetition, and the reads of one execution.

use ff_core::contracts::CreateExecutionResult;
use ff_core::engine_error::{EngineError, ValidationKind};
use ff_core::partition::{Partition, PartitionFamily, PartitionKey};
use ff_core::state::{AttemptState, LifecyclePhase, PublicState, TerminalOutcome};
use ff_core::types::{LaneId, Namespace, TimestampMs};

use crate::harness::{T0, id_in, on_every_database};

/// The detail of a `Validation(InvalidInput)`.
fn invalid(error: EngineError) -> String {
    match error {
        EngineError::Validation { kind: ValidationKind::InvalidInput, detail } => detail,
        other => panic!("{other} is not about the input"),
    }
}

on_every_database! {
    async fn creation_stores_the_vector_of_a_fresh_execution(h) {
        let args = h.args();
        let id = args.execution_id.clone();
        let created = h.backend.create_execution(args).await.unwrap();
        let CreateExecutionResult::Created { execution_id, public_state } = created else { panic!("it is new") };
        assert_eq!((execution_id, public_state), (id.clone(), PublicState::Waiting));
        for (column, stored) in [
            ("lifecycle_phase", "submitted"),
            ("ownership_state", "unowned"),
            ("eligibility_state", "eligible_now"),
            ("public_state", "waiting"),
            ("attempt_state", "pending"),
            ("attempt_index", "0"),
            ("created_at_ms", &T0.to_string()),
            ("lane_id", "lane"),
        ] {
            assert_eq!(h.core(&id, column).await, stored, "{column}");
        }
        let document = h.document(&id).await;
        assert_eq!(document["namespace"], "space");
        assert_eq!(document["execution_kind"], "kind");
        assert_eq!(document["creator_identity"], "tester");
        assert_eq!(document["total_attempt_count"], "0");
        assert_eq!(document["last_mutation_at"], T0.to_string());
        assert_eq!(document["tags"]["cairn.instance_id"], "instance-1");
        assert!(document.get("idempotency_key").is_none() && document.get("payload_encoding").is_none());
        assert!(h.lease_events(&id).await.is_empty() && h.completions(&id).await.is_empty());
    }

    async fn creation_by_the_same_id_is_a_duplicate_and_changes_nothing(h) {
        let args = h.args();
        let id = h.create_with(|first| *first = args.clone()).await;
        let again = ff_core::contracts::CreateExecutionArgs { priority: 9, input_payload: b"other".to_vec(), ..args };
        let CreateExecutionResult::Duplicate { execution_id } = h.backend.create_execution(again).await.unwrap() else {
            panic!("it was there before")
        };
        assert_eq!(execution_id, id);
        assert_eq!(h.core(&id, "priority").await, "0");
        assert_eq!(h.backend.read_execution_context(&id).await.unwrap().input_payload, b"input");
    }

    async fn an_idempotency_key_holds_for_a_day_in_its_namespace(h) {
        let keyed = |args: &mut ff_core::contracts::CreateExecutionArgs| args.idempotency_key = Some("key".to_owned());
        let first = h.create_with(keyed).await;
        let mut again = h.args();
        keyed(&mut again);
        let CreateExecutionResult::Duplicate { execution_id } =
            h.backend.create_execution(again.clone()).await.unwrap() else { panic!("the key is known") };
        assert_eq!(execution_id, first);
        assert_eq!(h.backend.read_execution_state(&again.execution_id).await.unwrap(), None);
        let elsewhere = h
            .create_with(|args| {
                keyed(args);
                args.namespace = Namespace::new("elsewhere");
            })
            .await;
        assert_ne!(elsewhere, first);
        h.pass_ms(24 * 3_600_000);
        let next_day = h.create_with(keyed).await;
        let mut again = h.args();
        keyed(&mut again);
        let CreateExecutionResult::Duplicate { execution_id } =
            h.backend.create_execution(again).await.unwrap() else { panic!("the key is known") };
        assert_eq!(execution_id, next_day);
    }

    async fn creations_at_once_with_one_key_make_one_execution(h) {
        let creations: Vec<_> = (0..8)
            .map(|_| {
                let h = Arc::clone(&h);
                tokio::spawn(async move {
                    let mut args = h.args();
                    args.idempotency_key = Some("key".to_owned());
                    h.backend.create_execution(args).await.unwrap()
                })
            })
            .collect();
        let mut created = Vec::new();
        let mut repeated = Vec::new();
        for creation in creations {
            match creation.await.unwrap() {
                CreateExecutionResult::Created { execution_id, .. } => created.push(execution_id),
                CreateExecutionResult::Duplicate { execution_id } => repeated.push(execution_id),
            }
        }
        assert_eq!((created.len(), repeated.len()), (1, 7));
        assert!(repeated.iter().all(|id| *id == created[0]));
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core").await, 1);
    }

    async fn text_with_a_nul_is_refused_by_name_and_writes_nothing(h) {
        let mut args = h.args();
        args.tags.insert("a.b".to_owned(), "x\0y".to_owned());
        assert!(invalid(h.backend.create_execution(args).await.unwrap_err()).contains("tags"));
        let mut args = h.args();
        args.execution_kind = "\0".to_owned();
        assert!(invalid(h.backend.create_execution(args).await.unwrap_err()).contains("execution_kind"));
        assert_eq!(h.number("SELECT count(*) FROM ff_exec_core").await, 0);
        assert_eq!(h.number("SELECT count(*) FROM ff_lane_registry").await, 0);
    }

    async fn a_partition_beyond_the_column_is_refused(h) {
        let mut args = h.args();
        args.execution_id = id_in(40_000);
        let detail = invalid(h.backend.create_execution(args).await.unwrap_err());
        assert_eq!(detail, "partition index 40000 exceeds i16 range (max 32767)");
    }

    async fn reads_of_an_unknown_execution_say_so(h) {
        let id = id_in(3);
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), None);
        assert!(h.backend.read_execution_info(&id).await.unwrap().is_none());
        assert!(h.backend.describe_execution(&id).await.unwrap().is_none());
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap(), None);
        assert_eq!(h.backend.get_execution_namespace(&id).await.unwrap(), None);
        assert_eq!(h.backend.resolve_execution_flow_id(&id).await.unwrap(), None);
        let context = invalid(h.backend.read_execution_context(&id).await.unwrap_err());
        assert_eq!(context, format!("read_execution_context: execution not found: {id}"));
        let index = invalid(h.backend.read_current_attempt_index(&id).await.unwrap_err());
        assert_eq!(index, format!("read_current_attempt_index: execution not found: {id}"));
        let count = invalid(h.backend.read_total_attempt_count(&id).await.unwrap_err());
        assert_eq!(count, format!("read_total_attempt_count: execution not found: {id}"));
    }

    async fn a_fresh_execution_reads_as_it_was_created(h) {
        let id = h.create_with(|args| args.priority = 4).await;
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Waiting));
        let context = h.backend.read_execution_context(&id).await.unwrap();
        assert_eq!((context.input_payload.as_slice(), context.execution_kind.as_str()), (&b"input"[..], "kind"));
        assert_eq!(context.tags["cairn.instance_id"], "instance-1");
        assert_eq!(h.backend.read_current_attempt_index(&id).await.unwrap().0, 0);
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 0);
        assert_eq!(h.backend.get_execution_namespace(&id).await.unwrap().as_deref(), Some("space"));
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap(), None);
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert_eq!((info.priority, info.namespace.as_str(), info.lane_id.as_str()), (4, "space", "lane"));
        assert_eq!(info.state_vector.lifecycle_phase, LifecyclePhase::Submitted);
        assert_eq!(info.state_vector.attempt_state, AttemptState::PendingFirstAttempt);
        assert!(info.state_vector.is_consistent());
        assert_eq!((info.created_at, info.started_at, info.flow_id), (T0.to_string(), None, None));
    }

    async fn a_running_execution_reads_as_active_however_it_was_claimed(h) {
        let (id, _) = h.created_and_claimed().await;
        for stored in ["running", "active"] {
            h.alter(&format!("UPDATE ff_exec_core SET public_state = '{stored}' WHERE {}", h.of(&id))).await;
            assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Active));
            let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
            assert_eq!(info.public_state, PublicState::Active);
            let described = h.backend.describe_execution(&id).await.unwrap().unwrap();
            assert_eq!(described.public_state, PublicState::Active);
            assert_eq!(described.total_attempt_count, 1);
        }
    }

    async fn a_completed_execution_reads_as_completed(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.pass_ms(5);
        h.backend.complete(&handle, Some(b"done".to_vec())).await.unwrap();
        assert_eq!(h.backend.read_execution_state(&id).await.unwrap(), Some(PublicState::Completed));
        assert_eq!(h.backend.get_execution_result(&id).await.unwrap().as_deref(), Some(&b"done"[..]));
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert_eq!(info.state_vector.terminal_outcome, TerminalOutcome::Success);
        assert!(info.state_vector.is_consistent());
        assert_eq!(info.completed_at.as_deref(), Some((T0 + 5).to_string().as_str()));
    }

    async fn an_unknown_state_word_is_corruption_by_name(h) {
        let id = h.create().await;
        h.alter(&format!("UPDATE ff_exec_core SET public_state = 'lost' WHERE {}", h.of(&id))).await;
        let error = h.backend.read_execution_state(&id).await.unwrap_err().to_string();
        assert!(error.contains("Corruption: exec_core: public_state: 'lost' is not a known value"), "{error}");
    }

    async fn words_of_older_writers_are_read(h) {
        let id = h.create().await;
        let words = "lifecycle_phase = 'eligible', ownership_state = 'released', eligibility_state = 'pending_claim', \
                     public_state = 'pending', attempt_state = 'initial', blocking_reason = ''";
        h.alter(&format!("UPDATE ff_exec_core SET {words} WHERE {}", h.of(&id))).await;
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert_eq!(info.state_vector.lifecycle_phase, LifecyclePhase::Runnable);
        assert_eq!(info.public_state, PublicState::Waiting);
    }

    async fn a_counter_that_is_no_number_reads_as_zero(h) {
        let id = h.create().await;
        let document = r#"'{"total_attempt_count":"12abc","namespace":5}'"#;
        h.alter(&format!("UPDATE ff_exec_core SET raw_fields = {document} WHERE {}", h.of(&id))).await;
        assert_eq!(h.backend.read_total_attempt_count(&id).await.unwrap().0, 0);
        assert_eq!(h.backend.get_execution_namespace(&id).await.unwrap().as_deref(), Some("5"));
        assert!(h.backend.describe_execution(&id).await.unwrap().is_some());
    }

    async fn a_description_shows_what_was_given(h) {
        let id = h.create().await;
        let described = h.backend.describe_execution(&id).await.unwrap().unwrap();
        assert_eq!(described.public_state, PublicState::Waiting);
        assert_eq!(described.namespace.as_str(), "space");
        assert_eq!(described.total_attempt_count, 0);
        assert_eq!(described.tags["cairn.instance_id"], "instance-1");
        assert_eq!(described.created_at.0, T0);
        assert!(described.current_lease.is_none());
    }

    async fn named_fields_read_as_text(h) {
        let id = h
            .create_with(|args| {
                let mut policy = ff_core::policy::ExecutionPolicy::default();
                let required_capabilities = ["z", "a"].map(str::to_owned).into();
                policy.routing_requirements =
                    Some(ff_core::policy::RoutingRequirements { required_capabilities, ..Default::default() });
                args.policy = Some(policy);
                args.execution_deadline_at = Some(TimestampMs::from_millis(T0 + 9));
            })
            .await;
        let partition = Partition { family: PartitionFamily::Flow, index: id.partition() };
        let names = ["lane_id", "required_capabilities", "deadline_at_ms", "current_attempt_index", "flow_id", "what"];
        let fields = h.backend.read_exec_core_fields(partition, &id, &names).await.unwrap();
        let expected = [Some("lane"), Some("a,z"), None, Some("0"), None, None];
        for (name, expected) in names.iter().zip(expected) {
            if *name != "deadline_at_ms" {
                assert_eq!(fields[*name].as_deref(), expected, "{name}");
            }
        }
        assert_eq!(fields["deadline_at_ms"], Some((T0 + 9).to_string()));
        let without = h.create().await;
        let partition = Partition { family: PartitionFamily::Budget, index: without.partition() };
        let fields = h.backend.read_exec_core_fields(partition, &without, &["required_capabilities"]).await.unwrap();
        assert_eq!(fields["required_capabilities"].as_deref(), Some(""));
    }

    async fn named_fields_of_another_partition_are_refused(h) {
        let id = h.create().await;
        let index = id.partition() + 1;
        let partition = Partition { family: PartitionFamily::Flow, index };
        let refused = h.backend.read_exec_core_fields(partition, &id, &["lane_id"]).await.unwrap_err();
        let expected = format!("read_exec_core_fields: partition mismatch (arg={index}, eid={})", id.partition());
        assert_eq!(invalid(refused), expected);
        assert!(h.backend.read_exec_core_fields(partition, &id, &[]).await.unwrap().is_empty());
        let unknown = id_in(3);
        let partition = Partition { family: PartitionFamily::Flow, index: 3 };
        let fields = h.backend.read_exec_core_fields(partition, &unknown, &["lane_id"]).await.unwrap();
        assert_eq!(fields["lane_id"], None);
    }

    async fn executions_are_listed_in_pages(h) {
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(h.create_with(|args| args.execution_id = id_in(6)).await);
        }
        h.create_with(|args| args.execution_id = id_in(7)).await;
        ids.sort_by_key(ToString::to_string);
        let key = PartitionKey::from(Partition { family: PartitionFamily::Flow, index: 6 });
        let first = h.backend.list_executions(key.clone(), None, 3).await.unwrap();
        assert_eq!(first.executions, ids[..3]);
        assert_eq!(first.next_cursor.as_ref(), Some(&ids[2]));
        let second = h.backend.list_executions(key.clone(), first.next_cursor, 3).await.unwrap();
        assert_eq!(second.executions, ids[3..]);
        assert_eq!(second.next_cursor, None);
        assert!(h.backend.list_executions(key, None, 0).await.unwrap().executions.is_empty());
    }

    async fn lanes_are_listed_in_the_order_of_their_bytes(h) {
        for lane in ["b", "B", "a", "_", "b"] {
            h.create_with(|args| args.lane_id = LaneId::new(lane)).await;
        }
        let first = h.backend.list_lanes(None, 2).await.unwrap();
        assert_eq!(first.lanes.iter().map(LaneId::as_str).collect::<Vec<_>>(), ["B", "_"]);
        let second = h.backend.list_lanes(first.next_cursor, 9).await.unwrap();
        assert_eq!(second.lanes.iter().map(LaneId::as_str).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(second.next_cursor, None);
    }

    async fn a_member_knows_its_flow(h) {
        let (id, handle) = h.created_and_claimed().await;
        let flow = ff_core::types::FlowId::new();
        let (_, literal) = h.flow_key(&flow);
        h.alter(&format!("UPDATE ff_exec_core SET flow_id = {literal} WHERE {}", h.of(&id))).await;
        assert_eq!(h.backend.resolve_execution_flow_id(&id).await.unwrap(), Some(flow.clone()));
        let info = h.backend.read_execution_info(&id).await.unwrap().unwrap();
        assert_eq!(info.flow_id, Some(flow.to_string()));
        let described = h.backend.describe_execution(&id).await.unwrap().unwrap();
        assert_eq!(described.flow_id, Some(flow.clone()));
        let partition = Partition { family: PartitionFamily::Flow, index: id.partition() };
        let fields = h.backend.read_exec_core_fields(partition, &id, &["flow_id"]).await.unwrap();
        assert_eq!(fields["flow_id"], Some(flow.to_string()));
        h.backend.complete(&handle, None).await.unwrap();
        let told = format!("SELECT count(*) FROM ff_completion_event WHERE flow_id = {literal} AND {}", h.of(&id));
        assert_eq!(h.number(&told).await, 1);
    }
}
