//! One database, on which two operations are played again and again from the same state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_backend_sql::FullScannerConfig;
use ff_core::backend::{CapabilitySet, ClaimPolicy};
use ff_core::contracts::ClaimForWorkerArgs;
use ff_core::types::{LaneId, WorkerId, WorkerInstanceId};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{Postgres, Transaction};
use tokio::task::JoinHandle;

use crate::gate::{Background, Gate};
use crate::harness::{Harness, Tables};
use crate::numbers::Numbers;
use crate::operations;
use crate::scenes::{Scene, Step};
use crate::side::{LANES, Side};
use crate::tables::Reading;

/// The time between two scenes; nothing is remembered for that long.
const BETWEEN_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// How long whoever makes no step may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a circle of waiting sessions is looked at again.
const LOOKS_AT_A_CIRCLE: u32 = 10;

/// How often a standstill is looked at: a lock that a working session has, such as the one by which a table grows, is gone soon.
const LOOKS_AT_A_STANDSTILL: u32 = 5;

/// After how many restored states the dead rows are cleared away.
const VACUUM_EVERY: u32 = 400;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    Second,
}

/// How two operations are played.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan<'a> {
    /// One after the other.
    Serial(Which),
    /// The first stands at a place until the second has ended or waits.
    Halted(usize),
    /// A third transaction holds rows until both have ended or wait. The first comes first.
    Behind(&'a Held),
    /// One after the other while a third holds rows.
    SerialBehind(&'a Held, Which, While),
}

/// What a third transaction holds: rows of a table, numbered in the order of their text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    pub(crate) table: String,
    pub(crate) rows: Vec<usize>,
}

/// During which of two operations, one after the other, a third holds rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum While {
    TheFirst,
    TheSecond,
    Both,
}

impl While {
    pub(crate) const EVER: [Self; 3] = [Self::TheFirst, Self::TheSecond, Self::Both];

    /// Whether the third is there while the operation of that number runs.
    fn is_there(self, number: usize) -> bool {
        match self {
            Self::TheFirst => number == 0,
            Self::TheSecond => number == 1,
            Self::Both => true,
        }
    }
}

/// What two operations answered, and what is in the tables afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) answers: Vec<String>,
    pub(crate) rows: Vec<String>,
}

/// How answers begin that refuse by what is in the tables, beside what a caller asked for.
const REFUSALS: [&str; 3] = ["refused: contention: ", "refused: state: ", "refused: not found: "];

impl Outcome {
    /// Whether another is the same, or differs in the reason of a refusal alone: that is read after the statement
    /// that refused, when others may have gone on.
    pub(crate) fn allows(&self, other: &Self) -> bool {
        let is_refusal = |answer: &str| REFUSALS.iter().any(|start| answer.starts_with(start));
        let is_same = |(here, there): (&String, &String)| here == there || (is_refusal(here) && is_refusal(there));
        self.rows == other.rows && self.answers.iter().zip(&other.answers).all(is_same)
    }
}

/// How a plan ended.
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    /// Whether the second waited for the first, or anybody for the third.
    pub(crate) waited: bool,
    /// How often the two waited for each other.
    pub(crate) deadlocks: u32,
}

/// A state that two operations begin in, and their callers.
pub(crate) struct Prepared {
    now_ms: i64,
    /// The tables that have rows, and how many.
    pub(crate) tables: Vec<(String, usize)>,
    callers: [Side; 2],
}

pub(crate) struct Stage {
    h: Arc<Harness>,
    side: Side,
    background: Background,
    /// Changes tables and looks at locks.
    beside: PgPool,
    /// The tables of the engine.
    tables: Vec<String>,
    restored: u32,
    now_ms: i64,
}

impl Prepared {
    /// Whether something waits for its time.
    pub(crate) fn has_delayed(&self) -> bool {
        self.tables.iter().any(|(table, _)| table == "ff_delayed")
    }
}

