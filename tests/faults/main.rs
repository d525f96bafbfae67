//! What a failing database leaves behind: nothing, or everything.
//!
//! Each operation of [`mod@table`] is made to fail at every place in turn: at the begin, at the start and at
//! the commit of its transaction, at every await inside it, and at every statement that writes (a trigger
//! refuses the row); its caller's future is dropped at every await as well. Afterwards the rows are those from
//! before, or, where nobody can know (a dropped future, an answer that got lost), those from after; a claim that was
//! dropped is given back; the
//! connections work; and repeating the operation brings it to its end.
//!
//! Rows are compared with ids masked, since those differ between runs. Every operation has a database of its
//! own, on a SQLite file, on SQLite in memory, and on Postgres (see the conformance suite for how to run that).

#![cfg(all(feature = "sqlite", feature = "postgres"))]

mod breakage;
#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
mod limits;
mod rows;
mod table;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use ff_backend_sql::testing::Step;
use ff_core::engine_error::EngineError;

use harness::Harness;
use rows::{Change, Rows};
use table::{Operation, Scene};

/// Where an operation fails next.
#[derive(Clone, Default)]
struct Plan {
    step: Arc<Mutex<Option<Step>>>,
    /// How many times the step is passed before it fails.
    passes: Arc<AtomicI64>,
    fired: Arc<AtomicI64>,
}

impl Plan {
    /// Lets the backend ask this plan.
    fn install(h: &Harness) -> Self {
        let plan = Self::default();
        let asked = plan.clone();
        h.fail(Box::new(move |step, name| if name == BESIDE { None } else { asked.answer(step) }));
        plan
    }

    fn answer(&self, step: Step) -> Option<sqlx::Error> {
        if *self.step.lock().expect("a plan") != Some(step) || self.passes.fetch_sub(1, Ordering::SeqCst) > 0 {
            return None;
        }
        self.fired.fetch_add(1, Ordering::SeqCst);
        Some(sqlx::Error::Protocol("a fault on demand".to_owned()))
    }

    /// From here on the step fails, after that many passes.
    fn arm(&self, step: Step, passes: i64) {
        self.fired.store(0, Ordering::SeqCst);
        self.passes.store(passes, Ordering::SeqCst);
        *self.step.lock().expect("a plan") = Some(step);
    }

    /// Nothing fails any more. Says whether something did.
    fn disarm(&self) -> bool {
        *self.step.lock().expect("a plan") = None;
        self.fired.load(Ordering::SeqCst) > 0
    }
}

/// What runs beside every operation: a completion that was written is read by whoever follows it.
const BESIDE: &str = "dependency_completion_read";

/// The most awaits that an operation is cut at.
const MOST_AWAITS: i64 = 60;

/// The operations that are undone when their caller goes away.
const GIVES_BACK: [&str; 1] = ["claim"];

/// How many leases ended so far.
const ENDED: &str = "SELECT count(*) FROM ff_lease_event WHERE event_type = 'revoked'";

/// One operation on one database.
struct Run<'a> {
    h: &'a Harness,
    operation: &'a Operation,
    plan: Plan,
    /// What the operation changes when nothing fails.
    full: Change,
}

