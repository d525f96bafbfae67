//! Operations of one kind that wait at the same moment go as one statement over many rows: Postgres's door.
//!
//! What may go together is a [`Group`](Combines::Group): the claims of one lane and capability set, all completions.
//! Of each group [`IN_FLIGHT`] runs at most are on their way. Whoever comes while there is room runs at once, in its
//! own future, as if nobody else were there. Whoever comes later waits, and when a run ends, all who wait by then go
//! together, in a task of their own, because none of them may take the others along when its caller goes away. A
//! single one that waits is handed back to its caller and runs there.
//!
//! An answer is given after the commit. Where the server refuses the statement, nothing of it has happened, and every
//! member is handed back and runs alone: so one that fails, or meets a row that somebody holds, costs its neighbours
//! one more run and nothing else. Where nobody knows whether it happened, as on a lost connection, each is told so.
//!
//! Nothing here waits in the hope of company. The one time limit is an escape: whoever waited for [`PATIENCE`] behind
//! runs that do not end leaves the queue and runs alone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::EngineError;
use futures_core::future::BoxFuture;
use sqlx::PgConnection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
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

/// How many runs of a group are on their way at most: while one waits for the disk, another works.
const IN_FLIGHT: usize = 2;

/// How many operations go together at most; bounds what a failure repeats.
const TOGETHER: usize = 64;

/// How long an operation waits for its turn.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a statement over many rows answers: the places of those members that did something, and their rows.
pub(crate) type Rows<P> = Vec<(usize, <P as Combines>::Row)>;

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
    fn run_many<'a>(
        members: &'a [&'a Self],
        connection: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<Rows<Self>, sqlx::Error>>;
}

/// The queues of all kinds.
#[derive(Default)]
pub struct Lines {
    pub(super) claims: Line<LeaseClaimParams>,
    pub(super) completions: Line<AttemptCompleteParams>,
    pub(super) renewals: Line<LeaseRenewParams>,
    pub(super) creations: Line<ExecutionCreateParams>,
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

    /// Takes those who go next together, in the order of their arrival; gives the room back when nobody waits.
    fn next(&self, group: &P::Group) -> Vec<Box<dyn Member<P>>> {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(group) else { return Vec::new() };
        let (mut members, mut later, mut keys) = (Vec::new(), VecDeque::new(), HashSet::new());
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
        Ok(rows) => settle(&room.store, members, rows),
        Err(Uncarried::Undone) => members.into_iter().for_each(|member| member.alone(None)),
        Err(Uncarried::Failed(error)) => {
            for member in members {
                member.answer(Err(Abort::from(shared(&error)).into_engine::<Postgres>()));
            }
        }
    }
}

/// Tells what happened, and then answers those who wait.
fn settle<P: Combines>(store: &PgStore, members: Vec<Box<dyn Member<P>>>, rows: Rows<P>) {
    let mut answers: Vec<Option<P::Row>> = members.iter().map(|_| None).collect();
    for (place, row) in rows {
        if let Some(answer) = answers.get_mut(place) {
            *answer = Some(row);
        }
    }
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

/// Whether an operation runs at once, or has joined those who wait.
enum Entry<P: Combines, O> {
    Runs(O, Room<P>),
    Waits(u64, oneshot::Receiver<Turn<P, O>>),
}

fn enter<O: Combined<Postgres>>(
    store: &Arc<PgStore>,
    group: &<O::Params as Combines>::Group,
    operation: O,
) -> Entry<O::Params, O> {
    let mut queues = O::Params::line(store.lines()).queues();
    let queue = queues.entry(group.clone()).or_default();
    if queue.in_flight < IN_FLIGHT {
        queue.in_flight += 1;
        let room = Room { store: Arc::clone(store), group: group.clone(), runtime: Handle::current() };
        return Entry::Runs(operation, room);
    }
    let (turn, told) = oneshot::channel();
    queue.numbered += 1;
    queue.waiting.push_back((queue.numbered, Box::new(Waiting { operation, turn })));
    Entry::Waits(queue.numbered, told)
}

/// Runs an operation alone where there is room, and with others that wait otherwise.
pub(in crate::db) async fn combine<O: Combined<Postgres>>(
    store: &Arc<PgStore>,
    operation: O,
) -> Result<O::Answer, EngineError> {
    let Some(group) = operation.params().group() else { return store.run(operation).await };
    let name = operation.name();
    let (number, mut told) = match enter(store, &group, operation) {
        Entry::Runs(operation, _room) => return store.run(operation).await,
        Entry::Waits(number, told) => (number, told),
    };
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
        Ok(Turn::Alone(operation, _room)) => store.run(operation).await,
        // The runtime of those who went together has ended.
        Err(_) => Err(transport::<Postgres>(sqlx::Error::WorkerCrashed)),
    }
}
