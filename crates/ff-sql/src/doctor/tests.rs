//! Every check finds what it is there for, and nothing in a database that is well.

use ff_core::types::{ExecutionId, LaneId};

use super::*;
use ff_backend_sql::manage::{PauseTarget, TableSize};

const NOW: i64 = 1_700_000_000_000;

fn facts(kind: Kind) -> Facts {
    let schema = SchemaState { missing: Vec::new(), unknown: Vec::new(), applied: 9 };
    Facts { kind, ahead_ms: 0, within_ms: 0, schema }
}

fn queue(state: ListedState, age: Duration) -> QueueCount {
    let oldest_at_ms = NOW - i64::try_from(age.as_millis()).unwrap();
    QueueCount { lane: LaneId::new("mail"), state, depth: 3, oldest_at_ms }
}

fn contents(kind: Kind) -> Contents {
    let settings: &[(&str, &str)] = match kind {
        Kind::Sqlite => &[("journal_mode", "wal")],
        Kind::Postgres => &[
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous_commit", "on"),
            ("autovacuum", "on"),
            ("max_locks_per_transaction", "256"),
        ],
    };
    Contents {
        now_ms: NOW,
        queues: vec![
            queue(ListedState::Waiting, minutes(4)),
            queue(ListedState::Delayed, Duration::from_secs(2)),
            queue(ListedState::Active, Duration::from_secs(2)),
        ],
        pauses: Vec::new(),
        crashed: Vec::new(),
        inspection: Inspection {
            settings: settings.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))).collect(),
            missing_indexes: Vec::new(),
            broken_indexes: Vec::new(),
            tables: vec![TableSize { name: "ff_attempt_p0".into(), live: 100_000, dead: 20_000, bytes: 1 << 20 }],
            partitions: (kind == Kind::Postgres).then_some(256),
            frozen_age: Some(50_000_000),
            oldest_transaction: Some(Duration::from_secs(3)),
            log_bytes: Some(64 << 20),
            pages: Some((1_000, 10)),
        },
    }
}

/// What the checks say of a database that was well until `spoil` changed it: only the check of that name finds anything.
fn spoilt(kind: Kind, check: &str, spoil: impl FnOnce(&mut Facts, &mut Contents)) -> Finding {
    let (mut facts, mut contents) = (facts(kind), contents(kind));
    spoil(&mut facts, &mut contents);
    let mut findings = checks::of_database(&facts);
    findings.extend(checks::of_contents(kind, &contents));
    let mut found: Vec<Finding> = findings.into_iter().filter(|finding| finding.verdict != Verdict::Fine).collect();
    assert_eq!(found.iter().map(|finding| finding.check).collect::<Vec<_>>(), [check], "{found:?}");
    let finding = found.remove(0);
    assert!(finding.advice.is_some(), "{finding:?}");
    finding
}

#[test]
fn a_database_that_is_well_is_fine() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let mut findings = checks::of_database(&facts(kind));
        findings.extend(checks::of_contents(kind, &contents(kind)));
        assert!(findings.iter().all(|finding| finding.verdict == Verdict::Fine), "{findings:?}");
        assert!(findings.iter().all(|finding| finding.advice.is_none()), "{findings:?}");
    }
}

#[test]
fn clocks_that_are_apart() {
    let ahead = spoilt(Kind::Postgres, "clocks", |facts, _| facts.ahead_ms = 5_000);
    assert_eq!(ahead.verdict, Verdict::Warning);
    assert!(ahead.says.contains("5.0 s ahead of"), "{}", ahead.says);
    let behind = spoilt(Kind::Postgres, "clocks", |facts, _| facts.ahead_ms = -90_000);
    assert_eq!(behind.verdict, Verdict::Problem);
    assert!(behind.says.contains("90.0 s behind"), "{}", behind.says);
}

#[test]
fn a_slow_answer_is_no_wrong_clock() {
    let slow = Facts { ahead_ms: 1_500, within_ms: 900, ..facts(Kind::Postgres) };
    assert!(checks::of_database(&slow).iter().all(|finding| finding.verdict == Verdict::Fine));
}

#[test]
fn versions_of_the_schema() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let pending =
            spoilt(kind, "migrations", |facts, _| facts.schema.missing.push("1046_retention_indexes".to_owned()));
        assert!(pending.says.contains("1046_retention_indexes") && pending.advice.unwrap().contains("ff-sql migrate"));
        let newer = spoilt(kind, "migrations", |facts, _| facts.schema.unknown.push(9_999));
        assert_eq!(newer.verdict, Verdict::Warning);
        let empty = spoilt(kind, "migrations", |facts, _| facts.schema.applied = 0);
        assert_eq!(empty.verdict, Verdict::Problem);
    }
}

