//! The marks of lanes that this process made: see [`claim::mark`](super::claim::mark).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// After how many claims a mark is moved.
const CLAIMS: u32 = 64;

/// After how many it is, if that was last done [`INTERVAL_MS`] ago: who claims now and then needs none.
const FEW_CLAIMS: u32 = 8;

const INTERVAL_MS: i64 = 1_000;

/// How old a mark may become, however seldom claims are: one that nobody moves for a day is forgotten.
const OLDEST_MS: i64 = 3_600_000;

/// How long a mark counts as being there, once it was seen: what vanishes hides work no longer than that.
const SEEN_MS: i64 = 1_000;

/// How many lanes and capabilities are counted at once; beyond that counting begins anew.
const COUNTED: usize = 1_024;

/// The claims since each mark was made or moved by this process.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    counted: Mutex<HashMap<String, Counted>>,
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    claims: u32,
    since_ms: i64,
    /// When the mark was last known to be there.
    seen_ms: i64,
}

impl Marks {
    /// Counts a claim; whether the mark is to be made or moved before it. Of the claims for a mark that this process has not
    /// made yet each has to make it, because none of them may wait for another.
    pub(crate) fn is_due(&self, mark_key: &str, now_ms: i64) -> bool {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner); // tidy: counts have no half-done state
        let Some(one) = counted.get_mut(mark_key) else { return true };
        one.claims += 1;
        let age_ms = now_ms.saturating_sub(one.since_ms);
        let is_due = one.claims >= CLAIMS || (one.claims >= FEW_CLAIMS && age_ms >= INTERVAL_MS) || age_ms >= OLDEST_MS;
        if is_due {
            *one = Counted { claims: 0, since_ms: now_ms, seen_ms: now_ms };
        }
        is_due
    }

    /// A mark was made or moved.
    pub(crate) fn made(&self, mark_key: String, now_ms: i64) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner); // tidy: counts have no half-done state
        if counted.len() >= COUNTED {
            counted.clear();
        }
        counted.entry(mark_key).or_insert(Counted { claims: 0, since_ms: now_ms, seen_ms: now_ms });
    }

    /// Whether nobody has seen the mark for a moment; whoever asks is to look.
    pub(crate) fn is_doubtful(&self, mark_key: &str, now_ms: i64) -> bool {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner); // tidy: counts have no half-done state
        counted.get_mut(mark_key).is_some_and(|one| {
            let is_doubtful = now_ms.saturating_sub(one.seen_ms) >= SEEN_MS;
            if is_doubtful {
                one.seen_ms = now_ms;
            }
            is_doubtful
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_looked_for_once_in_a_while() {
        let marks = Marks::default();
        assert!(!marks.is_doubtful("plain", 5_000), "it is made first");
        marks.made("plain".to_owned(), 5_000);
        assert!(!marks.is_doubtful("plain", 5_999) && marks.is_doubtful("plain", 6_000));
        assert!(!marks.is_doubtful("plain", 6_999) && marks.is_doubtful("plain", 7_000));
    }

    #[test]
    fn a_mark_is_made_first_and_moved_after_a_few_claims_when_it_is_old_and_after_many_in_any_case() {
        let marks = Marks::default();
        let due = |key: &str, now_ms| marks.is_due(key, now_ms);
        assert!(due("plain", 5_000) && due("plain", 5_000), "whoever comes before it is made makes it");
        marks.made("plain".to_owned(), 5_000);
        assert_eq!((1..=63).filter(|_| due("plain", 5_999)).count(), 0);
        assert!(due("plain", 5_999));
        assert_eq!((1..=8).filter(|_| due("plain", 6_999)).count(), 1);
        assert!(due("gpu", 6_999), "other capabilities have a mark of their own");
        assert!(due("plain", 6_999 + OLDEST_MS), "a mark that is seldom asked for does not become a day old");
    }
}
