//! Random numbers that are the same for the same seed, everywhere and for ever: a case can be run again by its
//! number alone.

use std::collections::BTreeSet;

/// A generator of the splitmix64 family.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// One stream of numbers for each seed, statement and case.
    pub(super) fn new(seed: u64, name: &str, number: u64) -> Self {
        let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
        for byte in name.bytes().chain(number.to_le_bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(state)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound; 0 where the bound is.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            return 0;
        }
        let rest = self.next() % bound as u64;
        usize::try_from(rest).unwrap_or(0)
    }

    /// So many of the numbers below a bound, each once, in no order.
    pub(super) fn some(&mut self, bound: usize, most: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        if bound / 2 > most {
            let mut seen = BTreeSet::new();
            while chosen.len() < most {
                let number = self.below(bound);
                if seen.insert(number) {
                    chosen.push(number);
                }
            }
            return chosen;
        }
        chosen.extend(0..bound);
        for place in (1..bound).rev() {
            chosen.swap(place, self.below(place + 1));
        }
        chosen.truncate(most);
        chosen
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// One of the items, unless there is none.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_name_and_number_alone() {
        let stream = |seed, name, number| -> Vec<usize> {
            let mut random = Random::new(seed, name, number);
            (0..8).map(|_| random.below(1000)).collect()
        };
        assert_eq!(stream(1, "a", 1), stream(1, "a", 1));
        for other in [stream(2, "a", 1), stream(1, "b", 1), stream(1, "a", 2)] {
            assert_ne!(stream(1, "a", 1), other);
        }
    }

    #[test]
    fn some_numbers_come_once_each_and_all_where_there_are_few() {
        for (bound, most) in [(0, 3), (5, 10), (20, 15), (1_000_000, 40)] {
            let mut some = Random::new(3, "", 0).some(bound, most);
            some.sort_unstable();
            some.dedup();
            assert_eq!(some.len(), bound.min(most));
            assert!(some.iter().all(|number| *number < bound));
        }
    }

    #[test]
    fn every_item_is_picked_sooner_or_later() {
        let mut random = Random::new(7, "", 0);
        let items = [0, 1, 2, 3, 4];
        let picked: std::collections::BTreeSet<_> = (0..200).filter_map(|_| random.pick(&items)).collect();
        assert_eq!(picked.len(), items.len());
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
