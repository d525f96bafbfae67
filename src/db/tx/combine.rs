//! Operations of one kind that wait at the same moment go as one statement over many rows: Postgres's door.
//!
//! What may go together is a [`Group`](Combines::Group): the claims of one lane and capability set, all completions.
//! Of each group one run is on its way; further ones, up to [`IN_FLIGHT`], while a full statement waits. Whoever comes
//! while there is room gives way once to what else is ready to run in this process, since those whom one commit answered
//! ask again at the same moment. When the first comer goes on, or a run ends, all who wait by then go together, in a task
//! of their own, because none of them may take the others along when its caller goes away. A single one is handed back to
//! its caller and runs there, as if there were no queue.
//!
//! An answer is given after the commit. Where the server refuses the statement, nothing of it has happened, and every
//! member is handed back and runs alone: so one that fails, or meets a row that somebody holds, costs its neighbours
//! one more run and nothing else. Where nobody knows whether it happened, as on a lost connection, each is told so.
//!
//! Nothing here waits in the hope of company. The time limits are escapes: a run of one that takes longer than
//! [`A_MOMENT`], because it waits for somebody's row, lets the others go, and whoever waited for [`PATIENCE`] behind runs
//! that do not end leaves the queue and runs alone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::EngineError;
use futures_core::future::BoxFuture;
use sqlx::PgConnection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::{Combined, Kind, Patience, Wakes, span};
use crate::db::Postgres;
use crate::db::dialect::Store as _;
use crate::db::error::{Abort, shared, transport};
use crate::db::fault::Step;
use crate::db::pg::PgStore;
use crate::statements::attempt::AttemptCompleteParams;
use crate::statements::execution::ExecutionCreateParams;
use crate::statements::lease::{LeaseClaimParams, LeaseRenewParams};
use crate::statements::stream::StreamAppendParams;

/// How many runs of a group are on their way at most.
const IN_FLIGHT: usize = 2;

/// How many operations go together at most; bounds what a failure repeats.
const TOGETHER: usize = 64;

/// How long one that runs alone keeps the others waiting; statements over many rows wait as long for a held row.
const A_MOMENT: Duration = Duration::from_millis(100);

/// How long an operation waits for its turn.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a statement over many rows answers each of its members, in their order: a row where it did something.
pub(crate) type Answers<P> = Vec<Option<<P as Combines>::Row>>;

/// A statement over many rows on its way.
pub(crate) type Ran<'a, P> = BoxFuture<'a, Result<Answers<P>, sqlx::Error>>;

/// The parameters of a unit whose page of Postgres also has a statement over many rows.
pub trait Combines: Send + Sync + Sized + 'static {
    /// What the unit answers when it did something.
    type Row: Send + 'static;

    /// What the members of one statement have in common.
    type Group: Clone + Eq + Hash + Send + 'static;

    /// What only one member of a statement may name.
    type Key: Eq + Hash;

    /// The group that it goes with; none for one that goes alone.
    fn group(&self) -> Option<Self::Group>;

    /// What no other member of its statement may name.
    fn key(&self) -> Option<Self::Key>;

    /// The queues of its kind.
    fn line(lines: &Lines) -> &Line<Self>;

    /// Runs members of one group in one statement.
    fn run_many<'a>(members: &'a [&'a Self], connection: &'a mut PgConnection) -> Ran<'a, Self>;
}

/// The queues of all kinds.
#[derive(Default)]
pub struct Lines {
    pub(super) claims: Line<LeaseClaimParams>,
    pub(super) completions: Line<AttemptCompleteParams>,
    pub(super) renewals: Line<LeaseRenewParams>,
    pub(super) creations: Line<ExecutionCreateParams>,
    pub(super) appends: Line<StreamAppendParams>,
}

/// The queues of one kind, by group.
pub struct Line<P: Combines> {
    queues: Mutex<HashMap<P::Group, Queue<P>>>,
}

impl<P: Combines> Default for Line<P> {
    fn default() -> Self {
        Self { queues: Mutex::default() }
    }
}

struct Queue<P: Combines> {
    in_flight: usize,
    /// How many have waited here; the number of the next one.
    numbered: u64,
    waiting: VecDeque<(u64, Box<dyn Member<P>>)>,
}

