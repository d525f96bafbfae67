//! When the log's pages are moved to the file, and what is told where that does not make it short.
//!
//! SQLite writes a log from its start again once all its pages are in the file and nobody reads them from the log. A
//! read that stays open, of a program that looks at the file or of a copy that takes its time, keeps it from that, and the log
//! grows as long as it lasts. When it has ended, the log is moved, begins anew and is cut to its limit.

use std::path::Path;
use std::time::{Duration, Instant};

/// How long after a look that did not move everything the next one comes, unless the log grows by a quarter of its
/// limit: each goes through all pages that are in the log.
const AGAIN: Duration = Duration::from_secs(1);

/// The length of a log, as far as it matters.
pub(super) struct Length {
    limit: u32,
    /// How many pages it had when somebody was told; the limit while nobody was.
    told: u32,
    kept: Option<Kept>,
}

/// What the last look left in the log.
struct Kept {
    pages: u32,
    at: Instant,
}

impl Length {
    /// A log that may have that many pages.
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, told: limit, kept: None }
    }

    /// How many pages it must have to be moved.
    pub(super) fn due(&self) -> u32 {
        match &self.kept {
            Some(kept) if kept.at.elapsed() < AGAIN => kept.pages.saturating_add((self.limit / 4).max(1)),
            _ => self.limit,
        }
    }

    /// Notes that so many of its pages are in the file. Each time that it is twice as long, somebody is told.
    pub(super) fn moved(&mut self, pages: u32, moved: u32, database: &Path) {
        self.kept = (moved < pages).then(|| Kept { pages, at: Instant::now() });
        let database = database.display();
        if pages >= self.told.saturating_mul(2) {
            self.told = pages;
            tracing::warn!(
                %database, pages, moved, limit = self.limit,
                "the log of this database grows, because a read that stays open keeps it from beginning anew"
            );
        } else if pages < self.told {
            self.told = self.limit;
            tracing::info!(%database, "the log of this database has begun anew");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_cannot_be_moved_is_looked_at_again_when_it_has_grown() {
        let mut length = Length::new(40);
        assert_eq!(length.due(), 40);
        length.moved(41, 41, Path::new("a.db"));
        assert_eq!((length.due(), length.told), (40, 40), "it begins anew");
        length.kept = Some(Kept { pages: 90, at: Instant::now() + Duration::from_secs(3_600) });
        assert_eq!(length.due(), 100);
        if let Some(long_ago) = Instant::now().checked_sub(AGAIN) {
            length.kept = Some(Kept { pages: 90, at: long_ago });
            assert_eq!(length.due(), 40);
        }
    }

    #[test]
    fn whoever_is_told_is_told_again_when_it_is_twice_as_long() {
        let mut length = Length::new(40);
        let told = [79, 80, 159, 160, 40, 80].map(|pages| {
            length.moved(pages, 1, Path::new("a.db"));
            length.told
        });
        assert_eq!(told, [40, 80, 80, 160, 40, 80]);
    }
}
