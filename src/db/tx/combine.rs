//! Operations of one kind that wait at the same moment go as one statement over many rows: Postgres's door.
//!
//! What may go together is a [`Group`](Listed::Group): all claims by a lane, all completions.
//! Of each group one run is on its way; further ones, up to [`IN_FLIGHT`], while [`ENOUGH`] wait. Whoever comes while
//! there is room gives way to what else is ready to run in this process, and to those whom one commit answered and who
//! ask again at the same moment ([`given`](super::given)). When the first comer goes on, or a run ends, all who wait by
//! then go together, in a task of their own, because none of them may take the others along when its caller goes away.
//! A single one is handed back to its caller and runs there, as if there were no queue, but by the statement over many
//! rows, because that one is planned once per connection ([`Plans`]).
//!
//! An answer is given after the commit. Where the server refuses the statement, nothing of it has happened, and every
//! member is handed back and runs alone: so one that fails, or meets a row that somebody holds, costs its neighbours
//! one more run and nothing else. Where nobody knows whether it happened, as on a lost connection, each is told so.
//!
//! Nothing here waits in the hope of company. The time limits are escapes: a run of one that takes longer than
//! [`A_MOMENT`], because it waits for somebody's row, lets the others go, and whoever waited for [`PATIENCE`] behind runs
//! that do not end leaves the queue and runs alone.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::EngineError;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::given::{Given, InHand};
use super::{Surroundings, span};
use crate::db::dialect::{Combined, Combines, Dialect as _, Kind, Patience, Postgres, Store};
use crate::db::error::{Abort, shared, transport};
use crate::db::fault::{Step, inherited};
use crate::db::wake::Wakes;
use crate::metric;
use crate::statements::{Listed, Statement};

/// How many runs of a group are on their way at most.
const IN_FLIGHT: usize = 2;

/// How many have to wait for a run beside one that is on its way: a run costs about as much as this many more rows.
const ENOUGH: usize = 8;

/// How many operations go together at most; bounds what a failure repeats.
const TOGETHER: usize = 64;

/// How long one that runs alone keeps the others waiting; statements over many rows wait as long for a held row.
const A_MOMENT: Duration = Duration::from_millis(100);

/// How often the first comer gives way, at most, to those who were answered and have not gone on: somewhat longer than a
/// thread takes to wake.
const WAYS: usize = 100;

/// How long an operation waits for its turn.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a list gives each of its calls, in their order.
pub(in crate::db) type Outputs<P> = Vec<<P as Statement>::Output>;

/// Carries statements over many rows to the server.
pub(in crate::db) trait Carrier: Store<Postgres> + Sized {
    /// The queues of what goes together.
    fn lines(&self) -> &Lines;

    /// What comes with every run.
    fn around(&self) -> &Surroundings;

    /// Runs members of one group in one statement, once.
    fn run_many<P: Combines>(
        &self,
        name: &'static str,
        members: &[&P],
    ) -> impl Future<Output = Result<Outputs<P>, Uncarried>> + Send;
}

/// The queues of all kinds; those of a kind are made when its first operation comes.
#[derive(Default)]
pub(in crate::db) struct Lines {
    by_kind: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// The answers that are on their way to their callers.
    given: Given,
}

impl Lines {
    fn of<P: Combines, S: Carrier>(&self) -> Arc<Line<P, S>> {
        let mut lines = self.by_kind.lock().unwrap_or_else(PoisonError::into_inner); // tidy: a map has no half-done state
        let line = lines.entry(TypeId::of::<Line<P, S>>()).or_insert_with(|| Arc::new(Line::<P, S>::default()));
        Arc::clone(line).downcast().unwrap_or_default() // tidy: it stands under its own type
    }
}

/// The queues of one kind, by group.
struct Line<P: Combines, S: Carrier> {
    queues: Mutex<HashMap<P::Group, Queue<P, S>>>,
}

impl<P: Combines, S: Carrier> Default for Line<P, S> {
    fn default() -> Self {
        Self { queues: Mutex::default() }
    }
}

struct Queue<P: Combines, S: Carrier> {
    in_flight: usize,
    /// How many have waited here; the number of the next one.
    numbered: u64,
    waiting: VecDeque<(u64, Box<dyn Member<P, S>>)>,
}

impl<P: Combines, S: Carrier> Default for Queue<P, S> {
    fn default() -> Self {
        Self { in_flight: 0, numbered: 0, waiting: VecDeque::new() }
    }
}

