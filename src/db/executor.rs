//! Waits on a thread of its own: for a future, or for a message.
//!
//! A call to SQLite is handed to the connection's thread and comes back within microseconds, sooner
//! than a parked thread wakes. So the thread gives way a number of times before it parks, which makes
//! grouped writes about half as fast again. Only futures that wait for other threads belong here;
//! timers and sockets need a runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
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

/// Keeps this thread, and every thread that it starts, on one of the CPUs that it may use: on the one where the first
/// who asks in this process runs, on the next one after that, and so on, so that the writers of several files share none
/// while there are enough.
///
/// The writer and its connection's thread take turns: one waits while the other works. On two CPUs each turn
/// wakes one that sleeps, which on a virtual machine costs more than the statement itself; on one CPU it is a
/// switch. Where the system does not allow it, nothing is lost but that time.
pub(super) fn stay_on_one_cpu() {
    #[cfg(target_os = "linux")]
    {
        use std::sync::OnceLock;
        use std::sync::atomic::AtomicUsize;

        use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

        static FIRST: OnceLock<usize> = OnceLock::new();
        static TURNS: AtomicUsize = AtomicUsize::new(0);

        let Ok(usable) = sched_getaffinity(None) else { return };
        let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| usable.is_set(*cpu)).collect();
        let first = *FIRST.get_or_init(sched_getcpu);
        let Some(cpu) = turn(&usable, first, TURNS.fetch_add(1, Ordering::Relaxed)) else { return };
        let mut here = CpuSet::new();
        here.set(cpu);
        if let Err(error) = sched_setaffinity(None, &here) {
            tracing::debug!(%error, cpu, "the writer was not kept on its CPU");
        }
    }
}

/// Whose turn it is: the first of the usable CPUs from that one on, and each time the next one.
#[cfg(target_os = "linux")]
fn turn(usable: &[usize], first: usize, turn: usize) -> Option<usize> {
    let begins = usable.iter().position(|cpu| *cpu >= first).unwrap_or_default(); // tidy: behind the last comes the first
    let place = begins.wrapping_add(turn).checked_rem(usable.len())?;
    usable.get(place).copied()
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
        let is_woken = || signal.woken.swap(false, Ordering::AcqRel);
        if give_way(|| is_woken().then_some(())).is_none() {
            while !is_woken() {
                park();
            }
        }
    }
}

/// Waits for the next message; none when nobody can send any more.
pub(super) fn receive<T>(waiting: &Receiver<T>) -> Option<T> {
    let arrived = || match waiting.try_recv() {
        Ok(message) => Some(Some(message)),
        Err(TryRecvError::Disconnected) => Some(None),
        Err(TryRecvError::Empty) => None,
    };
    match give_way(arrived) {
        Some(message) => message,
        None => waiting.recv().ok(),
    }
}

/// Looks for what is likely to come at once, and gives way in between; none when it did not come.
fn give_way<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..YIELDS {
        if let Some(found) = look() {
            return Some(found);
        }
        yield_now();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_stays_on_its_cpu_and_so_do_those_that_it_starts() {
        use rustix::thread::sched_getaffinity;

        let own = std::thread::spawn(|| {
            stay_on_one_cpu();
            let started = std::thread::spawn(|| sched_getaffinity(None));
            (sched_getaffinity(None), started.join().ok())
        });
        let (here, started) = own.join().expect("the thread ends");
        let here = here.expect("the thread's CPUs");
        assert_eq!(here.count(), 1);
        assert_eq!(started, Some(Ok(here)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn writers_take_turns_on_the_cpus_that_the_process_may_use() {
        let taken = |first, turns| (0..turns).map(|taken| turn(&[2, 5, 7], first, taken)).collect::<Option<Vec<_>>>();
        assert_eq!(taken(5, 4), Some(vec![5, 7, 2, 5]));
        assert_eq!(taken(3, 2), Some(vec![5, 7]), "one that it may not use any more");
        assert_eq!(taken(9, 2), Some(vec![2, 5]));
        assert_eq!(turn(&[], 0, 3), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_stays_on_a_cpu_that_it_may_use() {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let all = sched_getaffinity(None).expect("this thread's CPUs");
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)) {
            let own = std::thread::spawn(move || {
                let mut only = CpuSet::new();
                only.set(cpu);
                sched_setaffinity(None, &only).expect("one of them");
                stay_on_one_cpu();
                sched_getaffinity(None) == Ok(only)
            });
            assert_eq!(own.join().ok(), Some(true), "{cpu}");
        }
    }

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
