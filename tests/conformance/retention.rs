//! What bounds every table: what served its time is forgotten, what lives stays.
//!
//! `docs/retention.md` names every table and says what bounds it; a table of the catalogue that it does not name fails
//! here, and so does one that it names wrongly.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_backend_sql::{FullScannerConfig, PostgresBackend};
use ff_core::backend::{
    BackendConfig, CancelFlowPolicy, CancelFlowWait, CapabilitySet, FailureClass, FailureReason, ScannerFilter,
};
use ff_core::contracts::{IdempotencyKey, RecordSpendArgs};
use ff_core::partition::PartitionConfig;
use ff_core::policy::RoutingRequirements;
use ff_core::types::{ExecutionId, FlowId, LaneId};

use crate::bounds::{Fate, SWEEPS, listed, sizes};
use crate::dependency::{edge, member, settled, succeed};
use crate::flow::created as flow_created;
use crate::harness::{Harness as Opened, Kind, Place, T0, Tables, id_in, on_every_database, policy, run, uuid_of};
use crate::suspend::suspended_with;
use crate::trim::random;
use crate::{budget, every_method, flow_cancel, operator};

const HOUR_MS: i64 = 60 * 60 * 1_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How often the work of a day is done.
const SHIFTS: i64 = 3;

/// The outboxes whose rows are forgotten by the time that they tell, with what their rows have besides, and that time.
const OUTBOXES: [(&str, &str, &str); 3] = [
    ("ff_lease_event", "event_type", "occurred_at_ms"),
    ("ff_signal_event", "signal_id", "delivered_at_ms"),
    ("ff_operator_event", "event_type", "occurred_at_ms"),
];

/// Puts events of a time into an outbox.
async fn events(h: &Opened, table: &str, column: &str, time: &str, count: u32, at_ms: i64) {
    h.alter(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
         INSERT INTO {table} (execution_id, {column}, {time}, partition_key)
         SELECT 'somebody', 'replayed', {at_ms}, 1 FROM n"
    ))
    .await;
}

async fn sweep_all(h: &Opened) {
    for name in SWEEPS {
        h.sweep(name).await;
    }
}

/// What the calls of every method leave out: keys, and what an execution requires.
async fn more_work(h: &Opened) {
    every_method::empty_lane(h).await;
    let key = format!("shift at {}", h.clock.now_ms());
    suspended_with(h, |args| args.with_idempotency_key(IdempotencyKey::new(key.clone()))).await;
    let budget = budget::created(h, &[("tokens", 100, 50)]).await;
    let mut usage = budget::used(&[("tokens", 1)]);
    usage.dedup_key = Some(key.clone());
    h.backend.report_usage(&budget::garbage(), &budget, usage).await.expect("it is counted");
    h.create_with(|args| {
        args.idempotency_key = Some(key);
        let required_capabilities = ["gpu".to_owned()].into();
        let requirements = RoutingRequirements { required_capabilities, ..Default::default() };
        args.policy.get_or_insert_default().routing_requirements = Some(requirements);
    })
    .await;
}

/// An execution of a lane that came to its end.
async fn ended_on(h: &Opened, lane: &str, fails: bool) -> ExecutionId {
    let lane = LaneId::new(lane);
    let id = h.create_with(|args| args.lane_id = lane.clone()).await;
    let claimed = h.backend.claim(&lane, &CapabilitySet::default(), policy("worker-a")).await;
    let handle = claimed.expect("an answer").expect("it is claimed");
    if fails {
        let reason = FailureReason::new("no luck");
        h.backend.fail(&handle, reason, FailureClass::Permanent).await.expect("it fails");
    } else {
        h.backend.complete(&handle, None).await.expect("it is completed");
    }
    id
}

/// Ends whatever still lives.
async fn end_everything(h: &Opened) {
    let hex = match h.tables() {
        Tables::Sqlite(..) => |column: &str| format!("lower(hex({column}))"),
        Tables::Postgres(_) => |column: &str| format!("CAST({column} AS text)"),
    };
    let living = "FROM ff_exec_core WHERE lifecycle_phase NOT IN ('terminal', 'cancelled')";
    for found in h.texts(&format!("SELECT partition_key || ' ' || {} {living}", hex("execution_id"))).await {
        let (partition, uuid) = found.split_once(' ').expect("two words");
        let uuid = uuid::Uuid::parse_str(uuid).expect("a uuid");
        let id = ExecutionId::parse(&format!("{{fp:{partition}}}:{uuid}")).expect("an execution id");
        // The end of one that it waited for may have ended it meanwhile.
        if let Err(refused) = h.backend.cancel_execution(operator::cancelling(&id)).await {
            assert!(refused.to_string().contains("already terminal"), "{refused}");
        }
    }
    for flow in h.texts(&format!("SELECT {} FROM ff_flow_core", hex("flow_id"))).await {
        let flow = FlowId(uuid::Uuid::parse_str(&flow).expect("a uuid"));
        let cancelled = h.backend.cancel_flow(&flow, CancelFlowPolicy::CancelAll, CancelFlowWait::WaitIndefinite);
        cancelled.await.expect("the flow is cancelled");
    }
    settled(h).await;
}

