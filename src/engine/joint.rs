//! Work that those who ask for it at the same moment do once.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

/// Work of one kind that finds the same for whoever asks, and answers a count.
///
/// Whoever asks while nobody is at it does it. Whoever asks meanwhile waits until that is done, because it may have
/// looked too early, and then one of those who wait does it for all of them.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    begun: AtomicU64,
    last: Mutex<Ended>,
}

/// The last run that came to its end, counted from 1, and what it answered.
#[derive(Debug, Default)]
struct Ended {
    number: u64,
    count: u64,
}

impl Joint {
    /// What a run answers that began after this was called. A run that fails answers its own caller alone.
    pub(crate) async fn run<E>(&self, work: impl Future<Output = Result<u64, E>>) -> Result<u64, E> {
        let seen = self.begun.load(Ordering::Acquire);
        let mut last = self.last.lock().await;
        if last.number > seen {
            return Ok(last.count);
        }
        let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
        let count = work.await?;
        *last = Ended { number, count };
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::AtomicU64;

    use futures_util::FutureExt as _;
    use futures_util::future::{join, join_all};
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn whoever_asks_while_a_run_is_on_its_way_shares_the_next_one() {
        let (joint, runs, may_end) = (Joint::default(), AtomicU64::new(0), Notify::new());
        let run = || async {
            let number = runs.fetch_add(1, Ordering::SeqCst) + 1;
            may_end.notified().await;
            Ok::<_, ()>(number)
        };
        let asked = join_all((0..4).map(|_| joint.run(run())));
        let let_two_end = async {
            may_end.notify_one();
            while runs.load(Ordering::SeqCst) < 2 {
                tokio::task::yield_now().await;
            }
            may_end.notify_one();
        };
        let (answers, ()) = join(asked, let_two_end).await;
        assert_eq!(answers, [Ok(1), Ok(2), Ok(2), Ok(2)], "one of those who waited ran for all of them");
        may_end.notify_one();
        assert_eq!(joint.run(run()).await, Ok(3), "nobody else asks");
    }

    #[tokio::test]
    async fn a_run_that_fails_or_is_given_up_leaves_the_others_their_own() {
        let joint = Joint::default();
        assert_eq!(joint.run(pending::<Result<u64, ()>>()).now_or_never(), None);
        assert_eq!(joint.run(ready(Ok::<_, ()>(7))).await, Ok(7));
        let answers = join(joint.run(ready(Err(5))), joint.run(ready(Ok::<_, i32>(9)))).await;
        assert_eq!(answers, (Err(5), Ok(9)));
    }
}