impl<P: Combines> Default for Queue<P> {
    fn default() -> Self {
        Self { in_flight: 0, numbered: 0, waiting: VecDeque::new() }
    }
}

impl<P: Combines> Line<P> {
    fn queues(&self) -> MutexGuard<'_, HashMap<P::Group, Queue<P>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner) // tidy: lists have no half-done state
    }

    /// Takes those who go next together, in the order of their arrival; gives the room back when nobody waits, or fewer
    /// than a full statement's while another run is on its way.
    fn next(&self, group: &P::Group) -> Vec<Box<dyn Member<P>>> {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(group) else { return Vec::new() };
        let (mut members, mut later, mut keys) = (Vec::new(), VecDeque::new(), HashSet::new());
        if queue.in_flight > 1 && queue.waiting.len() < TOGETHER {
            queue.in_flight -= 1;
            return members;
        }
        for (number, member) in queue.waiting.drain(..).filter(|(_, member)| !member.is_abandoned()) {
            if members.len() < TOGETHER && member.params().key().is_none_or(|key| keys.insert(key)) {
                members.push(member);
            } else {
                later.push_back((number, member));
            }
        }
        queue.waiting = later;
        if members.is_empty() {
            queue.in_flight -= 1;
            if queue.in_flight == 0 {
                queues.remove(group);
            }
        }
        members
    }

    /// Takes one out that still waits.
    fn leave(&self, group: &P::Group, number: u64) -> Option<Box<dyn Member<P>>> {
        let mut queues = self.queues();
        let queue = queues.get_mut(group)?;
        let place = queue.waiting.iter().position(|(waits, _)| *waits == number)?;
        queue.waiting.remove(place).map(|(_, member)| member)
    }
}

/// An operation that waits for its turn, whoever called it.
trait Member<P: Combines>: Send {
    fn name(&self) -> &'static str;
    fn params(&self) -> &P;
    /// Nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Lists what to tell of its answer.
    fn wakes(&self, answer: &Option<P::Row>, wakes: &mut Wakes);
    /// Answers.
    fn answer(self: Box<Self>, result: Result<Option<P::Row>, EngineError>);
    /// Has it run in its caller's own future, in the given room or outside of it.
    fn alone(self: Box<Self>, room: Option<Room<P>>);
}

/// What a waiting caller is told.
enum Turn<P: Combines, O> {
    Answer(Result<Option<P::Row>, EngineError>),
    Alone(O, Option<Room<P>>),
}

struct Waiting<P: Combines, O> {
    operation: O,
    turn: oneshot::Sender<Turn<P, O>>,
}

impl<O: Combined<Postgres>> Member<O::Params> for Waiting<O::Params, O> {
    fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn params(&self) -> &O::Params {
        self.operation.params()
    }

    fn is_abandoned(&self) -> bool {
        self.turn.is_closed()
    }

    fn wakes(&self, answer: &O::Answer, wakes: &mut Wakes) {
        self.operation.wakes(answer, wakes);
    }

    fn answer(self: Box<Self>, result: Result<O::Answer, EngineError>) {
        let _ = self.turn.send(Turn::Answer(result));
    }

    fn alone(self: Box<Self>, room: Option<Room<O::Params>>) {
        let Self { operation, turn } = *self;
        let _ = turn.send(Turn::Alone(operation, room));
    }
}

/// The right to be on its way. Given up, it goes to those who wait; the task that they run in needs the runtime that
/// their callers came from, since the room may be given up outside of any.
struct Room<P: Combines> {
    store: Arc<PgStore>,
    group: P::Group,
    runtime: Handle,
}

impl<P: Combines> Drop for Room<P> {
    fn drop(&mut self) {
        let mut members = P::line(self.store.lines()).next(&self.group);
        let room = || Self { store: Arc::clone(&self.store), group: self.group.clone(), runtime: self.runtime.clone() };
        match members.len() {
            0 => {}
            1 => members.remove(0).alone(Some(room())),
            _ => drop(self.runtime.spawn(run_together(room(), members))),
        }
    }
}

