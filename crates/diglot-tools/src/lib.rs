//! What people do with pages that [`diglot`] reads, and no build script does.
//!
//! The command line and the playground are thin doors to this crate: [`prove`] makes databases on which pages could
//! differ, [`verdict`] says what their answers show, [`mutate`] changes one page to see whether it is told. [`draft`] and
//! [`translate`] write pages, [`review`] prints what was found as a page for people, [`editor`] answers editors.
//!
//! Nothing here reads a file, asks a clock or talks to an engine: those who call it hand the engines in.

/// Holds the example of the crate's page to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod draft;
pub mod editor;
pub mod mutate;
pub mod prove;
pub mod review;
pub mod translate;
pub mod verdict;
