//! Work on several threads.

use std::panic::resume_unwind;
use std::thread;

/// Cuts a list into as many parts as there are threads and works on all of them at once. What the parts give comes in
/// the order of the list, so that nobody can tell from it how many threads there were.
pub(super) fn in_parts<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let mut parts = items.chunks(items.len().div_ceil(threads.max(1)).max(1));
    let own = parts.next().unwrap_or_default();
    let work = &work;
    thread::scope(|scope| {
        let start = |part| (part, thread::Builder::new().spawn_scoped(scope, move || work(part)).ok());
        let others: Vec<_> = parts.map(start).collect();
        let mut results = vec![work(own)];
        results.extend(others.into_iter().map(|(part, other)| match other {
            Some(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system gives no further thread.
            None => work(part),
        }));
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_in_order() {
        let items: Vec<u32> = (0..7).collect();
        for threads in 0..10 {
            let parts = in_parts(&items, threads, |part| part.to_vec());
            assert!(parts.len() <= threads.max(1));
            assert_eq!(parts.concat(), items);
        }
        assert_eq!(in_parts(&[], 4, |part: &[u32]| part.len()), [0]);
    }
}
