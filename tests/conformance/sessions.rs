//! Connections to a server: what they are set to, when one is given up, and what a half-dead client can do.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use ff_backend_sql::testing::{Clock, Step};
use ff_backend_sql::{PgPool, PostgresBackend, PostgresConnection, SqliteBackend};
use ff_core::backend::{BackendConfig, BackendConnection, CapabilitySet, Frame, FrameKind};
use ff_core::completion_backend::CompletionBackend as _;
use ff_core::contracts::{ClaimResumedExecutionResult, RegisterWorkerArgs};
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::{LaneId, Namespace, TimestampMs, WorkerId, WorkerInstanceId};

use futures_core::future::BoxFuture;
use tokio::sync::watch;

use crate::edge::{applying, staging};
use crate::flow::{adding, created, stranger};
use crate::harness::{Harness, Kind, PATIENCE, Place, T0, payload, policy, run};
use crate::resume::claiming;
use crate::suspend::{Suspended, fresh, named, seed, signal, suspending, taken};

/// The URL of the test's database.
pub(crate) fn url(h: &Harness) -> String {
    match h.place() {
        Place::Postgres { url } => url.clone(),
        Place::Sqlite { .. } => panic!("the test is about a server"),
    }
}

/// A URL that sets more.
pub(crate) fn with_options(url: &str, options: &[(&str, &str)]) -> String {
    let mut url = url.to_owned();
    for (name, value) in options {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&format!("options[{name}]={value}"));
    }
    url
}

/// A backend whose pool has one connection.
pub(crate) async fn single(url: &str) -> Arc<PostgresBackend> {
    let mut connection = PostgresConnection::new(url);
    connection.max_connections = 1;
    let config = BackendConfig::new(BackendConnection::Postgres(connection));
    let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), Clock::frozen(T0));
    opened.await.expect("the database opens")
}

pub(crate) async fn shown(pool: &PgPool, setting: &str) -> String {
    let asked = sqlx::query_scalar("SELECT current_setting($1)").bind(setting);
    asked.fetch_one(pool).await.expect("the server has the setting")
}

/// A write in one transaction.
async fn register(backend: &PostgresBackend, instance: &str) -> Result<(), ff_core::engine_error::EngineError> {
    let (worker, instance) = (WorkerId::new("pool"), WorkerInstanceId::new(instance));
    let (lanes, space) = ([LaneId::new("lane")].into(), Namespace::new("space"));
    let now = TimestampMs::from_millis(T0);
    let args = RegisterWorkerArgs::new(worker, instance, lanes, Default::default(), 60_000, space, now);
    backend.register_worker(args).await.map(drop)
}

/// Waits until a count is what it is to be.
async fn becomes(h: &Harness, sql: &str, wanted: i64) {
    let wait = async {
        while h.number(sql).await != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "{wanted} is not reached: {sql}");
}

/// Waits until so many sessions wait for a lock.
async fn wait_for_locks(h: &Harness, wanted: i64) {
    let wait = async {
        while h.sessions_that_wait().await != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, wait).await.is_ok(), "{wanted} sessions that wait are not reached");
}

/// A backend whose session [`end_session`] ends.
async fn victim(h: &Harness) -> Arc<PostgresBackend> {
    let url = url(h);
    let mark = if url.contains('?') { '&' } else { '?' };
    single(&format!("{url}{mark}application_name=victim")).await
}

/// Ends the session of the [`victim`], as a server does that is shut down or fails over.
async fn end_session(h: &Harness) {
    let ended = "SELECT count(pg_terminate_backend(pid, 30000)) FROM pg_stat_activity \
                 WHERE datname = current_database() AND application_name = 'victim'";
    assert_eq!(h.number(ended).await, 1);
}

