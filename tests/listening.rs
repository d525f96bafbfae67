//! Connections and messages on Postgres: who hears what, and that nothing is kept for good.
//!
//! Needs `FF_TEST_POSTGRES_URL`, the URL of any database of a server; no table is touched.

#![cfg(feature = "postgres")]

use std::time::Duration;

use ff_backend_sql::listener::{StreamEventId, StreamNotifier, channel_name};
use ff_backend_sql::{PgPool, PostgresBackend, PostgresConnection};
use ff_core::backend::{BackendConfig, BackendConnection};
use ff_core::engine_backend::EngineBackend as _;
use sqlx::postgres::PgPoolOptions;
use tokio::sync::broadcast;
use uuid::Uuid;

type Answer = Result<(), Box<dyn std::error::Error>>;

/// Far longer than anything here takes; only a failing test waits for it.
const LONG: Duration = Duration::from_secs(20);

fn url() -> Option<String> {
    let url = std::env::var("FF_TEST_POSTGRES_URL").ok();
    if url.is_none() {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        eprintln!("SKIPPED: FF_TEST_POSTGRES_URL is not set");
    }
    url
}

async fn pool(url: &str) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new().max_connections(4).connect(url).await
}

async fn send(pool: &PgPool, channel: &str, payload: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(payload).execute(pool).await.map(|_| ())
}

async fn hear(events: &mut broadcast::Receiver<StreamEventId>) -> Result<StreamEventId, Box<dyn std::error::Error>> {
    Ok(tokio::time::timeout(LONG, events.recv()).await??)
}

/// Waits until the notifier listens to that many channels.
async fn count_becomes(notifier: &StreamNotifier, count: usize) -> Answer {
    let wait = async {
        while notifier.active_channel_count() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    Ok(tokio::time::timeout(LONG, wait).await?)
}

#[tokio::test]
async fn every_subscriber_hears_what_is_sent_after_its_subscription() -> Answer {
    let Some(url) = url() else { return Ok(()) };
    let pool = pool(&url).await?;
    let notifier = StreamNotifier::spawn(pool.clone());
    let channel = channel_name(&Uuid::new_v4(), 0);
    let (first, second) = tokio::join!(notifier.subscribe(&channel), notifier.subscribe(&channel));
    send(&pool, &channel, "12-3").await?;
    for mut events in [first, second] {
        assert_eq!(hear(&mut events).await?, StreamEventId::Frame { ts_ms: 12, seq: 3 });
    }
    Ok(())
}

#[tokio::test]
async fn a_channel_is_left_when_its_last_receiver_is_gone() -> Answer {
    let Some(url) = url() else { return Ok(()) };
    let notifier = StreamNotifier::spawn(pool(&url).await?);
    let channel = channel_name(&Uuid::new_v4(), 0);
    let first = notifier.subscribe(&channel).await;
    let second = notifier.subscribe(&channel).await;
    assert_eq!(notifier.active_channel_count(), 1);
    drop(first);
    let other = notifier.subscribe(&channel_name(&Uuid::new_v4(), 0)).await;
    assert_eq!(notifier.active_channel_count(), 2);
    drop((second, other));
    count_becomes(&notifier, 0).await
}

#[tokio::test]
async fn a_lost_connection_is_told_and_what_comes_after_is_heard() -> Answer {
    let Some(url) = url() else { return Ok(()) };
    let pool = pool(&url).await?;
    let notifier = StreamNotifier::spawn(pool.clone());
    let channel = channel_name(&Uuid::new_v4(), 0);
    let mut events = notifier.subscribe(&channel).await;
    let ended: i64 = sqlx::query_scalar(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query = 'LISTEN \"' || $1 || '\"'",
    )
    .bind(&channel)
    .fetch_one(&pool)
    .await?;
    assert_eq!(ended, 1, "the listening connection is there to be ended");
    assert_eq!(hear(&mut events).await?, StreamEventId::Reconnect);
    send(&pool, &channel, "1-0").await?;
    assert_eq!(hear(&mut events).await?, StreamEventId::Frame { ts_ms: 1, seq: 0 });
    Ok(())
}

#[tokio::test]
async fn operations_give_their_connections_back_to_the_pool() -> Answer {
    let Some(url) = url() else { return Ok(()) };
    let pool = pool(&url).await?;
    let backend = PostgresBackend::from_pool(pool.clone(), ff_core::partition::PartitionConfig::default());
    let mut pings = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let backend = backend.clone();
        pings.spawn(async move { backend.ping().await });
    }
    while let Some(ping) = pings.join_next().await {
        ping??;
    }
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(tokio::time::timeout(LONG, pool.acquire()).await??);
    }
    drop(all);
    drop(backend);
    tokio::time::timeout(LONG, pool.close()).await?;
    Ok(())
}

#[tokio::test]
async fn callers_that_give_up_leave_the_connections_clean() -> Answer {
    let Some(url) = url() else { return Ok(()) };
    let mut connection = PostgresConnection::new(url);
    connection.max_connections = 1;
    let config = BackendConfig::new(BackendConnection::Postgres(connection));
    let backend = PostgresBackend::connect(config).await?;
    for _ in 0..50 {
        let _given_up = tokio::time::timeout(Duration::from_micros(200), backend.ping()).await;
    }
    backend.ping().await?;
    Ok(())
}
