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
pub mod draft;
pub mod editor;
pub mod evidence;
pub mod fix;
pub mod history;
mod locks;
pub mod mutate;
pub mod operations;
pub mod page;
pub mod prove;
pub mod render;
pub mod review;
pub mod rules;
pub mod schema;
pub mod source;
pub mod translate;
pub mod tree;
pub mod types;
pub mod verdict;

mod cache;
mod codegen;
mod compare;
mod depth;
mod digest;
mod emit;
mod emitted;
mod engine;
pub mod extract;
mod facts;
mod grammar;
mod guard;
pub mod infer;
mod joined;
mod names;
mod normal;
mod pipeline;
mod project;
mod resolve;
mod rule;
mod split;
mod steps;
mod value;

pub use emitted::{
    EmittedText, Holds, JoinedText, RowsOf, StepText, StepsGive, StepsText, TextColumn, TextParam, Variant,
};
pub use pipeline::{BaselineDraft, Compiled, Weighed, check, compile, draft_baseline, lock_report, propose_storage};
pub use project::{Detail, Inputs, Stats};
