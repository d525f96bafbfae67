//! What a power failure leaves of a SQLite database: everything that was answered, and nothing half.
//!
//! Clients work on a database while a model of the disk watches its files ([`mod@disk`]). At every sync point, between
//! every commit and its sync, and half way through every move of the log's pages to the file, it makes copies of the
//! files as a disk could hold them. Each copy is opened and judged ([`mod@check`]):
//!
//! * It opens, and SQLite finds no damage.
//! * It has all tables as they were after a whole commit: the last one that was on the disk, or the one that was on
//!   its way there. The states after each commit keep what holds between tables.
//! * Everything that was answered before is answered by a backend on the copy, too.
//! * What that backend answers is on the disk by then: a second failure at once changes nothing of it.
//!
//! `FF_TEST_CRASHES` is how many commits are looked at, 60 if it is not set; `FF_TEST_SEED` draws what the clients do
//! and what gets lost.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod check;
mod disk;
#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
#[path = "../kills/random.rs"]
mod random;
mod work;

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use ff_backend_sql::SqliteBackend;
use ff_backend_sql::testing::Clock;

use check::{Counts, judge_all};
use disk::Disk;
use harness::T0;
use random::Random;
use work::{Facts, work};

/// How many pages the log has before they are moved, so that it happens often.
const LOG_PAGES: u32 = 100;

/// How many clients work at once, so that operations share commits.
const CLIENTS: u64 = 3;

/// How many copies wait to be judged.
const BACKLOG: usize = 16;

/// How many threads judge.
const JUDGES: usize = 2;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |wanted| wanted.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_loses_what_was_not_synced_holds_all_that_was_answered() {
    let (commits, seed) = (number("FF_TEST_CRASHES", 60), number("FF_TEST_SEED", 1));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("crash.db");
    let (copies, waiting) = sync_channel(BACKLOG);
    let facts = Facts::default();
    let judges = judge_all(waiting, JUDGES, &facts);
    let disk = Arc::new(Disk::new(&path, facts.clone(), copies, Random::new(seed), commits));
    let watching = Arc::clone(&disk);
    let hook = Box::new(move |step, name| watching.step(step, name));
    let name = path.display().to_string();
    let clock = Clock::frozen(T0);
    let backend = SqliteBackend::new_with_faults(&name, clock.clone(), LOG_PAGES, hook).await.expect("it opens");
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let random = Random::new(seed.wrapping_mul(CLIENTS).wrapping_add(client + 1));
        clients.spawn(work(Arc::clone(&backend), clock.clone(), facts.clone(), Arc::clone(&disk), random, client));
    }
    clients.join_all().await;
    drop(backend);
    let moves = disk.finish();
    let mut counts = Counts::default();
    for judge in judges {
        counts.add(&tokio::task::spawn_blocking(|| judge.join()).await.expect("it is joined").expect("all is well"));
    }
    eprintln!(
        "seed {seed}: {} copies of the disk checked at {commits} commits and {moves} moves of the log, {} of them \
         torn, {} half moved; {} answers held against them",
        counts.copies,
        counts.torn,
        counts.half_moved,
        facts.len()
    );
    assert!(counts.copies > commits && counts.torn > 0 && counts.half_moved > 0 && moves > 0, "{counts:?}");
}
