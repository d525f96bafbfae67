//! What a session of the server keeps in its memory for us.

use ff_backend_sql::testing::Clock;
use ff_backend_sql::{
    FullScannerConfig, MigrationOptions, PgPool, PostgresBackend, PostgresConnection, apply_migrations_with,
};
use ff_core::backend::{BackendConfig, BackendConnection, CapabilitySet};
use ff_core::engine_backend::EngineBackend;
use ff_core::partition::PartitionConfig;
use ff_core::types::LaneId;
use futures_util::future::join_all;
use sqlx::postgres::PgPoolOptions;

use crate::bounds::SWEEPS;
use crate::harness::{Harness, Kind, T0, creation, database_url, id_in, policy, run};
use crate::sessions::url;

/// How many connections there are.
const CONNECTIONS: u32 = 4;

/// How much memory one of them may cost the server.
const BYTES: i64 = 25 << 20;

/// What each session that the pool has keeps, the most first.
async fn kept_bytes(pool: &PgPool) -> Vec<i64> {
    let sessions = join_all((0..CONNECTIONS).map(|_| pool.acquire())).await;
    let mut kept: Vec<i64> = Vec::new();
    for session in sessions {
        let mut session = session.expect("the server answers");
        let asked = "SELECT CAST(sum(total_bytes) AS bigint) FROM pg_backend_memory_contexts";
        kept.push(sqlx::query_scalar(asked).fetch_one(&mut *session).await.expect("the server tells"));
    }
    kept.sort_unstable_by(|one: &i64, other: &i64| other.cmp(one));
    kept
}

/// What callers do meanwhile.
async fn work(backend: &PostgresBackend, worker: u32) {
    let id = id_in(u16::try_from(worker * 60).expect("a partition"));
    EngineBackend::create_execution(backend, creation(id, T0)).await.expect("it is created");
    let claimed = backend.claim(&LaneId::new("lane"), &CapabilitySet::new([""; 0]), policy("worker")).await;
    let handle = claimed.expect("it is answered").expect("there is one for each");
    backend.complete(&handle, None).await.expect("the lease is held");
}

/// All sweeps on all connections at once, and others' work between them.
async fn busy(backend: &PostgresBackend) {
    for _ in 0..3 {
        for sweep in SWEEPS {
            let config = FullScannerConfig::default();
            let swept = join_all((0..CONNECTIONS).map(|_| backend.sweep_for_test(sweep, &config))).await;
            assert!(swept.iter().all(Result::is_ok), "{sweep}: {swept:?}");
        }
        let worked = join_all((0..CONNECTIONS).map(|worker| work(backend, worker))).await;
        assert_eq!(worked.len(), 4, "others work as well");
    }
}

/// Another database of the server, with tables in so many partitions: its URL and its name.
async fn database(h: &Harness, options: MigrationOptions) -> (String, String) {
    let name = format!("{}_whole", h.texts("SELECT CAST(current_database() AS text)").await.remove(0));
    h.alter(&format!("CREATE DATABASE {name}")).await;
    let url = database_url(&url(h), &name);
    let pool = PgPool::connect(&url).await.expect("the server answers");
    apply_migrations_with(&pool, options).await.expect("the schema is made");
    pool.close().await;
    (url, name)
}

#[tokio::test]
async fn a_connection_that_serves_callers_costs_the_server_little_beside_sweeps_of_256_partitions() {
    run(Kind::Postgres, |h| async move {
        if h.is_spread() {
            return; // The plans of a coordinator are others.
        }
        let options = MigrationOptions::default().partitions(256).expect("a possible number");
        let (url, name) = database(&h, options).await;
        let mut connection = PostgresConnection::new(url);
        (connection.max_connections, connection.min_connections) = (CONNECTIONS, CONNECTIONS);
        let config = BackendConfig::new(BackendConnection::Postgres(connection));
        let opened = PostgresBackend::connect_with_clock(config, PartitionConfig::default(), Clock::frozen(T0));
        let backend = opened.await.expect("the database opens");
        busy(&backend).await;
        let kept = kept_bytes(backend.pool()).await;
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'";
        let sessions: i64 = sqlx::query_scalar(others).fetch_one(backend.pool()).await.expect("the server tells");
        assert_eq!(sessions, i64::from(CONNECTIONS) + 1, "the sweeps have one of their own");
        backend.pool().close().await;
        drop(backend);
        h.alter(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
        assert!(kept.iter().all(|kept| *kept < BYTES), "{kept:?} bytes");
    })
    .await;
}

/// The connections of a pool that was handed over serve callers and sweep.
#[tokio::test]
async fn a_connection_that_sweeps_the_usual_partitions_costs_the_server_little() {
    run(Kind::Postgres, |h| async move {
        if h.is_spread() {
            return;
        }
        let (url, name) = database(&h, MigrationOptions::default()).await;
        let options = PgPoolOptions::new().max_connections(CONNECTIONS).min_connections(CONNECTIONS);
        let pool = options.connect(&url).await.expect("the server answers");
        let backend = PostgresBackend::from_pool(pool.clone(), PartitionConfig::default());
        busy(&backend).await;
        let kept = kept_bytes(&pool).await;
        drop(backend);
        pool.close().await;
        h.alter(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
        eprintln!("{kept:?} bytes");
        assert!(kept.iter().all(|kept| *kept < BYTES), "{kept:?} bytes");
    })
    .await;
}
