//! The rows of the table.

use std::time::Duration;

use ff_core::backend::Handle;
use ff_core::types::ExecutionId;

use crate::Options;
use crate::contender::{self, Contender, Store, Whose};
use crate::floor;
use crate::load::{self, Spread};
use crate::plot;
use crate::scene;
use crate::table::{Goal, Row, Table};
use crate::work::{self, Measured};

type Failure = Box<dyn std::error::Error>;

/// Pairs per round of claim and complete: few enough that an existing backend's claim, which slows down
/// with waiting rows, is measured at its best.
const PAIRS: u32 = 500;

/// Renewals, appends or creations of one worker in a round of the existing backend.
const EACH: i32 = 100;

/// How many times as much ours and the floor do in a round, which is then about as long: what comes first in a round, as
/// reading pages that a load has changed, would weigh more in a shorter one.
const MORE: usize = 8;

/// What several rounds measured: the median, and the lowest and the highest rate.
struct Rounds {
    median: Measured,
    spread: (f64, f64),
}

impl std::ops::Deref for Rounds {
    type Target = Measured;

    fn deref(&self) -> &Measured {
        &self.median
    }
}

impl Rounds {
    fn of(mut results: Vec<Measured>) -> Self {
        results.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        let rate = |measured: Option<&Measured>| measured.map_or(f64::NAN, Measured::rate);
        let spread = (rate(results.first()), rate(results.last()));
        Self { median: results.swap_remove(results.len() / 2), spread }
    }
}

/// What takes turns in a row, in this order.
const EXISTING: usize = 0;
const OURS: usize = 1;

