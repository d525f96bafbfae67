//! Moves the clocks of three processes and lets a week happen to them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use ff_backend_sql::{MigrationOptions, PgPool, apply_migrations_with};
use tokio::task::JoinHandle;

use crate::audit::Audit;
use crate::bouncer::Bouncer;
use crate::harness::{Harness, LEASE_MS, PATIENCE, Place, Tables};
use crate::process::{MARK, Order, Report, SETTING, Setting, Sweeping};
use crate::proxy::{Instead, Proxy};

const HOUR_MS: i64 = 60 * 60 * 1_000;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A tick of the clocks.
const TICK_MS: i64 = LEASE_MS * 2 / 3;

const TICKS_AN_HOUR: u64 = (HOUR_MS / TICK_MS).unsigned_abs();

/// How many ticks lie between two restarts: ten minutes.
const RESTART: u64 = TICKS_AN_HOUR / 6;

/// How many lie between two looks at what has ended, so that none is forgotten before it was seen.
const LOOK: u64 = RESTART / 3;

/// How many ticks lie between two sweeps of everything, between two answers that are lost, and before a dump and a
/// migration.
const SWEEP: u64 = 3;
const LOSS: u64 = 23;
const CHANGE: u64 = RESTART * 2 + 5;

/// How many ticks all work takes to end when none is added.
const LAST_TICKS: u64 = TICKS_AN_HOUR / 4;

/// How far the clocks of the three are apart that share a host, and those of three hosts.
const ON_A_HOST_MS: [i64; 3] = [0, 1_500, -1_500];
const ON_HOSTS_MS: [i64; 3] = [0, HOUR_MS, -HOUR_MS];

/// What an older version lacks of version 1012.
const INDEXES: [&str; 6] = [
    "ff_attempt_lease_due_idx",
    "ff_exec_core_deadline_due_idx",
    "ff_exec_core_ended_idx",
    "ff_exec_core_inconsistent_idx",
    "ff_suspension_current_due_idx",
    "ff_waitpoint_pending_due_idx",
];

/// How long it takes and how much happens.
struct Plan {
    ticks: u64,
    creations_an_hour: u64,
    retention_ms: u64,
}

impl Plan {
    fn read() -> Self {
        let Ok(hours) = std::env::var("FF_TEST_WEEK") else {
            return Self { ticks: TICKS_AN_HOUR / 2, creations_an_hour: 1_080, retention_ms: DAY_MS / 24 / 12 };
        };
        let hours: u64 = hours.parse().expect("FF_TEST_WEEK is a number of hours");
        let retention_ms = DAY_MS.min(hours * DAY_MS / 24 / 5);
        Self { ticks: hours * TICKS_AN_HOUR, creations_an_hour: 10_000, retention_ms }
    }

    /// How many each of the three creates at a tick.
    fn creations(&self, tick: u64) -> u64 {
        let until = |tick: u64| self.creations_an_hour * tick / TICKS_AN_HOUR / 3;
        until(tick + 1) - until(tick)
    }

    /// Whether the tables hold as much as is kept: what ended longer ago was forgotten.
    fn is_full(&self, tick: u64) -> bool {
        tick * TICK_MS.unsigned_abs() > self.retention_ms * 2
    }
}

/// A process and the way to it.
struct Process {
    child: Child,
    input: ChildStdin,
    reports: Receiver<Report>,
}

impl Process {
    /// Starts one: this test binary, asked for the one test that is a process.
    fn start(setting: &Setting) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this test binary"))
            .args(["--ignored", "--exact", "a_process", "--nocapture"])
            .env(SETTING, serde_json::to_string(setting).expect("a setting is JSON"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (tell, reports) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // The name of the test stands before the first one.
                let Some((_, report)) = line.split_once(MARK) else { continue };
                if tell.send(serde_json::from_str(report).expect("a report is JSON")).is_err() {
                    return;
                }
            }
        });
        Self { child, input, reports }
    }

    fn order(&mut self, order: Order) {
        writeln!(self.input, "{}", serde_json::to_string(&order).expect("an order is JSON")).expect("it listens");
    }

    fn report(&self) -> Report {
        self.reports.recv_timeout(PATIENCE * 10).expect("it does what it is told")
    }

    /// Tells it to end.
    fn leave(mut self) {
        self.order(Order::Leave);
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "it ends well");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the processes stand behind on Postgres.
struct Front {
    proxy: Proxy,
    _bouncer: Option<Bouncer>,
}

struct Week<'a> {
    h: &'a Harness,
    plan: Plan,
    place: Place,
    front: Option<Front>,
    processes: Vec<Process>,
    audit: Audit,
    tick: u64,
    created: u64,
    renewed: u64,
    signalled: u64,
    started: u64,
    /// A dump and a migration that are under way.
    changes: Vec<JoinHandle<()>>,
}

/// Lets the week happen on the database of a test.
pub(crate) async fn run(h: &Harness) {
    crate::process::seed(h).await;
    let (place, front) = before(h).await;
    let mut week = Week {
        h,
        plan: Plan::read(),
        place,
        front,
        processes: Vec::new(),
        audit: Audit::default(),
        tick: 0,
        created: 0,
        renewed: 0,
        signalled: 0,
        started: 0,
        changes: Vec::new(),
    };
    for slot in 0..3 {
        let process = week.start(slot);
        week.processes.push(process);
    }
    while week.tick < week.plan.ticks + LAST_TICKS {
        week.pass(week.tick < week.plan.ticks).await;
    }
    week.end().await;
}

