//! What an operator holds back, and lets go on.

use ff_core::contracts::{AddExecutionToFlowArgs, CreateFlowArgs};
use ff_core::partition::PartitionConfig;
use ff_core::types::{ExecutionId, FlowId, Namespace, TimestampMs};
use serde_json::json;

use crate::place::{Place, on_both};

#[tokio::test]
async fn a_lane_that_is_paused_says_so_everywhere() {
    on_both(|place| async move {
        let id = place.create("mail", "letter").await;
        place.create("post", "letter").await;
        assert_eq!(place.json(&["pause", "--lane", "mail"]), json!({ "lane": "mail", "changed": true }));
        let again = place.text(&["pause", "--lane", "mail", "--reason", "another"]);
        assert_eq!(again, "lane mail was paused already\n");
        assert!(place.claim("mail").await.is_none());
        assert!(place.claim("post").await.is_some(), "another lane goes on");
        let status = place.json(&["status"]);
        assert_eq!(
            (&status["paused"][0]["lane"], &status["paused"][0]["reason"]),
            (&json!("mail"), &json!("paused by ff-sql"))
        );
        assert!(status["paused"][0]["since_ms"].is_i64(), "{status}");
        let lanes = place.json(&["lanes"]);
        assert_eq!((&lanes[0]["pause"]["lane"], &lanes[1]["pause"]), (&json!("mail"), &json!(null)), "{lanes}");
        assert_eq!(place.json(&["show", id.as_str()])["paused"][0]["lane"], "mail");
        for command in [&["status"][..], &["lanes"], &["show", id.as_str()], &["doctor"]] {
            let text = place.run(command).out;
            assert!(text.contains("lane mail is paused since"), "{command:?}: {text}");
        }
        let doctor = place.run(&["doctor", "--json"]).out;
        assert!(doctor.contains("ff-sql resume --lane mail"), "{doctor}");
        assert_eq!(place.text(&["resume", "--lane", "mail"]), "lane mail goes on\n");
        assert_eq!(place.text(&["resume", "--lane", "mail"]), "lane mail was not paused\n");
        assert!(place.claim("mail").await.is_some());
        assert_eq!(place.json(&["status"])["paused"], json!([]));
    })
    .await;
}

/// A flow with a member that waits on that lane.
async fn flow_on(place: &Place, lane: &str) -> (FlowId, ExecutionId) {
    let (flow_id, now) = (FlowId::new(), TimestampMs::now());
    // Members of flows are all in partition 0 of a SQLite file, and in that of their flow on Postgres.
    let id = if place.is_sqlite() {
        ExecutionId::parse(&format!("{{fp:0}}:{}", uuid::Uuid::new_v4())).unwrap()
    } else {
        ExecutionId::for_flow(&flow_id, &PartitionConfig::default())
    };
    let id = place.create_as(id, lane, "letter").await;
    let created = CreateFlowArgs {
        flow_id: flow_id.clone(),
        flow_kind: "letters".to_owned(),
        namespace: Namespace::new("tests"),
        now,
    };
    place.backend.create_flow(created).await.unwrap();
    let joined = AddExecutionToFlowArgs { flow_id: flow_id.clone(), execution_id: id.clone(), now };
    place.backend.add_execution_to_flow(joined).await.unwrap();
    (flow_id, id)
}

#[tokio::test]
async fn a_flow_that_is_paused_holds_its_members_back() {
    on_both(|place| async move {
        let (flow, member) = flow_on(&place, "mail").await;
        let name = flow.to_string();
        assert_eq!(place.json(&["pause", "--flow", &name, "--reason", "ticket 12"])["changed"], true);
        assert!(place.claim("mail").await.is_none());
        let shown = place.text(&["show", member.as_str()]);
        assert!(shown.contains(&format!("flow {name} is paused since")) && shown.contains("ticket 12"), "{shown}");
        assert!(place.text(&["status"]).contains(&format!("flow {name} is paused")));
        assert_eq!(place.json(&["resume", "--flow", &name])["changed"], true);
        assert!(place.claim("mail").await.is_some());
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_paused_is_refused_with_the_way_out() {
    on_both(|place| async move {
        place.create("mail", "letter").await;
        let lane = place.run(&["pause", "--lane", "mial"]);
        assert!(
            lane.code == 1 && lane.err.contains("no lane mial") && lane.err.contains("ff-sql lanes"),
            "{}",
            lane.err
        );
        let flow = place.run(&["pause", "--flow", "00000000-0000-4000-8000-000000000001"]);
        assert!(flow.code == 1 && flow.err.contains("ff-sql show"), "{}", flow.err);
        for unclear in [&["pause"][..], &["resume"], &["pause", "--flow", "17"]] {
            assert_eq!(place.run(unclear).code, 2, "{unclear:?}");
        }
        let both = ["pause", "--lane", "mail", "--flow", "00000000-0000-4000-8000-000000000001"];
        assert_eq!(place.run(&both).code, 2);
    })
    .await;
}
