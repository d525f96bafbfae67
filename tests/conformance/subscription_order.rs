//! Nothing is missed whatever order writers commit in. On Postgres an event id is drawn before the commit,
//! so that ids become visible in any order; these tests hold transactions open by hand.
//!
//! `FF_TEST_EVENTS` says how many events the proof writes: 4,000 unless it is set, 100,000 for the full one.

use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::{PgPool, PostgresBackend};
use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::stream_subscribe::{StreamCursor, decode_postgres_event_cursor, encode_postgres_event_cursor};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sqlx::{Connection as _, PgConnection};
use tokio::time::{sleep, timeout};

use crate::harness::{Harness, Kind, PATIENCE, run};

/// How long nothing may come before a test believes that nothing does.
const SILENCE: Duration = Duration::from_millis(300);

/// How many writers write at once.
const WRITERS: usize = 8;

#[derive(Clone, Copy)]
enum Family {
    Lease,
    Completion,
}

impl Family {
    fn table(self) -> &'static str {
        match self {
            Self::Lease => "ff_lease_event",
            Self::Completion => "ff_completion_event",
        }
    }

    /// A statement that writes one event and answers its id.
    fn insert(self) -> &'static str {
        match self {
            Self::Lease => {
                "INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key)
                 VALUES (gen_random_uuid()::text, 'renewed', 1, floor(random() * 256)::int) RETURNING event_id"
            }
            Self::Completion => {
                "INSERT INTO ff_completion_event (partition_key, execution_id, outcome, occurred_at_ms)
                 VALUES (floor(random() * 256)::int, gen_random_uuid(), 'success', 1) RETURNING event_id"
            }
        }
    }

    /// The ids of the events after a cursor, or of those that commit from now on.
    async fn follow(self, backend: &Arc<dyn EngineBackend>, after: Option<i64>) -> Followed {
        let cursor = after.map_or_else(StreamCursor::empty, encode_postgres_event_cursor);
        let filter = ScannerFilter::new();
        let ids: BoxStream<'static, Result<i64, EngineError>> = match self {
            Self::Lease => {
                let events = backend.subscribe_lease_history(cursor, &filter).await.unwrap();
                events.map(|event| Ok(id(event?.cursor()))).boxed()
            }
            Self::Completion => {
                let events = backend.subscribe_completion(cursor, &filter).await.unwrap();
                events.map(|event| Ok(id(&event?.cursor))).boxed()
            }
        };
        Followed { ids }
    }
}

/// The ids of a subscription.
struct Followed {
    ids: BoxStream<'static, Result<i64, EngineError>>,
}

impl Followed {
    async fn next(&mut self) -> i64 {
        timeout(PATIENCE, self.ids.next()).await.expect("an event comes").expect("the stream goes on").unwrap()
    }

    async fn nothing_comes(&mut self) {
        if let Ok(found) = timeout(SILENCE, self.ids.next()).await {
            panic!("nothing was to come, but {found:?} did");
        }
    }
}

fn id(cursor: &StreamCursor) -> i64 {
    decode_postgres_event_cursor(cursor).expect("a cursor").expect("a place")
}

fn pool(h: &Harness) -> PgPool {
    h.backend.as_any().downcast_ref::<PostgresBackend>().expect("Postgres").pool().clone()
}

/// A connection of a program that knows nothing of this backend: the triggers tell what it commits.
async fn stranger(h: &Harness) -> PgConnection {
    let mut connection = PgConnection::connect_with(&pool(h).connect_options()).await.expect("a connection");
    execute(&mut connection, "SELECT set_config('ff_sql.wakeups', 'by_trigger', false)").await;
    connection
}

async fn execute(connection: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.expect("the statement runs");
}

async fn write(connection: &mut PgConnection, family: Family) -> i64 {
    sqlx::query_scalar(family.insert()).fetch_one(connection).await.expect("the event is written")
}

/// Begins a transaction that has written one event.
async fn held(h: &Harness, family: Family) -> (PgConnection, i64) {
    let mut connection = stranger(h).await;
    execute(&mut connection, "BEGIN").await;
    let id = write(&mut connection, family).await;
    (connection, id)
}

#[tokio::test]
async fn a_smaller_id_that_commits_later_comes_first() {
    run(Kind::Postgres, |h| async move {
        for family in [Family::Lease, Family::Completion] {
            let mut events = family.follow(&h.backend, None).await;
            let (mut slow, first) = held(&h, family).await;
            let mut fast = stranger(&h).await;
            let second = write(&mut fast, family).await;
            events.nothing_comes().await;
            execute(&mut slow, "COMMIT").await;
            assert_eq!([events.next().await, events.next().await], [first, second]);
        }
    })
    .await;
}

#[tokio::test]
async fn an_id_that_is_rolled_back_holds_nobody_up() {
    run(Kind::Postgres, |h| async move {
        for family in [Family::Lease, Family::Completion] {
            let mut events = family.follow(&h.backend, Some(0)).await;
            let (mut slow, _) = held(&h, family).await;
            let second = write(&mut stranger(&h).await, family).await;
            events.nothing_comes().await;
            execute(&mut slow, "ROLLBACK").await;
            assert_eq!(events.next().await, second);
        }
    })
    .await;
}

