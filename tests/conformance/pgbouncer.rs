//! PgBouncer between the backend and its server, where it is installed.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ff_backend_sql::{PostgresBackend, SessionsShared};
use ff_core::backend::{BackendConfig, CapabilitySet, Frame, FrameKind};
use ff_core::engine_backend::EngineBackend as _;
use ff_core::engine_error::EngineError;
use ff_core::types::LaneId;
use futures_util::future::join_all;

use crate::harness::{Harness, Kind, PATIENCE, Tables, payload, policy, run};
use crate::sessions::{shown, single, url};
use crate::together::claimed;

/// Where it is looked for; packages put it where only root's path leads.
const PROGRAMS: [&str; 2] = ["pgbouncer", "/usr/sbin/pgbouncer"];

/// A PgBouncer before a server. Dropping it ends it.
struct Bouncer {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Bouncer {
    /// One in that mode before the server at that URL; none where it is not installed.
    async fn before(url: &str, pool_mode: &str) -> Option<Self> {
        let is_there = |program: &&&str| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
        let Some(program) = PROGRAMS.iter().find(is_there) else {
            eprintln!("SKIPPED behind PgBouncer: it is not installed");
            return None;
        };
        let (user, rest) = url.split_once("://").expect("a URL").1.split_once('@').expect("a URL with a user");
        let (user, password) = user.split_once(':').expect("a password");
        let (server, database) = rest.split_once('/').expect("a database");
        let (host, port) = server.split_once(':').expect("a port");
        let own = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
        let folder = tempfile::tempdir().expect("a folder");
        let settings = format!(
            "[databases]\n* = host={host} port={port} user={user} password={password}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {own}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = {pool_mode}\nignore_startup_parameters = options,extra_float_digits\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).expect("the settings are written");
        let mut command = Command::new(program);
        // Root may not run it.
        if let Some(other) = other_user() {
            command.args(["-u", other]);
        }
        let process = command.arg("-q").arg(&file).stderr(Stdio::null()).spawn().expect("it starts");
        let bouncer =
            Self { process, url: format!("postgres://{user}:{password}@127.0.0.1:{own}/{database}"), _folder: folder };
        let wait = async {
            while TcpStream::connect(("127.0.0.1", own)).is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("it listens");
        Some(bouncer)
    }
}

/// Whom root runs a program as that does not run as root.
fn other_user() -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;

    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    is_root.then_some("nobody")
}

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

#[tokio::test]
async fn one_that_hands_sessions_on_is_refused_with_the_reason() {
    run(Kind::Postgres, |h| async move {
        for pool_mode in ["transaction", "statement"] {
            let Some(bouncer) = Bouncer::before(&url(&h), pool_mode).await else { return };
            let refused = PostgresBackend::connect(BackendConfig::postgres(bouncer.url.clone())).await;
            let Err(EngineError::Transport { source, .. }) = refused else { panic!("{pool_mode}: it was opened") };
            assert!(source.is::<SessionsShared>(), "{pool_mode}: {source}");
            assert!(source.to_string().contains("pool_mode = session"), "{source}");
        }
    })
    .await;
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