/// Runs a cell for each who takes turns and gives what their rounds measured: the existing backend, ours, and the floor if
/// the row has one.
async fn in_turns<const N: usize>(
    options: &Options,
    cell: impl AsyncFn(usize) -> Result<Measured, Failure>,
) -> Result<[Rounds; N], Failure> {
    let mut rounds: [Vec<Measured>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..options.rounds {
        for (index, results) in rounds.iter_mut().enumerate() {
            results.push(cell(index).await?);
        }
    }
    Ok(rounds.map(Rounds::of))
}

/// Pairs per round of the existing backend for that many workers: at least eight for each.
fn pairs_for(workers: usize) -> u32 {
    PAIRS.max(u32::try_from(workers * 8).unwrap_or(PAIRS))
}

/// Pairs per round of ours and of the floor, which take about as long for them.
fn more_pairs_for(workers: usize) -> u32 {
    pairs_for(workers).max(PAIRS * u32::try_from(workers.min(MORE)).unwrap_or(1))
}

/// Claims and completions by the existing backend, ours and the floor.
async fn pairs(options: &Options, pair: &[Contender; 2], workers: usize) -> Result<[Rounds; 3], Failure> {
    in_turns(options, async |index| match index {
        EXISTING => drain_round(&pair[EXISTING], workers, pairs_for(workers), Spread::One).await,
        OURS => drain_round(&pair[OURS], workers, more_pairs_for(workers), Spread::One).await,
        _ => floor::pairs(&pair[OURS].store, workers, more_pairs_for(workers)).await,
    })
    .await
}

async fn drain_round(contender: &Contender, workers: usize, pairs: u32, spread: Spread) -> Result<Measured, Failure> {
    load::claimable(&contender.store, pairs, spread).await.map_err(|e| e.to_string())?;
    Ok(work::drain(&contender.backend, workers, pairs as usize).await?)
}

/// What a pair costs the server, which does not depend on the machine: transactions that wrote, and bytes of its log.
/// Over more pairs than a round has, because the workers' last claims find nothing.
async fn costs(ours: &Contender, workers: usize, table: &mut Table) -> Result<(), Failure> {
    let Store::Postgres(pool) = &ours.store else { return Ok(()) };
    let pairs = 4 * pairs_for(workers);
    load::claimable(&ours.store, pairs, Spread::One).await.map_err(|e| e.to_string())?;
    let seen = || sqlx::query_as::<_, (i64, i64)>(SPENT).fetch_one(pool);
    let before = seen().await?;
    let done = work::drain(&ours.backend, workers, pairs as usize).await?.count as f64;
    let after = seen().await?;
    let figures = [
        ("commits", after.0 - before.0, "commits", Goal::Below(0.4)),
        ("log", after.1 - before.1, "bytes", Goal::Below(4096.0)),
    ];
    for (what, spent, unit, goal) in figures {
        let each = spent as f64 / done;
        let name = format!("Postgres: {what} per pair at {workers} workers");
        table.push(Row { name, theirs: None, ours: each, spread: None, floor: None, unit, judged: each, goal });
    }
    Ok(())
}

/// Transactions that were given a number, and bytes of the log. Asking gives a number as well.
const SPENT: &str = "SELECT CAST(CAST(pg_current_xact_id() AS text) AS bigint), \
                     CAST(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bigint)";

async fn held(contender: &Contender, workers: usize) -> Result<Vec<Handle>, Failure> {
    load::claimable(&contender.store, workers as u32, Spread::One).await.map_err(|e| e.to_string())?;
    let mut handles = Vec::new();
    for worker in 0..workers {
        handles.push(work::claim(&contender.backend, worker).await?.ok_or("nothing to claim")?);
    }
    Ok(handles)
}

fn ratio_row<const N: usize>(name: impl Into<String>, results: &[Rounds; N], unit: &'static str, goal: f64) -> Row {
    let (theirs, ours) = (results[EXISTING].rate(), results[OURS].rate());
    let (judged, goal) = (ours / theirs, Goal::AtLeast(goal));
    let floor = results.get(2).map(|floor| floor.rate());
    Row { name: name.into(), theirs: Some(theirs), ours, spread: Some(results[1].spread), floor, unit, judged, goal }
}

/// The rate of the harder of two cases of the same work, judged by that of the easier one.
fn against(name: String, [easy, hard]: [f64; 2], least: f64) -> Row {
    Row {
        name,
        theirs: None,
        ours: hard,
        spread: None,
        floor: Some(easy),
        unit: "ops/s",
        judged: hard / easy,
        goal: Goal::AtLeast(least),
    }
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(0.0)
}

/// Rows that are the same on both stores.
async fn shared(
    options: &Options,
    pair: &[Contender; 2],
    store: &str,
    table: &mut Table,
    goals: Goals,
) -> Result<(), Failure> {
    let wanted = |name: &str| name.contains(&options.only);
    for &(workers, goal) in goals.pairs {
        let name = format!("{store}: claim+complete, {workers} workers");
        if wanted(&name) {
            let results = pairs(options, pair, workers).await?;
            table.push(ratio_row(&name, &results, "pairs/s", goal));
            if workers == 16 {
                table.push(Row {
                    name: format!("{store}: claim at 16 workers, p99"),
                    theirs: Some(results[0].percentile_ms(0.99)),
                    ours: results[1].percentile_ms(0.99),
                    spread: None,
                    floor: None,
                    unit: "ms",
                    judged: results[1].percentile_ms(0.99),
                    goal: Goal::Below(goals.p99_ms),
                });
                costs(&pair[1], workers, table).await?;
            }
        }
    }
    for kind in ["renew", "append", "create"] {
        let name = format!("{store}: {kind}, 16 workers");
        if !wanted(&name) {
            continue;
        }
        let handles = [held(&pair[EXISTING], 16).await?, held(&pair[OURS], 16).await?];
        let single = async |index: usize| -> Result<Measured, Failure> {
            let each = if index == EXISTING { EACH } else { EACH * MORE as i32 };
            let (Some(contender), Some(handles)) = (pair.get(index), handles.get(index)) else {
                return floor::singles(&pair[OURS].store, kind, 16, each).await;
            };
            let (backend, each) = (&contender.backend, each as usize);
            Ok(match kind {
                "renew" => work::renew(backend, handles, each).await?,
                "append" => work::append(backend, handles, each).await?,
                _ => work::create(backend, 16, each).await?,
            })
        };
        table.push(match &pair[OURS].store {
            Store::Sqlite(_) => ratio_row(&name, &in_turns::<2>(options, single).await?, "ops/s", goals.single),
            Store::Postgres(_) => ratio_row(&name, &in_turns::<3>(options, single).await?, "ops/s", goals.single),
        });
    }
    let name = format!("{store}: reads, 16 workers");
    if wanted(&name) {
        let mut ids: Vec<Vec<ExecutionId>> = Vec::new();
        for contender in pair {
            let mut own = Vec::new();
            for _ in 0..16 {
                let args = work::new_execution();
                own.push(args.execution_id.clone());
                contender.backend.create_execution(args).await?;
            }
            ids.push(own);
        }
        let results: [_; 2] =
            in_turns(
                options,
                async |index| Ok(work::read(&pair[index].backend, &ids[index], 16, EACH as usize).await?),
            )
            .await?;
        table.push(ratio_row(&name, &results, "ops/s", 1.2));
    }
    let name = format!("{store}: append, 100,000th frame against the first hundred");
    if wanted(&name) {
        let handle = held(&pair[1], 1).await?;
        let first = work::append(&pair[1].backend, &handle, 100).await?;
        let decoded = ff_core::handle_codec::decode(&handle[0].opaque)?;
        let id = decoded.payload.execution_id.to_string();
        let uuid = id.rsplit_once("}:").ok_or("an execution id holds }:")?.1.parse()?;
        load::frames(&pair[1].store, decoded.payload.execution_id.partition(), uuid, 100_000)
            .await
            .map_err(|e| e.to_string())?;
        work::append(&pair[1].backend, &handle, 1).await?;
        let last = work::append(&pair[1].backend, &handle, 100).await?;
        table.push(Row {
            name,
            theirs: None,
            ours: last.percentile_ms(0.5),
            spread: None,
            floor: Some(first.percentile_ms(0.5)),
            unit: "ms",
            judged: last.percentile_ms(0.5) / first.percentile_ms(0.5),
            goal: Goal::Below(1.2),
        });
    }
    let name = format!("{store}: claim with {} waiting against 100", options.many);
    if wanted(&name) {
        load::clear(&pair[1].store).await.map_err(|e| e.to_string())?;
        let mut rates = [0.0; 2];
        for (rate, waiting) in rates.iter_mut().zip([100, options.many]) {
            let mut samples = Vec::new();
            for round in 0..options.rounds.max(5) {
                if round == 0 || waiting == 100 {
                    load::claimable(&pair[1].store, waiting, Spread::One).await.map_err(|e| e.to_string())?;
                    load::settle(&pair[1].store).await.map_err(|e| e.to_string())?;
                }
                samples.push(work::claims(&pair[1].backend, 4, 25).await?.rate());
            }
            *rate = median(samples);
        }
        table.push(against(name, rates, 0.9));
        load::clear(&pair[1].store).await.map_err(|e| e.to_string())?;
    }
    let name = format!("{store}: claim behind {} that need another capability, against none", options.many);
    if wanted(&name) {
        load::clear(&pair[1].store).await.map_err(|e| e.to_string())?;
        let mut rates = [0.0; 2];
        for (rate, blocked) in rates.iter_mut().zip([0, options.many]) {
            load::blocked(&pair[1].store, blocked).await.map_err(|e| e.to_string())?;
            load::claimable(&pair[1].store, 100 * options.rounds.max(5) as u32, Spread::One)
                .await
                .map_err(|e| e.to_string())?;
            load::settle(&pair[1].store).await.map_err(|e| e.to_string())?;
            let mut samples = Vec::new();
            for _ in 0..options.rounds.max(5) {
                samples.push(work::claims(&pair[1].backend, 4, 25).await?.rate());
            }
            *rate = median(samples);
        }
        table.push(against(name, rates, 0.5));
        load::clear(&pair[1].store).await.map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A scene runs on our backend as often as asked for, and on the existing one if it can do the work at all.
async fn scenes(options: &Options, pair: &[Contender; 2], store: &str, table: &mut Table) -> Result<(), Failure> {
    for (kind, unit) in [
        ("suspend, signal and resume", "cycles/s"),
        ("a flow of 10 steps", "flows/s"),
        ("budget reports", "reports/s"),
        ("completions to 16 subscribers", "events/s"),
    ] {
        let name = format!("{store}: {kind}, 16 workers");
        if !name.contains(&options.only) {
            continue;
        }
        let play = async |contender: &Contender| -> Result<Measured, Failure> {
            let backend = &contender.backend;
            match kind {
                "suspend, signal and resume" => scene::suspensions(backend, 16, 32).await,
                "a flow of 10 steps" => scene::flows(backend, store == "SQLite", 16, 8).await,
                "budget reports" => {
                    let handles = held(contender, 1).await?;
                    scene::budgets(backend, handles.first().ok_or("one is held")?, 16, 200).await
                }
                _ => {
                    load::clear(&contender.store).await.map_err(|e| e.to_string())?;
                    load::claimable(&contender.store, 320, Spread::One).await.map_err(|e| e.to_string())?;
                    scene::deliveries(backend, 16, 320).await
                }
            }
        };
        let (mut theirs, mut ours, mut is_able) = (Vec::new(), Vec::new(), true);
        for _ in 0..options.rounds {
            if is_able {
                match play(&pair[EXISTING]).await {
                    Ok(measured) => theirs.push(measured.rate()),
                    Err(unable) => {
                        eprintln!("{name}: the existing backend cannot: {unable}");
                        is_able = false;
                    }
                }
            }
            ours.push(play(&pair[OURS]).await?.rate());
        }
        let theirs = is_able.then(|| median(theirs));
        let ours = median(ours);
        let judged = theirs.map_or(f64::INFINITY, |theirs| ours / theirs);
        table.push(Row { name, theirs, ours, spread: None, floor: None, unit, judged, goal: Goal::AtLeast(2.0) });
    }
    Ok(())
}

struct Goals {
    pairs: &'static [(usize, f64)],
    p99_ms: f64,
    single: f64,
}

/// All SQLite rows.
pub async fn sqlite(options: &Options, table: &mut Table) -> Result<(), Failure> {
    if !"SQLite".contains(&options.only) && options.only.starts_with("Postgres") {
        return Ok(());
    }
    let pair = [contender::sqlite(Whose::Theirs).await?, contender::sqlite(Whose::Ours).await?];
    let goals = Goals { pairs: &[(1, 3.0), (4, 6.0), (16, 12.0), (64, 12.0)], p99_ms: 20.0, single: 4.0 };
    shared(options, &pair, "SQLite", table, goals).await?;
    scenes(options, &pair, "SQLite", table).await
}

/// All Postgres rows.
pub async fn postgres(options: &Options, server: &str, table: &mut Table) -> Result<(), Failure> {
    if options.only.starts_with("SQLite") {
        return Ok(());
    }
    let open = async |whose| contender::postgres(whose, server, options.partitions).await;
    let pair = [open(Whose::Theirs).await?, open(Whose::Ours).await?];
    let goals =
        Goals { pairs: &[(1, 3.5), (4, 6.0), (16, 12.0), (64, 20.0), (256, 20.0)], p99_ms: f64::INFINITY, single: 5.0 };
    shared(options, &pair, "Postgres", table, goals).await?;
    if let Some(path) = &options.plot {
        plot(options, &pair, path).await?;
    }
    let name = "Postgres: claim+complete, ids over all partitions";
    if name.contains(&options.only) {
        let results: [_; 2] =
            in_turns(options, async |index| drain_round(&pair[index], 16, pairs_for(16), Spread::All).await).await?;
        table.push(ratio_row(name, &results, "pairs/s", 15.0));
    }
    let name = "Postgres: a claim that finds nothing, p50";
    if name.contains(&options.only) {
        for contender in &pair {
            load::clear(&contender.store).await.map_err(|e| e.to_string())?;
        }
        let results: [_; 2] =
            in_turns(options, async |index| Ok(work::claims(&pair[index].backend, 1, 50).await?)).await?;
        table.push(Row {
            name: name.into(),
            theirs: Some(results[0].percentile_ms(0.5)),
            ours: results[1].percentile_ms(0.5),
            spread: None,
            floor: None,
            unit: "ms",
            judged: results[1].percentile_ms(0.5),
            goal: Goal::Below(2.0),
        });
    }
    idle(&pair[1], options, table).await?;
    scenes(options, &pair, "Postgres", table).await?;
    blockers(&pair[1], options, table).await?;
    // A contender's background tasks end with it, before the next measurement would start.
    tokio::time::sleep(Duration::from_millis(10)).await;
    Ok(())
}

/// Claims and completions of one to 256 workers, as a picture.
async fn plot(options: &Options, pair: &[Contender; 2], path: &std::path::Path) -> Result<(), Failure> {
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    for workers in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let results = pairs(options, pair, workers).await?;
        for (curve, rounds) in curves.iter_mut().zip(&results) {
            curve.push((workers, rounds.rate()));
        }
    }
    let [theirs, ours, floor] = curves;
    let curves = [("existing", theirs), ("ours", ours), ("floor", floor)];
    std::fs::write(path, plot::svg("Claims and completions on Postgres", "pairs/s", &curves))?;
    Ok(())
}

/// How long a session of the server may keep what it counted to itself when it has nothing to do.
const COUNTED_AFTER: Duration = Duration::from_secs(12);

/// What workers cost that find nothing and ask again at once: transactions of the server a second, 256 workers against one.
async fn idle(ours: &Contender, options: &Options, table: &mut Table) -> Result<(), Failure> {
    let name = "Postgres: transactions of 256 workers that find nothing, against one";
    let Store::Postgres(pool) = &ours.store else { return Ok(()) };
    if !name.contains(&options.only) {
        return Ok(());
    }
    load::clear(&ours.store).await.map_err(|e| e.to_string())?;
    let committed = || async {
        tokio::time::sleep(COUNTED_AFTER).await;
        sqlx::query_scalar::<_, i64>("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
            .fetch_one(pool)
            .await
    };
    let mut rates = [0.0, 0.0];
    for (rate, (workers, each)) in rates.iter_mut().zip([(1, 8_000), (256, 200)]) {
        let before = committed().await?;
        let asked = work::claims(&ours.backend, workers, each).await?;
        *rate = (committed().await? - before) as f64 / asked.elapsed.as_secs_f64();
    }
    table.push(Row {
        name: name.to_owned(),
        theirs: None,
        ours: rates[1],
        spread: None,
        floor: Some(rates[0]),
        unit: "commits/s",
        judged: rates[1] / rates[0],
        goal: Goal::Below(1.0),
    });
    Ok(())
}

/// Creators that block what they created beside claimers on the same lane: how much gets done, and what the server had
/// to break up. Every deadlock is one operation that was tried again or failed.
async fn blockers(ours: &Contender, options: &Options, table: &mut Table) -> Result<(), Failure> {
    let name = "Postgres: create and block against claims, 16 workers";
    let Store::Postgres(pool) = &ours.store else { return Ok(()) };
    if !name.contains(&options.only) {
        return Ok(());
    }
    let (mut rates, mut failures) = (Vec::new(), 0);
    for _ in 0..options.rounds {
        let (measured, failed) = scene::blockers(&ours.backend, 16, 25).await?;
        rates.push(measured.rate());
        failures += failed;
    }
    rates.sort_by(f64::total_cmp);
    tokio::time::sleep(COUNTED_AFTER).await;
    let deadlocks: i64 =
        sqlx::query_scalar("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            .fetch_one(pool)
            .await?;
    let row = |name: String, ours: f64, unit, goal| Row {
        name,
        theirs: None,
        ours,
        spread: None,
        floor: None,
        unit,
        judged: ours,
        goal,
    };
    table.push(row(name.to_owned(), rates[rates.len() / 2], "ops/s", Goal::AtLeast(0.0)));
    table.push(row(format!("{name}: deadlocks"), deadlocks as f64, "", Goal::Below(1.0)));
    table.push(row(format!("{name}: failed"), failures as f64, "", Goal::Below(1.0)));
    Ok(())
}
