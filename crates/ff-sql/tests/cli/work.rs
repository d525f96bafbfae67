//! What an operator does to executions.

use ff_core::backend::{FailureClass, FailureReason};
use serde_json::json;

use crate::place::{on_both, run};

#[tokio::test]
async fn what_there_is_is_counted_listed_and_shown() {
    on_both(|place| async move {
        assert!(place.text(&["status"]).contains("no executions"));
        assert_eq!(place.json(&["list"])["executions"], json!([]));
        let letter = place.create("mail", "letter").await;
        place.create("mail", "parcel").await;
        place.create("post", "letter").await;
        let handle = place.claim("post").await.unwrap();
        let status = place.json(&["status"]);
        assert_eq!(
            (&status["states"]["waiting"]["depth"], &status["states"]["active"]["depth"]),
            (&json!(2), &json!(1))
        );
        assert_eq!(status["database"], if place.is_sqlite() { "sqlite" } else { "postgres" });
        let lanes = place.json(&["lanes"]);
        assert_eq!((&lanes[0]["lane"], &lanes[0]["states"]["waiting"]), (&json!("mail"), &json!(2)), "{lanes}");
        assert!(lanes[0]["oldest_waiting_at_ms"].is_i64() && lanes[1]["oldest_waiting_at_ms"].is_null(), "{lanes}");
        let found = place.json(&["list", "--lane", "mail", "--kind", "letter", "--state", "waiting"]);
        assert_eq!(found["executions"][0]["id"], json!(letter), "{found}");
        assert_eq!(found["executions"].as_array().unwrap().len(), 1);
        assert_eq!(place.json(&["list", "--older-than", "1h"])["executions"], json!([]));
        assert_eq!(place.json(&["list", "--capability", "gpu"])["executions"], json!([]));
        let shown = place.json(&["show", letter.as_str()]);
        assert_eq!(
            (&shown["kind"], &shown["lane"], &shown["crashes"]),
            (&json!("letter"), &json!("mail"), &json!("0"))
        );
        let text = place.text(&["show", letter.as_str()]);
        assert!(text.contains("waiting (eligible_now)") && text.contains(letter.as_str()), "{text}");
        place.backend.complete(&handle, None).await.unwrap();
        assert!(place.text(&["status"]).contains("completed"));
        let colored = run(Some(&place.target), &["--color", "always", "list"]);
        assert!(colored.out.contains('\u{1b}'), "{}", colored.out);
    })
    .await;
}

#[tokio::test]
async fn pages_of_a_list_follow_one_another() {
    on_both(|place| async move {
        for _ in 0..5 {
            place.create("mail", "letter").await;
        }
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page = if after.is_empty() {
                place.json(&["list", "--limit", "2"])
            } else {
                place.json(&["list", "--limit", "2", "--after", &after])
            };
            seen.extend(
                page["executions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()),
            );
            match page["next"].as_str() {
                Some(next) => after = next.to_owned(),
                None => break,
            }
        }
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!((seen.len(), once.len()), (5, 5), "{seen:?}");
    })
    .await;
}

#[tokio::test]
async fn what_failed_is_retried_and_what_has_ended_is_forgotten() {
    on_both(|place| async move {
        let id = place.create("mail", "letter").await;
        let handle = place.claim("mail").await.unwrap();
        let reason = FailureReason::new("no stamp");
        place.backend.fail(&handle, reason, FailureClass::Permanent).await.unwrap();
        let failed = place.json(&["list", "--state", "failed"]);
        assert_eq!(failed["executions"][0]["id"], json!(id), "{failed}");
        assert!(place.text(&["retry", "--lane", "mail", "--dry-run"]).contains("1 execution to retry"));
        assert!(place.claim("mail").await.is_none(), "nothing was done");
        assert_eq!(place.json(&["retry", "--lane", "mail"])["done"], 1);
        let handle = place.claim("mail").await.unwrap();
        let again = place.run(&["retry", id.as_str()]);
        assert_eq!(again.code, 1, "it runs: {}", again.out);
        assert!(again.out.contains(id.as_str()), "{}", again.out);
        place.backend.complete(&handle, None).await.unwrap();

        let refused = place.run(&["prune", "--state", "completed"]);
        assert_eq!(refused.code, 1, "{}", refused.out);
        assert!(refused.err.contains("--yes"), "{}", refused.err);
        assert_eq!(place.json(&["list"])["executions"].as_array().unwrap().len(), 1);
        assert_eq!(place.json(&["prune", "--older-than", "1h", "--yes"])["done"], 0);
        assert_eq!(place.json(&["discard", "--state", "completed", "--yes"])["done"], 1);
        assert_eq!(place.json(&["list"])["executions"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn what_has_not_ended_is_cancelled_once_it_is_said_which() {
    on_both(|place| async move {
        let (waits, other) = (place.create("mail", "letter").await, place.create("post", "letter").await);
        let unsaid = place.run(&["cancel", "--yes"]);
        assert!(unsaid.code == 1 && unsaid.err.contains("--all"), "{}", unsaid.err);
        let both = place.run(&["cancel", waits.as_str(), "--lane", "mail", "--yes"]);
        assert!(both.code == 1 && both.err.contains("exclude each other"), "{}", both.err);
        let refused = place.run(&["cancel", "--lane", "mail"]);
        assert!(refused.code == 1 && refused.err.contains("--yes"), "{}", refused.err);
        let done = place.json(&["cancel", "--lane", "mail", "--reason", "a mistake", "--yes"]);
        assert_eq!((&done["done"], &done["refused"]), (&json!(1), &json!([])));
        assert!(place.claim("mail").await.is_none());
        assert_eq!(place.json(&["cancel", "--all", "--yes"])["done"], 1);
        assert_eq!(place.json(&["show", other.as_str()])["state"], "cancelled");
        let unknown = place.run(&["show", "{fp:0}:00000000-0000-4000-8000-000000000001"]);
        assert!(unknown.code == 1 && unknown.err.contains("ff-sql list"), "{}", unknown.err);
        let unread = place.run(&["show", "17"]);
        assert!(unread.code == 1 && unread.err.contains("{fp:"), "{}", unread.err);
    })
    .await;
}
