//! diglot compiles SQL that is kept in two dialects.
//!
//! A *diglot* is a book that prints one text in two languages on facing pages. This crate reads paired
//! files `sql/sqlite/NOUN.sql` and `sql/pg/NOUN.sql`, checks every statement against its schema, compares
//! the pair fact by fact and generates one typed Rust API that both databases implement.
//!
//! The core, [`compile`], is a pure function: no IO, no environment, no clock. [`build`] is the thin entry
//! for build scripts.

/// Holds the example of the crate's page to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod answers;
pub mod baseline;
pub mod build;
pub mod config;
pub mod diagnostic;
pub mod dialect;
pub mod evidence;
pub mod extract;
pub mod fix;
pub mod history;
pub mod infer;
pub mod operations;
pub mod page;
pub mod render;
pub mod rules;
pub mod schema;
pub mod source;
pub mod tree;
pub mod types;

// What only `diglot-tools` of the same version may name.
#[doc(hidden)]
pub mod compare;
#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod emit;
#[doc(hidden)]
pub mod emitted;
#[doc(hidden)]
pub mod facts;
#[doc(hidden)]
pub mod locks;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod normal;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod project;
#[doc(hidden)]
pub mod resolve;
#[doc(hidden)]
pub mod rule;
#[doc(hidden)]
pub mod split;
#[doc(hidden)]
pub mod value;

mod cache;
mod codegen;
mod depth;
mod engine;
mod grammar;
mod guard;
mod joined;
mod steps;

pub use emitted::{
    EmittedText, Holds, JoinedText, RowsOf, StepText, StepsGive, StepsText, TextColumn, TextParam, Variant,
};
pub use pipeline::{
    BaselineDraft, Compiled, Weighed, check, compile, draft_baseline, lock_report, propose_names, propose_storage,
};
pub use project::{Detail, Inputs, Stats};
