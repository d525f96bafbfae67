//! How far an outbox may be passed.
//!
//! Event ids are drawn in order and appear in any order. [`Horizon`] decides which of the rows that were
//! read may be handed over: those whose smaller ids are all settled. It knows nothing of databases.

use std::collections::HashSet;

/// The mark of a transaction that was prepared to be committed in two steps. It went by another name before.
const PREPARED: &str = "-1/";

/// The first id that an outbox gives.
const FIRST_ID: i64 = 1;

/// The place of one subscription in one outbox.
#[derive(Debug)]
pub(super) struct Horizon {
    /// Everything up to here was handed over or will never be.
    passed: i64,
    /// Up to here, what a later read does not show does not exist.
    settled: i64,
    /// The transactions that may still write ids up to a bound.
    awaited: Option<Awaited>,
}

#[derive(Debug)]
struct Awaited {
    bound: i64,
    transactions: HashSet<String>,
}

impl Horizon {
    /// Begins after an event.
    pub(super) fn after(event_id: i64) -> Self {
        Self { passed: event_id, settled: event_id, awaited: None }
    }

    /// The last id that was passed.
    pub(super) fn passed(&self) -> i64 {
        self.passed
    }

    /// Passes the leading ids that may be handed over and answers how many these are. `ids` are those after
    /// [`passed`](Self::passed), ascending, as one read showed them that began after the last call of
    /// [`learn`](Self::learn).
    pub(super) fn pass(&mut self, ids: impl IntoIterator<Item = i64>) -> usize {
        let mut count = 0;
        for id in ids {
            let follows = self.passed.checked_add(1) == Some(id);
            if !follows && id > self.settled {
                break;
            }
            self.passed = id;
            count += 1;
        }
        count
    }

    /// Takes in which transactions are under way, asked for after ids up to `seen` had been read. True when
    /// the outbox is settled up to some bound now, and reading it again leads on.
    pub(super) fn learn(&mut self, seen: i64, under_way: Vec<String>) -> bool {
        // What was awaited for the sake of ids that have come since no longer matters.
        let earlier = self.awaited.take().filter(|awaited| awaited.bound > self.passed);
        let awaited = match earlier {
            None => Awaited { bound: seen, transactions: under_way.into_iter().collect() },
            Some(Awaited { bound, transactions }) => Awaited { bound, transactions: still(&transactions, under_way) },
        };
        if awaited.transactions.is_empty() {
            self.settled = self.settled.max(awaited.bound);
            return true;
        }
        self.awaited = Some(awaited);
        false
    }
}

/// Those of the awaited transactions that are still under way. One that was prepared meanwhile goes by another name.
pub(super) fn still(awaited: &HashSet<String>, under_way: Vec<String>) -> HashSet<String> {
    under_way.into_iter().filter(|name| awaited.contains(name) || name.starts_with(PREPARED)).collect()
}

/// Where a subscription begins that wants what is committed from now on, while transactions are under way:
/// before the oldest gap among the newest events, which are given newest first. With it go the events after
/// that place which are there already; they are not wanted.
///
/// When these are all that the outbox has (`is_all`), what is missing before the oldest of them counts as a gap:
/// an event that somebody is about to commit, and others that were trimmed. Otherwise a transaction whose event
/// is older than all of these is not waited for.
pub(super) fn from_now_on(newest_first: &[i64], is_all: bool) -> (i64, HashSet<i64>) {
    let mut oldest_gap = None;
    for pair in newest_first.windows(2) {
        if let [newer, older] = pair
            && older.checked_add(1) != Some(*newer)
        {
            oldest_gap = Some(*older);
        }
    }
    if is_all && newest_first.last().is_some_and(|oldest| *oldest > FIRST_ID) {
        oldest_gap = Some(FIRST_ID - 1);
    }
    match (oldest_gap, newest_first.first()) {
        (Some(place), _) => (place, newest_first.iter().copied().filter(|id| *id > place).collect()),
        (None, Some(newest)) => (*newest, HashSet::new()),
        (None, None) => (FIRST_ID - 1, HashSet::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn ids_without_a_gap_are_passed_unasked() {
        let mut horizon = Horizon::after(7);
        assert_eq!(horizon.pass([8, 9, 10]), 3);
        assert_eq!(horizon.passed(), 10);
    }

    #[test]
    fn a_gap_is_not_passed_while_its_writer_is_under_way() {
        let mut horizon = Horizon::after(0);
        assert_eq!(horizon.pass([1, 3, 4]), 1);
        assert!(!horizon.learn(4, names(&["3/1", "4/1"])));
        assert_eq!(horizon.pass([3, 4, 5]), 0);
        // One has ended, and somebody began who cannot have an id below 5.
        assert!(!horizon.learn(5, names(&["4/1", "5/1"])));
        assert!(horizon.learn(5, names(&["5/1", "6/1"])));
        assert_eq!(horizon.pass([2, 3, 4, 5]), 4);
        assert_eq!(horizon.passed(), 5);
    }

    #[test]
    fn an_id_that_never_came_is_passed_once_its_writers_have_ended() {
        let mut horizon = Horizon::after(0);
        assert!(horizon.learn(4, Vec::new()));
        // 6 was not seen when the writers were asked for, so a gap below it is a new one.
        assert_eq!(horizon.pass([3, 4, 6]), 2);
        assert_eq!(horizon.passed(), 4);
        assert!(horizon.learn(6, Vec::new()));
        assert_eq!(horizon.pass([6]), 1);
    }

    #[test]
    fn a_transaction_that_was_waited_for_elsewhere_does_not_hold_up() {
        let mut horizon = Horizon::after(0);
        assert!(!horizon.learn(2, names(&["3/1", "4/1"])));
        assert_eq!(horizon.pass([1, 2]), 2);
        assert!(!horizon.learn(4, names(&["3/1", "5/1"])));
        assert!(horizon.learn(4, Vec::new()));
    }

    #[test]
    fn a_transaction_may_be_prepared_under_another_name() {
        let mut horizon = Horizon::after(0);
        assert!(!horizon.learn(2, names(&["3/1"])));
        assert!(!horizon.learn(2, names(&["-1/742", "5/5"])));
        assert!(horizon.learn(2, names(&["5/5"])));
    }

    #[test]
    fn the_last_id_of_all_does_not_overflow() {
        let mut horizon = Horizon::after(i64::MAX);
        assert_eq!(horizon.pass([]), 0);
    }

    #[test]
    fn from_now_on_begins_before_the_oldest_gap() {
        assert_eq!(from_now_on(&[9, 8, 7], false), (9, HashSet::new()));
        assert_eq!(from_now_on(&[9, 7, 6, 4, 3], false), (4, HashSet::from([6, 7, 9])));
    }

    #[test]
    fn what_a_whole_outbox_lacks_at_its_beginning_is_a_gap() {
        assert_eq!(from_now_on(&[], true), (0, HashSet::new()));
        assert_eq!(from_now_on(&[3, 2, 1], true), (3, HashSet::new()));
        assert_eq!(from_now_on(&[2], true), (0, HashSet::from([2])));
        assert_eq!(from_now_on(&[9, 7], true), (0, HashSet::from([7, 9])));
    }
}