/// Polls a future so many times at most and drops it then; its answer, when it came to one.
pub(crate) async fn polled<F: Future>(polls: i64, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Fails an operation everywhere.
async fn fail_everywhere(h: &Harness, operation: &Operation) {
    let plan = Plan::install(h);
    let mut run = Run { h, operation, plan, full: Change::default() };
    let (scene, before) = run.begin().await;
    run.act(&scene).await.unwrap_or_else(|error| panic!("{} works when nothing fails: {error}", operation.name));
    run.full = Rows::read(h).await.since(&before);
    assert!(!run.full.is_empty(), "{} writes nothing", operation.name);
    for step in [Step::Begin, Step::Run, Step::Commit] {
        run.at_step(step).await;
    }
    run.at_awaits().await;
    run.at_statements().await;
    run.dropped().await;
}

impl Run<'_> {
    /// Sets the scene.
    async fn begin(&self) -> (Scene, Rows) {
        let scene = (self.operation.scene)(self.h).await;
        (scene, Rows::read(self.h).await)
    }

    async fn act(&self, scene: &Scene) -> Result<(), EngineError> {
        (self.operation.act)(self.h, scene).await
    }

    /// Checks what is left and brings the operation to its end.
    async fn settle(&self, place: &str, scene: &Scene, before: &Rows, ended: Option<bool>) {
        let name = self.operation.name;
        self.h.canary().await;
        self.h.quiet().await;
        let left = Rows::read(self.h).await.since(before);
        let is_full = left == self.full;
        match ended {
            Some(true) => assert!(is_full, "{name} answered Ok at {place}, but: {}", left.against(&self.full)),
            Some(false) => assert!(left.is_empty(), "{name} failed at {place} and left: {}", left.against(&self.full)),
            None => {
                assert!(is_full || left.is_empty(), "{name} stopped half way at {place}: {}", left.against(&self.full))
            }
        }
        let repeated = self.act(scene).await;
        if !is_full {
            repeated.unwrap_or_else(|error| panic!("{name} cannot be repeated after {place}: {error}"));
            let left = Rows::read(self.h).await.since(before);
            assert!(left == self.full, "{name} repeated after {place}: {}", left.against(&self.full));
        } else if let Err(EngineError::Transport { source, .. }) = repeated {
            panic!("{name} breaks when it is repeated after {place}: {source}");
        }
    }

    /// At the begin, the start or the commit; nothing may stay.
    async fn at_step(&self, step: Step) {
        let (scene, before) = self.begin().await;
        self.plan.arm(step, 0);
        let ended = self.act(&scene).await;
        let fired = self.plan.disarm();
        assert_eq!(ended.is_err(), fired, "{} at {step:?}", self.operation.name);
        self.settle(&format!("{step:?}"), &scene, &before, Some(!fired)).await;
    }

    /// At every await inside the operation. An answer may get lost after its statement took effect.
    async fn at_awaits(&self) {
        for passes in 0..MOST_AWAITS {
            let (scene, before) = self.begin().await;
            self.plan.arm(Step::Await, passes);
            let ended = self.act(&scene).await;
            let fired = self.plan.disarm();
            assert_eq!(ended.is_err(), fired, "{} at await {passes}", self.operation.name);
            self.settle(&format!("await {passes}"), &scene, &before, if fired { None } else { Some(true) }).await;
            if !fired {
                return;
            }
        }
    }

    /// At every statement that writes: its table refuses rows.
    async fn at_statements(&self) {
        let mut hit = 0;
        for table in self.full.tables() {
            for verb in ["INSERT", "UPDATE", "DELETE"] {
                let (scene, before) = self.begin().await;
                self.h.refuse(verb, &table).await;
                let ended = self.act(&scene).await;
                self.h.accept(&table).await;
                hit += u32::from(ended.is_err());
                self.settle(&format!("{verb} {table}"), &scene, &before, Some(ended.is_ok())).await;
            }
        }
        assert!(hit > 0, "{} meets no refusal", self.operation.name);
    }

    /// What a claim took for nobody is there again; its lease begins and ends.
    async fn given_back(&self, polls: i64, ended_before: i64) {
        let (name, begin) = (self.operation.name, std::time::Instant::now());
        while self.h.number(ENDED).await == ended_before {
            assert!(begin.elapsed() < harness::PATIENCE, "{name} keeps its lease after poll {polls}");
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        self.h.canary().await;
        self.h.quiet().await;
    }

    /// The caller's future is dropped at every await.
    async fn dropped(&self) {
        for polls in 1..MOST_AWAITS {
            let (scene, before) = self.begin().await;
            let ended_before = self.h.number(ENDED).await;
            let finished = polled(polls, self.act(&scene)).await;
            let ended = finished.as_ref().map(Result::is_ok);
            if finished.is_none() && GIVES_BACK.contains(&self.operation.name) {
                self.given_back(polls, ended_before).await;
                continue;
            }
            self.settle(&format!("poll {polls}"), &scene, &before, ended).await;
            if finished.is_some() {
                return;
            }
        }
    }
}
