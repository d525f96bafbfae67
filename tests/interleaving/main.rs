//! Two operations at once, on Postgres: every ordered pair of operations that write, from the same prepared state.
//!
//! The first is stopped before each of its statements and before its commit, the second runs to its end or is seen
//! to wait, then the first goes on. Next a third transaction holds rows that the first takes, both begin, and it goes
//! away. Either way nobody may wait for each other, and both answers and all tables are those of one of the two orders in
//! which the same operations run one after the other, or of one while somebody holds rows that one of them takes: claims
//! and sweeps pass over such rows. No sweep waits for anybody.
//!
//! The clock stands still, and waiting is seen in the server's own lists. `FF_TEST_INTERLEAVING=all` plays every
//! operation in every state instead of those that matter most there, `drawn:3` eight of every state's, drawn by seed 3; any
//! other word plays the states whose name has it. Postgres is the server that `FF_TEST_POSTGRES_URL` names, as for the conformance suite.

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod gate;
#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
#[path = "../model/mask.rs"]
mod mask;
#[path = "../model/numbers.rs"]
mod numbers;
#[path = "../model/operations/mod.rs"]
#[allow(dead_code, reason = "shared with the model test")]
mod operations;
mod pairs;
#[path = "../kills/random.rs"]
mod random;
mod scenes;
#[path = "../model/side.rs"]
#[allow(dead_code, reason = "shared with the model test")]
mod side;
mod stage;
#[path = "../model/tables.rs"]
#[allow(dead_code, reason = "shared with the model test")]
mod tables;

use std::cmp::Reverse;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures_util::future::join_all;

use harness::{Kind, run, run_on_server};
use pairs::Tally;
use random::Random;
use scenes::{SCENES, Scene, Step};
use stage::Stage;

/// How many databases are played on at the same time.
const AT_ONCE: usize = 3;

/// A circle of waiting sessions is seen and broken by the test long before the server looks for one. What the server
/// then finds are queues that it puts in another order.
const SERVER_LOOKS_LATE_FOR_CIRCLES: &str =
    "options=-c%20deadlock_timeout%3D5s%20-c%20lock_timeout%3D0%20-c%20idle_in_transaction_session_timeout%3D0";

/// Which operations are played in a state.
#[derive(Clone, Copy)]
enum Choice {
    /// Those that matter most there.
    Usual,
    All,
    /// Some of all, by a seed.
    Drawn(u64),
}

impl Choice {
    /// How many operations are drawn.
    const DRAWN: usize = 8;

    fn of(asked: &str) -> Self {
        match asked.split_once(':') {
            Some(("drawn", seed)) => Self::Drawn(seed.parse().expect("`drawn:` has a number behind it")),
            _ if asked == "all" => Self::All,
            _ => Self::Usual,
        }
    }

    fn steps(self, scene: &Scene) -> Vec<Step> {
        match self {
            Self::Usual => scene.steps.to_vec(),
            Self::All => scene.all_steps(),
            Self::Drawn(seed) => {
                let mut random =
                    Random::new(scene.name.bytes().fold(seed, |mixed, byte| mixed.wrapping_mul(31) + u64::from(byte)));
                let mut left = scene.all_steps();
                (0..Self::DRAWN.min(left.len()))
                    .map(|_| left.swap_remove(usize::try_from(random.below(left.len() as u64)).expect("an index")))
                    .collect()
            }
        }
    }
}

/// What all players share.
struct Game {
    scenes: Vec<&'static Scene>,
    choice: Choice,
    next: AtomicUsize,
    tally: Mutex<Tally>,
}

/// Runs something on a fresh database of each kind, of which only Postgres is played on.
async fn on_a_stage<F>(test: impl FnOnce(Stage) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        // Says so, or fails where it has to be there.
        return run(Kind::Postgres, |_| async {}).await;
    };
    let joint = if url.contains('?') { '&' } else { '?' };
    run_on_server(&format!("{url}{joint}{SERVER_LOOKS_LATE_FOR_CIRCLES}"), |postgres| async move {
        run(Kind::SqliteMemory, |sqlite| async move {
            let (_, reading) = tables::readings(&sqlite, &postgres).await;
            test(Stage::new(postgres, reading).await).await;
        })
        .await;
    })
    .await;
}

async fn play_all(mut stage: Stage, game: Arc<Game>) {
    while let Some(scene) = game.scenes.get(game.next.fetch_add(1, Ordering::Relaxed)) {
        let tally = pairs::play(&mut stage, scene, &game.choice.steps(scene)).await;
        game.tally.lock().expect("no player panics here").add(tally);
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_operations_at_once_do_what_they_do_one_after_the_other() {
    let began = Instant::now();
    let asked = std::env::var("FF_TEST_INTERLEAVING").unwrap_or_default();
    let choice = Choice::of(&asked);
    let is_played = |name: &str| !matches!(choice, Choice::Usual) || name.contains(&asked);
    // The longest first, so that no player is left with one when the others have nothing to do.
    let mut scenes: Vec<&Scene> = SCENES.iter().filter(|scene| is_played(scene.name)).collect();
    scenes.sort_by_key(|scene| Reverse(scene.steps.len()));
    let game = Arc::new(Game { scenes, choice, next: AtomicUsize::new(0), tally: Mutex::default() });
    let players = (0..AT_ONCE).map(|_| {
        let game = Arc::clone(&game);
        tokio::spawn(on_a_stage(move |stage| play_all(stage, game)))
    });
    for ended in join_all(players).await {
        if let Err(failed) = ended {
            std::panic::resume_unwind(failed.into_panic());
        }
    }
    let tally = game.tally.lock().expect("no player panics here");
    let held_up = tally.held_up.join("\n");
    writeln!(std::io::stderr(), "{tally}\n{held_up}\nin {} s", began.elapsed().as_secs()).expect("it is printed");
    let found = tally.found.join("\n\n");
    assert!(
        tally.held_up.is_empty() && tally.found.is_empty(),
        "a held row holds sweeps up:\n{held_up}\n\nnot like one after the other:\n\n{found}"
    );
}