/// Runs the members in one statement and answers them.
async fn run_together<P: Combines>(room: Room<P>, members: Vec<Box<dyn Member<P>>>) {
    let Some(name) = members.first().map(|member| member.name()) else { return };
    let span = span::<Postgres>(name, Kind::Unit, Patience::Caller);
    let params: Vec<&P> = members.iter().map(|member| member.params()).collect();
    let ended = room.store.run_many(name, &params).instrument(span).await;
    match ended {
        Ok(answers) => settle(&room.store, members, answers),
        Err(Uncarried::Undone) => members.into_iter().for_each(|member| member.alone(None)),
        Err(Uncarried::Failed(error)) => {
            for member in members {
                member.answer(Err(Abort::from(shared(&error)).into_engine::<Postgres>()));
            }
        }
    }
}

/// Tells what happened, and then answers those who wait.
fn settle<P: Combines>(store: &PgStore, members: Vec<Box<dyn Member<P>>>, answers: Answers<P>) {
    let mut wakes = Wakes::default();
    for (member, answer) in members.iter().zip(&answers) {
        member.wakes(answer, &mut wakes);
    }
    store.around().tell(wakes);
    for (member, answer) in members.into_iter().zip(answers) {
        member.answer(Ok(answer));
    }
}

/// Why a statement over many rows has no answer.
pub(in crate::db) enum Uncarried {
    /// The server refused it, so nothing happened.
    Undone,
    /// It may have happened, or no server was asked.
    Failed(sqlx::Error),
}

/// An operation that has joined those who wait.
struct Entry<P: Combines, O> {
    number: u64,
    /// The room that it found.
    room: Option<Room<P>>,
    told: oneshot::Receiver<Turn<P, O>>,
}

fn enter<O: Combined<Postgres>>(
    store: &Arc<PgStore>,
    group: &<O::Params as Combines>::Group,
    operation: O,
) -> Entry<O::Params, O> {
    let (turn, told) = oneshot::channel();
    let mut queues = O::Params::line(store.lines()).queues();
    let queue = queues.entry(group.clone()).or_default();
    queue.numbered += 1;
    queue.waiting.push_back((queue.numbered, Box::new(Waiting { operation, turn })));
    let is_full = queue.waiting.len() >= TOGETHER && queue.in_flight < IN_FLIGHT;
    let room = (queue.in_flight == 0 || is_full).then(|| {
        queue.in_flight += 1;
        Room { store: Arc::clone(store), group: group.clone(), runtime: Handle::current() }
    });
    Entry { number: queue.numbered, room, told }
}

/// Runs an operation with those that wait at the same moment, or alone.
pub(in crate::db) async fn combine<O: Combined<Postgres>>(
    store: &Arc<PgStore>,
    operation: O,
) -> Result<O::Answer, EngineError> {
    let Some(group) = operation.params().group() else { return store.run(operation).await };
    let name = operation.name();
    let Entry { number, room, mut told } = enter(store, &group, operation);
    if room.is_some() {
        yield_now().await;
        // Given up, it goes to all who wait by now, this one among them.
        drop(room);
    }
    let turn = match timeout(PATIENCE, &mut told).await {
        Ok(turn) => turn,
        Err(_) => {
            let faults = &store.around().faults;
            faults.pass(Step::Leave, name).await.map_err(transport::<Postgres>)?;
            if let Some(member) = O::Params::line(store.lines()).leave(&group, number) {
                member.alone(None);
            }
            told.await
        }
    };
    match turn {
        Ok(Turn::Answer(result)) => result,
        Ok(Turn::Alone(operation, room)) => run_alone(store, operation, room).await,
        // The runtime of those who went together has ended.
        Err(_) => Err(transport::<Postgres>(sqlx::Error::WorkerCrashed)),
    }
}

/// Runs an operation in its caller's future, and keeps the others waiting for a moment at most.
async fn run_alone<O: Combined<Postgres>>(
    store: &Arc<PgStore>,
    operation: O,
    room: Option<Room<O::Params>>,
) -> Result<O::Answer, EngineError> {
    let mut running = pin!(store.run(operation));
    match timeout(A_MOMENT, &mut running).await {
        Ok(result) => result,
        Err(_) => {
            drop(room);
            running.await
        }
    }
}
