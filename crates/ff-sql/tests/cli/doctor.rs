//! What the doctor finds in databases in which something is wrong.

use serde_json::Value;

use crate::place::{Place, on_both, run};

/// What the doctor says of one check: the verdict, and its words.
fn said(place: &Place, check: &str) -> (String, String) {
    let printed = place.run(&["doctor", "--json"]);
    let document: Value = serde_json::from_str(&printed.out).unwrap_or_else(|error| panic!("{error}: {}", printed.err));
    let checks = document["checks"].as_array().unwrap();
    let found = checks.iter().find(|found| found["check"] == check).unwrap_or_else(|| panic!("{check}: {document}"));
    let has_problem = checks.iter().any(|found| found["verdict"] == "problem");
    assert_eq!(printed.code, i32::from(has_problem), "{document}");
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("verdict") == "fine", found["advice"].is_null(), "{document}");
    (text("verdict"), format!("{} {}", text("says"), text("advice")))
}

/// A check finds what was done by hand, and nothing before.
async fn finds(place: &Place, check: &str, spoil: &str, verdict: &str, words: &[&str]) {
    let (before, said_before) = said(place, check);
    assert_eq!(before, "fine", "{check}: {said_before}");
    place.alter(spoil).await;
    let (after, says) = said(place, check);
    assert_eq!(after, verdict, "{check}: {says}");
    for word in words {
        assert!(says.contains(word), "{check}: {word}: {says}");
    }
}

#[tokio::test]
async fn sweeps_that_nobody_runs() {
    on_both(|place| async move {
        place.create("mail", "letter").await;
        place.claim("mail").await.unwrap();
        let ended = "UPDATE ff_attempt SET lease_expires_at_ms = 1";
        finds(&place, "leases", ended, "problem", &["mail", "with_all_scanners"]).await;
        place.create("post", "letter").await;
        let due = "UPDATE ff_exec_core SET eligibility_state = 'not_eligible_until_time', public_state = 'delayed', \
                   deadline_at_ms = 1 WHERE lane_id = 'post'";
        finds(&place, "sweeps", due, "problem", &["post", "ff_sweep_lag_seconds"]).await;
    })
    .await;
}

#[tokio::test]
async fn work_that_waits_and_work_that_ends_its_workers() {
    on_both(|place| async move {
        let id = place.create("mail", "letter").await;
        finds(&place, "waiting", "UPDATE ff_exec_core SET created_at_ms = 1", "warning", &["mail", "--state waiting"])
            .await;
        let set = if place.is_sqlite() {
            "UPDATE ff_exec_core SET raw_fields = json_set(raw_fields, '$.crash_count', '7')"
        } else {
            "UPDATE ff_exec_core SET raw_fields = raw_fields || '{\"crash_count\": \"7\"}'"
        };
        finds(&place, "poison", set, "warning", &["1 execution lost", "mail: 1", id.as_str(), "ff-sql cancel"]).await;
        place.text(&["cancel", id.as_str(), "--yes"]);
        assert_eq!(said(&place, "poison").0, "fine", "what has ended is none any more");
    })
    .await;
}

#[tokio::test]
async fn indexes_that_are_missing_or_broken() {
    on_both(|place| async move {
        let dropped = "DROP INDEX ff_exec_core_deadline_due_idx";
        finds(&place, "indexes", dropped, "problem", &["ff_exec_core_deadline_due_idx", "schema/"]).await;
        if !place.is_sqlite() {
            let broken = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ff_lease_event_at_idx'::regclass";
            place.alter(broken).await;
            let (verdict, says) = said(&place, "indexes");
            assert!(
                verdict == "problem" && says.contains("ff_lease_event_at_idx") && says.contains("REINDEX"),
                "{says}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn versions_that_are_pending() {
    on_both(|place| async move {
        let removed = "DELETE FROM ff_sql_migrations WHERE version = 1046";
        finds(&place, "migrations", removed, "problem", &["1046_retention_indexes", "ff-sql migrate"]).await;
    })
    .await;
}

#[tokio::test]
async fn a_pooler_that_hands_sessions_on() {
    on_both(|place| async move {
        if place.is_sqlite() {
            return;
        }
        assert_eq!(said(&place, "pooler").0, "fine");
        let behind = crate::handing_on::before(&place.target);
        let printed = run(Some(&behind), &["doctor", "--json"]);
        let document: Value =
            serde_json::from_str(&printed.out).unwrap_or_else(|error| panic!("{error}: {}", printed.err));
        assert_eq!((printed.code, &document["verdict"]), (1, &"problem".into()), "{document}");
        let found = &document["checks"][0];
        assert_eq!((&found["check"], &found["verdict"]), (&"pooler".into(), &"problem".into()), "{document}");
        assert!(found["advice"].as_str().is_some_and(|advice| advice.contains("pool_mode = session")), "{document}");
        let text = run(Some(&behind), &["doctor"]).out;
        assert!(text.starts_with("problem  pooler"), "{text}");
        let other = run(Some(&behind), &["status"]);
        assert!(other.code == 1 && other.err.contains("pool_mode = session"), "{}{}", other.out, other.err);
    })
    .await;
}

#[tokio::test]
async fn settings_of_a_server() {
    on_both(|place| async move {
        if place.is_sqlite() {
            return;
        }
        let name = place.target.rsplit_once('/').unwrap().1.split('?').next().unwrap().to_owned();
        place.alter(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
        let (verdict, says) = said(&place, "settings");
        // Other settings are told first where they are off as well: a throwaway server is quick, not safe.
        assert!(verdict == "problem" && says.contains("is off: what was acknowledged may be lost"), "{says}");
    })
    .await;
}

#[tokio::test]
async fn a_database_that_is_well_is_fine() {
    on_both(|place| async move {
        place.create("mail", "letter").await;
        let text = place.run(&["doctor"]).out;
        let words = if place.is_sqlite() { ["log", "journal_mode = wal"] } else { ["pooler", "vacuum"] };
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        // A throwaway server is quick, not safe, which is what its settings say.
        let others = text.lines().filter(|line| !line.contains("settings") && !line.contains("what was acknowledged"));
        assert!(others.clone().all(|line| !line.starts_with("problem") && !line.starts_with("warning")), "{text}");
    })
    .await;
}

#[tokio::test]
async fn a_file_without_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("flow.db").display().to_string();
    drop(ff_backend_sql::SqliteBackend::new_with_tuning(&target, 1, false).await.unwrap());
    let printed = run(Some(&target), &["doctor"]);
    assert!(printed.code == 0 && printed.out.contains("journal_mode = delete"), "{}{}", printed.out, printed.err);
}
