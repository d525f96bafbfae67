//! The numbers that a generated pair is made of.

/// A finite list of numbers, of which the missing ones are 0: the first and plainest of what can be chosen. So a
/// shorter list, and smaller numbers, make a plainer pair.
pub(super) struct Choices<'n> {
    numbers: &'n [u8],
    at: usize,
}

impl<'n> Choices<'n> {
    pub(super) fn new(numbers: &'n [u8]) -> Self {
        Self { numbers, at: 0 }
    }

    fn next(&mut self) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(number)
    }

    /// A number below another one; 0 where there is nothing to choose.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.next() % count.max(1)
    }

    /// One of them.
    pub(super) fn one<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// True once in so many times, and never where the numbers have run out.
    pub(super) fn rarely(&mut self, parts: usize) -> bool {
        self.below(parts) == parts - 1
    }
}