#[tokio::test]
async fn a_subscription_begins_before_what_is_about_to_commit() {
    run(Kind::Postgres, |h| async move {
        let mut writer = stranger(&h).await;
        for family in [Family::Lease, Family::Completion] {
            write(&mut writer, family).await;
            let (mut slow, first) = held(&h, family).await;
            write(&mut writer, family).await;
            let mut events = family.follow(&h.backend, None).await;
            events.nothing_comes().await;
            execute(&mut slow, "COMMIT").await;
            assert_eq!(events.next().await, first);
            // What was committed before the subscription is not told again.
            let third = write(&mut writer, family).await;
            assert_eq!(events.next().await, third);
        }
    })
    .await;
}

/// Writes that many events at once and answers the last id.
async fn write_at_once(connection: &mut PgConnection, family: Family, count: usize) -> i64 {
    let columns = match family {
        Family::Lease => "(execution_id, event_type, occurred_at_ms, partition_key) SELECT 'x', 'renewed', 1, 0",
        Family::Completion => {
            "(partition_key, execution_id, outcome, occurred_at_ms) SELECT 0, gen_random_uuid(), 'success', 1"
        }
    };
    let sql = format!("INSERT INTO {} {columns} FROM generate_series(1, {count}) RETURNING event_id", family.table());
    let ids: Vec<i64> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(connection).await.expect("the events");
    ids.into_iter().max().expect("an event")
}

/// Follows from now on while a transaction is open whose event has the first id of what is left, and expects
/// that event, and the one after it, once it commits.
async fn is_told_of_the_open_one(h: &Harness, family: Family, mut slow: PgConnection, first: i64) {
    let mut events = family.follow(&h.backend, None).await;
    events.nothing_comes().await;
    execute(&mut slow, "COMMIT").await;
    assert_eq!(events.next().await, first);
    let next = write(&mut stranger(h).await, family).await;
    assert_eq!(events.next().await, next);
}

