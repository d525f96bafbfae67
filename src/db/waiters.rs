//! Claims that wait for work: who waits on which lane, and whose turn it is to look.
//!
//! Whatever may have put work into a lane's queue is told here after its commit, by this process or by another one. Of the
//! claims that wait there, one of each set of capabilities is called; it looks, and when it found something it calls the
//! next, because one message may stand for much work. So one execution costs two looks, however many wait for it.
//! A claim that is called and goes away calls the next as well.
//!
//! Messages are hints: what another program wrote, or what becomes due by its time, nobody tells. So now and then one claim of
//! each set looks without being called, more seldom where there are many sets.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::column::LaneName;

/// How often one claim of a set looks without being called, while there are few sets.
const LOOK: Duration = Duration::from_secs(1);

/// How far such looks of all sets together are apart. A look takes four statements at most, so a process whose claims
/// all wait makes no more than eight in a second.
const SPACING: Duration = Duration::from_millis(500);

/// Everybody in this process who waits for work; clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Waiters {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    lanes: HashMap<LaneName, Vec<Group>>,
    /// How many sets of capabilities wait, on all lanes.
    groups: u32,
    next_number: u64,
    /// Whether nobody looks without being called, as a test wants it.
    only_called: bool,
}

/// Those who wait on a lane with the same capabilities: each could take what another one takes.
struct Group {
    kind: String,
    waiting: VecDeque<Waiting>,
    look_at: Instant,
}

struct Waiting {
    number: u64,
    is_called: bool,
    is_asleep: bool,
    bell: Arc<Notify>,
}

impl Group {
    /// Calls the first who is not called yet.
    fn call_one(&mut self) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| !waiting.is_called) {
            waiting.is_called = true;
            waiting.bell.notify_one();
        }
    }
}

impl State {
    fn group(&mut self, lane: &LaneName, kind: &str) -> Option<&mut Group> {
        self.lanes.get_mut(lane)?.iter_mut().find(|group| group.kind == kind)
    }

    fn waiting(&mut self, place: &Place) -> Option<&mut Waiting> {
        let group = self.group(&place.lane, &place.kind)?;
        group.waiting.iter_mut().find(|waiting| waiting.number == place.number)
    }
}

/// When a set looks next.
fn look_after(groups: u32) -> Duration {
    LOOK.max(SPACING.saturating_mul(groups))
}

impl Waiters {
    /// Takes a place among those who wait on a lane; `kind` says what they are capable of. Whoever looks at the queue
    /// after that misses nothing: what is told later calls somebody.
    pub(crate) fn enter(&self, lane: LaneName, kind: String) -> Place {
        let bell = Arc::new(Notify::new());
        let mut state = self.state();
        let number = state.next_number;
        state.next_number += 1;
        let waiting = Waiting { number, is_called: false, is_asleep: false, bell: Arc::clone(&bell) };
        match state.group(&lane, &kind) {
            Some(group) => group.waiting.push_back(waiting),
            None => {
                state.groups += 1;
                let look_at = Instant::now() + look_after(state.groups);
                let group = Group { kind: kind.clone(), waiting: VecDeque::from([waiting]), look_at };
                state.lanes.entry(lane.clone()).or_default().push(group);
            }
        }
        drop(state);
        Place { waiters: self.clone(), lane, kind, number, bell, owes_call: false }
    }

    /// Calls one of each set that waits on a lane, or on every lane.
    pub(super) fn call(&self, lane: Option<&LaneName>) {
        let mut state = self.state();
        match lane {
            Some(lane) => state.lanes.get_mut(lane).into_iter().flatten().for_each(Group::call_one),
            None => state.lanes.values_mut().flatten().for_each(Group::call_one),
        }
    }

    /// How many have looked and sleep.
    pub(crate) fn asleep(&self) -> usize {
        let state = self.state();
        let all = state.lanes.values().flatten().flat_map(|group| &group.waiting);
        all.filter(|waiting| waiting.is_asleep && !waiting.is_called).count()
    }

    /// Lets nobody look without being called.
    pub(crate) fn look_only_when_called(&self) {
        self.state().only_called = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // tidy: lists have no half-done state
    }
}

/// A place among those who wait. Dropping it leaves.
pub(crate) struct Place {
    waiters: Waiters,
    lane: LaneName,
    kind: String,
    number: u64,
    bell: Arc<Notify>,
    /// Whether it looks for all of its set, and has not found the queue empty.
    owes_call: bool,
}

