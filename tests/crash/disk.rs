//! A model of the disk below a database: what is on it, and what it could hold if the power failed now.
//!
//! What SQLite and the backend write is with the system at once and on the disk after a sync. The backend's fault
//! hook tells before each sync of the log and before each move of its pages to the file; SQLite syncs the log before
//! such a move and the file after it. Of what was written since, a disk may hold any part: a beginning that ends
//! anywhere, or sectors from all over.
//!
//! The hook runs in the threads that write. Files are read only while neither writes: a transaction begins when the
//! one before has been looked at in its sync.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use ff_backend_sql::testing::Step;

use crate::check::{Copy, Kind, State, log_of};
use crate::random::Random;
use crate::work::Facts;

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// SQLite syncs the head of a log before it writes what follows.
const LOG_HEAD: usize = 32;

/// A page, and a frame of the log: a page behind its head.
const PAGE: usize = 4_096;
const FRAME: usize = PAGE + 24;

/// Ends a test whose threads would wait for each other for ever; nothing that passes comes near it.
const NEVER: Duration = Duration::from_secs(100);

pub(crate) struct Disk {
    path: PathBuf,
    facts: Facts,
    held: Mutex<Held>,
    /// Somebody has looked at a commit.
    looked: Condvar,
    looks: AtomicU64,
    enough: u64,
}

/// What the disk has.
struct Held {
    file: Arc<Vec<u8>>,
    log: Arc<Vec<u8>>,
    /// The tables in it.
    state: Option<Arc<State>>,
    /// The log as it was when it was last looked at, on the disk or not.
    seen: Arc<Vec<u8>>,
    /// The log that was read last, and the tables with it.
    known: Option<(Arc<Vec<u8>>, Arc<State>)>,
    /// The log's pages are being moved to the file.
    moving: bool,
    moves: u64,
    copies: Option<SyncSender<Copy>>,
    random: Random,
}

impl Disk {
    pub(crate) fn new(path: &Path, facts: Facts, copies: SyncSender<Copy>, random: Random, enough: u64) -> Self {
        let nothing = Arc::new(Vec::new());
        let held = Held {
            file: Arc::clone(&nothing),
            log: Arc::clone(&nothing),
            state: None,
            seen: nothing,
            known: None,
            moving: false,
            moves: 0,
            copies: Some(copies),
            random,
        };
        let (held, looked, looks) = (Mutex::new(held), Condvar::new(), AtomicU64::new(0));
        Self { path: path.to_owned(), facts, held, looked, looks, enough }
    }

    /// Whether as many commits were looked at as were asked for.
    pub(crate) fn has_enough(&self) -> bool {
        self.looks.load(Ordering::SeqCst) >= self.enough
    }

    /// No copies come any more; says how often the log was moved.
    pub(crate) fn finish(&self) -> u64 {
        let mut held = self.held.lock().expect("the disk");
        held.copies = None;
        held.moves
    }

    /// The backend's hook. Nothing fails.
    pub(crate) fn step(&self, step: Step, name: &'static str) -> Option<sqlx::Error> {
        match (step, name) {
            (Step::Sync, "open") => self.opened(),
            (Step::Sync, _) => self.committed(false),
            (Step::Checkpoint, _) => self.committed(true),
            (Step::Begin, _) => self.wait(),
            _ => {}
        }
        None
    }

    /// The file as it is opened.
    fn opened(&self) {
        let (file, log) = self.read();
        let mut held = self.held.lock().expect("the disk");
        held.state = Some(Arc::new(State::of(&file, &log)));
        (held.file, held.log, held.seen) = (file, Arc::clone(&log), log);
    }

    fn read(&self) -> (Arc<Vec<u8>>, Arc<Vec<u8>>) {
        let file = fs::read(&self.path).expect("the file");
        let log = fs::read(log_of(&self.path)).expect("the log");
        (Arc::new(file), Arc::new(log))
    }

    /// A transaction begins: waits until the commit before was looked at, on its way to the disk. One that changed no
    /// row does not get there; SQLite writes a page for it now and then.
    fn wait(&self) {
        let (_, log) = self.read();
        let mut held = self.held.lock().expect("the disk");
        if held.seen != log && !held.moving && held.state_of(&log) == held.state {
            held.seen = Arc::clone(&log);
        }
        let waits = |held: &mut Held| held.seen != log || held.moving;
        let (held, ended) = self.looked.wait_timeout_while(held, NEVER, waits).expect("the disk");
        drop(held);
        assert!(!ended.timed_out(), "nobody syncs a commit");
    }

