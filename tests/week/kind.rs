//! What an execution of the week does. Its id says so, so every process knows.

use ff_core::types::{ExecutionId, LaneId};

use crate::harness::uuid_of;

/// How many lanes there are.
pub(crate) const LANES: u64 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Kills every worker that takes it.
    Poison,
    /// Kills the first.
    Crashing,
    /// Fails for good.
    Broken,
    /// Fails at first, and is tried again after a while.
    Retried,
    /// Waits for its time before it may be claimed.
    Delayed,
    /// Waits for a signal that comes.
    Signalled,
    /// Waits for a signal that does not come.
    Unanswered,
    /// Runs for several leases.
    Long,
    /// Is given up by its worker.
    Cancelled,
    /// Writes to its stream.
    Streaming,
    /// Was created under a key.
    Keyed,
    Plain,
}

/// Out of a thousand, how many are not plain.
const SHARES: [(Kind, u64); 11] = [
    (Kind::Poison, 5),
    (Kind::Crashing, 10),
    (Kind::Broken, 10),
    (Kind::Retried, 50),
    (Kind::Delayed, 50),
    (Kind::Signalled, 50),
    (Kind::Unanswered, 20),
    (Kind::Long, 50),
    (Kind::Cancelled, 10),
    (Kind::Streaming, 100),
    (Kind::Keyed, 20),
];

impl Kind {
    pub(crate) fn of(id: &ExecutionId) -> Self {
        Self::of_uuid(&uuid::Uuid::parse_str(&uuid_of(id)).expect("a uuid"))
    }

    pub(crate) fn of_uuid(id: &uuid::Uuid) -> Self {
        let mut place = number(id) % 1_000;
        for (kind, share) in SHARES {
            if place < share {
                return kind;
            }
            place -= share;
        }
        Self::Plain
    }

    /// Whether this is how it ends.
    pub(crate) fn ends_as(self, outcome: &str) -> bool {
        match self {
            Self::Poison | Self::Broken => outcome == "failed",
            Self::Unanswered => outcome == "expired",
            // The process that was to send the signal may be gone.
            Self::Signalled => outcome == "success" || outcome == "expired",
            Self::Cancelled => outcome == "cancelled",
            _ => outcome == "success",
        }
    }
}

/// The lane of an execution.
pub(crate) fn lane_of(id: &uuid::Uuid) -> LaneId {
    lane(number(id) / 1_000 % LANES)
}

pub(crate) fn lane(number: u64) -> LaneId {
    LaneId::new(format!("lane-{number}"))
}

fn number(id: &uuid::Uuid) -> u64 {
    id.as_u64_pair().1 & 0xffff_ffff
}
