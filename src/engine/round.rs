//! One run of a sweep: what its step is asked, and what it answers.

use std::time::Duration;

use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::EngineError;

use crate::engine::seize;

/// What one run of a sweep is asked.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    /// Which executions it looks at.
    pub(crate) filter: ScannerFilter,
    /// The one partition that it is about; none for all of them.
    pub(crate) only_partition: Option<i16>,
    /// How long what has served its time is kept.
    pub(crate) retention: Duration,
    /// How old a completion must be, in milliseconds, before its dependencies count as forgotten.
    pub(crate) stale_ms: i64,
}

impl Round {
    /// Whether a partition is looked at.
    pub(crate) fn includes(&self, partition_key: i16) -> bool {
        self.only_partition.is_none_or(|only| only == partition_key)
    }
}

/// What one run of a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Rows that were handled.
    pub(crate) processed: u32,
    /// Rows that failed; they are tried again at the next turn.
    pub(crate) errors: u32,
}

impl From<Report> for ReconcileCounts {
    fn from(report: Report) -> Self {
        Self { processed: report.processed, errors: report.errors }
    }
}

impl Report {
    /// That many rows were handled and none failed.
    pub(crate) fn of(processed: u32) -> Self {
        Self { processed, errors: 0 }
    }

    /// Counts what another part of the run did.
    pub(crate) fn add(&mut self, part: Self) {
        self.processed = self.processed.saturating_add(part.processed);
        self.errors = self.errors.saturating_add(part.errors);
    }

    /// How many rows were tried.
    pub(crate) fn total(&self) -> u32 {
        self.processed.saturating_add(self.errors)
    }

    /// Counts one row: it was handled, there was nothing to do, or it failed, which is logged. One that somebody else
    /// holds is neither; the next run comes back to it.
    pub(crate) fn count(&mut self, ended: Result<bool, EngineError>) {
        match ended {
            Ok(true) => self.processed = self.processed.saturating_add(1),
            Ok(false) => {}
            Err(error) if seize::is_held(&error) => {
                tracing::debug!("a row that somebody holds is left to the next run")
            }
            Err(error) => {
                self.errors = self.errors.saturating_add(1);
                tracing::warn!(%error, "a row could not be swept");
            }
        }
    }
}