#[tokio::test]
async fn the_first_event_of_all_is_told_when_it_commits_after_the_second() {
    run(Kind::Postgres, |h| async move {
        for family in [Family::Lease, Family::Completion] {
            let (slow, first) = held(&h, family).await;
            write(&mut stranger(&h).await, family).await;
            is_told_of_the_open_one(&h, family, slow, first).await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_outbox_that_was_trimmed_hides_nothing_that_is_about_to_commit() {
    run(Kind::Postgres, |h| async move {
        for (family, rest) in [(Family::Lease, 0), (Family::Lease, 2), (Family::Completion, 0), (Family::Completion, 2)]
        {
            let mut writer = stranger(&h).await;
            write_at_once(&mut writer, family, 20).await;
            let (slow, first) = held(&h, family).await;
            let last = write_at_once(&mut writer, family, 20).await;
            let trim = format!("DELETE FROM {} WHERE event_id <= {}", family.table(), last - rest);
            sqlx::raw_sql(sqlx::AssertSqlSafe(trim)).execute(&mut writer).await.expect("the outbox is trimmed");
            is_told_of_the_open_one(&h, family, slow, first).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_transaction_that_stays_open_is_told_of_after_any_number_of_events() {
    run(Kind::Postgres, |h| async move {
        for family in [Family::Lease, Family::Completion] {
            write_at_once(&mut stranger(&h).await, family, 20).await;
            let (slow, first) = held(&h, family).await;
            write_at_once(&mut stranger(&h).await, family, 1_500).await;
            is_told_of_the_open_one(&h, family, slow, first).await;
        }
    })
    .await;
}

#[tokio::test]
async fn transactions_that_write_no_events_hold_nobody_up() {
    run(Kind::Postgres, |h| async move {
        let mut idle = stranger(&h).await;
        execute(&mut idle, "BEGIN; SELECT pg_current_xact_id(); SELECT count(*) FROM ff_lease_event").await;
        let (mut slow, _) = held(&h, Family::Lease).await;
        execute(&mut slow, "ROLLBACK").await;
        let mut events = Family::Lease.follow(&h.backend, Some(0)).await;
        let id = write(&mut stranger(&h).await, Family::Lease).await;
        assert_eq!(events.next().await, id);
        execute(&mut idle, "ROLLBACK").await;
    })
    .await;
}

#[tokio::test]
async fn other_processes_are_heard_and_a_lost_connection_is_told() {
    run(Kind::Postgres, |h| async move {
        let filter = ScannerFilter::new();
        let mut leases = h.backend.subscribe_lease_history(StreamCursor::empty(), &filter).await.unwrap();
        let mut completions = Family::Completion.follow(&h.backend, None).await;
        let mut writer = stranger(&h).await;
        let first = write(&mut writer, Family::Lease).await;
        let told = timeout(PATIENCE, leases.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(id(told.cursor()), first);
        execute(
            &mut writer,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND query LIKE 'LISTEN%'",
        )
        .await;
        let lost = timeout(PATIENCE, leases.next()).await.unwrap().unwrap();
        let Err(EngineError::StreamDisconnected { cursor }) = lost else { panic!("{lost:?}") };
        assert_eq!(id(&cursor), first);
        let second = write(&mut writer, Family::Lease).await;
        let told = timeout(PATIENCE, leases.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(id(told.cursor()), second);
        let completed = write(&mut writer, Family::Completion).await;
        assert_eq!(completions.next().await, completed);
    })
    .await;
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Writes that many events, one or two in a transaction, waits between the insert and the end, and rolls some
/// back.
async fn write_many(mut connection: PgConnection, family: Family, count: usize, seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut written = 0;
    while written < count {
        execute(&mut connection, "BEGIN").await;
        let rolls_back = dice.below(25) == 0;
        let events = if dice.below(8) == 0 { 2 } else { 1 };
        for _ in 0..events {
            write(&mut connection, family).await;
            let pause_us = match dice.below(200) {
                0 => 60_000,
                1..40 => 0,
                _ => dice.below(4_000),
            };
            if pause_us > 0 {
                sleep(Duration::from_micros(pause_us)).await;
            }
        }
        execute(&mut connection, if rolls_back { "ROLLBACK" } else { "COMMIT" }).await;
        written += if rolls_back { 0 } else { events };
    }
}

/// Follows until an id has come, and begins again from its cursor after every few events.
async fn follow_with_breaks(family: Family, backend: Arc<dyn EngineBackend>, from: i64, last: Last) -> Vec<i64> {
    let mut dice = Dice(77);
    let mut found: Vec<i64> = Vec::new();
    loop {
        let mut events = family.follow(&backend, Some(found.last().copied().unwrap_or(from))).await;
        for _ in 0..=dice.below(400) {
            let next = timeout(SILENCE, events.ids.next()).await;
            match next {
                Ok(event) => found.push(event.expect("the stream goes on").unwrap()),
                Err(_) if last.is(&found) => return found,
                Err(_) => {}
            }
        }
    }
}

async fn follow_through(mut events: Followed, last: Last) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::new();
    loop {
        let next = timeout(SILENCE, events.ids.next()).await;
        match next {
            Ok(event) => found.push(event.expect("the stream goes on").unwrap()),
            Err(_) if last.is(&found) => return found,
            Err(_) => {}
        }
    }
}

/// The last event of all, once it is known.
#[derive(Clone)]
struct Last(tokio::sync::watch::Receiver<Option<i64>>);

impl Last {
    fn is(&self, found: &[i64]) -> bool {
        let last = *self.0.borrow();
        last.is_some() && last == found.last().copied()
    }
}

fn events_wanted() -> usize {
    std::env::var("FF_TEST_EVENTS").map_or(4_000, |count| count.parse().expect("a number of events"))
}

/// Eight writers, delays between insert and commit; one subscription that stays and one that begins again and
/// again: both see every committed event, once, in order.
async fn proof(h: Arc<Harness>, family: Family, count: usize) {
    let place = write(&mut stranger(&h).await, family).await;
    let (tell, last) = tokio::sync::watch::channel(None);
    let last = Last(last);
    let through = tokio::spawn(follow_through(family.follow(&h.backend, None).await, last.clone()));
    let breaks = tokio::spawn(follow_with_breaks(family, Arc::clone(&h.backend), place, last));
    let mut writers = Vec::new();
    for seed in 0..WRITERS {
        let connection = stranger(&h).await;
        writers.push(tokio::spawn(write_many(connection, family, count / WRITERS, seed as u64 + 1)));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let sql = format!("SELECT event_id FROM {} WHERE event_id > {place} ORDER BY event_id", family.table());
    let committed: Vec<i64> =
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(&pool(&h)).await.expect("the outbox is read");
    assert!(committed.len() >= count / WRITERS * WRITERS, "{}", committed.len());
    tell.send_replace(committed.last().copied());
    let patience = PATIENCE + Duration::from_millis(committed.len() as u64 * 2);
    for (name, found) in [("through", through), ("with breaks", breaks)] {
        let found = timeout(patience, found).await.unwrap_or_else(|_| panic!("{name}: the last event comes")).unwrap();
        let missing = committed.iter().filter(|id| found.binary_search(id).is_err()).count();
        assert_eq!((missing, found.len()), (0, committed.len()), "{name}");
        assert_eq!(found, committed, "{name}");
    }
    eprintln!("{}: {} events committed, none missing", family.table(), committed.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_lease_event_is_missed_whatever_order_writers_commit_in() {
    run(Kind::Postgres, |h| proof(h, Family::Lease, events_wanted())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_completion_is_missed_whatever_order_writers_commit_in() {
    run(Kind::Postgres, |h| proof(h, Family::Completion, events_wanted() / 4)).await;
}