/// Where the processes find the rows.
async fn before(h: &Harness) -> (Place, Option<Front>) {
    let Place::Postgres { url } = h.place() else { return (h.place().clone(), None) };
    let proxy = Proxy::before(url).await;
    let bouncer = Bouncer::before(&proxy.url, "session").await;
    let url = bouncer.as_ref().map_or(&proxy.url, |bouncer| &bouncer.url).clone();
    (Place::Postgres { url }, Some(Front { proxy, _bouncer: bouncer }))
}

impl Week<'_> {
    fn start(&mut self, slot: usize) -> Process {
        self.started += 1;
        let host_is_ahead_ms = if self.front.is_some() { ON_HOSTS_MS[slot] } else { 0 };
        Process::start(&Setting {
            place: self.place.clone(),
            name: format!("process-{}", self.started),
            now_ms: self.h.clock.now_ms(),
            host_is_ahead_ms,
            retention_ms: self.plan.retention_ms,
        })
    }

    /// Lets a tick pass, and what comes every few.
    async fn pass(&mut self, is_creating: bool) {
        self.h.pass_ms(TICK_MS);
        if self.tick % LOSS == LOSS - 1
            && let Some(front) = &self.front
        {
            let instead = [Instead::Cut, Instead::Error("FATAL", "57P01"), Instead::Error("ERROR", "08006")];
            front.proxy.lose_next(instead[usize::try_from(self.tick / LOSS % 3).expect("a small number")]);
        }
        tokio::task::block_in_place(|| self.order(is_creating));
        self.tick += 1;
        if self.tick == CHANGE {
            self.change().await;
        }
        if self.tick.is_multiple_of(LOOK) {
            self.audit.ends(self.h).await;
        }
        if self.tick.is_multiple_of(RESTART) {
            self.audit.ages(self.h, self.h.clock.now_ms()).await;
            let is_full = self.plan.is_full(self.tick);
            self.audit.growth(self.h, is_full, self.plan.creations_an_hour * 25).await;
            tokio::task::block_in_place(|| self.restart());
        }
    }

    /// Everybody does what there is to do at this tick; one of them sweeps.
    fn order(&mut self, is_creating: bool) {
        let sweeper = usize::try_from(self.tick % 3).expect("a small number");
        for (slot, process) in self.processes.iter_mut().enumerate() {
            let sweeping = match slot == sweeper {
                true if (self.tick / 3).is_multiple_of(SWEEP) => Sweeping::All,
                true => Sweeping::Often,
                false => Sweeping::Not,
            };
            let now_ms = self.h.clock.now_ms() + ON_A_HOST_MS[slot];
            let creations = if is_creating { self.plan.creations(self.tick) } else { 0 };
            process.order(Order::Tick { now_ms, creations, sweeping });
        }
        for process in &self.processes {
            let report = process.report();
            self.created += report.created;
            self.renewed += report.renewed;
            self.signalled += report.signalled;
        }
    }

    /// Ends one of them, as it should be or not at all so, and starts another in its place.
    fn restart(&mut self) {
        let number = self.tick / RESTART;
        let slot = usize::try_from(number % 3).expect("a small number");
        let process = self.processes.remove(slot);
        if number.is_multiple_of(2) {
            process.leave();
        } else {
            drop(process);
        }
        let next = self.start(slot);
        self.processes.insert(slot, next);
    }

    /// Begins a dump, and a migration of what looks like an older version, beside all work.
    async fn change(&mut self) {
        for index in INDEXES {
            self.h.alter(&format!("DROP INDEX IF EXISTS {index}")).await;
        }
        self.h.alter("DELETE FROM ff_sql_migrations WHERE version = 1012").await;
        match self.h.tables() {
            Tables::Sqlite(backend, _) => {
                let pool = backend.pool_for_test().clone();
                self.changes.push(tokio::spawn(async move {
                    let folder = tempfile::tempdir().expect("a folder");
                    let copy = folder.path().join("copy.db");
                    let copying = sqlx::query("VACUUM INTO $1").bind(copy.display().to_string());
                    copying.execute(&pool).await.expect("it is copied");
                }));
            }
            Tables::Postgres(_) => {
                let Place::Postgres { url } = self.h.place().clone() else { return };
                self.h.alter("DELETE FROM _sqlx_migrations WHERE version = 16").await;
                self.changes.push(tokio::task::spawn_blocking({
                    let url = url.clone();
                    move || dump(&url)
                }));
                self.changes.push(tokio::spawn(async move {
                    let pool = PgPool::connect(&url).await.expect("the server answers");
                    let options = MigrationOptions::default().partitions(2).expect("a possible number");
                    apply_migrations_with(&pool, options).await.expect("it is migrated");
                    pool.close().await;
                }));
            }
        }
    }

    /// Ends all processes, and looks at what is left.
    async fn end(mut self) {
        for change in std::mem::take(&mut self.changes) {
            change.await.expect("no panic");
        }
        for process in std::mem::take(&mut self.processes) {
            tokio::task::block_in_place(|| process.leave());
        }
        self.audit.ends(self.h).await;
        eprintln!("{} ticks, {} renewals, {} signals", self.tick, self.renewed, self.signalled);
        let applied = self.h.number("SELECT count(*) FROM ff_sql_migrations WHERE version = 1012").await;
        assert_eq!(applied, 1, "it was migrated");
        assert!(self.renewed > 0 && self.signalled > 0, "there was work of every kind");
        self.audit.rest(self.h, self.created).await;
    }
}

/// Dumps the database, where there is a program for it.
fn dump(url: &str) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    match Command::new("pg_dump").arg("--dbname").arg(url).arg("--file").arg(file.path()).status() {
        Ok(status) => assert!(status.success(), "it is dumped"),
        Err(error) => eprintln!("SKIPPED a dump: {error}"),
    }
}
