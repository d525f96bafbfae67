//! A week of three processes, with all that a week brings: executions that crash their workers, wait, fail, run for long and
//! are never answered; hosts whose clocks are apart; restarts and crashes of processes every ten minutes, dumps and
//! migrations beside them, and in front of Postgres something that now and then loses an answer.
//!
//! Time is the driver's: it moves the clocks by two thirds of a lease and waits until every process has done what there was
//! to do then. Nothing depends on how fast the machine is. Afterwards every execution ended, once, and as it had to; none
//! was open for long; no table grew on, and what the tables are to forget is gone.
//!
//! `FF_TEST_WEEK` is how many hours pass with 10,000 executions an hour; 168 are a week. Without it half an hour passes with a few
//! hundred.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod audit;
#[path = "../conformance/bouncer.rs"]
mod bouncer;
#[path = "../conformance/bounds.rs"]
#[allow(dead_code, reason = "shared with the conformance suite")]
mod bounds;
mod driver;
#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
mod kind;
mod process;
#[path = "../conformance/proxy.rs"]
#[allow(dead_code, reason = "shared with the conformance suite")]
mod proxy;

use harness::{Kind, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_week_on_a_sqlite_file() {
    run(Kind::SqliteFile, |h| async move { driver::run(&h).await }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_week_on_postgres() {
    run(Kind::Postgres, |h| async move { driver::run(&h).await }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the process that the other tests start"]
async fn a_process() {
    process::run_as_process().await;
}