impl<P: Combines, S: Carrier> Line<P, S> {
    fn queues(&self) -> MutexGuard<'_, HashMap<P::Group, Queue<P, S>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner) // tidy: lists have no half-done state
    }

    /// Takes those who go next together, in the order of their arrival; gives the room back when nobody waits, or fewer
    /// than [`ENOUGH`] while another run is on its way.
    fn next(&self, group: &P::Group) -> Vec<Box<dyn Member<P, S>>> {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(group) else { return Vec::new() };
        let (mut members, mut later, mut keys) = (Vec::new(), VecDeque::new(), HashSet::new());
        if queue.in_flight > 1 && queue.waiting.len() < ENOUGH {
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
    fn leave(&self, group: &P::Group, number: u64) -> Option<Box<dyn Member<P, S>>> {
        let mut queues = self.queues();
        let queue = queues.get_mut(group)?;
        let place = queue.waiting.iter().position(|(waits, _)| *waits == number)?;
        queue.waiting.remove(place).map(|(_, member)| member)
    }
}

/// An operation that waits for its turn, whoever called it.
trait Member<P: Combines, S: Carrier>: Send {
    fn name(&self) -> &'static str;
    fn params(&self) -> &P;
    /// Nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Takes what the list gave for it, and lists what to tell of it.
    fn take(&mut self, output: P::Output, wakes: &mut Wakes);
    /// Answers what was made of that, or a failure; what the list left undone runs alone.
    fn answer(self: Box<Self>, failure: Option<EngineError>, in_hand: InHand);
    /// Has it run in its caller's own future, in the given room or outside of it.
    fn alone(self: Box<Self>, room: Option<Room<P, S>>);
}

/// What a waiting caller is told.
enum Turn<S: Carrier, O: Combined<Postgres>> {
    Answer(Result<O::Answer, EngineError>, InHand),
    Alone(O, Option<Room<O::Params, S>>),
}

struct Waiting<S: Carrier, O: Combined<Postgres>> {
    operation: O,
    answer: Option<O::Answer>,
    turn: oneshot::Sender<Turn<S, O>>,
}

impl<S: Carrier, O: Combined<Postgres>> Member<O::Params, S> for Waiting<S, O> {
    fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn params(&self) -> &O::Params {
        self.operation.params()
    }

    fn is_abandoned(&self) -> bool {
        self.turn.is_closed()
    }

    fn take(&mut self, output: <O::Params as Statement>::Output, wakes: &mut Wakes) {
        self.answer = self.operation.answered(output);
        if let Some(answer) = &self.answer {
            self.operation.wakes(answer, wakes);
        }
    }

    fn answer(mut self: Box<Self>, failure: Option<EngineError>, in_hand: InHand) {
        match failure.map(Err).or_else(|| self.answer.take().map(Ok)) {
            Some(result) => _ = self.turn.send(Turn::Answer(result, in_hand)),
            None => self.alone(None),
        }
    }

    fn alone(self: Box<Self>, room: Option<Room<O::Params, S>>) {
        let Self { operation, turn, .. } = *self;
        let _ = turn.send(Turn::Alone(operation, room));
    }
}

/// The right to be on its way. Given up, it goes to those who wait; the task that they run in needs the runtime that
/// their callers came from, since the room may be given up outside of any.
struct Room<P: Combines, S: Carrier> {
    store: Arc<S>,
    group: P::Group,
    runtime: Handle,
}

impl<P: Combines, S: Carrier> Drop for Room<P, S> {
    fn drop(&mut self) {
        let mut members = self.store.lines().of::<P, S>().next(&self.group);
        let room = || Self { store: Arc::clone(&self.store), group: self.group.clone(), runtime: self.runtime.clone() };
        match members.len() {
            0 => {}
            1 => members.remove(0).alone(Some(room())),
            _ => drop(self.runtime.spawn(inherited(run_together(room(), Together(members))))),
        }
    }
}

/// Members of one run. Where it is dropped before it began, because the runtime that it was to run in has ended, each runs in
/// its caller's own future.
struct Together<P: Combines, S: Carrier>(Vec<Box<dyn Member<P, S>>>);

impl<P: Combines, S: Carrier> Drop for Together<P, S> {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|member| member.alone(None));
    }
}

/// Runs the members in one statement and answers them.
async fn run_together<P: Combines, S: Carrier>(room: Room<P, S>, mut together: Together<P, S>) {
    let members = std::mem::take(&mut together.0);
    let Some(name) = members.first().map(|member| member.name()) else { return };
    let span = span::<Postgres>(name, Kind::Unit, Patience::Caller);
    let params: Vec<&P> = members.iter().map(|member| member.params()).collect();
    metric::went_together(Postgres::LABEL, params.len());
    let ended = room.store.run_many(name, &params).instrument(span).await;
    match ended {
        Ok(answers) => settle(room.store.as_ref(), members, answers),
        Err(Uncarried::Undone) => members.into_iter().for_each(|member| member.alone(None)),
        Err(Uncarried::Failed(error)) => {
            answer(room.store.lines(), members, || Some(Abort::from(shared(&error)).into_engine::<Postgres>()));
        }
    }
}

/// Tells what happened, and then answers those who wait.
fn settle<P: Combines, S: Carrier>(store: &S, mut members: Vec<Box<dyn Member<P, S>>>, outputs: Outputs<P>) {
    let mut wakes = Wakes::default();
    for (member, output) in members.iter_mut().zip(outputs) {
        member.take(output, &mut wakes);
    }
    store.around().tell(wakes);
    answer(store.lines(), members, || None);
}

