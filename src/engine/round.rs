//! One run of a sweep: what its step is asked, and what it answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ff_core::backend::ScannerFilter;
use ff_core::engine_backend::ReconcileCounts;
use ff_core::engine_error::EngineError;
use tokio::sync::watch;
use uuid::Uuid;

use crate::column::PartitionNumber;
use crate::engine::seize;

/// What one run of a sweep is asked.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    /// Which executions it looks at.
    pub(crate) filter: ScannerFilter,
    /// The one partition that it is about; none for all of them.
    pub(crate) only_partition: Option<PartitionNumber>,
    /// How long what has served its time is kept.
    pub(crate) retention: Duration,
    /// How long executions that failed are.
    pub(crate) failed_retention: Duration,
    /// How long those of some lanes are, whatever their end.
    pub(crate) lane_retention: BTreeMap<String, Duration>,
    /// How long one run goes on at most.
    pub(crate) time_limit: Duration,
    /// How old a completion must be, in milliseconds, before its dependencies count as forgotten.
    pub(crate) stale_ms: i64,
    /// Says when no run goes on any more, because the sweeps end.
    pub(crate) stopped: Option<watch::Receiver<bool>>,
}

impl Round {
    /// Whether a partition is looked at.
    pub(crate) fn includes(&self, partition_key: PartitionNumber) -> bool {
        self.only_partition.is_none_or(|only| only == partition_key)
    }

    /// The time of a run that begins now.
    pub(crate) fn time(&self) -> Time<'_> {
        Time { round: self, end: Instant::now().checked_add(self.time_limit) }
    }
}

/// The time of one run: it ends with the round's limit, or when the sweeps end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time<'a> {
    round: &'a Round,
    /// None where the limit is beyond what a clock can show.
    end: Option<Instant>,
}

impl Time<'_> {
    /// Whether the run ends behind the page at hand.
    pub(crate) fn is_over(&self) -> bool {
        let is_stopped = self.round.stopped.as_ref().is_some_and(|stopped| *stopped.borrow());
        is_stopped || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether the run goes on behind a page of a list from which rows go when they are done: the page was full,
    /// something of it was done, so that the next one is another, and there is time left.
    pub(crate) fn allows_next(&self, is_full: bool, page: Report) -> bool {
        is_full && page.processed > 0 && !self.is_over()
    }
}

/// How many one page of a list has.
pub(crate) const PAGE_SIZE: i64 = 250;

/// The place of a row in a list of what is due, oldest first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Since when it is due.
    pub(crate) at_ms: i64,
    /// Its partition.
    pub(crate) partition_key: PartitionNumber,
    /// What it is called there.
    pub(crate) id: Uuid,
}

impl Place {
    /// The place of a row.
    pub(crate) fn new(at_ms: i64, partition_key: PartitionNumber, id: impl Into<Uuid>) -> Self {
        Self { at_ms, partition_key, id: id.into() }
    }
}

/// A way through a list of what is due, page by page, until the list ends or the run's time is over.
pub(crate) struct Pages<'a> {
    time: Time<'a>,
    /// When it was begun.
    pub(crate) now_ms: i64,
    after: Option<Place>,
    /// What was done so far.
    pub(crate) report: Report,
}

impl<'a> Pages<'a> {
    /// From the beginning of the list.
    pub(crate) fn new(round: &'a Round, now_ms: i64) -> Self {
        let first = Place::new(i64::MIN, PartitionNumber::LEAST, Uuid::nil());
        Self { time: round.time(), now_ms, after: Some(first), report: Report::default() }
    }

    /// The place after which the next page begins; none when it is over.
    pub(crate) fn after(&self) -> Option<Place> {
        self.after
    }

    /// The rows of a page that the round is about.
    pub(crate) fn of<R>(&mut self, mut rows: Vec<R>, place: impl Fn(&R) -> Place) -> Vec<R> {
        let is_full = rows.len() as i64 == PAGE_SIZE;
        self.after = rows.last().map(&place).filter(|_| is_full && !self.time.is_over());
        rows.retain(|row| self.time.round.includes(place(row).partition_key));
        rows
    }

    /// Counts one row, as [`Report::count`] does.
    pub(crate) fn count(&mut self, ended: Result<bool, EngineError>) {
        self.report.count(ended);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn round(time_limit: Duration, stopped: Option<watch::Receiver<bool>>) -> Round {
        let filter = ScannerFilter::NOOP;
        Round {
            filter,
            only_partition: None,
            retention: Duration::ZERO,
            failed_retention: Duration::ZERO,
            lane_retention: BTreeMap::new(),
            time_limit,
            stale_ms: 0,
            stopped,
        }
    }

    #[test]
    fn a_run_goes_on_behind_a_full_page_of_which_something_was_done() {
        let round = round(Duration::MAX, None);
        let time = round.time();
        assert!(time.allows_next(true, Report { processed: 1, errors: 9 }));
        assert!(!time.allows_next(false, Report::of(9)), "there is no more");
        assert!(!time.allows_next(true, Report { processed: 0, errors: 9 }), "the same page would come again");
    }

    #[test]
    fn a_run_ends_with_its_time_or_with_the_sweeps() {
        assert!(round(Duration::ZERO, None).time().is_over());
        let (stop, stopped) = watch::channel(false);
        let round = round(Duration::MAX, Some(stopped));
        let time = round.time();
        assert!(!time.is_over());
        stop.send(true).expect("the round listens");
        assert!(time.is_over() && !time.allows_next(true, Report::of(9)));
    }
}
