//! What processes and servers that die under load leave behind: everything that was acknowledged, once.
//!
//! A driver starts workers, each a process of its own on one database, and ends one of them with SIGKILL after
//! a number of journal lines that it draws (`FF_TEST_SEED`), over and over. Every worker writes down what was
//! answered to it, and syncs the line, before it goes on. At the end all work is finished, and the journals are
//! held against the tables (see [`mod@audit`]). The same with a Postgres server that crashes while its clients
//! go on, and with the nodes of a cluster.
//!
//! `FF_TEST_KILLS` is how many processes die per database, 50 if it is not set; a server and a node die a tenth as
//! often. Time is logical: the driver moves the clocks of its workers, so that no lease depends on how fast the
//! machine is.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod audit;
mod driver;
#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
mod journal;
mod listener;
mod random;
mod worker;

use std::process::Command;
use std::sync::Arc;

use cargo_diglot::postgres::{Options, Server};
use harness::{Kind, run, run_on_server};
use tokio::sync::Mutex;

/// Names the folder of the cluster behind the tests' database, which `scripts/citus` made.
const CLUSTER: &str = "FF_TEST_CITUS_FOLDER";

fn kills() -> usize {
    let wanted = std::env::var("FF_TEST_KILLS").ok();
    wanted.map_or(50, |wanted| wanted.parse().expect("FF_TEST_KILLS is a number"))
}

/// How many crashes of a server a test survives. One takes as long as many a process.
fn crashes() -> usize {
    kills().div_ceil(10)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_killed_on_a_sqlite_file() {
    run(Kind::SqliteFile, |h| async move { driver::kill_processes(&h, kills()).await }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_killed_on_postgres() {
    run(Kind::Postgres, |h| async move { driver::kill_processes(&h, kills()).await }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_server_killed_under_load() {
    let Some(server) = durable_server() else { return };
    let url = server.url().to_owned();
    // The server goes after the database that the test was on.
    let server = Arc::new(Mutex::new(server));
    let crashing = Arc::clone(&server);
    run_on_server(&url, |h| async move {
        let mut server = crashing.lock().await;
        for _ in 0..2 {
            listener::hears_across_a_crash(&h, &mut server).await;
        }
        driver::crash_server(&h, crashes(), |_| server.crash_and_restart().expect("the server comes back")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_a_cluster_killed_under_load() {
    let Ok(folder) = std::env::var(CLUSTER) else {
        eprintln!("SKIPPED on a cluster: {CLUSTER} is not set");
        return;
    };
    run(Kind::Postgres, |h| async move {
        assert!(h.is_spread(), "the nodes are those of the database");
        driver::crash_server(&h, crashes(), |number| {
            let node = (number % 2 + 1).to_string();
            let ended = Command::new("scripts/citus").args(["crash", &folder, &node]).status();
            assert!(ended.is_ok_and(|status| status.success()), "node {node} comes back");
        })
        .await;
    })
    .await;
}

/// A server of this test's own, which keeps what it has acknowledged.
fn durable_server() -> Option<Server> {
    match Server::start(Options { durable: true, ..Options::default() }) {
        Ok(server) => Some(server),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the process that the other tests start and kill"]
async fn a_worker_process() {
    worker::run_as_process().await;
}