/// Answers members. All of them are counted before the first one can go on.
fn answer<P: Combines, S: Carrier>(
    lines: &Lines,
    members: Vec<Box<dyn Member<P, S>>>,
    failure: impl Fn() -> Option<EngineError>,
) {
    let given: Vec<InHand> = members.iter().map(|_| lines.given.one()).collect();
    for (member, in_hand) in members.into_iter().zip(given) {
        member.answer(failure(), in_hand);
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
struct Entry<S: Carrier, O: Combined<Postgres>> {
    number: u64,
    /// The room that it found.
    room: Option<Room<O::Params, S>>,
    told: oneshot::Receiver<Turn<S, O>>,
}

fn enter<S: Carrier, O: Combined<Postgres>>(
    store: &Arc<S>,
    group: &<O::Params as Listed>::Group,
    operation: O,
) -> Entry<S, O> {
    let (turn, told) = oneshot::channel();
    let line = store.lines().of::<O::Params, S>();
    let mut queues = line.queues();
    let queue = queues.entry(group.clone()).or_default();
    queue.numbered += 1;
    queue.waiting.push_back((queue.numbered, Box::new(Waiting { operation, answer: None, turn })));
    let are_enough = queue.waiting.len() >= ENOUGH && queue.in_flight < IN_FLIGHT;
    let room = (queue.in_flight == 0 || are_enough).then(|| {
        queue.in_flight += 1;
        Room { store: Arc::clone(store), group: group.clone(), runtime: Handle::current() }
    });
    Entry { number: queue.numbered, room, told }
}

/// Runs an operation with those that wait at the same moment, or alone.
pub(in crate::db) async fn combine<S: Carrier, O: Combined<Postgres>>(
    store: &Arc<S>,
    operation: O,
) -> Result<O::Answer, EngineError> {
    let Some(group) = operation.params().group() else { return store.run(operation).await };
    let name = operation.name();
    let Entry { number, room, mut told } = enter(store, &group, operation);
    if room.is_some() {
        give_way(&store.lines().given).await;
        // Given up, it goes to all who wait by now, this one among them.
        drop(room);
    }
    let turn = match timeout(PATIENCE, &mut told).await {
        Ok(turn) => turn,
        Err(_) => {
            let faults = &store.around().faults;
            faults.pass(Step::Leave, name).await.map_err(transport::<Postgres>)?;
            if let Some(member) = store.lines().of::<O::Params, S>().leave(&group, number) {
                member.alone(None);
            }
            told.await
        }
    };
    match turn {
        Ok(Turn::Answer(result, in_hand)) => {
            drop(in_hand);
            result
        }
        Ok(Turn::Alone(operation, room)) => run_alone(store, operation, room).await,
        // The runtime of those who went together has ended.
        Err(_) => Err(transport::<Postgres>(sqlx::Error::WorkerCrashed)),
    }
}

/// Lets go on what is ready to run in this process, and those who were answered at the same moment.
async fn give_way(given: &Given) {
    for _ in 0..WAYS {
        let others_come = given.is_any();
        yield_now().await;
        if !others_come {
            break;
        }
    }
}

/// Runs an operation by the statement over many rows: that one is planned already.
async fn run_as_one_of_many<S: Carrier, O: Combined<Postgres>>(
    store: &Arc<S>,
    operation: &O,
) -> Result<O::Answer, Uncarried> {
    let span = span::<Postgres>(operation.name(), operation.kind(), operation.patience());
    metric::went_together(Postgres::LABEL, 1);
    let outputs = store.run_many(operation.name(), &[operation.params()]).instrument(span).await?;
    let answer = outputs.into_iter().next().and_then(|output| operation.answered(output));
    let Some(answer) = answer else { return Err(Uncarried::Undone) };
    let mut wakes = Wakes::default();
    operation.wakes(&answer, &mut wakes);
    store.around().tell(wakes);
    Ok(answer)
}

/// Runs an operation in its caller's future, and keeps the others waiting for a moment at most.
async fn run_alone<S: Carrier, O: Combined<Postgres>>(
    store: &Arc<S>,
    operation: O,
    room: Option<Room<O::Params, S>>,
) -> Result<O::Answer, EngineError> {
    let is_first = room.is_some();
    let mut running = pin!(async move {
        if is_first {
            match run_as_one_of_many(store, &operation).await {
                Ok(answer) => return Ok(answer),
                Err(Uncarried::Undone) => {}
                Err(Uncarried::Failed(error)) => return Err(Abort::from(error).into_engine::<Postgres>()),
            }
        }
        store.run(operation).await
    });
    match timeout(A_MOMENT, &mut running).await {
        Ok(result) => result,
        Err(_) => {
            drop(room);
            running.await
        }
    }
}
