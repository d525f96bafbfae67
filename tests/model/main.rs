//! One model of the engine: random sequences of operations over the whole trait, on SQLite and on Postgres in
//! lock-step, under one clock that stands still unless a step moves it. After every step both must have given the
//! same answer and hold the same rows; ids that a backend makes are compared by where they appear.
//!
//! `FF_TEST_MODEL_SEQUENCES` says how many sequences are played and `FF_TEST_MODEL_SEED` which. A sequence that
//! shows a difference is shrunk and printed as a test for `found.rs`. Postgres is the server that
//! `FF_TEST_POSTGRES_URL` names, as for the conformance suite.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod found;
#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
mod mask;
mod numbers;
mod operations;
mod sequence;
mod side;
mod tables;
mod twins;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::join_all;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use harness::{Kind, run};
use sequence::{Sequences, Shrinking, Step};
use twins::{Difference, Twins};

/// How many sequences are played, and how long each is.
const SEQUENCES: u32 = 300;
const STEPS: usize = 60;

/// How many are played at the same time, each on databases of its own.
const AT_ONCE: u32 = 3;

/// How many smaller sequences are tried, and after how many differences no more are looked for.
const MOST_SHRINKS: u32 = 1_000;
const MOST_REPORTS: usize = 16;

fn setting<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => otherwise,
    }
}

/// The sequence of that number.
fn drawn(seed: u64, number: u32) -> Shrinking {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config { failure_persistence: None, ..Config::default() };
    Sequences(STEPS).new_tree(&mut TestRunner::new_with_rng(config, random)).expect("numbers can be drawn")
}

/// Runs something on a pair of fresh databases; says so and does nothing where there is no Postgres.
async fn on_twins<F>(test: impl FnOnce(Twins) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    run(Kind::Postgres, |postgres| async move {
        run(Kind::SqliteMemory, |sqlite| async move { test(Twins::new(sqlite, postgres).await).await }).await;
    })
    .await;
}

/// What all players share.
struct Game {
    seed: u64,
    sequences: u32,
    next: AtomicU32,
    /// The operations at which the databases went apart, so that each is shrunk once.
    apart: Mutex<BTreeSet<&'static str>>,
    reports: Mutex<Vec<String>>,
    /// How often each operation did something.
    done: Mutex<BTreeMap<&'static str, u32>>,
}

impl Game {
    fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().expect("no player panics here")
    }

    /// The number of the next sequence, until enough differences were found.
    fn next(&self) -> Option<u32> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.sequences && Self::lock(&self.apart).len() < MOST_REPORTS).then_some(number)
    }
}

/// Plays sequences until none is left.
async fn play_all(mut twins: Twins, game: Arc<Game>) {
    while let Some(number) = game.next() {
        let mut tree = drawn(game.seed, number);
        let Err(differs) = twins.play(&tree.current()).await else { continue };
        if !Game::lock(&game.apart).insert(differs.at) {
            continue;
        }
        let (steps, differs) = shrunk(&mut twins, &mut tree, differs).await;
        let advice = format!("FF_TEST_MODEL_SEED={} draws it as number {number}", game.seed);
        let report = format!("{}\n\n{advice}; for tests/model/found.rs:\n\n{}", differs.told, as_test(&steps));
        Game::lock(&game.reports).push(report);
    }
    for (name, times) in &twins.done {
        *Game::lock(&game.done).entry(name).or_default() += times;
    }
    twins.close().await;
}

async fn shrunk(twins: &mut Twins, tree: &mut Shrinking, differs: Difference) -> (Vec<Step>, Difference) {
    let mut smallest = (tree.current(), differs);
    let mut goes_on = tree.simplify();
    for _ in 0..MOST_SHRINKS {
        if !goes_on {
            break;
        }
        goes_on = match twins.play(&tree.current()).await {
            Err(differs) => {
                smallest = (tree.current(), differs);
                tree.simplify()
            }
            Ok(()) => tree.complicate(),
        };
    }
    smallest
}

/// A sequence as the text of a test.
fn as_test(steps: &[Step]) -> String {
    let lines: Vec<String> = steps.iter().map(|step| format!("        {step:?},\n")).collect();
    format!("    a_name_that_says_what_was_wrong: [\n{}    ];\n", lines.concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn both_databases_go_the_same_way() {
    let game = Arc::new(Game {
        seed: setting("FF_TEST_MODEL_SEED", 1),
        sequences: setting("FF_TEST_MODEL_SEQUENCES", SEQUENCES),
        next: AtomicU32::new(0),
        apart: Mutex::default(),
        reports: Mutex::default(),
        done: Mutex::default(),
    });
    let players = (0..AT_ONCE).map(|_| {
        let game = Arc::clone(&game);
        tokio::spawn(on_twins(move |twins| play_all(twins, game)))
    });
    for ended in join_all(players).await {
        if let Err(failed) = ended {
            std::panic::resume_unwind(failed.into_panic());
        }
    }
    let reports = Game::lock(&game.reports);
    assert!(reports.is_empty(), "the databases go apart:\n\n{}", reports.join("\n\n"));
    let done = Game::lock(&game.done);
    writeln!(std::io::stderr(), "how often each operation did something: {done:?}").expect("it is printed");
}
