//! Proof by execution, the part without engines: the data and the arguments on which the two pages of a pair are
//! tried, what their answers have to agree in, and how a disagreement is made small.
//!
//! [`Prover`] knows a compiled project; [`Prover::subjects`] gives one [`Subject`] for each pair. A subject makes
//! [`Case`]s from a seed, [`Subject::compare`] holds two [`Answer`]s against each other, and [`Subject::simpler`]
//! lists the cases that are one step simpler. The texts run on the caller's [`Engines`]; [`SqliteJob`] and [`PgJob`] say
//! what a case does there.

mod arguments;
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
mod engines;
mod keyed;
mod known;
mod moments;
mod numbers;
mod order;
mod pg;
mod pool;
mod printed;
mod random;
mod reading;
mod result;
mod shrink;
mod sorts;
mod sqlite;
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

pub use arguments::{as_sent_to_pg, pg_arguments, pg_types, sqlite_arguments};
pub use beside::allowed_to_differ;
pub use cases::{Case, Row};
pub use checks::Judge;
pub use compare::{Answer, Difference, Fault, NEW_IDS, TableRows};
pub use databases::{Databases, Reach, Scope, today};
pub use diglot::value::{Rows, Value, held, list_as_json, microseconds, spelled};
pub use each::Each;
pub use engines::{ATTEMPTS, CHECK, ENDLESS, Engines, MOST_ROWS, NOT_NULL, REFERENCE, Ran, RanBoth, UNIQUE, leave_out};
pub use pg::{PgJob, PgSchema, PgTypes};
pub use printed::printed;
pub use sqlite::{SqliteConnection, SqliteJob, SqliteSchema, Trouble};
pub use store::StoreError;
pub use subject::{Declared, Prover, Subject};
pub use tables::{Relations, Table, TableColumn, mentioned};
pub use written::Filling;