#[tokio::test]
async fn every_connection_bounds_what_a_dead_client_can_hold() {
    run(Kind::Postgres, |h| async move {
        let name = h.texts("SELECT CAST(current_database() AS text)").await.remove(0);
        for contrary in ["default_transaction_isolation = 'serializable'", "lock_timeout = 0"] {
            h.alter(&format!("ALTER DATABASE {name} SET {contrary}")).await;
        }
        let backend = single(&url(&h)).await;
        for (setting, value) in [
            ("lock_timeout", "5s"),
            ("idle_in_transaction_session_timeout", "10s"),
            ("tcp_keepalives_idle", "30"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
            ("default_transaction_isolation", "read committed"),
        ] {
            assert_eq!(shown(backend.pool(), setting).await, value, "{setting}");
        }
        if cfg!(target_os = "linux") {
            assert_eq!(shown(backend.pool(), "tcp_user_timeout").await, "60000");
            assert_eq!(shown(backend.pool(), "client_connection_check_interval").await, "2s");
        }
    })
    .await;
}

#[tokio::test]
async fn what_goes_together_is_planned_once_and_everything_else_each_time() {
    run(Kind::Postgres, |h| async move {
        if h.is_spread() {
            return; // Nothing is combined there.
        }
        seed(&h).await;
        let backend = single(&url(&h)).await;
        for _ in 0..3 {
            h.create().await;
            let claimed = backend.claim(&LaneId::new("lane"), &CapabilitySet::new([""; 0]), policy("w")).await;
            let handle = claimed.expect("it is answered").expect("it waits");
            backend.renew(&handle).await.expect("the lease is held");
            let frame = Frame::new(b"bytes".to_vec(), FrameKind::Event);
            backend.append_frame(&handle, frame).await.expect("the lease is held");
            let args = suspending(&h, fresh("key"), named("key", "go"));
            let (after, details) = taken(backend.suspend(&handle, args).await.expect("the lease is held"));
            let suspended = Suspended { id: payload(&handle).execution_id, before: handle, handle: after, details };
            backend.deliver_signal(signal(&h, &suspended, "go")).await.expect("it waits for it");
            let resumed = backend.claim_resumed_execution(claiming(&suspended.id)).await.expect("it is resumed");
            let ClaimResumedExecutionResult::Claimed(resumed) = resumed;
            backend.complete(&resumed.handle, None).await.expect("the lease is held");
        }
        for _ in 0..3 {
            let flow = created(&h).await;
            let (up, down) = (stranger(&h, &flow).await, stranger(&h, &flow).await);
            for id in [&up, &down] {
                backend.add_execution_to_flow(&adding(&h, &flow, id)).await.expect("it joins");
            }
            let edge = staging(&h, &flow, &up, &down, 2);
            let edge_id = edge.edge_id.clone();
            backend.stage_dependency_edge(&edge).await.expect("it is staged");
            let waiting = applying(&h, &flow, &edge_id, &up, &down);
            backend.apply_dependency_to_child(&waiting).await.expect("it is applied");
        }
        assert_eq!(shown(backend.pool(), "plan_cache_mode").await, "force_custom_plan", "whoever takes it next");
        let mut session = backend.pool().acquire().await.expect("the one connection");
        let planned = "SELECT split_part(statement, ' ', 2), generic_plans, custom_plans FROM pg_prepared_statements \
                        WHERE (generic_plans > 0 OR split_part(statement, ' ', 2) LIKE '%\\_many') \
                          AND generic_plans + custom_plans >= 3 AND statement NOT LIKE '%server.%' ORDER BY 1";
        let planned: Vec<(String, i64, i64)> =
            sqlx::query_as(planned).fetch_all(&mut *session).await.expect("the server tells");
        let planned: Vec<(&str, i64, i64)> = planned.iter().map(|(name, once, each)| (&**name, *once, *each)).collect();
        assert_eq!(
            planned,
            [
                ("attempt.attempt_complete_many", 3, 0),
                ("edge.edge_apply_many", 3, 0),
                ("edge.edge_stage_many", 3, 0),
                ("flow.flow_member_join_many", 6, 0),
                ("lease.lease_claim_many", 3, 0),
                ("lease.lease_renew_many", 3, 0),
                ("resume.resume_claim_many", 3, 0),
                ("signal.signal_resume_many", 3, 0),
                ("stream.stream_append_many", 3, 0),
                ("suspension.suspension_enter_many", 3, 0),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn what_the_url_sets_counts() {
    run(Kind::Postgres, |h| async move {
        let chosen = [
            ("lock_timeout", "7s"),
            ("idle_in_transaction_session_timeout", "8s"),
            ("client_connection_check_interval", "0"),
        ];
        let backend = single(&with_options(&url(&h), &chosen)).await;
        for (setting, value) in chosen {
            assert_eq!(shown(backend.pool(), setting).await, value, "{setting}");
        }
        let pinned = [("default_transaction_isolation", "serializable")];
        let backend = single(&with_options(&url(&h), &pinned)).await;
        assert_eq!(shown(backend.pool(), "default_transaction_isolation").await, "read committed");
    })
    .await;
}

#[tokio::test]
async fn transactions_over_a_foreign_pool_read_what_is_committed() {
    run(Kind::Postgres, |h| async move {
        if h.is_spread() {
            return; // The test makes a trigger, which the tables of a cluster do not take from anybody.
        }
        let name = h.texts("SELECT CAST(current_database() AS text)").await.remove(0);
        h.alter(&format!("ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'")).await;
        h.alter("CREATE TABLE seen (level text)").await;
        let body = "BEGIN INSERT INTO seen VALUES (current_setting(''transaction_isolation'')); RETURN NEW; END";
        h.alter(&format!("CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS '{body}'")).await;
        h.alter("CREATE TRIGGER see BEFORE INSERT ON ff_worker_registry FOR EACH ROW EXECUTE FUNCTION see()").await;
        let pool = PgPool::connect(&url(&h)).await.expect("the server answers");
        assert_eq!(shown(&pool, "transaction_isolation").await, "repeatable read");
        let backend = PostgresBackend::from_pool(pool, PartitionConfig::default());
        register(&backend, "w").await.expect("the worker is registered");
        assert_eq!(h.texts("SELECT level FROM seen").await, ["read committed"]);
    })
    .await;
}

#[tokio::test]
async fn sessions_that_the_server_ended_are_replaced_unseen() {
    run(Kind::Postgres, |h| async move {
        let backend = victim(&h).await;
        for round in 0..3 {
            backend.ping().await.expect("the server answers");
            end_session(&h).await;
            backend.ping().await.expect("a read is repeated on a new connection");
            end_session(&h).await;
            register(&backend, &format!("w-{round}")).await.expect("a write is repeated on a new connection");
            end_session(&h).await;
            let tagged = backend.set_execution_tag(&crate::harness::id_in(1), "team.color", "blue").await;
            let refused = tagged.expect_err("there is no such execution").to_string();
            assert!(refused.contains("execution"), "a unit is repeated on a new connection: {refused}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_session_that_ends_inside_a_transaction_is_replaced_unseen() {
    run(Kind::Postgres, |h| async move {
        let (url, ending) = (url(&h), Arc::new(AtomicBool::new(true)));
        let backend = single(&url).await;
        let once = Arc::clone(&ending);
        backend.fail_for_test(Box::new(move |step, name| {
            if step != Step::Commit || name != "worker_register" || !once.swap(false, Ordering::SeqCst) {
                return None;
            }
            // The hook is no future, so the session is ended from a thread of its own.
            let url = url.clone();
            let ending = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(async {
                    let server = PgPool::connect(&url).await.expect("the server answers");
                    let asked = "SELECT count(pg_terminate_backend(pid, 30000)) FROM pg_stat_activity \
                                 WHERE datname = current_database() AND state = 'idle in transaction'";
                    let gone: i64 = sqlx::query_scalar(asked).fetch_one(&server).await.expect("it ends");
                    assert_eq!(gone, 1);
                });
            });
            ending.join().expect("the session is ended");
            Some(sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into()))
        }));
        register(&backend, "w").await.expect("nothing was committed, so it is repeated");
        assert!(!ending.load(Ordering::SeqCst), "the session was ended");
        assert_eq!(h.number("SELECT count(*) FROM ff_worker_registry").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_takes_no_writes_is_replaced() {
    run(Kind::Postgres, |h| async move {
        let backend = victim(&h).await;
        let read_only = "SET default_transaction_read_only = on";
        sqlx::raw_sql(read_only).execute(backend.pool()).await.expect("the session takes it");
        register(&backend, "w").await.expect("a new connection takes the write");
        assert_eq!(shown(backend.pool(), "default_transaction_read_only").await, "off", "the session is closed");

        let name = h.texts("SELECT CAST(current_database() AS text)").await.remove(0);
        h.alter(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
        end_session(&h).await;
        let refused = register(&backend, "w").await.expect_err("the operator wants no writes").to_string();
        assert!(refused.contains("read-only"), "{refused}");
        let again =
            format!("SET transaction_read_only = off; ALTER DATABASE {name} RESET default_transaction_read_only");
        sqlx::raw_sql(sqlx::AssertSqlSafe(again)).execute(backend.pool()).await.expect("the next test may write");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stops_inside_a_transaction_loses_it() {
    run(Kind::Postgres, |h| async move {
        let tiny = [("idle_in_transaction_session_timeout", "2s")];
        let backend = single(&with_options(&url(&h), &tiny)).await;
        let (go_on, waits) = watch::channel(false);
        let once = AtomicBool::new(true);
        backend.hold_for_test(Box::new(move |step, name| {
            let stops = step == Step::Commit && name == "worker_register" && once.swap(false, Ordering::SeqCst);
            let mut waits = waits.clone();
            stops.then(|| -> BoxFuture<'static, ()> {
                Box::pin(async move {
                    let _ = waits.wait_for(|goes_on| *goes_on).await;
                })
            })
        }));
        let stopped = Arc::clone(&backend);
        let writing = tokio::task::spawn(async move { register(&stopped, "w").await });
        let held = "SELECT count(*) FROM pg_locks WHERE relation = 'ff_worker_registry'::regclass \
                    AND mode = 'RowExclusiveLock' \
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        becomes(&h, held, 1).await;
        becomes(&h, held, 0).await;
        go_on.send_replace(true);
        let ended = writing.await.expect("no panic");
        ended.expect("nothing was committed, so it is repeated");
        assert_eq!(h.number("SELECT count(*) FROM ff_worker_registry").await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_client_that_went_away_does_not_wait_on() {
    run(Kind::Postgres, |h| async move {
        let backend = single(&with_options(&url(&h), &[("lock_timeout", "0")])).await;
        register(&backend, "w").await.expect("the worker is registered");
        let holder = PgPool::connect(&url(&h)).await.expect("the server answers");
        let mut held = holder.begin().await.expect("a transaction");
        let partition = h.number("SELECT CAST(partition_key AS bigint) FROM ff_worker_registry").await;
        let locking = format!("SELECT 1 FROM ff_worker_registry WHERE partition_key = {partition} FOR UPDATE");
        sqlx::raw_sql(sqlx::AssertSqlSafe(locking)).execute(&mut *held).await.expect("the row is locked");
        let gone = Arc::clone(&backend);
        let asking = tokio::spawn(async move { register(&gone, "w").await });
        wait_for_locks(&h, 1).await;
        asking.abort();
        wait_for_locks(&h, 0).await;
        held.rollback().await.expect("the holder is still there");
    })
    .await;
}

#[tokio::test]
async fn migrations_wait_as_long_as_it_takes() {
    run(Kind::Postgres, |h| async move {
        let backend = single(&with_options(&url(&h), &[("lock_timeout", "1ms")])).await;
        let holder = PgPool::connect(&url(&h)).await.expect("the server answers");
        let mut held = holder.begin().await.expect("a transaction");
        let locking = "LOCK TABLE _sqlx_migrations IN ACCESS EXCLUSIVE MODE";
        sqlx::raw_sql(locking).execute(&mut *held).await.expect("the table is locked");
        let pool = backend.pool().clone();
        let applying = tokio::spawn(async move { ff_backend_sql::apply_migrations(&pool).await });
        // It gives way to whoever waits behind it, and waits again.
        for _ in 0..20 {
            wait_for_locks(&h, 1).await;
            assert!(!applying.is_finished(), "it still waits");
        }
        held.rollback().await.expect("the holder is still there");
        applying.await.expect("no panic").expect("the schema is up to date");
        assert_eq!(shown(backend.pool(), "lock_timeout").await, "1ms", "the session is not used again");
    })
    .await;
}

#[tokio::test]
async fn whoever_holds_up_subscriptions_can_be_named() {
    run(Kind::Postgres, |h| async move {
        let backend = single(&url(&h)).await;
        let mut named = url(&h);
        named.push_str(if named.contains('?') { "&" } else { "?" });
        named.push_str("application_name=forgetful");
        let other = PgPool::connect(&named).await.expect("the server answers");
        let mut held = other.begin().await.expect("a transaction");
        let writing = "INSERT INTO ff_lease_event (execution_id, event_type, occurred_at_ms, partition_key) \
                       VALUES ('x', 'acquired', 0, 0)";
        sqlx::raw_sql(writing).execute(&mut *held).await.expect("an event");
        let holders = backend.lease_writers_for_test().await.expect("the server answers");
        let [holder] = &holders[..] else { panic!("one, not {holders:?}") };
        assert!(holder.starts_with("session ") && holder.contains(" forgetful "), "{holder}");
        assert!(holder.contains("idle in transaction since "), "{holder}");
        held.rollback().await.expect("the holder is still there");
        assert_eq!(backend.lease_writers_for_test().await.expect("the server answers"), [""; 0]);
    })
    .await;
}

type Ping = std::pin::Pin<Box<dyn Future<Output = bool> + Send>>;

/// An operation that has begun, and may be at its end.
async fn begun(backend: Arc<dyn EngineBackend>) -> Ping {
    let mut ping: Ping = Box::pin(async move { backend.ping().await.is_ok() });
    let looked = poll_fn(|context| Poll::Ready(ping.as_mut().poll(context))).await;
    assert!(looked != Poll::Ready(false), "the database answers");
    if looked.is_ready() {
        ping = Box::pin(std::future::ready(true));
    }
    ping
}

/// Whether the value can be dropped where no runtime is.
fn drops_outside<T: Send + 'static>(value: T) {
    std::thread::spawn(move || drop(value)).join().expect("it is dropped without a panic");
}

/// A backend, a subscription and an operation under way are dropped outside a runtime, while the runtime lives and
/// after its end.
#[test]
fn whatever_is_dropped_outside_a_runtime_does_not_panic() {
    let Ok(server) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        return eprintln!("SKIPPED: FF_TEST_POSTGRES_URL is not set");
    };
    for min_connections in [0, 2] {
        for outlives in [true, false] {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            let mut connection = PostgresConnection::new(server.clone());
            (connection.max_connections, connection.min_connections) = (2, min_connections);
            let config = BackendConfig::new(BackendConnection::Postgres(connection));
            let (backend, tail, mut pending) = runtime.block_on(async {
                let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), Clock::system());
                let backend = opened.await.expect("the database opens");
                backend.ping().await.expect("the server answers");
                let tail = backend.subscribe_completions().await;
                let mut pending = Vec::new();
                for _ in 0..3 {
                    pending.push(begun(backend.clone()).await);
                }
                // Whoever waits for a connection has got one by then, and does not know it.
                tokio::time::sleep(Duration::from_millis(50)).await;
                (backend, tail, pending)
            });
            let runtime = if outlives {
                Some(runtime)
            } else {
                drop(runtime);
                None
            };
            drops_outside(pending.pop());
            drops_outside(tail);
            drops_outside(backend);
            drops_outside(pending);
            drop(runtime);
        }
    }
}

#[test]
fn a_backend_on_a_file_is_dropped_outside_a_runtime() {
    for outlives in [true, false] {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("flow.db").display().to_string();
        let (backend, tail, pending) = runtime.block_on(async {
            let backend = SqliteBackend::new(&path).await.expect("the database opens");
            let tail = backend.subscribe_completions().await;
            let pending = begun(backend.clone()).await;
            (backend, tail, pending)
        });
        let runtime = if outlives {
            Some(runtime)
        } else {
            drop(runtime);
            None
        };
        drops_outside(tail);
        drops_outside(backend);
        drops_outside(pending);
        drop(runtime);
    }
}
