//! Sequences of steps as proptest draws and shrinks them: first steps are left out, many at once while that works,
//! then numbers become zero or smaller.

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::numbers::PER_STEP;
use crate::operations;

/// The name of an operation, and its numbers.
pub(crate) type Step = (&'static str, [u8; PER_STEP]);

/// All sequences of that length.
#[derive(Debug)]
pub(crate) struct Sequences(pub(crate) usize);

impl Strategy for Sequences {
    type Tree = Shrinking;
    type Value = Vec<Step>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut steps = Vec::with_capacity(self.0);
        for _ in 0..self.0 {
            let drawn = (0..operations::total_weight()).new_tree(runner)?.current();
            let numbers = proptest::array::uniform::<_, PER_STEP>(0..=u8::MAX).new_tree(runner)?.current();
            steps.push((operations::drawn(drawn).name, numbers));
        }
        Ok(Shrinking::new(steps))
    }
}

/// A sequence that is being shrunk.
#[derive(Debug)]
pub(crate) struct Shrinking {
    steps: Vec<Step>,
    before: Vec<Step>,
    /// How many steps are left out at once; with zero, numbers are made smaller.
    chunk: usize,
    /// Where the next change is, in steps or in numbers.
    at: usize,
    /// Whether the last number has been tried with zero.
    halves: bool,
}

impl Shrinking {
    fn new(steps: Vec<Step>) -> Self {
        Self { before: steps.clone(), chunk: steps.len().div_ceil(2), steps, at: 0, halves: false }
    }

    /// Makes the next smaller sequence. False when there is none.
    fn shrink(&mut self) -> bool {
        self.before.clone_from(&self.steps);
        while self.chunk > 0 {
            if self.at < self.steps.len() {
                let end = (self.at + self.chunk).min(self.steps.len());
                self.steps.drain(self.at..end);
                return true;
            }
            self.at = 0;
            self.chunk /= 2;
        }
        while self.at < self.steps.len() * PER_STEP {
            let number = &mut self.steps[self.at / PER_STEP].1[self.at % PER_STEP];
            match (*number, self.halves) {
                (0, _) | (1, true) => {
                    self.at += 1;
                    self.halves = false;
                }
                (_, false) => {
                    *number = 0;
                    return true;
                }
                (_, true) => {
                    *number /= 2;
                    return true;
                }
            }
        }
        false
    }
}

impl ValueTree for Shrinking {
    type Value = Vec<Step>;

    fn current(&self) -> Vec<Step> {
        self.steps.clone()
    }

    fn simplify(&mut self) -> bool {
        self.shrink()
    }

    fn complicate(&mut self) -> bool {
        self.steps.clone_from(&self.before);
        match (self.chunk, self.halves) {
            (0, false) => self.halves = true,
            (0, true) => {
                self.at += 1;
                self.halves = false;
            }
            (chunk, _) => self.at += chunk,
        }
        self.shrink()
    }
}

#[test]
fn shrinking_keeps_what_is_needed_and_no_more() {
    let step = |number: u8| ("claim", [number, 7, 0, 0, 0, 0, 0, 0]);
    let mut tree = Shrinking::new((0..60).map(step).collect());
    let fails = |steps: &[Step]| steps.iter().any(|(_, numbers)| numbers[0] >= 40);
    let mut goes_on = tree.simplify();
    while goes_on {
        goes_on = if fails(&tree.current()) { tree.simplify() } else { tree.complicate() };
    }
    let left = tree.current();
    assert!(fails(&left) && left.len() == 1 && left[0].1[0] < 80 && left[0].1[1] == 0, "{left:?}");
}