/// A subquery that locks is run again for each row under a nested loop, and would pick other rows each time.
#[tokio::test]
async fn a_page_has_its_size_under_every_plan() {
    run(Kind::Postgres, |h| async move {
        let Place::Postgres { url } = h.place() else { panic!("Postgres was asked for") };
        if h.is_spread() {
            return;
        }
        for (table, columns, time) in OUTBOXES {
            events(&h, table, columns, time, 1_200, T0).await;
        }
        h.pass_ms(DAY_MS + 1);
        for way in ["hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize"] {
            let off = format!("format('ALTER DATABASE %I SET enable_{way} = off', current_database())");
            h.alter(&format!("DO $$ BEGIN EXECUTE {off}; END $$")).await;
        }
        // Sessions that are open keep what they began with.
        let config = BackendConfig::postgres(url.clone());
        let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), h.clock.clone()).await;
        let mut a_page = FullScannerConfig::default();
        a_page.sweep_time_limit = Duration::ZERO;
        assert_eq!(opened.expect("it opens").sweep_for_test("growth", &a_page).await.unwrap(), (1_500, 0));
    })
    .await;
}

on_every_database! {
    async fn what_failed_and_what_a_lane_keeps_have_times_of_their_own(h) {
        let mut config = FullScannerConfig::default();
        config.failed_retention = Some(Duration::from_secs(3 * 24 * 60 * 60));
        config.lane_retention.insert("brief".to_owned(), Duration::from_secs(60 * 60));
        config.lane_retention.insert("long".to_owned(), Duration::from_secs(5 * 24 * 60 * 60));
        let failed = vec![ended_on(&h, "lane", true).await];
        let completed = vec![ended_on(&h, "lane", false).await];
        let brief = vec![ended_on(&h, "brief", true).await, ended_on(&h, "brief", false).await];
        let long = vec![ended_on(&h, "long", false).await];
        for (after_ms, gone) in [
            (HOUR_MS + 1, vec![&brief]),
            (DAY_MS, vec![&brief, &completed]),
            (2 * DAY_MS, vec![&brief, &completed, &failed]),
            (2 * DAY_MS, vec![&brief, &completed, &failed, &long]),
        ] {
            h.pass_ms(after_ms);
            h.sweep_with("retention_trimmer", &config).await;
            for ids in [&failed, &completed, &brief, &long] {
                for id in ids {
                    let is_there = h.backend.read_execution_state(id).await.expect("an answer").is_some();
                    assert_eq!(is_there, !gone.contains(&ids), "{id} after {} ms", h.clock.now_ms() - T0);
                }
            }
        }
    }

    async fn after_the_work_of_a_day_no_table_holds_more_than_what_lives(h) {
        let fates = listed();
        let mut most: BTreeMap<String, i64> = BTreeMap::new();
        for _ in 0..SHIFTS {
            every_method::answers(&h).await;
            more_work(&h).await;
            for (table, size) in sizes(&h).await {
                let seen = most.entry(table).or_default();
                *seen = size.max(*seen);
            }
            sweep_all(&h).await;
            h.pass_ms(DAY_MS / SHIFTS);
        }
        let unnamed: Vec<_> = most.keys().filter(|table| !fates.contains_key(*table)).collect();
        assert!(unnamed.is_empty(), "docs/retention.md does not say what bounds {unnamed:?}");
        let mut idle: Vec<_> = most.iter().filter(|(table, size)| fates[*table] == Fate::Goes && **size == 0).collect();
        // A claim on a cluster makes no mark.
        idle.retain(|(table, _)| !(h.is_spread() && *table == "ff_claim_mark"));
        assert!(idle.is_empty(), "the work leaves nothing there, so this proves nothing of it: {idle:?}");
        let unknown: Vec<_> = fates.keys().filter(|table| !most.contains_key(*table)).collect();
        assert!(unknown.len() <= 4, "docs/retention.md names tables that are not there: {unknown:?}");

        end_everything(&h).await;
        sweep_all(&h).await;
        let set_up = sizes(&h).await;
        for days in [1, 1, 7, 30] {
            h.pass_ms(days * DAY_MS + 1);
            sweep_all(&h).await;
        }
        let left = sizes(&h).await;
        let is_more = |table: &String, size: i64| match fates[table] {
            Fate::Stays => size > set_up[table],
            Fate::Goes | Fate::Passes => size > 0,
        };
        let more: Vec<_> = left.iter().filter(|(table, size)| is_more(table, **size)).collect();
        assert!(more.is_empty(), "these tables only grow: {more:?}");
    }

    async fn the_key_of_a_creation_is_forgotten_with_its_day(h) {
        let id = h.create_with(|args| args.idempotency_key = Some("key".to_owned())).await;
        let keys = "SELECT count(*) FROM ff_idempotency_key";
        h.pass_ms(DAY_MS - 1);
        assert_eq!(h.sweep("growth").await, (0, 0));
        h.pass_ms(1);
        assert_eq!(h.sweep("growth").await, (1, 0));
        assert_eq!(h.number(keys).await, 0);
        assert_eq!(h.core(&id, "lifecycle_phase").await, "submitted");
    }

    async fn a_flow_goes_with_its_last_member_and_what_waits_for_members_stays(h) {
        let (over, empty, open) = (flow_created(&h).await, flow_created(&h).await, flow_created(&h).await);
        let (up, down) = (member(&h, &over).await, member(&h, &over).await);
        edge(&h, &over, &up, &down).await;
        let (living, done) = (member(&h, &open).await, member(&h, &open).await);
        edge(&h, &open, &done, &living).await;
        let (later, kept) = (member(&h, &open).await, member(&h, &open).await);
        edge(&h, &open, &kept, &later).await;
        for id in [&up, &down, &done, &kept, &later] {
            succeed(&h, id).await;
            settled(&h).await;
        }
        h.sweep("flow_projector").await;
        h.pass_ms(DAY_MS);
        for _ in 0..2 {
            sweep_all(&h).await;
            h.pass_ms(1);
        }
        let flows = async |table: &str| h.number(&format!("SELECT count(*) FROM {table}")).await;
        assert_eq!(flows("ff_flow_core").await, 2, "the one that is over is gone");
        for flow in [&empty, &open] {
            assert!(h.backend.describe_flow(flow).await.unwrap().is_some());
        }
        assert_eq!(flows("ff_flow_summary").await, 1);
        assert_eq!(flows("ff_edge").await, 1, "the edge to a member that is forgotten goes with it");
        assert_eq!(flows("ff_edge_group").await, 1);
        let joined = crate::flow::joined(&h, &over, &living).await.unwrap_err().to_string();
        assert!(joined.contains("flow_not_found"), "{joined}");
    }

    async fn events_of_what_lives_on_are_forgotten_with_their_time(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.renew(&handle).await.unwrap();
        let flow = flow_created(&h).await;
        let joined = member(&h, &flow).await;
        flow_cancel::header_cancelled(&h, &flow, "cancel_all").await;
        settled(&h).await;
        h.pass_ms(DAY_MS);
        h.sweep("growth").await;
        assert!(!h.lease_events(&id).await.is_empty(), "they are as old as the retention is long");
        h.pass_ms(1);
        let elsewhere = ScannerFilter::new().with_namespace("elsewhere");
        let mut config = FullScannerConfig::default();
        config.scanner_filter = elsewhere;
        h.sweep_with("growth", &config).await;
        assert!(!h.lease_events(&id).await.is_empty(), "others may want them longer");
        h.sweep("growth").await;
        assert!(h.lease_events(&id).await.is_empty());
        assert!(h.completions(&joined).await.is_empty());
        assert_eq!(h.number("SELECT count(*) FROM ff_operator_event").await, 0);
        assert_eq!(h.core(&id, "lifecycle_phase").await, "active");
    }

    async fn a_completion_that_nobody_followed_outlives_the_retention(h) {
        let (id, handle) = h.created_and_claimed().await;
        h.backend.complete(&handle, None).await.unwrap();
        let flow = h.of(&id).replace("execution_id = ", "flow_id = ");
        h.alter(&format!("UPDATE ff_completion_event SET {flow} WHERE {}", h.of(&id))).await;
        h.pass_ms(2 * DAY_MS);
        h.sweep("growth").await;
        assert_eq!(h.completions(&id).await.len(), 1);
    }

    async fn what_an_execution_spent_is_noted_for_as_long_as_it_lives(h) {
        let budget = budget::created(&h, &[("tokens", 100, 50)]).await;
        let (living, _) = h.created_and_claimed().await;
        let absent = id_in(1);
        for (id, key) in [(&living, "one"), (&absent, "two")] {
            let spent = RecordSpendArgs::new(budget.clone(), id.clone(), [("tokens".to_owned(), 1)].into(), key);
            h.backend.record_spend(spent).await.unwrap();
        }
        h.pass_ms(30 * DAY_MS);
        h.sweep("growth").await;
        assert_eq!(h.number("SELECT count(*) FROM ff_budget_usage_by_exec").await, 2);
        h.pass_ms(1);
        h.sweep("growth").await;
        assert_eq!(h.texts("SELECT CAST(execution_id AS text) FROM ff_budget_usage_by_exec").await, [uuid_of(&living)]);
    }

    async fn events_are_forgotten_however_many_there_are(h) {
        for (table, columns, time) in OUTBOXES {
            events(&h, table, columns, time, 11_000, T0).await;
        }
        h.pass_ms(DAY_MS + 1);
        assert_eq!(h.sweep("growth").await, (33_000, 0));
        for (table, ..) in OUTBOXES {
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
        }
    }

    async fn a_run_whose_time_is_over_forgets_a_page_of_everything(h) {
        for (table, columns, time) in OUTBOXES {
            events(&h, table, columns, time, 700, T0).await;
        }
        h.pass_ms(DAY_MS + 1);
        let mut config = FullScannerConfig::default();
        config.sweep_time_limit = Duration::ZERO;
        assert_eq!(h.sweep_with("growth", &config).await, (1_500, 0));
        assert_eq!(h.sweep_with("growth", &config).await, (600, 0));
    }

    async fn events_of_a_clock_that_is_ahead_keep_no_others(h) {
        for (table, columns, time) in OUTBOXES {
            events(&h, table, columns, time, 600, T0 + 2 * DAY_MS).await;
            events(&h, table, columns, time, 700, T0).await;
        }
        h.pass_ms(DAY_MS + 1);
        assert_eq!(h.sweep("growth").await, (2_100, 0));
        for (table, ..) in OUTBOXES {
            assert_eq!(h.number(&format!("SELECT count(*) FROM {table}")).await, 600, "{table}");
        }
        h.pass_ms(2 * DAY_MS);
        assert_eq!(h.sweep("growth").await, (1_800, 0), "they go when a day has passed since the time they tell");
    }

    async fn completions_of_a_clock_that_is_ahead_keep_no_others(h) {
        // What the database noted when they were committed, and what the host took for the time.
        for (count, committed_at_ms, occurred_at_ms) in [(600, T0, T0 + 9 * DAY_MS), (700, T0, T0), (5, T0 + DAY_MS, T0 + DAY_MS)] {
            h.alter(&format!(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                 INSERT INTO ff_completion_event (partition_key, execution_id, outcome, occurred_at_ms, committed_at_ms)
                 SELECT 1, {}, 'success', {occurred_at_ms}, {committed_at_ms} FROM n",
                random(&h)
            ))
            .await;
        }
        h.pass_ms(DAY_MS + 1);
        assert_eq!(h.sweep("growth").await, (1_300, 0));
        assert_eq!(h.number("SELECT count(*) FROM ff_completion_event").await, 5);
    }

    async fn grants_that_nobody_used_are_forgotten_however_many_there_are(h) {
        h.alter(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
             INSERT INTO ff_claim_grant (partition_key, grant_id, execution_id, kind, worker_id, worker_instance_id,
                    grant_ttl_ms, issued_at_ms, expires_at_ms)
             SELECT 1, {}, {}, 'claim', 'w', 'i', 1, {T0}, {T0} FROM n",
            match h.tables() {
                Tables::Sqlite(..) => "randomblob(16)",
                Tables::Postgres(_) => "uuid_send(gen_random_uuid())",
            },
            random(&h)
        ))
        .await;
        h.pass_ms(1);
        assert_eq!(h.sweep("growth").await, (1_200, 0));
        assert_eq!(h.number("SELECT count(*) FROM ff_claim_grant").await, 0);
    }
}