impl Stage {
    pub(crate) async fn new(h: Arc<Harness>, reading: Reading) -> Self {
        let Tables::Postgres(backend) = h.tables() else { panic!("Postgres was asked for") };
        let background = Background::new();
        let asked = background.clone();
        backend.hold_for_test(Box::new(move |step, name| asked.at(step, name)));
        let options = backend.pool().connect_options().as_ref().clone();
        let beside = PgPoolOptions::new().max_connections(2).connect_with(options).await.expect("the server answers");
        let tables = "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                      AND relkind IN ('r', 'p') AND NOT relispartition AND relname LIKE 'ff!_%' ESCAPE '!' \
                      AND relname NOT IN ('ff_migration_annotation', 'ff_partition_config', 'ff_sql_migrations') \
                      ORDER BY 1";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&beside).await.expect("the tables' names");
        let stage =
            Self { side: Side::new(Arc::clone(&h), reading), h, background, beside, tables, restored: 0, now_ms: 0 };
        stage.make_store().await;
        stage
    }

    async fn execute(&self, sql: String) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&self.beside).await.expect("the tables take it");
    }

    /// A second set of tables that keeps a state, and functions that store and restore it.
    async fn make_store(&self) {
        let mut made = vec!["CREATE SCHEMA kept".to_owned()];
        let (mut keep, mut restore) = (String::new(), String::new());
        for table in &self.tables {
            made.push(format!("CREATE TABLE kept.{table} (LIKE public.{table})"));
            keep.push_str(&format!(
                "DELETE FROM kept.{table}; INSERT INTO kept.{table} SELECT * FROM public.{table};\n"
            ));
            restore.push_str(&format!(
                "DELETE FROM public.{table}; INSERT INTO public.{table} OVERRIDING SYSTEM VALUE SELECT * FROM kept.{table};\n"
            ));
        }
        // Without triggers: what they keep is restored as well.
        for (name, body) in [("keep", keep), ("restore", restore)] {
            made.push(format!(
                "CREATE FUNCTION kept.{name}() RETURNS void LANGUAGE plpgsql \
                 SET session_replication_role = replica AS $$ BEGIN\n{body}END $$"
            ));
        }
        self.execute(made.join(";\n")).await;
    }

    /// Makes a scene's state, and keeps it.
    pub(crate) async fn prepare(&mut self, scene: &Scene) -> Prepared {
        self.now_ms = self.now_ms.max(crate::harness::T0) + BETWEEN_MS;
        self.side.begin(self.now_ms).await;
        self.promise_nothing_is_due().await;
        for &(name, numbers) in scene.before {
            let answer = (operations::named(name).act)(&mut self.side, Numbers::new(numbers)).await;
            assert!(
                self.side.failed().is_none() && !answer.starts_with("nothing"),
                "{}: {name} {numbers:?} answers: {answer}",
                scene.name
            );
        }
        self.settle().await;
        // A claim by a scheduler now and then looks for grants that are over, and none does within the same moment.
        let (nobody, instance) = (WorkerId::new("nobody"), WorkerInstanceId::new("nobody-1"));
        let args = ClaimForWorkerArgs::new(LaneId::new("of nobody"), nobody, instance, Default::default(), 1);
        self.side.backend.claim_for_worker(args).await.expect("there is nothing to claim");
        self.execute("SELECT kept.keep()".to_owned()).await;
        let callers = self.side.callers().await;
        let mut tables = Vec::new();
        for table in &self.tables {
            let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            let rows: i64 = sqlx::query_scalar(sql).fetch_one(&self.beside).await.expect("the rows are counted");
            if rows > 0 {
                tables.push((table.clone(), usize::try_from(rows).expect("a few rows")));
            }
        }
        Prepared { now_ms: self.h.clock.now_ms(), tables, callers }
    }

    /// A claim now and then looks for what is due on its lane. After those that find the tables empty at a later time none
    /// does until then.
    async fn promise_nothing_is_due(&self) {
        self.h.clock.set(self.now_ms + BETWEEN_MS / 2);
        let policy = || ClaimPolicy::new(WorkerId::new("nobody"), WorkerInstanceId::new("nobody-1"), 1, None);
        for lane in LANES {
            let claimed =
                self.side.backend.claim(&LaneId::new(lane), &CapabilitySet::new(["of nobody"]), policy()).await;
            assert!(matches!(claimed, Ok(None)), "there is nothing to claim: {claimed:?}");
        }
        self.h.clock.set(self.now_ms);
    }

    async fn restore(&mut self, prepared: &Prepared) {
        self.h.clock.set(prepared.now_ms);
        self.restored += 1;
        if self.restored.is_multiple_of(VACUUM_EVERY) {
            self.execute(format!("VACUUM {}", self.tables.join(", "))).await;
        }
        self.execute("SELECT kept.restore()".to_owned()).await;
    }

    /// Waits until the ends of a flow's members are followed.
    async fn settle(&mut self) {
        let began = Instant::now();
        while self.side.rows().await.are_unsettled {
            assert!(began.elapsed() < PATIENCE, "the end of a flow's member is not followed");
        }
    }

    /// Who waits for a lock, and for whom: those that have it. Whoever only comes first in a queue is none of them, since
    /// the server puts queues in another order where that lets everybody go on.
    async fn waits(&self) -> BTreeMap<i32, Vec<i32>> {
        let sql = "SELECT waiting.pid, waiting.blockers, \
                          ARRAY (SELECT DISTINCT has.pid FROM pg_locks AS wants JOIN pg_locks AS has \
                                    ON has.granted AND has.pid = ANY (waiting.blockers) \
                                   AND (has.locktype, has.database, has.relation, has.page, has.tuple, has.virtualxid, \
                                        has.transactionid, has.classid, has.objid, has.objsubid) \
                                       IS NOT DISTINCT FROM \
                                       (wants.locktype, wants.database, wants.relation, wants.page, wants.tuple, \
                                        wants.virtualxid, wants.transactionid, wants.classid, wants.objid, wants.objsubid) \
                                  WHERE wants.pid = waiting.pid AND NOT wants.granted) \
                     FROM (SELECT pid, pg_blocking_pids(pid) AS blockers FROM pg_stat_activity \
                            WHERE datname = current_database() AND wait_event_type = 'Lock') AS waiting";
        let found: Vec<(i32, Vec<i32>, Vec<i32>)> =
            sqlx::query_as(sql).fetch_all(&self.beside).await.expect("the locks");
        found.into_iter().filter(|(_, all, _)| !all.is_empty()).map(|(pid, _, holders)| (pid, holders)).collect()
    }

    /// How many sessions wait for a lock, and whether some wait for each other in a circle: then one of those is
    /// told to give up.
    async fn waiting(&self) -> (usize, bool) {
        let waits = self.waits().await;
        let Some(victim) = waits.keys().copied().find(|pid| is_in_circle(*pid, &waits)) else {
            return (waits.len(), false);
        };
        // The server looks at one session after the other, and what it saw first may be over. A circle stays.
        for _ in 0..LOOKS_AT_A_CIRCLE {
            if !is_in_circle(victim, &self.waits().await) {
                return (0, false);
            }
        }
        self.execute(format!("SELECT pg_cancel_backend({victim})")).await;
        (waits.len(), true)
    }

    fn start(&self, prepared: &Prepared, which: Which, step: Step, gate: &Arc<Gate>) -> JoinHandle<String> {
        let mut caller = prepared.callers[which as usize].again();
        let (name, numbers) = step;
        let act = operations::named(name).act;
        tokio::spawn(Arc::clone(gate).play(async move {
            let answer = act(&mut caller, Numbers::new(numbers)).await;
            match caller.failed() {
                Some(failed) => format!("{answer} ({failed})"),
                None => answer,
            }
        }))
    }

    /// Waits until all have ended, or those that have not wait for a lock. Says whether some wait.
    async fn until_ended_or_waiting(&self, steps: [Step; 2], running: &[&JoinHandle<String>]) -> bool {
        let (began, mut looks) = (Instant::now(), 0);
        loop {
            let (waiting, _) = self.waiting().await;
            let left = running.iter().filter(|running| !running.is_finished()).count();
            looks = if waiting >= left { looks + 1 } else { 0 };
            if left == 0 || looks == LOOKS_AT_A_STANDSTILL {
                return left > 0;
            }
            if began.elapsed() >= PATIENCE {
                panic!("{steps:?} neither end nor wait for a lock:\n{}", self.sessions().await);
            }
        }
    }

    /// What the database's sessions do.
    async fn sessions(&self) -> String {
        let sql = "SELECT concat_ws(' ', pid, state, wait_event_type, wait_event, left(query, 300)) \
                     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        let sessions: Vec<String> = sqlx::query_scalar(sql).fetch_all(&self.beside).await.expect("the sessions");
        sessions.join("\n")
    }

    /// Waits until all have ended; answers how many circles had to be broken.
    async fn until_ended(&self, running: &[JoinHandle<String>]) -> u32 {
        let (began, mut circles) = (Instant::now(), 0);
        while running.iter().any(|running| !running.is_finished()) {
            circles += u32::from(self.waiting().await.1);
            assert!(began.elapsed() < PATIENCE, "an operation does not end");
        }
        circles
    }

    /// Plays two operations; none when the first ended before it came to its place.
    pub(crate) async fn play(&mut self, prepared: &Prepared, steps: [Step; 2], plan: Plan<'_>) -> Option<Played> {
        self.restore(prepared).await;
        self.go(prepared, steps, plan).await
    }

    /// The same after what is due was promoted.
    pub(crate) async fn play_promoted(
        &mut self,
        prepared: &Prepared,
        steps: [Step; 2],
        plan: Plan<'_>,
    ) -> Option<Played> {
        self.restore(prepared).await;
        self.side.sweep("delayed_promoter", &FullScannerConfig::default()).await.expect("what is due is promoted");
        self.go(prepared, steps, plan).await
    }

    async fn go(&mut self, prepared: &Prepared, steps: [Step; 2], plan: Plan<'_>) -> Option<Played> {
        self.background.hold();
        let played = self.act(prepared, steps, plan).await;
        self.background.release();
        self.settle().await;
        let (answers, waited, deadlocks) = played?;
        let (answers, rows) = self.side.outcome(&answers).await;
        Some(Played { outcome: Outcome { answers, rows: rows.texts }, waited, deadlocks })
    }

    async fn act(&self, prepared: &Prepared, steps: [Step; 2], plan: Plan<'_>) -> Option<(Vec<String>, bool, u32)> {
        let stop_at = if let Plan::Halted(place) = plan { Some(place) } else { None };
        let gates = [Gate::new(stop_at), Gate::new(None)];
        let start = |which: Which| self.start(prepared, which, steps[which as usize], &gates[which as usize]);
        let mut third = None;
        if let Plan::Behind(held) = plan {
            third = Some(self.hold(held).await);
        }
        let mut waited = false;
        let running = match plan {
            Plan::Serial(first) | Plan::SerialBehind(_, first, _) => {
                let order = if first == Which::First { [first, Which::Second] } else { [first, Which::First] };
                let mut running = Vec::new();
                for (number, which) in order.into_iter().enumerate() {
                    if let Plan::SerialBehind(held, _, during) = plan
                        && !waited
                    {
                        match (during.is_there(number), third.is_some()) {
                            (true, false) => third = Some(self.hold(held).await),
                            (false, true) => end(&mut third).await,
                            _ => {}
                        }
                    } else {
                        end(&mut third).await;
                    }
                    running.push(start(which));
                    waited |= self.until_ended_or_waiting(steps, &running.iter().collect::<Vec<_>>()).await;
                }
                end(&mut third).await;
                if first == Which::Second {
                    running.swap(0, 1);
                }
                running
            }
            Plan::Halted(_) => {
                let mut first = start(Which::First);
                tokio::select! {
                    biased;
                    () = gates[0].halted() => {}
                    ended = &mut first => {
                        ended.expect("an operation does not panic");
                        return None;
                    }
                }
                let second = start(Which::Second);
                waited = self.until_ended_or_waiting(steps, &[&second]).await;
                gates[0].release();
                vec![first, second]
            }
            Plan::Behind(_) => {
                let first = start(Which::First);
                waited = self.until_ended_or_waiting(steps, &[&first]).await;
                let second = start(Which::Second);
                waited |= self.until_ended_or_waiting(steps, &[&first, &second]).await;
                end(&mut third).await;
                vec![first, second]
            }
        };
        let deadlocks = self.until_ended(&running).await;
        let mut answers = Vec::new();
        for ended in running {
            answers.push(ended.await.expect("an operation does not panic"));
        }
        Some((answers, waited, deadlocks))
    }

    /// Holds rows in a transaction.
    async fn hold(&self, held: &Held) -> Transaction<'static, Postgres> {
        let mut transaction = self.beside.begin().await.expect("a transaction begins");
        let table = &held.table;
        let rows = held.rows.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT FROM {table} WHERE (tableoid, ctid) IN (SELECT one.tableoid, one.ctid FROM \
             (SELECT t.tableoid, t.ctid, row_number() OVER (ORDER BY t::text) - 1 AS number FROM {table} AS t) AS one \
             WHERE one.number IN ({rows})) FOR UPDATE"
        );
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *transaction).await.expect("the rows are locked");
        transaction
    }

    pub(crate) async fn close(&self) {
        self.side.close().await;
        self.beside.close().await;
    }
}

/// Ends the transaction of a third, if there is one.
async fn end(third: &mut Option<Transaction<'static, Postgres>>) {
    if let Some(transaction) = third.take() {
        transaction.rollback().await.expect("a transaction ends");
    }
}

/// Whether a session waits for one that waits for it.
fn is_in_circle(pid: i32, waits: &BTreeMap<i32, Vec<i32>>) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), waits.get(&pid).cloned().unwrap_or_default());
    while let Some(blocker) = next.pop() {
        if blocker == pid {
            return true;
        }
        if seen.insert(blocker) {
            next.extend(waits.get(&blocker).into_iter().flatten());
        }
    }
    false
}
