//! Tags of executions and flows.

use ff_core::types::FlowId;

use crate::harness::{Harness as Opened, id_in, on_every_database, refusal};

/// What a flow's row is found by, and its partition: the database's own choice.
async fn flow(h: &Opened, document: &str) -> FlowId {
    let flow = FlowId::new();
    let (partition, uuid) = h.flow_key(&flow);
    h.alter(&format!(
        "INSERT INTO ff_flow_core (partition_key, flow_id, graph_revision, public_flow_state, created_at_ms, raw_fields)
         VALUES ({partition}, {uuid}, 0, 'open', 0, '{document}')"
    ))
    .await;
    flow
}

/// The flow's open document.
async fn flow_document(h: &Opened, flow: &FlowId) -> serde_json::Value {
    let (_, uuid) = h.flow_key(flow);
    let sql = format!("SELECT CAST(raw_fields AS text) FROM ff_flow_core WHERE flow_id = {uuid}");
    serde_json::from_str(&h.texts(&sql).await.remove(0)).expect("JSON")
}

on_every_database! {
    async fn a_tag_is_set_read_and_overwritten(h) {
        let id = h.create().await;
        assert_eq!(h.backend.get_execution_tag(&id, "app.user").await.unwrap(), None);
        for value in ["one", "zwei \"ü\"", ""] {
            h.backend.set_execution_tag(&id, "app.user", value).await.unwrap();
            assert_eq!(h.backend.get_execution_tag(&id, "app.user").await.unwrap().as_deref(), Some(value));
        }
        let given = h.backend.get_execution_tag(&id, "cairn.instance_id").await.unwrap();
        assert_eq!(given.as_deref(), Some("instance-1"));
        assert_eq!(h.backend.read_execution_context(&id).await.unwrap().tags["app.user"], "");
    }

    async fn dots_do_not_nest(h) {
        let id = h.create().await;
        h.backend.set_execution_tag(&id, "a.b", "1").await.unwrap();
        h.backend.set_execution_tag(&id, "a.b.c", "2").await.unwrap();
        let document = h.document(&id).await;
        assert_eq!((document["tags"]["a.b"].as_str(), document["tags"]["a.b.c"].as_str()), (Some("1"), Some("2")));
        assert_eq!(h.backend.get_execution_tag(&id, "a.b").await.unwrap().as_deref(), Some("1"));
    }

    async fn setting_a_tag_touches_nothing_else(h) {
        let id = h.create().await;
        let mut before = h.document(&id).await;
        h.pass_ms(1_000);
        h.backend.set_execution_tag(&id, "a.b", "1").await.unwrap();
        before["tags"]["a.b"] = "1".into();
        assert_eq!(h.document(&id).await, before);
        assert!(h.lease_events(&id).await.is_empty());
    }

    async fn a_tag_is_set_where_there_are_none(h) {
        let id = h.create().await;
        h.alter(&format!("UPDATE ff_exec_core SET raw_fields = '{{}}' WHERE {}", h.of(&id))).await;
        assert_eq!(h.backend.get_execution_tag(&id, "a.b").await.unwrap(), None);
        h.backend.set_execution_tag(&id, "a.b", "1").await.unwrap();
        assert_eq!(h.backend.get_execution_tag(&id, "a.b").await.unwrap().as_deref(), Some("1"));
    }

    async fn a_tag_that_is_no_text_reads_as_its_json(h) {
        let id = h.create().await;
        let document = r#"{"tags":{"a.n":7,"a.o":{"x":true}}}"#;
        h.alter(&format!("UPDATE ff_exec_core SET raw_fields = '{document}' WHERE {}", h.of(&id))).await;
        assert_eq!(h.backend.get_execution_tag(&id, "a.n").await.unwrap().as_deref(), Some("7"));
        assert_eq!(h.backend.get_execution_tag(&id, "a.o").await.unwrap().as_deref(), Some(r#"{"x":true}"#));
    }

    async fn a_missing_execution_has_no_tags_and_takes_none(h) {
        let id = id_in(3);
        assert_eq!(h.backend.get_execution_tag(&id, "a.b").await.unwrap(), None);
        assert_eq!(refusal(h.backend.set_execution_tag(&id, "a.b", "1").await), "not found: execution");
    }

    async fn a_key_of_another_shape_is_refused_before_anything(h) {
        let (id, flow) = (id_in(3), FlowId::new());
        for key in ["", "a", "a.", ".a", "A.b", "a.B", "1a.b", "a b.c", "a.\"b", "a\\.b", "a..\u{e9}"] {
            let expected = format!(
                "validation: InvalidInput: invalid tag key: {key:?} (must match ^[a-z][a-z0-9_]*\\.[a-z0-9_][a-z0-9_.]*$)"
            );
            assert_eq!(refusal(h.backend.set_execution_tag(&id, key, "v").await), expected);
            assert_eq!(refusal(h.backend.get_execution_tag(&id, key).await), expected);
            assert_eq!(refusal(h.backend.set_flow_tag(&flow, key, "v").await), expected);
            assert_eq!(refusal(h.backend.get_flow_tag(&flow, key).await), expected);
        }
    }

    async fn a_nul_in_a_value_is_refused(h) {
        let id = h.create().await;
        let refused = refusal(h.backend.set_execution_tag(&id, "a.b", "x\0").await);
        assert!(refused.starts_with("validation: InvalidInput: ") && refused.contains("U+0000"), "{refused}");
        assert_eq!(h.backend.get_execution_tag(&id, "a.b").await.unwrap(), None);
        let refused = refusal(h.backend.set_flow_tag(&FlowId::new(), "a.b", "x\0").await);
        assert!(refused.contains("U+0000"), "{refused}");
    }

    async fn a_flows_tags_are_members_of_its_document(h) {
        let flow = flow(&h, r#"{"namespace":"space","a.n":7}"#).await;
        assert_eq!(h.backend.get_flow_tag(&flow, "a.b").await.unwrap(), None);
        h.backend.set_flow_tag(&flow, "a.b", "1").await.unwrap();
        h.backend.set_flow_tag(&flow, "a.b", "2").await.unwrap();
        assert_eq!(h.backend.get_flow_tag(&flow, "a.b").await.unwrap().as_deref(), Some("2"));
        assert_eq!(h.backend.get_flow_tag(&flow, "a.n").await.unwrap().as_deref(), Some("7"));
        assert_eq!(flow_document(&h, &flow).await, serde_json::json!({"namespace": "space", "a.n": 7, "a.b": "2"}));
    }

    async fn a_missing_flow_has_no_tags_and_takes_none(h) {
        assert_eq!(h.backend.get_flow_tag(&FlowId::new(), "a.b").await.unwrap(), None);
        assert_eq!(refusal(h.backend.set_flow_tag(&FlowId::new(), "a.b", "1").await), "not found: flow");
    }

    async fn tags_set_at_once_are_all_there(h) {
        let id = h.create().await;
        let setters: Vec<_> = (0..10)
            .map(|n| {
                let (h, id) = (Arc::clone(&h), id.clone());
                tokio::spawn(async move { h.backend.set_execution_tag(&id, &format!("a.t{n}"), "v").await.unwrap() })
            })
            .collect();
        for setter in setters {
            setter.await.unwrap();
        }
        assert_eq!(h.backend.read_execution_context(&id).await.unwrap().tags.len(), 11);
    }

    async fn completions_and_lease_events_carry_the_tag_that_is_set_then(h) {
        let id = h.create().await;
        h.backend.set_execution_tag(&id, "cairn.instance_id", "instance-2").await.unwrap();
        let handle = h.claim("worker-a").await.expect("there is one");
        h.backend.complete(&handle, None).await.unwrap();
        assert_eq!(h.completions(&id).await, ["success space instance-2"]);
        let tags = "SELECT instance_tag FROM ff_lease_event ORDER BY event_id";
        assert_eq!(h.texts(tags).await, ["instance-2", "instance-2"]);
    }
}
