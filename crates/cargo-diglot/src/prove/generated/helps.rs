//! What findings on generated pairs say to write is written, and the finding is gone.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config as Playing, RngAlgorithm, TestRng, TestRunner};

use super::choices::Choices;
use super::schema::Schema;
use super::{NUMBERS, Pair, TOGETHER, inputs, name_of};

#[path = "../../../../diglot/tests/follow/mod.rs"]
mod follow;

use follow::Followed;

/// Of how many findings the help is followed.
const FINDINGS: usize = 250;

#[test]
fn what_a_finding_says_to_write_helps() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Playing::default(), rng);
    let numbers = vec(any::<u8>(), 0..NUMBERS);
    let mut followed = Followed::default();
    while followed.findings < FINDINGS {
        let drawn = numbers.new_tree(&mut runner).expect("numbers").current();
        let schema = Schema::new(&mut Choices::new(&drawn));
        for at in 0..TOGETHER {
            let drawn = numbers.new_tree(&mut runner).expect("numbers").current();
            let pair = Pair::new(&schema, &drawn, &name_of(at));
            followed.all(&inputs(&schema, std::slice::from_ref(&pair)), &|inputs| diglot::check(inputs).diagnostics);
        }
    }
    println!("{} findings, {} ways", followed.findings, followed.ways);
    assert!(
        followed.failed.is_empty(),
        "{} ways do not help:\n{}",
        followed.failed.len(),
        followed.failed.join("\n\n")
    );
}