#[test]
fn settings_that_lose_what_was_acknowledged() {
    let set = |contents: &mut Contents, name: &str, value: &str| {
        contents.inspection.settings.retain(|(known, _)| known != name);
        contents.inspection.settings.push((name.to_owned(), Some(value.to_owned())));
    };
    for name in ["fsync", "full_page_writes", "synchronous_commit", "autovacuum"] {
        let finding = spoilt(Kind::Postgres, "settings", |_, contents| set(contents, name, "off"));
        assert_eq!(finding.verdict, Verdict::Problem);
        assert!(finding.says.contains(name), "{}", finding.says);
    }
    let few = spoilt(Kind::Postgres, "settings", |_, contents| set(contents, "max_locks_per_transaction", "64"));
    assert_eq!(few.verdict, Verdict::Warning);
    let journal = spoilt(Kind::Sqlite, "settings", |_, contents| set(contents, "journal_mode", "delete"));
    assert!(journal.says.contains("delete"), "{}", journal.says);
}

#[test]
fn indexes_that_are_missing_or_broken() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let name = || "ff_exec_core_flow_idx".to_owned();
        let missing = spoilt(kind, "indexes", |_, contents| contents.inspection.missing_indexes.push(name()));
        let broken = spoilt(kind, "indexes", |_, contents| contents.inspection.broken_indexes.push(name()));
        assert!(missing.says.contains(&name()) && broken.advice.unwrap().contains("REINDEX"));
    }
}

#[test]
fn space_that_is_not_given_back() {
    let dead = spoilt(Kind::Postgres, "bloat", |_, contents| {
        contents.inspection.tables.push(TableSize {
            name: "ff_claimable".into(),
            live: 7,
            dead: 90_000,
            bytes: 9 << 20,
        });
    });
    assert!(dead.says.contains("ff_claimable"), "{}", dead.says);
    let free = spoilt(Kind::Sqlite, "bloat", |_, contents| contents.inspection.pages = Some((100_000, 90_000)));
    assert!(free.advice.unwrap().contains("VACUUM"));
}

#[test]
fn what_keeps_vacuum_from_its_work() {
    let long =
        spoilt(Kind::Postgres, "vacuum", |_, contents| contents.inspection.oldest_transaction = Some(minutes(90)));
    assert!(long.says.contains("1h30m"), "{}", long.says);
    let old = spoilt(Kind::Postgres, "vacuum", |_, contents| contents.inspection.frozen_age = Some(1_500_000_000));
    assert_eq!(old.verdict, Verdict::Problem);
}

#[test]
fn a_log_that_only_grows() {
    let log = spoilt(Kind::Sqlite, "log", |_, contents| contents.inspection.log_bytes = Some(300 << 20));
    assert!(log.says.contains("300.00 MiB"), "{}", log.says);
}

#[test]
fn sweeps_that_do_not_run() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let leases = spoilt(kind, "leases", |_, contents| contents.queues.push(queue(ListedState::Active, minutes(7))));
        assert!(leases.says.contains("mail") && leases.says.contains("7m"), "{}", leases.says);
        let late = spoilt(kind, "sweeps", |_, contents| contents.queues.push(queue(ListedState::Delayed, minutes(2))));
        assert!(late.says.contains("2m"), "{}", late.says);
    }
}

#[test]
fn work_that_finds_no_worker() {
    let waits =
        spoilt(Kind::Postgres, "waiting", |_, contents| contents.queues.push(queue(ListedState::Waiting, minutes(6))));
    assert!(waits.advice.unwrap().contains("--lane mail"));
    assert!(waits.says.contains("(3 wait)"), "{}", waits.says);
    let one = spoilt(Kind::Sqlite, "waiting", |_, contents| {
        contents.queues.push(QueueCount { depth: 1, ..queue(ListedState::Waiting, minutes(6)) });
    });
    assert!(one.says.contains("(1 waits)"), "{}", one.says);
}

#[test]
fn what_is_held_back() {
    let target = PauseTarget::Lane(LaneId::new("mail"));
    let paused = spoilt(Kind::Postgres, "paused", |_, contents| {
        contents.pauses.push(Pause { target: target.clone(), since_ms: NOW - 3_000, reason: "ticket 12".to_owned() });
        // What is meant to wait is nothing to warn of.
        contents.queues.push(queue(ListedState::Waiting, minutes(6)));
    });
    assert!(paused.says.contains("lane mail is paused since 3s ago: ticket 12"), "{}", paused.says);
    assert!(paused.advice.unwrap().contains("ff-sql resume --lane mail"));
}

#[test]
fn an_execution_that_ends_its_workers() {
    let id = ExecutionId::parse("{fp:7}:00000000-0000-4000-8000-000000000001").unwrap();
    let poison = spoilt(Kind::Sqlite, "poison", |_, contents| {
        contents.crashed.push(ListedExecution {
            id: id.clone(),
            lane: LaneId::new("mail"),
            flow: None,
            state: ListedState::Waiting,
            waits_for: None,
            kind: None,
            namespace: None,
            capabilities: Vec::new(),
            priority: 0,
            created_at_ms: NOW,
            ended_at_ms: None,
            due_at_ms: None,
            attempts: 1,
            crashes: 4,
            retries: 0,
            last_failure: None,
        });
    });
    assert!(
        poison.says.starts_with("1 execution lost")
            && poison.says.contains("mail: 1")
            && poison.advice.unwrap().contains(id.as_str()),
        "{}",
        poison.says
    );
}
