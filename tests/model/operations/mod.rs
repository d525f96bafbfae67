//! The alphabet: every operation of the trait, with how often it is drawn.
//!
//! An operation is a line of a table: its weight, its name, and what it does on one side, which answers in
//! comparable words. Its arguments are drawn from what that side knows.

mod budget;
mod flow;
mod operator;
mod read;
mod schedule;
mod suspend;
mod typed;
mod upkeep;
mod work;
mod worker;

use std::sync::LazyLock;

use futures_core::future::BoxFuture;

use crate::numbers::Numbers;
use crate::side::Side;

/// An operation.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    weight: u32,
    pub(crate) act: for<'a> fn(&'a mut Side, Numbers) -> BoxFuture<'a, String>,
}

/// A table of operations: `weight name: |side, numbers| answer;`.
macro_rules! operations {
    ($($weight:literal $name:ident: |$s:ident, $n:ident| $answer:expr;)*) => {
        pub(super) const TABLE: &[$crate::operations::Operation] = &[$($crate::operations::Operation {
            name: stringify!($name),
            weight: $weight,
            #[allow(unused_mut, unused_variables, reason = "not every operation has arguments")]
            act: |$s, mut $n| Box::pin(async move { let $n = &mut $n; $answer }),
        },)*];
    };
}
use operations;

/// What an operation answers that has nothing to work on.
const NOTHING: &str = "nothing to do it on";

static ALL: LazyLock<Vec<&'static Operation>> = LazyLock::new(|| {
    let tables = [
        work::TABLE,
        typed::TABLE,
        suspend::TABLE,
        schedule::TABLE,
        flow::TABLE,
        budget::TABLE,
        operator::TABLE,
        worker::TABLE,
        upkeep::TABLE,
        read::TABLE,
    ];
    tables.into_iter().flatten().collect()
});

/// The operation of that name.
pub(crate) fn named(name: &str) -> &'static Operation {
    ALL.iter().find(|operation| operation.name == name).unwrap_or_else(|| panic!("there is no operation {name}"))
}

/// The names of all operations.
#[allow(dead_code, reason = "for the interleavings, which share this file")]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|operation| operation.name)
}

/// The sum of all weights.
pub(crate) fn total_weight() -> u32 {
    ALL.iter().map(|operation| operation.weight).sum()
}

/// The operation that a number below the sum of all weights draws.
pub(crate) fn drawn(mut number: u32) -> &'static Operation {
    for operation in ALL.iter() {
        match number.checked_sub(operation.weight) {
            None => return operation,
            Some(rest) => number = rest,
        }
    }
    ALL[0]
}