    /// A commit is with the system and on its way to the disk, whose earlier ones are there.
    fn committed(&self, is_moving: bool) {
        let (file, log) = self.read();
        let mut held = self.held.lock().expect("the disk");
        held.settle_move(&file, self.facts.len());
        if held.seen != log {
            let answered = self.facts.len();
            let before = held.state.clone().expect("it was opened");
            let after = held.state_of(&log).expect("it was read");
            held.lose_tail(&log, &before, &after, answered);
            held.state = Some(after);
            self.looks.fetch_add(1, Ordering::SeqCst);
        }
        // It is on the disk when this is called again, or when the file has its pages.
        (held.log, held.seen, held.moving) = (Arc::clone(&log), log, is_moving);
        held.moves += u64::from(is_moving);
        self.looked.notify_all();
    }
}

impl Held {
    fn send(&self, kind: Kind, file: Arc<Vec<u8>>, log: Vec<u8>, expected: Vec<Arc<State>>, answered: usize) {
        if let Some(copies) = &self.copies {
            // A judge that has failed says so itself.
            let _ = copies.send(Copy { kind, file, log, expected, answered });
        }
    }

    /// The tables with a log.
    fn state_of(&mut self, log: &Arc<Vec<u8>>) -> Option<Arc<State>> {
        if self.known.as_ref().is_none_or(|(known, _)| known != log) {
            self.known = Some((Arc::clone(log), Arc::new(State::of(&self.file, log))));
        }
        self.known.as_ref().map(|(_, state)| Arc::clone(state))
    }

    /// The log has more than the disk: copies with any part of it.
    fn lose_tail(&mut self, log: &Arc<Vec<u8>>, before: &Arc<State>, after: &Arc<State>, answered: usize) {
        let either = vec![Arc::clone(before), Arc::clone(after)];
        let old = Arc::clone(&self.log);
        let first = (0..log.len()).find(|at| old.get(*at) != log.get(*at)).unwrap_or(log.len());
        self.send(Kind::Whole, Arc::clone(&self.file), old.to_vec(), vec![Arc::clone(before)], answered);
        self.send(Kind::Whole, Arc::clone(&self.file), log.to_vec(), vec![Arc::clone(after)], answered);
        let last = (first..log.len()).rev().find(|at| old.get(*at) != log.get(*at)).unwrap_or(first);
        let frames = (LOG_HEAD..=last).step_by(FRAME).filter(|end| *end > first).collect::<Vec<_>>();
        let mut ends: Vec<usize> = (0..2).map(|_| first + self.below(last - first + 1)).collect();
        if !frames.is_empty() {
            ends.push(frames[self.below(frames.len())]);
        }
        for end in ends {
            // The rest as it was, or nothing where nothing was.
            let mut torn = old.to_vec();
            torn.resize(torn.len().max(end), 0);
            torn[..end].copy_from_slice(&log[..end]);
            if self.below(2) == 0 {
                torn.resize(torn.len().max(log.len()), 0);
            }
            self.send(Kind::Torn, Arc::clone(&self.file), torn, either.clone(), answered);
        }
        if first >= LOG_HEAD {
            let mut mixed = old.to_vec();
            mixed.resize(mixed.len().max(log.len()), 0);
            self.mix(&mut mixed, log);
            self.send(Kind::Torn, Arc::clone(&self.file), mixed, either, answered);
        }
    }

    /// The log's pages were moved: copies of the file with some of them, and what SQLite synced before and after.
    fn settle_move(&mut self, file: &Arc<Vec<u8>>, answered: usize) {
        if !std::mem::take(&mut self.moving) {
            return;
        }
        let state = self.state.clone().expect("it was opened");
        for _ in 0..3 {
            let mut mixed = self.file.to_vec();
            mixed.resize(mixed.len().max(file.len()), 0);
            self.mix(&mut mixed, file);
            let mixed = Arc::new(mixed);
            self.send(Kind::HalfMoved, mixed, self.log.to_vec(), vec![Arc::clone(&state)], answered);
        }
        self.file = Arc::clone(file);
    }

    /// Takes over some sectors.
    fn mix(&mut self, mixed: &mut [u8], new: &[u8]) {
        let of_eight = 1 + self.below(7);
        for (old, new) in mixed.chunks_mut(SECTOR).zip(new.chunks(SECTOR)) {
            if self.below(8) < of_eight {
                old[..new.len()].copy_from_slice(new);
            }
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        let drawn = self.random.below(u64::try_from(limit).expect("a number"));
        usize::try_from(drawn).expect("an index")
    }
}
