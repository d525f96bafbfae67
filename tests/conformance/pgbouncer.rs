//! PgBouncer between the backend and its server, where it is installed, and what stands in its place where it is not.

use ff_backend_sql::{PostgresBackend, SessionsShared};
use ff_core::backend::{BackendConfig, CapabilitySet, Frame, FrameKind};
use ff_core::engine_backend::EngineBackend as _;
use ff_core::engine_error::EngineError;
use ff_core::types::LaneId;
use futures_util::future::join_all;

use crate::bouncer::Bouncer;
use crate::handing_on;
use crate::harness::{Harness, Kind, Tables, payload, policy, run};
use crate::sessions::{shown, single, url};
use crate::together::claimed;

#[tokio::test]
async fn one_that_keeps_sessions_is_as_good_as_the_server() {
    run(Kind::Postgres, |h| async move {
        let Some(bouncer) = Bouncer::before(&url(&h), "session").await else { return };
        let behind = Harness::open(bouncer.url.clone()).await;
        let Tables::Postgres(backend) = behind.tables() else { return };
        for (setting, value) in [
            ("lock_timeout", "5s"),
            ("idle_in_transaction_session_timeout", "10s"),
            ("default_transaction_isolation", "read committed"),
            ("plan_cache_mode", "force_custom_plan"),
            ("ff_sql.wakeups", "after_commit"),
        ] {
            assert_eq!(shown(backend.pool(), setting).await, value, "{setting}");
        }
        let handles = claimed(&behind, 20).await;
        let frame = || Frame::new(b"bytes".to_vec(), FrameKind::Stdout);
        let appended = join_all(handles.iter().map(|handle| behind.backend.append_frame(handle, frame()))).await;
        assert!(appended.iter().all(Result::is_ok), "{appended:?}");
        for handle in &handles {
            behind.backend.complete(handle, None).await.expect("the lease is held");
            let id = payload(handle).execution_id;
            assert!(h.backend.get_execution_result(&id).await.is_ok());
        }
    })
    .await;
}

/// A backend is not opened there, and the reason is told.
async fn refused(url: &str) {
    let refused = PostgresBackend::connect(BackendConfig::postgres(url)).await;
    let Err(EngineError::Transport { source, .. }) = refused else { panic!("it was opened") };
    assert!(source.is::<SessionsShared>(), "{source}");
    assert!(source.to_string().contains("pool_mode = session"), "{source}");
}

#[tokio::test]
async fn one_that_hands_sessions_on_is_refused_with_the_reason() {
    run(Kind::Postgres, |h| async move {
        for pool_mode in ["transaction", "statement"] {
            let Some(bouncer) = Bouncer::before(&url(&h), pool_mode).await else { return };
            refused(&bouncer.url).await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_hands_sessions_on_is_refused_where_no_pooler_is_installed() {
    run(Kind::Postgres, |h| async move { refused(&handing_on::before(&url(&h))).await }).await;
}

#[tokio::test]
async fn a_connection_keeps_as_many_statements_as_the_url_says() {
    run(Kind::Postgres, |h| async move {
        let url = url(&h);
        let mark = if url.contains('?') { '&' } else { '?' };
        let backend = single(&format!("{url}{mark}statement-cache-capacity=3")).await;
        backend.ping().await.expect("it answers");
        backend.server_time_ms().await.expect("it answers");
        backend.list_lanes(None, 10).await.expect("it answers");
        let none = CapabilitySet::new([""; 0]);
        backend.claim(&LaneId::new("lane"), &none, policy("w")).await.expect("it answers");
        let kept = sqlx::query_scalar("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'sqlx%'");
        let kept: i64 = kept.fetch_one(backend.pool()).await.expect("the server tells");
        assert!(kept <= 3, "{kept}");
    })
    .await;
}
