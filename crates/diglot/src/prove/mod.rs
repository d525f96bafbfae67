//! Proof by execution, the part without engines: the data and the arguments on which the two pages of a pair are
//! tried, what their answers have to agree in, and how a disagreement is made small.
//!
//! [`Prover`] knows a compiled project; [`Prover::subjects`] gives one [`Subject`] for each pair. A subject makes
//! [`Case`]s from a seed, [`Subject::compare`] holds two [`Answer`]s against each other, and [`Subject::simpler`]
//! lists the cases that are one step simpler. Whoever calls runs the texts.

mod assumed;
mod beside;
mod bound;
mod cases;
mod checks;
mod compare;
mod computations;
mod databases;
mod domain;
mod drawn;
mod each;
mod known;
mod numbers;
mod order;
mod pool;
mod printed;
mod random;
mod reading;
mod shrink;
mod sorts;
mod store;
mod subject;
mod tables;
#[cfg(test)]
mod tests;
mod touched;
mod union;
mod unpromised;
mod uses;
mod written;

pub use crate::value::{Rows, Value, held, list_as_json, microseconds, spelled};
pub use beside::allowed_to_differ;
pub use cases::{Case, Row};
pub use checks::Judge;
pub use compare::{Answer, Difference, Fault, NEW_IDS, TableRows};
pub use databases::{Databases, Reach, Scope};
pub use each::Each;
pub use printed::printed;
pub use store::StoreError;
pub use subject::{Declared, Prover, Subject};
pub use tables::{Relations, Table, TableColumn};
pub use written::Filling;
