//! What whoever looks after a database asks for and is told.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ff_core::types::{ExecutionId, FlowId, LaneId};

use super::word::{EligibilityWord, PublicWord};

/// What an execution is doing, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ListedState {
    /// It waits to be claimed.
    Waiting,
    /// It waits, and an operator or a policy holds it back.
    Paused,
    /// It waits for its time.
    Delayed,
    /// It waits for a budget, a quota or a worker.
    RateLimited,
    /// It waits for others.
    WaitingChildren,
    /// A worker has it.
    Active,
    /// It waits for signals, or has them and waits to go on.
    Suspended,
    /// It ended well.
    Completed,
    /// It ended badly.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// Its time was over.
    Expired,
    /// What it waited for did not come.
    Skipped,
    /// Another program says something of it that this one does not know.
    Unknown,
}

impl ListedState {
    /// All that an execution may be asked for by.
    pub const ALL: [Self; 12] = [
        Self::Waiting,
        Self::Paused,
        Self::Delayed,
        Self::RateLimited,
        Self::WaitingChildren,
        Self::Active,
        Self::Suspended,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Expired,
        Self::Skipped,
    ];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Delayed => "delayed",
            Self::RateLimited => "rate_limited",
            Self::WaitingChildren => "waiting_children",
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }

    /// Whether an execution in it is over.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::Expired | Self::Skipped)
    }

    /// That of a row.
    pub(crate) fn stored(public: &PublicWord, eligibility: &EligibilityWord) -> Self {
        let paused = matches!(eligibility, EligibilityWord::BlockedByLaneState | EligibilityWord::BlockedByOperator);
        match public {
            PublicWord::Waiting | PublicWord::Pending | PublicWord::RateLimited if paused => Self::Paused,
            PublicWord::Waiting | PublicWord::Pending => Self::Waiting,
            PublicWord::Delayed => Self::Delayed,
            PublicWord::RateLimited => Self::RateLimited,
            PublicWord::WaitingChildren => Self::WaitingChildren,
            PublicWord::Active | PublicWord::Running | PublicWord::Claimed => Self::Active,
            PublicWord::Suspended | PublicWord::Resumable => Self::Suspended,
            PublicWord::Completed => Self::Completed,
            PublicWord::Failed => Self::Failed,
            PublicWord::Cancelled => Self::Cancelled,
            PublicWord::Expired => Self::Expired,
            PublicWord::Skipped => Self::Skipped,
            PublicWord::Other(_) => Self::Unknown,
        }
    }

    /// The words by which rows that may be in it are found.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Waiting => &["waiting", "pending"],
            Self::Paused => &["waiting", "pending", "rate_limited"],
            Self::Active => &["active", "running", "claimed"],
            Self::Suspended => &["suspended", "resumable"],
            Self::Delayed => &["delayed"],
            Self::RateLimited => &["rate_limited"],
            Self::WaitingChildren => &["waiting_children"],
            Self::Completed => &["completed"],
            Self::Failed => &["failed"],
            Self::Cancelled => &["cancelled"],
            Self::Expired => &["expired"],
            Self::Skipped => &["skipped"],
            Self::Unknown => &[],
        }
    }
}

impl fmt::Display for ListedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is no state's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no state; write one of {list}", list = ListedState::ALL.map(ListedState::as_str).join(", "))]
pub struct UnknownState(String);

impl FromStr for ListedState {
    type Err = UnknownState;

    fn from_str(word: &str) -> Result<Self, UnknownState> {
        Self::ALL.into_iter().find(|state| state.as_str() == word).ok_or_else(|| UnknownState(word.to_owned()))
    }
}

/// Which executions somebody asks for: those that pass every condition that is given.
#[derive(Debug, Clone, Default)]
pub struct ExecutionFilter {
    /// Those of that lane.
    pub lane: Option<LaneId>,
    /// The members of that flow.
    pub flow: Option<FlowId>,
    /// Those in one of these states; in any where there is none.
    pub states: Vec<ListedState>,
    /// Those that ended, or were created if they have not ended, at that time or earlier, in milliseconds.
    pub before_ms: Option<i64>,
    /// Those that require that capability.
    pub capability: Option<String>,
    /// Those of that kind.
    pub kind: Option<String>,
}

impl ExecutionFilter {
    /// Whether no condition is given, so that it means all there are.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let Self { lane, flow, states, before_ms, capability, kind } = self;
        lane.is_none()
            && flow.is_none()
            && states.is_empty()
            && before_ms.is_none()
            && capability.is_none()
            && kind.is_none()
    }

    /// What the database does not compare of it.
    pub(crate) fn passes(&self, execution: &ListedExecution) -> bool {
        let required = |capability: &String| execution.capabilities.contains(capability);
        (self.states.is_empty() || self.states.contains(&execution.state))
            && self.capability.as_ref().is_none_or(required)
            && self.kind.as_ref().is_none_or(|kind| execution.kind.as_ref() == Some(kind))
    }
}

