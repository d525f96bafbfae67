//! Drives a future on a thread of its own.
//!
//! A call to SQLite is handed to the connection's thread and comes back within microseconds, sooner
//! than a parked thread wakes. So the thread gives way a number of times before it parks, which makes
//! grouped writes about half as fast again. Only futures that wait for other threads belong here;
//! timers and sockets need a runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park, yield_now};

/// How often the thread gives way before it parks.
const YIELDS: u32 = 200;

struct Signal {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

/// Runs a future to its end on this thread.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(Signal { thread: current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        let mut yields = 0;
        while !signal.woken.swap(false, Ordering::AcqRel) {
            if yields < YIELDS {
                yields += 1;
                yield_now();
            } else {
                park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[test]
    fn a_future_that_another_thread_completes_comes_to_its_end() {
        for late in [false, true] {
            let (send, receive) = oneshot::channel();
            let sender = std::thread::spawn(move || {
                if late {
                    for _ in 0..10_000 {
                        yield_now();
                    }
                }
                send.send(5)
            });
            assert_eq!(block_on(receive), Ok(5));
            assert_eq!(sender.join().ok(), Some(Ok(())));
        }
    }
}