impl Place {
    /// Waits until it is this one's turn to look, and answers true; false when it is `deadline`.
    pub(crate) async fn called(&mut self, deadline: Instant) -> bool {
        loop {
            let Some(look_at) = self.sleep() else { return true };
            tokio::select! {
                biased;
                () = self.bell.notified() => {}
                () = sleep_until(look_at.min(deadline)) => {
                    if Instant::now() >= deadline {
                        return false;
                    }
                }
            }
        }
    }

    /// Goes to sleep until the answer's time, or answers `None` when it is this one's turn.
    fn sleep(&mut self) -> Option<Instant> {
        let mut state = self.waiters.state();
        let (now, groups, only_called) = (Instant::now(), state.groups, state.only_called);
        let group = state.group(&self.lane, &self.kind)?;
        let looks = group.look_at <= now;
        if looks {
            group.look_at = now + look_after(groups);
        }
        let look_at = group.look_at;
        let waiting = group.waiting.iter_mut().find(|waiting| waiting.number == self.number)?;
        let is_turn = std::mem::take(&mut waiting.is_called) || (looks && !only_called);
        waiting.is_asleep = !is_turn;
        self.owes_call = is_turn;
        (!is_turn).then_some(look_at)
    }

    /// There was nothing in the queue.
    pub(crate) fn found_nothing(&mut self) {
        self.owes_call = false;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.waiters.state();
        let owes_call = self.owes_call || state.waiting(self).is_some_and(|waiting| waiting.is_called);
        let Some(group) = state.group(&self.lane, &self.kind) else { return };
        group.waiting.retain(|waiting| waiting.number != self.number);
        if owes_call {
            group.call_one();
        }
        if group.waiting.is_empty() {
            state.groups -= 1;
            if let Some(groups) = state.lanes.get_mut(&self.lane) {
                groups.retain(|group| !group.waiting.is_empty());
                if groups.is_empty() {
                    state.lanes.remove(&self.lane);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> LaneName {
        LaneName::from("mail".to_owned())
    }

    /// Whether a place is called by now.
    async fn is_called(place: &mut Place) -> bool {
        place.called(Instant::now()).await
    }

    fn places(waiters: &Waiters, kind: &str) -> [Place; 2] {
        waiters.look_only_when_called();
        [waiters.enter(mail(), kind.to_owned()), waiters.enter(mail(), kind.to_owned())]
    }

    #[tokio::test]
    async fn one_of_each_set_is_called_and_calls_the_next_when_it_found_something() {
        let waiters = Waiters::default();
        let [mut first, mut second] = places(&waiters, "plain");
        let [mut gpu, _other] = places(&waiters, "gpu");
        waiters.call(Some(&mail()));
        assert!(is_called(&mut first).await && is_called(&mut gpu).await && !is_called(&mut second).await);
        drop(first);
        assert!(is_called(&mut second).await);
    }

    #[tokio::test]
    async fn whoever_found_nothing_calls_nobody() {
        let waiters = Waiters::default();
        let [mut first, mut second] = places(&waiters, "plain");
        waiters.call(None);
        assert!(is_called(&mut first).await);
        first.found_nothing();
        drop(first);
        assert!(!is_called(&mut second).await);
    }

    #[tokio::test]
    async fn a_call_outlives_whom_it_was_for() {
        let waiters = Waiters::default();
        let [first, mut second] = places(&waiters, "plain");
        waiters.call(Some(&mail()));
        drop(first);
        assert!(is_called(&mut second).await);
        waiters.call(Some(&mail()));
        assert!(is_called(&mut second).await, "what is told while somebody looks has them look again");
    }

    #[tokio::test]
    async fn two_calls_are_for_two_and_another_lane_is_nobodys() {
        let waiters = Waiters::default();
        let [mut first, mut second] = places(&waiters, "plain");
        waiters.call(Some(&LaneName::from("post".to_owned())));
        assert!(!is_called(&mut first).await);
        waiters.call(Some(&mail()));
        waiters.call(Some(&mail()));
        assert!(is_called(&mut first).await && is_called(&mut second).await);
    }

    #[tokio::test]
    async fn nothing_is_kept_of_those_who_left() {
        let waiters = Waiters::default();
        drop(places(&waiters, "plain"));
        let state = waiters.state();
        assert!(state.lanes.is_empty() && state.groups == 0);
    }

    #[test]
    fn looks_that_nobody_called_for_stay_below_ten_statements_a_second() {
        let statements_in_a_second = |groups: u32| 4.0 * f64::from(groups) / look_after(groups).as_secs_f64();
        assert!((1..=10_000).all(|groups| statements_in_a_second(groups) < 10.0));
        assert_eq!(look_after(1), LOOK);
    }
}
