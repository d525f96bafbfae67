//! The numbers of a step, and what they choose. Zero chooses the first or the newest, so that a shrunk step is
//! the plainest one.

/// How many numbers a step has.
pub(crate) const PER_STEP: usize = 8;

/// The numbers of one step, taken one after the other; when they are used up they begin again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    given: [u8; PER_STEP],
    at: usize,
}

impl Numbers {
    pub(crate) fn new(given: [u8; PER_STEP]) -> Self {
        Self { given, at: 0 }
    }

    /// A number below the bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let number = self.given[self.at % PER_STEP];
        self.at += 1;
        usize::from(number) % bound.max(1)
    }

    /// True for one number of that many, and not for zero.
    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) + 1 == bound
    }

    /// One of these.
    pub(crate) fn of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[self.below(N)]
    }

    /// One of a list, the newest for zero; the four newest are chosen three times in four.
    pub(crate) fn from<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let among = if self.one_in(4) { list.len() } else { list.len().min(4) };
        let back = self.below(among);
        list.iter().rev().nth(back)
    }
}
