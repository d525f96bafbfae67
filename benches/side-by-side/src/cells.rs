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

/// Renewals, appends or creations of one worker in a round.
const EACH: i32 = 100;

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

/// Runs a cell on both contenders in turn and gives what their rounds measured, the existing backend first.
async fn both<F, Fut>(options: &Options, pair: &[Contender; 2], cell: F) -> Result<[Rounds; 2], Failure>
where
    F: Fn(usize) -> Fut,
    Fut: Future<Output = Result<Measured, Failure>>,
{
    let mut rounds: [Vec<Measured>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..options.rounds {
        for (index, results) in rounds.iter_mut().enumerate().take(pair.len()) {
            results.push(cell(index).await?);
        }
    }
    Ok(rounds.map(Rounds::of))
}

/// Pairs per round for that many workers: at least eight for each.
fn pairs_for(workers: usize) -> u32 {
    PAIRS.max(u32::try_from(workers * 8).unwrap_or(PAIRS))
}

async fn drain_round(contender: &Contender, workers: usize, spread: Spread) -> Result<Measured, Failure> {
    let pairs = pairs_for(workers);
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

fn ratio_row(name: impl Into<String>, results: &[Rounds; 2], floor: Option<f64>, unit: &'static str, goal: f64) -> Row {
    let (theirs, ours) = (results[0].rate(), results[1].rate());
    let (judged, goal) = (ours / theirs, Goal::AtLeast(goal));
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
            let floor = floor::pairs(&pair[1].store, workers, pairs_for(workers)).await?;
            let results = both(options, pair, |i| drain_round(&pair[i], workers, Spread::One)).await?;
            table.push(ratio_row(&name, &results, Some(floor), "pairs/s", goal));
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
        let floor = floor::singles(&pair[1].store, kind, 16, EACH).await?;
        let handles = [held(&pair[0], 16).await?, held(&pair[1], 16).await?];
        let each = EACH as usize;
        let results = both(options, pair, |i| {
            let (contender, handles) = (&pair[i], &handles[i]);
            async move {
                Ok(match kind {
                    "renew" => work::renew(&contender.backend, handles, each).await?,
                    "append" => work::append(&contender.backend, handles, each).await?,
                    _ => work::create(&contender.backend, 16, each).await?,
                })
            }
        })
        .await?;
        table.push(ratio_row(&name, &results, floor, "ops/s", goals.single));
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
        let results = both(options, pair, |i| {
            let (contender, ids) = (&pair[i], &ids[i]);
            async move { Ok(work::read(&contender.backend, ids, 16, 100).await?) }
        })
        .await?;
        table.push(ratio_row(&name, &results, None, "ops/s", 1.2));
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
                "suspend, signal and resume" => scene::suspensions(backend, 16, 8).await,
                "a flow of 10 steps" => scene::flows(backend, store == "SQLite", 16, 2).await,
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
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            match play(&pair[0]).await {
                Ok(measured) => theirs.push(measured.rate()),
                Err(unable) => eprintln!("{name}: the existing backend cannot: {unable}"),
            }
            ours.push(play(&pair[1]).await?.rate());
        }
        let theirs = (theirs.len() == ours.len()).then(|| median(theirs));
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
    let pair = [contender::postgres(Whose::Theirs, server).await?, contender::postgres(Whose::Ours, server).await?];
    let goals =
        Goals { pairs: &[(1, 3.5), (4, 6.0), (16, 12.0), (64, 20.0), (256, 20.0)], p99_ms: f64::INFINITY, single: 5.0 };
    shared(options, &pair, "Postgres", table, goals).await?;
    if let Some(path) = &options.plot {
        plot(options, &pair, path).await?;
    }
    let name = "Postgres: claim+complete, ids over all partitions";
    if name.contains(&options.only) {
        let results = both(options, &pair, |i| drain_round(&pair[i], 16, Spread::All)).await?;
        table.push(ratio_row(name, &results, None, "pairs/s", 15.0));
    }
    let name = "Postgres: a claim that finds nothing, p50";
    if name.contains(&options.only) {
        for contender in &pair {
            load::clear(&contender.store).await.map_err(|e| e.to_string())?;
        }
        let results = both(options, &pair, |i| {
            let contender = &pair[i];
            async move { Ok(work::claims(&contender.backend, 1, 50).await?) }
        })
        .await?;
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
        let results = both(options, pair, |i| drain_round(&pair[i], workers, Spread::One)).await?;
        let floor = floor::pairs(&pair[1].store, workers, pairs_for(workers)).await?;
        for (curve, rate) in curves.iter_mut().zip([results[0].rate(), results[1].rate(), floor]) {
            curve.push((workers, rate));
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
