//! Starts workers, kills them, moves their clocks, and has their work finished and checked.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::audit;
use crate::harness::{Harness, LEASE_MS, PATIENCE};
use crate::journal::Journal;
use crate::random::Random;
use crate::worker::{ORDERS, Orders, TICK, Worker};

/// How many processes work at the same time.
const WORKERS: usize = 3;

/// How many journal lines lie between two deaths at most.
const LINES: u64 = 40;

/// A process and the way to its clock.
struct Process {
    child: Child,
    input: ChildStdin,
}

impl Process {
    fn kill(&mut self) {
        self.child.kill().expect("a process can be killed");
        self.child.wait().expect("it is gone");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The processes on one database.
struct Crew<'a> {
    h: &'a Harness,
    folder: tempfile::TempDir,
    processes: Vec<Process>,
    /// One message per journal line: who wrote it.
    lines: Receiver<usize>,
    tell: Sender<usize>,
    random: Random,
    started: u64,
}

/// Kills processes, then checks.
pub(crate) async fn kill_processes(h: &Harness, kills: usize) {
    tokio::task::block_in_place(|| {
        let mut crew = Crew::start(h);
        for _ in 0..kills {
            crew.wait_for_lines();
            let slot = crew.draw(WORKERS);
            crew.processes[slot].kill();
            crew.pass_time();
            crew.processes[slot] = crew.spawn(slot);
        }
        crew.wait_for_everybody();
        crew.dismiss()
    })
    .finish(h)
    .await;
}

/// Crashes a server, which comes back, under processes that go on, then checks.
pub(crate) async fn crash_server(h: &Harness, crashes: usize, mut crash: impl FnMut(usize)) {
    tokio::task::block_in_place(|| {
        let mut crew = Crew::start(h);
        for number in 0..crashes {
            crew.wait_for_lines();
            crash(number);
            crew.pass_time();
            crew.wait_for_everybody();
        }
        crew.dismiss()
    })
    .finish(h)
    .await;
}

impl<'a> Crew<'a> {
    fn start(h: &'a Harness) -> Self {
        let seed = std::env::var("FF_TEST_SEED").map_or(1, |seed| seed.parse().expect("FF_TEST_SEED is a number"));
        let (tell, lines) = channel();
        let folder = tempfile::tempdir().expect("a folder for the journals");
        let mut crew = Self { h, folder, processes: Vec::new(), lines, tell, random: Random::new(seed), started: 0 };
        for slot in 0..WORKERS {
            let process = crew.spawn(slot);
            crew.processes.push(process);
        }
        crew
    }

    /// Starts a process: this test binary, asked for the one test that is a worker.
    fn spawn(&mut self, slot: usize) -> Process {
        self.started += 1;
        let name = format!("worker-{}", self.started);
        let orders = Orders {
            place: self.h.place().clone(),
            journal: self.folder.path().join(&name),
            name,
            now_ms: self.h.clock.now_ms(),
            seed: self.random.next(),
        };
        let mut child = Command::new(std::env::current_exe().expect("this test binary"))
            .args(["--ignored", "--exact", "a_worker_process", "--nocapture"])
            .env(ORDERS, serde_json::to_string(&orders).expect("orders are JSON"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a worker process");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let tell = self.tell.clone();
        std::thread::spawn(move || {
            let ticks = output.lines().map_while(Result::ok).filter(|line| line == TICK);
            ticks.map_while(|_| tell.send(slot).ok()).count()
        });
        Process { child, input }
    }

    fn draw(&mut self, below: usize) -> usize {
        let below = u64::try_from(below).expect("a small number");
        usize::try_from(self.random.below(below)).expect("a small number")
    }

    fn next_line(&mut self) -> usize {
        self.lines.recv_timeout(PATIENCE).expect("the workers go on")
    }

    /// Lets a drawn number of lines pass.
    fn wait_for_lines(&mut self) {
        for _ in 0..=self.random.below(LINES) {
            self.next_line();
        }
    }

    /// Waits until every process has written something from here on.
    fn wait_for_everybody(&mut self) {
        while self.lines.try_recv().is_ok() {}
        let mut silent: Vec<usize> = (0..WORKERS).collect();
        while !silent.is_empty() {
            let slot = self.next_line();
            silent.retain(|waiting| *waiting != slot);
        }
    }

    /// Moves the clocks by up to a whole lease, so that some of the leases run out, of the dead and of the living.
    fn pass_time(&mut self) {
        self.h.pass_ms(i64::try_from(self.random.below(LEASE_MS.unsigned_abs())).expect("less than a lease"));
        for process in &mut self.processes {
            // One that was just killed does not read any more.
            let _ = writeln!(process.input, "{}", self.h.clock.now_ms());
        }
    }

    /// Kills the processes that are left.
    fn dismiss(self) -> Left {
        Left { folder: self.folder, random: self.random }
    }
}

/// What the crew leaves.
struct Left {
    folder: tempfile::TempDir,
    random: Random,
}

impl Left {
    /// Takes over what the dead had in their hands, finishes all work, and checks the journals.
    async fn finish(mut self, h: &Harness) {
        audit::wait_for_the_server(h).await;
        h.pass_ms(LEASE_MS + 1);
        let journal = Arc::new(Journal::create(&self.folder.path().join("last")));
        let last = Worker {
            backend: h.another_handle().await,
            clock: h.clock.clone(),
            journal,
            name: "last".to_owned(),
            ticks: false,
        };
        while let Some(handle) = match last.claim().await.expect("the claim is answered") {
            Some(handle) => Some(handle),
            None => last.take_over(&mut self.random).await.expect("a reclaim is answered"),
        } {
            last.complete(&handle, &mut self.random).await.expect("nobody else works");
        }
        audit::check(h, self.folder.path()).await;
    }
}
