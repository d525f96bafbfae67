//! Answers that were given while their callers have not gone on yet.
//!
//! Who was answered is likely to ask for more in the same moment, but on another thread, which may have to wake up first.
//! Whoever asks before them can see here that they are still to come.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts such answers; clones count together.
#[derive(Clone, Default)]
pub(super) struct Given(Arc<AtomicUsize>);

impl Given {
    /// Counts one more until it is dropped, which whoever takes the answer does.
    pub(super) fn one(&self) -> InHand {
        self.0.fetch_add(1, Ordering::AcqRel);
        InHand(Self::clone(self))
    }

    /// Whether somebody who was answered has not gone on.
    pub(super) fn is_any(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

/// One answer on its way.
pub(super) struct InHand(Given);

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}
