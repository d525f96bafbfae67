//! Wrong URLs, databases that are not there, and schemas of another version.

use ff_backend_sql::{PgPool, apply_migrations};

use crate::place::{Printed, empty_database, on_both, run};

/// Fails, and says what and the way out.
fn refused(target: Option<&str>, says: &str, help: &str) {
    for command in ["status", "lanes"] {
        let Printed { out, err, code } = run(target, &[command]);
        assert_eq!((code, out.as_str()), (1, ""), "{target:?}: {err}");
        assert!(err.contains(says) && err.contains("help:") && err.contains(help), "{target:?}: {err}");
        let Printed { err, code, .. } = run(target, &[command, "--json"]);
        let document: serde_json::Value = serde_json::from_str(&err).unwrap();
        assert_eq!(code, 1);
        assert!(document["error"].as_str().unwrap().contains(says), "{document}");
    }
}

#[test]
fn what_is_no_database_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    refused(None, "no database is named", "FF_SQL_DATABASE");
    refused(Some("mysql://host/flow"), "`mysql://`", "postgres://");
    refused(Some(&file("none.db")), "there is no such file", "name a file");
    assert!(!folder.path().join("none.db").exists(), "nothing was made");
    std::fs::write(folder.path().join("text"), "this is no database, but longer than the header of one. ".repeat(9))
        .unwrap();
    refused(Some(&file("text")), "not a database", "name a file");
    std::fs::write(folder.path().join("empty.db"), "").unwrap();
    refused(Some(&file("empty.db")), "no tables of FlowFabric", "ff-sql migrate");
    // Once: the driver tries for a while.
    let Printed { err, code, .. } = run(Some("postgres://127.0.0.1:1/flow"), &["status"]);
    assert!(code == 1 && err.contains("postgres://127.0.0.1:1/flow cannot be opened"), "{err}");
    assert!(err.contains("is the server running"), "{err}");
}

#[test]
fn a_command_line_that_is_not_understood_has_a_code_of_its_own() {
    for arguments in [&["lst"][..], &["list", "--state", "faild"], &["list", "--older-than", "7"], &["show"]] {
        let Printed { err, code, .. } = run(Some("flow.db"), arguments);
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(!err.is_empty());
    }
    let Printed { err, .. } = run(Some("flow.db"), &["list", "--state", "faild"]);
    assert!(err.contains("waiting_children"), "the states are named: {err}");
}

#[tokio::test]
async fn a_server_without_the_database_or_its_tables() {
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else { return };
    let empty = empty_database(&url).await;
    refused(Some(&empty), "no tables of FlowFabric", "ff-sql migrate");
    let missing = empty.replace("/ff_sql_", "/ff_sql_none_");
    refused(Some(&missing), "does not exist", "createdb ff_sql_none_");
    let password =
        url.split_once("://").and_then(|(_, rest)| rest.split_once('@')).and_then(|(user, _)| user.split_once(':'));
    if let Some((_, password)) = password.filter(|(_, password)| !password.is_empty()) {
        assert!(!run(Some(&missing), &["status"]).err.contains(password), "the password is not told");
    }
    let made = run(Some(&empty), &["migrate"]);
    assert!(made.code == 0 && made.out.contains("0001_initial"), "{}{}", made.out, made.err);
    assert_eq!(run(Some(&empty), &["migrate", "--check"]).code, 0);
    assert!(run(Some(&empty), &["status"]).out.contains("no executions"));
    // Nothing is left to do, and doing it again does nothing.
    let pool = PgPool::connect(&empty).await.unwrap();
    apply_migrations(&pool).await.unwrap();
}

#[tokio::test]
async fn a_schema_of_another_version() {
    on_both(|place| async move {
        place.create("mail", "letter").await;
        place
            .alter(
                "INSERT INTO ff_sql_migrations (version, name, applied_at_ms) VALUES (9999, '9999_of_the_future', 1)",
            )
            .await;
        assert!(place.text(&["status"]).contains("9999"), "a newer one is told of");
        place.alter("DELETE FROM ff_sql_migrations WHERE version IN (9999, 1046)").await;
        refused(Some(&place.target), "the first is 1046_", "ff-sql migrate");
        let check = place.run(&["migrate", "--check"]);
        assert!(check.code == 1 && check.out.contains("1046_"), "{}", check.out);
        assert!(place.run(&["migrate", "--check"]).out.contains("lacks 1 version"), "nothing was applied");
    })
    .await;
}

#[tokio::test]
async fn an_old_file_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/peer.sqlite"), &path).unwrap();
    let target = path.display().to_string();
    refused(Some(&target), "the schema is older", "ff-sql migrate");
    let made = run(Some(&target), &["migrate", "--json"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let document: serde_json::Value = serde_json::from_str(&made.out).unwrap();
    assert!(document["applied"].as_array().unwrap().iter().any(|name| name == "1003_work_queues"), "{document}");
    assert_eq!(run(Some(&target), &["status"]).code, 0);
}
