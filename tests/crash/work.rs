//! What the clients do, and what was answered to them.

use std::sync::{Arc, Mutex};

use ff_backend_sql::SqliteBackend;
use ff_backend_sql::testing::Clock;
use ff_core::backend::{CapabilitySet, FailureClass, FailureReason, Frame, FrameKind, Handle};
use ff_core::contracts::StreamCursor;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::policy::{BackoffStrategy, ExecutionPolicy, RetryPolicy};
use ff_core::types::{AttemptIndex, ExecutionId, LaneId};

use crate::disk::Disk;
use crate::harness::{creation, id_in, payload, policy};
use crate::random::Random;

/// The longest frame: several pages.
const LONGEST_FRAME: u64 = 10_000;

/// Something that was answered, and stays true whatever comes after.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    Created(ExecutionId),
    Framed(ExecutionId, AttemptIndex, String),
    Tagged(ExecutionId, String),
    Completed(ExecutionId, Vec<u8>),
}

/// All answers, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts(Arc<Mutex<Vec<Fact>>>);

impl Facts {
    fn add(&self, fact: Fact) {
        self.0.lock().expect("facts").push(fact);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().expect("facts").len()
    }

    /// Some of the first so many: the last ones, and others from all over.
    pub(crate) fn some(&self, first: usize, random: &mut Random) -> Vec<Fact> {
        let facts = self.0.lock().expect("facts");
        let known = &facts[..first];
        let mut some: Vec<Fact> = known.iter().rev().take(6).cloned().collect();
        for _ in 0..6.min(first) {
            let at = random.below(u64::try_from(first).expect("a number"));
            some.push(known[usize::try_from(at).expect("an index")].clone());
        }
        some
    }
}

impl Fact {
    /// Holds it against what a backend answers now.
    pub(crate) async fn check(&self, backend: &SqliteBackend) {
        let holds = match self {
            Self::Created(id) => backend.read_execution_state(id).await.expect("an answer").is_some(),
            Self::Tagged(id, value) => {
                backend.get_execution_tag(id, "crash.tag").await.expect("an answer").as_ref() == Some(value)
            }
            Self::Completed(id, result) => {
                backend.get_execution_result(id).await.expect("an answer").as_ref() == Some(result)
            }
            Self::Framed(id, attempt, frame) => {
                let all = (StreamCursor::Start, StreamCursor::End);
                let frames = backend.read_stream(id, *attempt, all.0, all.1, 100).await.expect("an answer").frames;
                frames.iter().any(|found| &found.id == frame)
            }
        };
        assert!(holds, "{self:?} was answered");
    }
}

/// Works until enough commits were looked at.
pub(crate) async fn work(
    backend: Arc<SqliteBackend>,
    clock: Clock,
    facts: Facts,
    disk: Arc<Disk>,
    mut random: Random,
    client: u64,
) {
    let client = Client { backend, clock, facts, name: format!("client-{client}") };
    while !disk.has_enough() {
        client.turn(&mut random).await.expect("nothing fails");
    }
}

struct Client {
    backend: Arc<SqliteBackend>,
    clock: Clock,
    facts: Facts,
    name: String,
}

impl Client {
    /// One thing of many, a moment after the last, so that whatever is stored is new.
    async fn turn(&self, random: &mut Random) -> Result<(), EngineError> {
        self.clock.set(self.clock.now_ms() + 1);
        if random.below(3) == 0 {
            return self.create(random).await;
        }
        let none = CapabilitySet::new(std::iter::empty::<&str>());
        match self.backend.claim(&LaneId::new("lane"), &none, policy(&self.name)).await? {
            Some(handle) => self.run(&handle, random).await,
            None => self.create(random).await,
        }
    }

    async fn create(&self, random: &mut Random) -> Result<(), EngineError> {
        let id = id_in(u16::try_from(random.below(4)).expect("a small number"));
        let mut args = creation(id.clone(), self.clock.now_ms());
        let backoff = BackoffStrategy::Fixed { delay_ms: 0 };
        let retry_policy = Some(RetryPolicy { max_retries: 1_000_000, backoff, retryable_categories: Vec::new() });
        args.policy = Some(ExecutionPolicy { retry_policy, ..Default::default() });
        self.backend.create_execution(args).await?;
        self.facts.add(Fact::Created(id.clone()));
        if random.below(2) == 0 {
            let value = format!("{:x}", random.next());
            self.backend.set_execution_tag(&id, "crash.tag", &value).await?;
            self.facts.add(Fact::Tagged(id, value));
        }
        Ok(())
    }

    async fn run(&self, handle: &Handle, random: &mut Random) -> Result<(), EngineError> {
        let held = payload(handle);
        let id = held.execution_id;
        for _ in 0..random.below(3) {
            let length = usize::try_from(random.below(LONGEST_FRAME)).expect("a length");
            let frame = Frame::new(vec![b'x'; length], FrameKind::Event);
            let frame = self.backend.append_frame(handle, frame).await?.stream_id;
            self.facts.add(Fact::Framed(id.clone(), held.attempt_index, frame));
        }
        match random.below(4) {
            0 => {
                self.backend.renew(handle).await?;
            }
            1 => {
                self.backend.fail(handle, FailureReason::new("broken"), FailureClass::Transient).await?;
            }
            _ => {
                let result = random.next().to_be_bytes().to_vec();
                self.backend.complete(handle, Some(result.clone())).await?;
                self.facts.add(Fact::Completed(id, result));
            }
        }
        Ok(())
    }
}
