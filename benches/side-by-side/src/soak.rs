//! A load that goes on for long while somebody reads: executions arrive at a rate below what the backend can do, and
//! transactions stay open beside them, one begun before the last has ended, so that no dead row can be cleared away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::contender::{Contender, Store};
use crate::load::{self, Spread};
use crate::work::{self, Measured};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How many workers claim and complete.
const WORKERS: usize = 16;

/// How many pairs are measured while nobody reads.
const CLEAN: u32 = 4_000;

/// The share of the clean rate that is offered.
const SHARE: f64 = 0.7;

/// How often executions arrive.
const ARRIVAL: Duration = Duration::from_millis(100);

/// How long a worker that found nothing waits.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a reader's transaction stays open, and after how long the next one begins.
const OPEN: Duration = Duration::from_secs(120);
const NEXT_READER: Duration = Duration::from_secs(60);

/// What was seen in one stretch of the time.
struct Stretch {
    offered: usize,
    done: usize,
    p99_ms: f64,
    backlog: i64,
}

/// What workers did since it was last looked at.
#[derive(Default)]
struct Done {
    pairs: AtomicUsize,
    claims: Mutex<Vec<Duration>>,
}

/// Runs the load for so many seconds and prints a line for every minute, or for every tenth of a shorter run. Answers
/// whether every stretch did 95 in a hundred of what was offered with a p99 of at most three times that of the run
/// without readers, and nothing was left at the end.
pub async fn run(ours: &Contender, seconds: u64, clean: &Measured) -> Result<bool, Failure> {
    let Store::Postgres(pool) = &ours.store else { return Ok(true) };
    let each = (clean.rate() * SHARE * ARRIVAL.as_secs_f64()).max(1.0) as u32;
    let stretch = Duration::from_secs(60).min(Duration::from_secs(seconds) / 10);
    let (done, over) = (Arc::new(Done::default()), Arc::new(AtomicBool::new(false)));
    let mut tasks = JoinSet::new();
    for worker in 0..WORKERS {
        tasks.spawn(serve(ours.backend.clone(), worker, done.clone(), over.clone()));
    }
    tasks.spawn(read(pool.clone(), over.clone()));
    println!("| {:>6} | {:>9} | {:>9} | {:>12} | {:>8} |", "second", "offered/s", "done/s", "claim p99 ms", "backlog");
    let (begin, mut seen) = (Instant::now(), Vec::new());
    while begin.elapsed() < Duration::from_secs(seconds) {
        let (since, mut offered) = (Instant::now(), 0);
        while since.elapsed() < stretch {
            let next = Instant::now() + ARRIVAL;
            load::arriving(pool, each).await?;
            offered += each as usize;
            tokio::time::sleep_until(next.into()).await;
        }
        seen.push(look(pool, &done, offered).await?);
        if let Some(last) = seen.last() {
            let rate = |count: usize| count as f64 / since.elapsed().as_secs_f64();
            println!(
                "| {:>6} | {:>9.0} | {:>9.0} | {:>12.2} | {:>8} |",
                begin.elapsed().as_secs(),
                rate(last.offered),
                rate(last.done),
                last.p99_ms,
                last.backlog
            );
        }
    }
    let most_ms = 3.0 * clean.percentile_ms(0.99);
    let kept_up =
        seen.iter().all(|stretch| stretch.done as f64 >= 0.95 * stretch.offered as f64 && stretch.p99_ms <= most_ms);
    let waits_for_end = Instant::now();
    while backlog(pool).await? > 0 && waits_for_end.elapsed() < OPEN {
        tokio::time::sleep(PAUSE).await;
    }
    let left = backlog(pool).await?;
    over.store(true, Ordering::Relaxed);
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(kept_up && left == 0)
}

async fn serve(
    backend: Arc<dyn ff_core::engine_backend::EngineBackend>,
    worker: usize,
    done: Arc<Done>,
    over: Arc<AtomicBool>,
) -> Result<(), Failure> {
    while !over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        let Some(handle) = work::claim(&backend, worker).await? else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        done.claims.lock().await.push(begin.elapsed());
        backend.complete(&handle, None).await?;
        done.pairs.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Opens a transaction that sees the tables as they are, again and again.
async fn read(pool: sqlx::PgPool, over: Arc<AtomicBool>) -> Result<(), Failure> {
    let mut open = std::collections::VecDeque::new();
    let mut next = Instant::now();
    while !over.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            let mut reader = pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
            sqlx::query("SELECT count(*) FROM ff_claimable").execute(&mut *reader).await?;
            open.push_back((Instant::now(), reader));
            next = Instant::now() + NEXT_READER;
        }
        while open.front().is_some_and(|(since, _)| since.elapsed() >= OPEN) {
            if let Some((_, reader)) = open.pop_front() {
                reader.rollback().await?;
            }
        }
        tokio::time::sleep(ARRIVAL).await;
    }
    Ok(())
}

async fn look(pool: &sqlx::PgPool, done: &Done, offered: usize) -> Result<Stretch, Failure> {
    let mut claims = std::mem::take(&mut *done.claims.lock().await);
    claims.sort();
    let p99 = claims.get(claims.len() * 99 / 100).map_or(f64::NAN, |taken| taken.as_secs_f64() * 1e3);
    let pairs = done.pairs.swap(0, Ordering::Relaxed);
    Ok(Stretch { offered, done: pairs, p99_ms: p99, backlog: backlog(pool).await? })
}

async fn backlog(pool: &sqlx::PgPool) -> Result<i64, Failure> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM ff_claimable WHERE lane_id = 'bench'").fetch_one(pool).await?)
}

/// Claims and completions while nobody reads.
pub async fn clean(ours: &Contender) -> Result<Measured, Failure> {
    load::claimable(&ours.store, CLEAN, Spread::One).await?;
    Ok(work::drain(&ours.backend, WORKERS, CLEAN as usize).await?)
}