/// An execution as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedExecution {
    /// Its id.
    pub id: ExecutionId,
    /// Its lane.
    pub lane: LaneId,
    /// The flow that it belongs to.
    pub flow: Option<FlowId>,
    /// What it does.
    pub state: ListedState,
    /// Why it waits, as it is stored.
    pub waits_for: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// What it requires of a worker, sorted.
    pub capabilities: Vec<String>,
    /// Its priority.
    pub priority: i32,
    /// When it was created, in milliseconds.
    pub created_at_ms: i64,
    /// When it ended, in milliseconds.
    pub ended_at_ms: Option<i64>,
    /// Until when it is delayed, otherwise its deadline, in milliseconds.
    pub due_at_ms: Option<i64>,
    /// How many attempts were started.
    pub attempts: u32,
    /// How many workers lost it since it was created or replayed.
    pub crashes: u32,
    /// How often it was tried again after a failure.
    pub retries: u32,
    /// The last failure.
    pub last_failure: Option<String>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPage {
    /// What is on it, in the order of the keys.
    pub executions: Vec<ListedExecution>,
    /// Where the next one begins; there is none where it is the last.
    pub next: Option<ExecutionId>,
}

/// How many executions of a lane are in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateCount {
    /// The lane.
    pub lane: LaneId,
    /// The state.
    pub state: ListedState,
    /// How many.
    pub depth: i64,
    /// When the oldest of them was created, in milliseconds.
    pub oldest_at_ms: i64,
}

/// What is ahead of the sweeps on a lane, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueCount {
    /// The lane.
    pub lane: LaneId,
    /// `waiting`, `delayed`, `active` or `rate_limited`.
    pub state: ListedState,
    /// How many executions.
    pub depth: i64,
    /// Since when the oldest waits or is blocked, when the first delayed one is due, when the first lease ends.
    pub oldest_at_ms: i64,
}

/// What an operator may hold back: nobody claims any of its executions meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseTarget {
    /// A lane.
    Lane(LaneId),
    /// The members of a flow, on whatever lanes.
    Flow(FlowId),
}

impl fmt::Display for PauseTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lane(lane) => write!(f, "lane {lane}"),
            Self::Flow(flow) => write!(f, "flow {flow}"),
        }
    }
}

/// That something is held back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// What.
    pub target: PauseTarget,
    /// Since when, in milliseconds.
    pub since_ms: i64,
    /// Why, as whoever did it said.
    pub reason: String,
}

/// Which versions of the schema a database has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaState {
    /// Those that this program needs and the database lacks, by their names.
    pub missing: Vec<String>,
    /// Those that it has of a newer program.
    pub unknown: Vec<i64>,
    /// How many it has.
    pub applied: usize,
}

/// What the database says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The settings that matter, by name; none where it does not know one.
    pub settings: Vec<(String, Option<String>)>,
    /// Indexes of the schema that it does not have.
    pub missing_indexes: Vec<String>,
    /// Indexes that it has and does not use, because their making was interrupted.
    pub broken_indexes: Vec<String>,
    /// Its tables, largest first.
    pub tables: Vec<TableSize>,
    /// How many partitions its tables have (Postgres).
    pub partitions: Option<i64>,
    /// How many transactions ago the oldest was frozen (Postgres).
    pub frozen_age: Option<i64>,
    /// For how long the oldest transaction has been under way (Postgres).
    pub oldest_transaction: Option<Duration>,
    /// How long the log beside the file is (SQLite).
    pub log_bytes: Option<u64>,
    /// How many pages the file has, and how many of them are free (SQLite).
    pub pages: Option<(i64, i64)>,
}

/// How large a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSize {
    /// Its name, or that of a partition.
    pub name: String,
    /// How many rows it has, as the server estimates.
    pub live: i64,
    /// How many dead rows wait for a vacuum, as the server estimates.
    pub dead: i64,
    /// How many bytes it takes with its indexes.
    pub bytes: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_word_that_names_it_and_those_of_rows() {
        for state in ListedState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
            assert!(!state.words().is_empty(), "{state}");
            for word in state.words() {
                let eligibility = match state {
                    ListedState::Paused => EligibilityWord::BlockedByLaneState,
                    _ => EligibilityWord::EligibleNow,
                };
                assert_eq!(ListedState::stored(&PublicWord::from((*word).to_owned()), &eligibility), state, "{word}");
            }
        }
        let refused = "waitng".parse::<ListedState>().unwrap_err().to_string();
        assert!(refused.contains("`waitng`") && refused.contains("waiting_children"), "{refused}");
    }

    #[test]
    fn a_filter_is_open_until_something_is_asked() {
        assert!(ExecutionFilter::default().is_open());
        assert!(!ExecutionFilter { kind: Some("mail".to_owned()), ..ExecutionFilter::default() }.is_open());
        assert!(!ExecutionFilter { states: vec![ListedState::Failed], ..ExecutionFilter::default() }.is_open());
    }
}
