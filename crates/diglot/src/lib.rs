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
pub mod fix;
pub mod history;
#[doc(hidden)]
pub mod locks;
pub mod operations;
pub mod page;
pub mod render;
pub mod rules;
pub mod schema;
pub mod source;
pub mod tree;
pub mod types;

mod cache;
mod codegen;
#[doc(hidden)]
pub mod compare;
mod depth;
#[doc(hidden)]
pub mod digest;
#[doc(hidden)]
pub mod emit;
#[doc(hidden)]
pub mod emitted;
mod engine;
pub mod extract;
#[doc(hidden)]
pub mod facts;
mod grammar;
mod guard;
pub mod infer;
mod joined;
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
mod steps;
#[doc(hidden)]
pub mod value;

pub use emitted::{
    EmittedText, Holds, JoinedText, RowsOf, StepText, StepsGive, StepsText, TextColumn, TextParam, Variant,
};
pub use pipeline::{
    BaselineDraft, Compiled, Weighed, check, compile, draft_baseline, lock_report, propose_names, propose_storage,
};
pub use project::{Detail, Inputs, Stats};
